package localcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// RegistryOptions configure the address of a registry and the storage of its blobs.
type RegistryOptions struct {
	// Addr to listen on; default a free port on loopback. An address that is not loopback is refused.
	Addr string
	// Dir holds the blobs; default in memory. Manifests are always in memory, so a registry starts empty.
	Dir string
}

// Kind is the kind of a request to a registry.
type Kind string

// The kinds of request.
const (
	ManifestHead Kind = "manifest HEAD"
	ManifestGet  Kind = "manifest GET"
	BlobHead     Kind = "blob HEAD"
	BlobGet      Kind = "blob GET"
	Tags         Kind = "tags"
	Upload       Kind = "upload"
	OtherRequest Kind = "other"
)

// Registry is an OCI registry that runs in this process, without TLS.
type Registry struct {
	// Host is where it listens: "127.0.0.1:<port>".
	Host string

	server *http.Server
	mu     sync.Mutex
	fault  Fault
	counts map[Kind]int
}

// StartRegistry starts a registry. It ends by Stop or with this process.
func StartRegistry(ctx context.Context, opts RegistryOptions) (*Registry, error) {
	listener, err := listenLoopback(ctx, opts.Addr)
	if err != nil {
		return nil, fmt.Errorf("cannot start a registry: %w", err)
	}
	options := []registry.Option{registry.Logger(log.New(io.Discard, "", 0))}
	if opts.Dir != "" {
		blobs := filepath.Join(opts.Dir, "blobs")
		if err := os.MkdirAll(blobs, 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("cannot start a registry in %s: %w", opts.Dir, err), listener.Close())
		}
		options = append(options, registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs)))
	}
	r := &Registry{Host: listener.Addr().String(), counts: map[Kind]int{}}
	r.server = &http.Server{Handler: r.handler(registry.New(options...)), ReadHeaderTimeout: time.Minute}
	go func() { _ = r.server.Serve(listener) }() // always ends with an error: ErrServerClosed after Stop
	return r, nil
}

// Stop ends the registry and its connections at once.
func (r *Registry) Stop() error { return r.server.Close() }

// Inject passes every following request through the fault; nil serves normally again.
func (r *Registry) Inject(fault Fault) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.fault = fault
}

// Count returns how many requests of a kind arrived, refused ones included.
func (r *Registry) Count(kind Kind) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[kind]
}

// Counts returns all counts; a kind that was never requested is absent.
func (r *Registry) Counts() map[Kind]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.counts)
}

// ResetCounts starts counting from zero.
func (r *Registry) ResetCounts() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts = map[Kind]int{}
}

func (r *Registry) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		r.counts[KindOf(req)]++
		fault := r.fault
		r.mu.Unlock()
		if fault != nil {
			fault(w, req, next)
			return
		}
		next.ServeHTTP(w, req)
	})
}

// KindOf returns the kind of a request, for faults that apply only to some requests.
func KindOf(req *http.Request) Kind {
	reading := req.Method == http.MethodGet || req.Method == http.MethodHead
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	if len(parts) < 4 || parts[0] != "v2" {
		return OtherRequest
	}
	switch parts[len(parts)-2] {
	case "manifests":
		return pick(req.Method, reading, ManifestHead, ManifestGet)
	case "blobs":
		return pick(req.Method, reading, BlobHead, BlobGet)
	case "tags":
		return Tags
	case "uploads":
		return Upload
	}
	return OtherRequest
}

func pick(method string, reading bool, head, get Kind) Kind {
	switch {
	case !reading:
		return Upload
	case method == http.MethodHead:
		return head
	}
	return get
}

// listenLoopback listens on addr, and never on an address that other machines can reach.
func listenLoopback(ctx context.Context, addr string) (net.Listener, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("address %q is no host:port: %w", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("address %q is not on loopback: use 127.0.0.1", addr)
	}
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", addr)
}
