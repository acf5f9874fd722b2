package content

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	"k8s.io/utils/lru"
)

// Docker Hub's API has another host than its name; its policy is that of its name.
const (
	hub    = "docker.io"
	hubAPI = "registry-1.docker.io"
)

// HostPolicy holds the settings of one registry host.
type HostPolicy struct {
	// PlainHTTP uses HTTP for the host.
	PlainHTTP bool
	// CA holds PEM certificates that may sign the host's, in addition to those of the system.
	CA []byte
	// Mirrors are tried before the host itself, in their order: host[:port][/path], where the path is put before that of the repository. A
	// mirror has its own policy and credentials; its mirrors are not used.
	Mirrors []string
}

// Validate returns an error if certificates or mirrors cannot be used.
func (p HostPolicy) Validate() error {
	if len(p.CA) > 0 {
		if _, err := withCA(nil, p.CA); err != nil {
			return err
		}
	}
	for _, mirror := range p.Mirrors {
		if _, _, err := parseMirror(mirror); err != nil {
			return err
		}
	}
	return nil
}

// Endpoint is one place where a repository can be read.
type Endpoint struct {
	// Host is host[:port].
	Host string
	// Repository is the path on that host.
	Repository string
	// PlainHTTP uses HTTP for the host.
	PlainHTTP bool
	// Mirror reports whether the endpoint is a mirror of the requested registry.
	Mirror bool
}

// Endpoints returns the endpoints of a repository, in the order in which they are tried: the mirrors of its host, then the host. Only a
// mirror's own policy determines whether HTTP is used for it: PlainHTTP of a host does not apply to its mirrors.
func (r Registries) Endpoints(host, repository string) ([]Endpoint, error) {
	policy := r.policy(host)
	found := make([]Endpoint, 0, len(policy.Mirrors)+1)
	for _, mirror := range policy.Mirrors {
		at, prefix, err := parseMirror(mirror)
		if err != nil {
			return nil, &Error{Reason: ReasonRegistryUnreachable, Err: fmt.Errorf("registry %s: %w", host, err)}
		}
		found = append(found, Endpoint{
			Host: at, Repository: path.Join(prefix, repository), PlainHTTP: r.policy(at).PlainHTTP, Mirror: true,
		})
	}
	return append(found, Endpoint{Host: host, Repository: repository, PlainHTTP: r.plain(host)}), nil
}

// url returns the address in the registry API of something in the repository, such as "blobs/<digest>".
func (e Endpoint) url(what string) string {
	scheme := "https"
	if e.PlainHTTP {
		scheme = "http"
	}
	host := e.Host
	if host == hub {
		host = hubAPI
	}
	return scheme + "://" + host + "/v2/" + e.Repository + "/" + what
}

func (r Registries) policy(host string) HostPolicy {
	if r.Policy == nil {
		return HostPolicy{}
	}
	return r.Policy(host)
}

func parseMirror(mirror string) (host, prefix string, err error) {
	host, prefix, hasPath := strings.Cut(mirror, "/")
	host = strings.ToLower(host)
	if err := CheckHost(host); err != nil {
		return "", "", fmt.Errorf("mirror %s: %w; it must be host[:port][/path], without a scheme", Quote(mirror), err)
	}
	if hasPath {
		if err := checkRepository(prefix); err != nil {
			return "", "", fmt.Errorf("mirror %s: no registry can have its path", Quote(mirror))
		}
	}
	return host, prefix, nil
}

// HostTransport returns base with the certificates that policy has for the host of a request, whatever caused it: a registry, its token
// service, or a redirect.
func HostTransport(base http.RoundTripper, policy func(host string) HostPolicy) http.RoundTripper {
	if policy == nil {
		return redacting{base}
	}
	return redacting{hostTransport{base: base, policy: policy}}
}

type hostTransport struct {
	base   http.RoundTripper
	policy func(host string) HostPolicy
}

// RoundTrip sends the request.
func (t hostTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	host := request.URL.Host
	if host == hubAPI {
		host = hub
	}
	ca := t.policy(host).CA
	if len(ca) == 0 || request.URL.Scheme != "https" {
		return t.base.RoundTrip(request)
	}
	base := t.base
	if shared, is := base.(byContext); is {
		base = shared.of(request)
	}
	trusting, err := transportFor(base, ca)
	if err != nil {
		return nil, &Error{Reason: ReasonRegistryUnreachable, Err: fmt.Errorf("registry host %s: %w", host, err)}
	}
	return trusting.RoundTrip(request)
}

// maxTransports limits the transports that are kept; the least recently used one is dropped.
const maxTransports = 64

// trusting keeps a transport for each set of certificates, because connections are kept per transport. A dropped one closes its idle
// connections; requests in progress are not interrupted.
var trusting = lru.NewWithEvictionFunc(maxTransports, func(_ lru.Key, value any) {
	if transport, ok := value.(*http.Transport); ok {
		transport.CloseIdleConnections()
	}
})

type trustKey struct {
	base *http.Transport
	ca   string
}

func transportFor(base http.RoundTripper, ca []byte) (http.RoundTripper, error) {
	plain, ok := base.(*http.Transport)
	if !ok {
		return nil, errors.New("its certificates cannot be used with a transport of another kind than *http.Transport")
	}
	key := trustKey{plain, string(ca)}
	if known, ok := trusting.Get(key); ok {
		transport, _ := known.(*http.Transport)
		return transport, nil
	}
	transport := plain.Clone()
	config, err := withCA(transport.TLSClientConfig, ca)
	if err != nil {
		return nil, err
	}
	transport.TLSClientConfig = config
	trusting.Add(key, transport)
	return transport, nil
}

// withCA returns a TLS configuration that also trusts ca.
func withCA(config *tls.Config, ca []byte) (*tls.Config, error) {
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	roots := x509.NewCertPool()
	if config.RootCAs != nil {
		roots = config.RootCAs.Clone()
	} else if system, err := x509.SystemCertPool(); err == nil {
		roots = system
	}
	if !roots.AppendCertsFromPEM(ca) {
		return nil, errors.New("its ca holds no PEM certificate")
	}
	config = config.Clone()
	config.RootCAs = roots
	return config, nil
}
