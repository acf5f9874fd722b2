package conversion

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// DefaultLifetime is the lifetime of a certificate; it is renewed after two thirds of that.
const DefaultLifetime = 90 * 24 * time.Hour

// Webhook serves conversions. It is a Runnable of every replica.
type Webhook struct {
	// Addr is the address to listen on, such as ":9443".
	Addr string
	// Endpoint is the address at which the API server reaches it.
	Endpoint Endpoint
	// Secret holds the certificate.
	Secret types.NamespacedName
	// Lifetime of a certificate.
	Lifetime time.Duration
	// Client reads and writes the Secret and the definitions.
	Client dynamic.Interface
	Log    logr.Logger
	Now    func() time.Time
	// Listening is called with the address once it is open, for tests that listen on port 0; may be nil.
	Listening func(net.Addr)

	serving atomic.Pointer[tls.Certificate]
	ready   atomic.Bool
}

// NeedLeaderElection returns false: every replica serves.
func (w *Webhook) NeedLeaderElection() bool { return false }

// Ready returns nil once there is a certificate and the definitions have its CA. After that it never fails again: removing every replica
// from the Service would not solve a later problem of the API servers.
func (w *Webhook) Ready(*http.Request) error {
	if !w.ready.Load() {
		return fmt.Errorf("the conversion webhook waits for its certificate in the Secret %s, and for its CA in the definitions", w.Secret)
	}
	return nil
}

// Start serves until the context ends.
func (w *Webhook) Start(ctx context.Context) error {
	if err := w.run(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("conversion webhook: %w", err)
	}
	return nil
}

func (w *Webhook) run(ctx context.Context) error {
	handler, err := NewHandler()
	if err != nil {
		return err
	}
	address, err := url.Parse(w.Endpoint.URL)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", w.Addr)
	if err != nil {
		return err
	}
	if w.Listening != nil {
		w.Listening(listener.Addr())
	}
	keeper := newCertRotator(w, want{hosts: w.Endpoint.hosts(address.Hostname()), lifetime: w.Lifetime})
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return w.serve(ctx, listener, handler) })
	group.Go(func() error { return keeper.run(ctx) })
	return group.Wait()
}
