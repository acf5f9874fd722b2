package descriptor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Mapping is how a component name is mapped to the path of an OCI repository.
type Mapping string

const (
	// URLPath keeps the name: component-descriptors/<name>. It is OCM's default, and that of this package.
	URLPath Mapping = "urlPath"
	// SHA256 uses the hex sha256 of the name, for registries that allow only two path segments.
	SHA256 Mapping = "sha256-digest"
)

const (
	// DefaultMaxDescriptor is the default maximum size of a component descriptor, in bytes.
	DefaultMaxDescriptor = 100 << 10
	// maxManifest is far above what a manifest of a hundred layers needs.
	maxManifest = 1 << 20
	// maxConfig is far above what the one descriptor in it needs.
	maxConfig = 64 << 10
	// patience is the time limit for all requests of one call, so that an unresponsive registry does not block callers for long.
	patience = 30 * time.Second
)

// Registries configures requests to a registry. The zero value uses HTTPS without credentials.
type Registries struct {
	// PlainHTTP uses HTTP instead of HTTPS.
	PlainHTTP bool
	// Credentials returns the login for a host ("host[:port]"); nil means anonymous.
	Credentials func(ctx context.Context, host string) (auth.Credential, error)
	// Transport carries the requests; nil means content.Transport.
	Transport http.RoundTripper
	// Policy returns the settings of a host (host[:port]): certificates, plain HTTP and mirrors, which are tried first; nil means no special
	// settings. It is the Policy of content.Registries.
	Policy func(host string) content.HostPolicy
}

// Reader reads component versions from one registry. It is safe for concurrent use.
type Reader struct {
	// Registry is the registry's host with an optional port, without scheme and path.
	Registry string
	// SubPath is the path of the components below the host; may be empty.
	SubPath string
	// Mapping maps names to repositories; empty means URLPath.
	Mapping Mapping
	Registries
	// MaxDescriptor limits the size of component-descriptor.yaml, in bytes; 0 means DefaultMaxDescriptor.
	MaxDescriptor int64
}

// Get reads one component version: its manifest, its config and its descriptor, three requests in all. The error is an
// *Error unless ctx was cancelled.
func (r *Reader) Get(ctx context.Context, name, version string) (*Component, error) {
	document, err := r.GetDocument(ctx, name, version)
	if err != nil {
		return nil, err
	}
	return document.Component, nil
}

// GetDocument is Get, and also returns the bytes.
func (r *Reader) GetDocument(ctx context.Context, name, version string) (*Document, error) {
	where, repositories, err := r.open(ctx, name, version)
	if err != nil {
		return nil, err
	}
	document, err := eachOf(ctx, repositories, func(ctx context.Context, from *remote.Repository) (*Document, error) {
		document, err := r.read(ctx, from, where.tag)
		if err == nil && (document.Name != name || document.Version != version) {
			return nil, invalid("its descriptor is of %s:%s", document.Name, document.Version)
		}
		return document, err
	})
	if err != nil {
		return nil, where.explain(ctx, err)
	}
	// The location is the registry, not the mirror: fetching its layers tries the mirrors again.
	document.Repository = baseURL(r.Registry, where.repository)
	document.RepositoryName = where.name
	return document, nil
}

// Locate returns where a component version is in a registry: the path of its repository below the host, and its tag.
func Locate(subPath string, mapping Mapping, name, version string) (repository, tag string, err error) {
	where, err := locate(subPath, mapping, name, version)
	return where.path(), where.tag, err
}

// GetDigest returns the digest of a component version's manifest with a single HEAD request, which is enough to detect that a version was
// pushed again.
func (r *Reader) GetDigest(ctx context.Context, name, version string) (string, error) {
	where, repositories, err := r.open(ctx, name, version)
	if err != nil {
		return "", err
	}
	digest, err := eachOf(ctx, repositories, func(ctx context.Context, from *remote.Repository) (string, error) {
		manifest, err := from.Manifests().Resolve(ctx, where.tag)
		return manifest.Digest.String(), err
	})
	if err != nil {
		return "", where.explain(ctx, err)
	}
	return digest, nil
}

// open returns the repository of a component version and its mirrors, without a request.
func (r *Reader) open(ctx context.Context, name, version string) (place, []*remote.Repository, error) {
	where, err := locate(r.SubPath, r.Mapping, name, version)
	if err != nil {
		return place{}, nil, err
	}
	if err := r.unknown(ctx); err != nil {
		return place{}, nil, err
	}
	where.registry = baseURL(r.Registry, r.SubPath)
	reference := registry.Reference{Registry: r.Registry, Repository: where.path(), Reference: where.tag}
	if err := reference.ValidateRegistry(); err != nil {
		return place{}, nil, &Error{Reason: ReasonUnreachable, Err: fmt.Errorf("registry must be host[:port] without scheme and path: %w", err)}
	}
	if err := reference.Validate(); err != nil {
		return place{}, nil, where.explain(context.Background(), invalid("it has no valid place in a registry: %w", err))
	}
	repositories, err := r.repositories(reference)
	if err != nil {
		return place{}, nil, where.explain(context.Background(), &Error{Reason: ReasonUnreachable, Err: err})
	}
	return where, repositories, nil
}

// unknown returns an error if there is no registry, because it comes with the login and the login is missing.
func (r *Reader) unknown(ctx context.Context) error {
	if r.Registry != "" || r.Credentials == nil {
		return nil
	}
	if _, err := r.Credentials(ctx, ""); err != nil {
		return &Error{Reason: ReasonUnauthorized, Err: fmt.Errorf("no registry is known to ask: %w", err)}
	}
	return nil
}

// plain reports whether a host is accessed without TLS. The registry's setting does not apply to its token service and its mirrors.
func (r *Reader) plain(host string) bool {
	return r.PlainHTTP && strings.EqualFold(host, r.Registry) || r.Policy != nil && r.Policy(host).PlainHTTP
}

// client returns the HTTP client of one call. It keeps tokens for that call only, so that changed credentials need no invalidation. It does
// not retry, since callers have their own back-off.
func (r *Reader) client() *auth.Client {
	transport := r.Transport
	if transport == nil {
		transport = content.Transport()
	}
	return &auth.Client{
		Client: &http.Client{Transport: content.LoginTransport(content.HostTransport(transport, r.Policy), r.plain)},
		Cache:  auth.NewCache(),
		Credential: func(ctx context.Context, host string) (auth.Credential, error) {
			if r.Credentials == nil {
				return auth.EmptyCredential, nil
			}
			login, err := r.Credentials(ctx, host)
			if err == nil && (login.Username == "") != (login.Password == "") && login.RefreshToken == "" && login.AccessToken == "" {
				err = errors.New("user or password is missing")
			}
			if err != nil {
				return auth.EmptyCredential, &Error{Reason: ReasonUnauthorized, Err: fmt.Errorf("credentials for %s: %w", host, err)}
			}
			return login, nil
		},
	}
}
