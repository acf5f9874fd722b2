package content

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"
)

const (
	// maxPause bounds how long a registry can send us away.
	maxPause = 5 * time.Minute
	// maxErrorBody is what is read of an answer that is no content.
	maxErrorBody = 8 << 10
)

// OCI fetches layers from OCI registries into a Store. Use it by pointer; the fields are set once, before the first call.
type OCI struct {
	Store *Store
	Registries

	once    sync.Once
	client  *auth.Client
	flights singleflight.Group
	mu      sync.Mutex
	pauses  map[string]time.Time
}

// Layer is the path of the layer that ref names. It is fetched from the registry, by digest and as a blob, unless the store has it;
// concurrent calls for the same reference share one download.
//
// The download does not end with the caller that started it, because others may wait for it; it ends with Registries.Timeout. A
// registry that answers with Retry-After is left alone for that long.
func (o *OCI) Layer(ctx context.Context, ref Reference) (string, error) {
	if err := ref.validate(); err != nil {
		return "", err
	}
	path, err := o.Store.Path(ref.Digest)
	if !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	// The key is the reference and not the digest alone: that one repository lacks the content says nothing of another.
	flight := o.flights.DoChan(ref.String(), func() (any, error) {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), o.timeout())
		defer cancel()
		return o.fetch(bounded, ref)
	})
	select {
	case <-ctx.Done():
		return "", fmt.Errorf("wait for %s: %w", ref, ctx.Err())
	case result := <-flight:
		path, _ := result.Val.(string)
		return path, result.Err
	}
}

func (o *OCI) fetch(ctx context.Context, ref Reference) (string, error) {
	// A download that ended between the caller's look at the store and this one counts.
	if path, err := o.Store.Path(ref.Digest); err == nil {
		return path, nil
	}
	if err := o.paused(ref, time.Now()); err != nil {
		return "", err
	}
	response, err := o.get(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("fetch %s: %w", ref, RegistryError(err))
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", o.refused(ref, response)
	}
	body := &watched{Reader: response.Body}
	path, err := o.Store.Put(ref.Digest, response.ContentLength, body)
	if body.err != nil {
		return "", fmt.Errorf("fetch %s: %w", ref, RegistryError(fmt.Errorf("the answer broke off: %w", body.err)))
	}
	if err != nil {
		return "", fmt.Errorf("fetch %s: %w", ref, err)
	}
	return path, nil
}

// get asks for the blob. It is one request where the repository client of oras makes two for an answer without a length, and it leaves
// the judgement over size and digest to the store.
func (o *OCI) get(ctx context.Context, ref Reference) (*http.Response, error) {
	o.once.Do(func() { o.client = o.Registries.Client() })
	scope := registry.Reference{Registry: ref.Registry, Repository: ref.Repository}
	ctx = auth.AppendRepositoryScope(ctx, scope, auth.ActionPull)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, ref.blobURL(o.plainHTTP(ref.Registry)), nil)
	if err != nil {
		return nil, err
	}
	return o.client.Do(request)
}

// refused turns an answer that is no content into an *Error, and heeds a Retry-After.
func (o *OCI) refused(ref Reference, response *http.Response) error {
	answer := &errcode.ErrorResponse{
		Method: response.Request.Method, URL: response.Request.URL, StatusCode: response.StatusCode,
	}
	var body struct {
		Errors errcode.Errors `json:"errors"`
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxErrorBody)).Decode(&body); err == nil {
		answer.Errors = body.Errors
	}
	failed := &Error{
		Reason: reasonOfStatus(answer.StatusCode),
		Err:    fmt.Errorf("fetch %s: %s", ref, answerText(answer)),
	}
	if failed.Reason == ReasonRegistryUnreachable {
		failed.RetryAfter = retryAfter(response.Header.Get("Retry-After"), time.Now())
		o.pause(ref.Registry, failed.RetryAfter)
	}
	return failed
}

// pause keeps further fetches from a registry that asked for rest: thousands of Manifests may be about to ask it.
func (o *OCI) pause(host string, wait time.Duration) {
	if wait <= 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pauses == nil {
		o.pauses = map[string]time.Time{}
	}
	o.pauses[host] = time.Now().Add(wait)
}

func (o *OCI) paused(ref Reference, now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	until, ok := o.pauses[ref.Registry]
	if !ok {
		return nil
	}
	if !now.Before(until) {
		delete(o.pauses, ref.Registry)
		return nil
	}
	wait := until.Sub(now)
	return &Error{
		Reason:     ReasonRegistryUnreachable,
		Err:        fmt.Errorf("fetch %s: the registry asked not to be called for another %s", ref, wait.Round(time.Second)),
		RetryAfter: wait,
	}
}

// retryAfter reads the header of that name: seconds or a date.
func retryAfter(header string, now time.Time) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.ParseUint(header, 10, 32); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if date, err := http.ParseTime(header); err == nil {
		wait = date.Sub(now)
	}
	return min(max(wait, 0), maxPause)
}

// watched tells an error of the source from one of the store.
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
