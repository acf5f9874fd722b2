package proxy

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"k8s.io/client-go/rest"
)

// errRevoked is the error for a revoked token.
var errRevoked = errors.New("the token was revoked")

// users holds the transports to the server behind, one for each token and one for clients with other credentials.
type users struct {
	mutex     sync.RWMutex
	ways      map[string]http.RoundTripper // nil: revoked
	anonymous http.RoundTripper
	idle      []func()
}

func newUsers(upstream *rest.Config) (*users, error) {
	u := &users{ways: map[string]http.RoundTripper{}}
	way, err := u.way(rest.AnonymousClientConfig(upstream))
	u.anonymous = way
	return u, err
}

// way returns an unshared transport: client-go's cache of them would outlive the proxy.
func (u *users) way(config *rest.Config) (http.RoundTripper, error) {
	secure, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("cannot read the way to the server behind: %w", err)
	}
	transport := &http.Transport{TLSClientConfig: secure, ForceAttemptHTTP2: true, MaxIdleConnsPerHost: 100, DisableCompression: true}
	u.idle = append(u.idle, transport.CloseIdleConnections)
	return rest.HTTPWrappersForConfig(config, transport)
}

func (u *users) grant(config *rest.Config) (string, error) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	way, err := u.way(config)
	if err != nil {
		return "", err
	}
	token := "granted-" + rand.Text()
	u.ways[token] = way
	return token, nil
}

func (u *users) revoke(token string) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	u.ways[token] = nil
}

// known reports whether a token was granted here, and returns its transport if it is still valid.
func (u *users) known(token string) (http.RoundTripper, bool) {
	u.mutex.RLock()
	defer u.mutex.RUnlock()
	way, found := u.ways[token]
	return way, found
}

// RoundTrip sends on a request as the user that its token stands for.
func (u *users) RoundTrip(request *http.Request) (*http.Response, error) {
	way, found := u.known(bearer(request))
	if !found {
		return u.anonymous.RoundTrip(request)
	}
	if way == nil {
		return nil, errRevoked
	}
	request = request.Clone(request.Context())
	request.Header.Del("Authorization")
	return way.RoundTrip(request)
}

func (u *users) close() {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	for _, end := range u.idle {
		end()
	}
}
