package proxy

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

const (
	defaultCalls = 200_000
	defaultBody  = 256 << 10
)

// Options configure a proxy.
type Options struct {
	// Name is the server's name in every Call, and the context's in kubeconfigs.
	Name string
	// Upstream is the access to the server behind: URL, TLS and credentials. http:// is for a registry.
	Upstream *rest.Config
	// Addr is the address to listen on; default a free port on 127.0.0.1.
	Addr string
	// Plain serves without TLS, for a registry.
	Plain bool
	// Calls is how many calls the log keeps; older ones are dropped. Default 200,000.
	Calls int
	// Body is how many bytes of the body of a mutating call the log keeps; default 256 KiB, none if negative. The digest always covers all of
	// it.
	Body int
}

// Proxy stands between clients and one server. Its methods may be called at any time, even while requests run.
type Proxy struct {
	options  Options
	listener *listener
	server   *http.Server
	identity *identity
	users    *users
	journal  *journal
	chain    chain
	watchers handlers
	token    string
	once     sync.Once
}

// New starts a proxy. It ends by Close, with the context, or with this process.
func New(ctx context.Context, options Options) (*Proxy, error) {
	p, err := assemble(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("cannot start proxy %q: %w", options.Name, err)
	}
	p.server = &http.Server{
		Handler:           http.HandlerFunc(p.serve),
		ReadHeaderTimeout: time.Minute,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	if options.Plain {
		go func() { _ = p.server.Serve(p.listener) }() // always ends with an error: ErrServerClosed after Close
	} else {
		p.server.TLSConfig = &tls.Config{GetCertificate: p.identity.certificate, MinVersion: tls.VersionTLS12}
		go func() { _ = p.server.ServeTLS(p.listener, "", "") }()
	}
	context.AfterFunc(ctx, func() { _ = p.Close() })
	return p, nil
}

func assemble(ctx context.Context, options Options) (*Proxy, error) {
	if options.Calls == 0 {
		options.Calls = defaultCalls
	}
	if options.Body == 0 {
		options.Body = defaultBody
	}
	if options.Addr == "" {
		options.Addr = "127.0.0.1:0"
	}
	if options.Upstream == nil {
		return nil, errors.New("Options.Upstream says which server is behind it, and is missing")
	}
	users, err := newUsers(options.Upstream)
	if err != nil {
		return nil, err
	}
	inner, err := new(net.ListenConfig).Listen(ctx, "tcp", options.Addr)
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(inner.Addr().String())
	if err != nil {
		return nil, errors.Join(err, inner.Close())
	}
	p := &Proxy{options: options, listener: newListener(inner), users: users, journal: newJournal(options.Calls)}
	if p.identity, err = newIdentity(host); err == nil {
		p.token, err = p.Grant(options.Upstream)
	}
	if err != nil {
		return nil, errors.Join(err, inner.Close())
	}
	return p, nil
}

// Close ends the proxy and all its connections.
func (p *Proxy) Close() error {
	var err error
	p.once.Do(func() {
		p.listener.reach(Open) // held connections are released, so that they end
		err = p.server.Close()
		p.listener.cut()
		p.users.close()
	})
	return err
}

// Name returns the server's name, as in Options.
func (p *Proxy) Name() string { return p.options.Name }

// Addr returns the listening address: "127.0.0.1:<port>".
func (p *Proxy) Addr() string { return p.listener.Addr().String() }

// URL returns the address for clients.
func (p *Proxy) URL() string {
	if p.options.Plain {
		return "http://" + p.Addr()
	}
	return "https://" + p.Addr()
}

// CA returns the certificate authority that clients must trust, as PEM.
func (p *Proxy) CA() []byte { return p.identity.authority() }

// Config returns the access through the proxy as the user of Options.Upstream, without a rate limit.
func (p *Proxy) Config() *rest.Config { return p.ConfigOf(p.token) }

// ConfigOf returns the access through the proxy with a token from Grant.
func (p *Proxy) ConfigOf(token string) *rest.Config {
	config := &rest.Config{Host: p.URL(), BearerToken: token, QPS: -1}
	if !p.options.Plain {
		config.CAData = p.CA()
	}
	return config
}

// Kubeconfig returns Config as the content of a file, as in an access Secret.
func (p *Proxy) Kubeconfig() ([]byte, error) { return p.KubeconfigOf(p.token) }

// KubeconfigOf returns ConfigOf as the content of a file.
func (p *Proxy) KubeconfigOf(token string) ([]byte, error) {
	return localcluster.KubeconfigOf(p.options.Name, p.ConfigOf(token))
}

// Grant returns a token that stands for a user of the server behind. A bearer token that was not granted here is passed on unchanged.
func (p *Proxy) Grant(user *rest.Config) (string, error) { return p.users.grant(user) }

// Revoke invalidates a token: from now on, requests with it get 401.
func (p *Proxy) Revoke(token string) { p.users.revoke(token) }

// Renew gives the proxy another certificate authority, so that clients that trust only the previous one can no longer connect; the
// certificate is valid for the given time, which may be negative. Open connections are not affected: see Cut.
func (p *Proxy) Renew(good time.Duration) error { return p.identity.renew(good) }

// Reach sets the treatment of connections from now on, including open ones.
func (p *Proxy) Reach(r Reach) { p.listener.reach(r) }

// Cut ends all open connections, like a restart of the server. New ones are accepted.
func (p *Proxy) Cut() { p.listener.cut() }

// Connections returns how many connections were opened so far, and how many of them are open.
func (p *Proxy) Connections() (opened, standing int) { return p.listener.count() }

// Log lists the calls so far, oldest first.
func (p *Proxy) Log() []Call { return p.journal.since(0) }

// Since lists the calls after the n-th.
func (p *Proxy) Since(n uint64) []Call { return p.journal.since(n) }

// Last returns the number of the last call.
func (p *Proxy) Last() uint64 { return p.journal.last() }

// Lost returns how many calls the log dropped for lack of room.
func (p *Proxy) Lost() uint64 { return p.journal.lost() }

// bearer returns the token of a request, "" when it has none.
func bearer(r *http.Request) string {
	token, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found {
		return ""
	}
	return token
}
