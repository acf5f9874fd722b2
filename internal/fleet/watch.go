package fleet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// Streams are renewed after one to two hours: rarely enough to cost nothing, and not all at once.
const (
	shortestWatch = time.Hour
	watchSpread   = time.Hour
)

// stream is what a watch needs to know of its kind.
type stream struct {
	gvk      schema.GroupVersionKind
	resource *apply.Resource
	needs    needs
	resume   string
}

// watch follows the events of a kind until its stream ends: nil when that was the stream's own doing.
func (r *Runtime) watch(ctx context.Context, k *kind) error {
	ctx, cut := context.WithCancel(ctx)
	defer cut()
	s := r.begin(k, cut)
	if s == nil {
		return errCut
	}
	defer r.end(k)
	body, err := r.open(ctx, s)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	err = r.events(k, s, body)
	switch {
	case ctx.Err() != nil:
		return errCut
	case errors.Is(err, io.EOF):
		return nil
	}
	return err
}

// begin notes that a stream is about to be opened; nil when none is wanted.
func (r *Runtime) begin(k *kind, cut context.CancelFunc) *stream {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !k.watched || k.due || k.resource == nil {
		return nil
	}
	k.cut = cut
	gvk := k.gk.WithVersion(k.resource.Version)
	return &stream{gvk: gvk, resource: k.resource, needs: k.wish.needs, resume: k.resume}
}

func (r *Runtime) end(k *kind) {
	r.mu.Lock()
	defer r.mu.Unlock()
	k.cut = nil
}

// open makes the WATCH call.
func (r *Runtime) open(ctx context.Context, s *stream) (io.ReadCloser, error) {
	query := r.query(s.needs)
	query.Set("watch", "true")
	query.Set("allowWatchBookmarks", "true")
	query.Set("resourceVersion", s.resume)
	query.Set("timeoutSeconds", strconv.Itoa(int((shortestWatch + time.Duration(jitter()*float64(watchSpread))).Seconds())))
	accept := acceptMeta
	if s.needs.full() {
		accept = acceptFull
	}
	// without "identity" every stream would carry the buffers of a decompressor
	header := http.Header{"Accept": {accept}, "Accept-Encoding": {"identity"}}
	resp, err := r.call(marked(ctx, markStream), r.collection(s.resource), query, header)
	if err != nil {
		return nil, tooOld(err)
	}
	return resp.Body, nil
}

// tooOld recognises the answers that ask for a new list.
func tooOld(err error) error {
	if apierrors.IsGone(err) || apierrors.IsResourceExpired(err) || apierrors.IsBadRequest(err) {
		return fmt.Errorf("%w: %w", errExpired, err)
	}
	return err
}

// events reads a stream to its end.
func (r *Runtime) events(k *kind, s *stream, body io.Reader) error {
	f := newFrames(body, maxEvent)
	defer f.release()
	for {
		data, err := f.next()
		if errors.Is(err, errOversized) {
			r.cfg.Log.Info("an event was too large to be read", "runtime", r.conn.target.String(), "kind", k.gk.String())
			continue
		}
		if err != nil {
			return err
		}
		if err := r.event(k, s, data); err != nil {
			return err
		}
	}
}

// event takes one event.
func (r *Runtime) event(k *kind, s *stream, data []byte) error {
	e, err := readEvent(data, s.needs.full())
	if err != nil {
		return fmt.Errorf("an event of %s cannot be read: %w", k.gk, err)
	}
	switch e.Type {
	case "ADDED", "MODIFIED":
		r.observe(k, &e.Object, r.reduce(&e.Object, s.gvk, s.needs))
	case "DELETED":
		r.observe(k, &e.Object, nil)
	case "BOOKMARK":
		r.bookmark(k, e.Object.Metadata.ResourceVersion)
	case "ERROR":
		return tooOld(&apierrors.StatusError{ErrStatus: *readFailure(data)})
	default:
		return fmt.Errorf("an event of %s has the unknown type %.20q", k.gk, e.Type)
	}
	return nil
}
