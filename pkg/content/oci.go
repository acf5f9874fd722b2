package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote/auth"
)

// The kinds of content of a repository, which are also path segments of the registry API.
const (
	blobs     = "blobs"
	manifests = "manifests"
)

// OCI fetches layers from OCI registries into a Store. Use it by pointer; set the fields once, before the first call.
type OCI struct {
	Store *Store
	Registries

	once    sync.Once
	client  *auth.Client
	flights singleflight.Group
	mu      sync.Mutex
	pauses  map[string]time.Time
}

// Layer returns the path of the stored layer that ref names. It fetches the layer from the registry, by digest and as a blob, unless the
// store has it; concurrent calls for the same reference share one download.
//
// The download does not end with the caller that started it, because others may wait for it; it ends after Registries.Timeout. A registry
// that responds with Retry-After gets no requests for that long.
func (o *OCI) Layer(ctx context.Context, ref Reference) (string, error) {
	return o.stored(ctx, blobs, ref)
}

// stored returns the path of a blob or a manifest, after fetching it if necessary.
func (o *OCI) stored(ctx context.Context, kind string, ref Reference) (string, error) {
	if err := ref.validate(); err != nil {
		return "", err
	}
	// The key is the reference and not only the digest: if one repository lacks the content, another may have it.
	key := kind + " " + ref.String()
	if isFresh(ctx) {
		key = "fresh " + key
	} else if path, err := o.Store.Path(ref.Digest); !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	return share(ctx, o, key, func(ctx context.Context) (string, error) {
		// Use a download that ended between the caller's check of the store and this one.
		if path, err := o.Store.Path(ref.Digest); err == nil && !isFresh(ctx) {
			return path, nil
		}
		return ask(ctx, o, ref.Registry, ref.Repository, "fetch "+ref.String(), func(ctx context.Context, at Endpoint) (string, error) {
			return o.fetch(ctx, at, kind, ref.Digest)
		})
	})
}

// share merges concurrent calls with the same key. The call continues if the first caller gives up.
func share[T any](ctx context.Context, o *OCI, key string, do func(context.Context) (T, error)) (T, error) {
	flight := o.flights.DoChan(key, func() (any, error) { return do(context.WithoutCancel(ctx)) })
	select {
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("wait for %s: %w", key, ctx.Err())
	case result := <-flight:
		answer, _ := result.Val.(T)
		return answer, result.Err
	}
}

// fetch stores one blob or manifest from one endpoint.
func (o *OCI) fetch(ctx context.Context, at Endpoint, kind, digest string) (string, error) {
	response, err := o.send(ctx, http.MethodGet, at, kind+"/"+digest)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	return o.receive(response, kind, digest)
}

// receive stores the body of a response.
func (o *OCI) receive(response *http.Response, kind, digest string) (string, error) {
	body := &watched{Reader: response.Body}
	var source io.Reader = body
	if kind == manifests {
		if response.ContentLength > maxManifest {
			return "", manifestTooLarge()
		}
		source = &manifestReader{source: body}
	}
	path, err := o.Store.Put(digest, response.ContentLength, source)
	if body.err != nil {
		return "", RegistryError(fmt.Errorf("the answer broke off: %w", body.err))
	}
	return path, err
}

// send requests from one endpoint and returns the response if its status is 200. For a blob it sends one request, while oras's repository
// client sends two if a response has no length. The store checks size and digest.
func (o *OCI) send(ctx context.Context, method string, at Endpoint, what string) (*http.Response, error) {
	o.once.Do(func() { o.client = o.Registries.Client() })
	scope := registry.Reference{Registry: at.Host, Repository: at.Repository}
	ctx = auth.AppendRepositoryScope(ctx, scope, auth.ActionPull)
	request, err := http.NewRequestWithContext(ctx, method, at.url(what), nil)
	if err != nil {
		return nil, err
	}
	request.Header["Accept"] = manifestTypes
	response, err := o.client.Do(request)
	if err != nil {
		return nil, RegistryError(err)
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		return nil, refused(response)
	}
	return response, nil
}

// watched distinguishes an error of the source from one of the store.
type watched struct {
	io.Reader
	err error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.err = err
	}
	return n, err
}
