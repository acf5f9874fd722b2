package clustercache

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/h2stream"
	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache/wire"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// Streams are renewed after one to two hours: rarely enough to cost nothing, and not all at once.
const (
	shortestWatch = time.Hour
	watchSpread   = time.Hour
)

// stream is one watch of a kind, with the selection that it was opened with.
type stream struct {
	gvk      schema.GroupVersionKind
	resource *apply.Resource
	needs    readLevel
	only     objectKey
	resume   string
	begun    time.Time

	opened  time.Time // when the answer began
	carried bool      // it told something
}

// handed is a stream's body that can call back with its data, so that no goroutine waits for it.
type handed interface {
	io.Closer
	// Outlive detaches the stream from the context of its request: only Close ends it from our side.
	Outlive()
	HandOver(deliver func([]byte) error, ended func(error))
}

// watch opens the stream of a kind; s is nil when none is needed. handedOver means that the stream continues without this goroutine: its
// end will start another one.
func (r *Runtime) watch(ctx context.Context, k *kind) (s *stream, handedOver bool, err error) {
	leash := &streamCanceler{}
	opening, opened := leash.openContext(ctx)
	if s = r.begin(k, leash.cancel); s == nil {
		opened()
		return nil, false, errCut
	}
	body, err := r.openInTime(opening, opened, s)
	if err != nil {
		defer opened()
		return s, false, r.end(ctx, k, leash, err)
	}
	r.began(k, s)
	cutter := &wire.Splitter{Max: wire.MaxEvent, Shared: &r.carried}
	deliver := func(data []byte) error {
		return cutter.Feed(data, func(event []byte) error { return r.event(k, s, event) })
	}
	ended := func(err error) error {
		if at := cutter.End(); errors.Is(err, io.EOF) {
			err = at
		}
		return r.end(ctx, k, leash, err)
	}
	if body, ok := body.(handed); ok {
		body.Outlive()
		leash.attach(body)
		opened()
		body.HandOver(deliver, func(err error) {
			r.conn.spawn(func() { r.resumeListAndWatch(ctx, k, s, ended(err)) })
		})
		return s, true, nil
	}
	defer opened()
	defer func() { _ = body.Close() }()
	return s, false, ended(pull(body, deliver))
}

// openInTime opens a stream, or gives up. The limit covers the response's head, for which an h2Conn waits as long, and an error response
// that never ends.
func (r *Runtime) openInTime(ctx context.Context, giveUp context.CancelFunc, s *stream) (io.ReadCloser, error) {
	var late atomic.Bool
	timer := time.AfterFunc(2*h2stream.CallTimeout, func() {
		late.Store(true)
		giveUp()
	})
	defer timer.Stop()
	body, err := r.open(ctx, s)
	if err != nil && late.Load() {
		return nil, fmt.Errorf("no answer to a watch: %w", context.DeadlineExceeded)
	}
	return body, err
}

// began records that a stream was established. Owners that know that the kind cannot be watched are enqueued once the stream has lasted.
func (r *Runtime) began(k *kind, s *stream) {
	s.opened = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	k.stream = s
	if k.doubt == nil {
		return
	}
	time.AfterFunc(minStreamLife, func() {
		r.mu.Lock()
		var told []types.NamespacedName
		if r.kinds[k.gk] == k && k.stream == s {
			k.noteStream(time.Now())
			told = r.markDoubtedLocked(k)
		}
		r.mu.Unlock()
		r.conn.tell(priority.Now, told...)
	})
}

// cancel reads a body that cannot call back.
func pull(body io.Reader, deliver func([]byte) error) error {
	buf := make([]byte, 4<<10)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			if err := deliver(buf[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// begin records that a stream is about to be opened, and returns it; nil when none is needed.
func (r *Runtime) begin(k *kind, cut context.CancelFunc) *stream {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !k.watched || k.due || !k.listed {
		return nil
	}
	k.cut = cut
	gvk := servedKind(k.gk).WithVersion(k.resource.Version)
	return &stream{gvk: gvk, resource: k.resource, needs: k.spec.needs, only: k.spec.only, resume: k.resume, begun: time.Now()}
}

// end records that a stream has ended, and returns why: errCut when that was on purpose, nil when the server closed it properly.
func (r *Runtime) end(ctx context.Context, k *kind, l *streamCanceler, err error) error {
	r.mu.Lock()
	k.cut, k.stream = nil, nil
	r.mu.Unlock()
	switch {
	case ctx.Err() != nil || l.canceled():
		return errCut
	case errors.Is(err, io.EOF):
		return nil
	}
	return err
}

// open makes the WATCH call. It requests no bookmarks: one per minute and stream, they were most of the cost of idle runtimes (ADR 3).
// A kind that must be listed again without them costs one list of metadata in an hour or more.
func (r *Runtime) open(ctx context.Context, s *stream) (io.ReadCloser, error) {
	w := trackSpec{needs: s.needs, only: s.only}
	query := r.query(w)
	query.Set("watch", "true")
	query.Set("resourceVersion", s.resume)
	query.Set("timeoutSeconds", strconv.Itoa(int((shortestWatch + time.Duration(jitter()*float64(watchSpread))).Seconds())))
	accept := acceptMeta
	if s.needs.full() {
		accept = acceptFull
	}
	// without "identity" every stream would carry the buffers of a decompressor
	header := http.Header{"Accept": {accept}, "Accept-Encoding": {"identity"}}
	maps.Copy(header, r.conn.stamp)
	resp, err := r.call(marked(ctx, markStream), r.objectsURL(s.resource, w), query, header)
	if err != nil {
		return nil, tooOld(err)
	}
	resp.Request, resp.Header = nil, nil // would be kept for as long as the stream lives
	return resp.Body, nil
}

// tooOld recognises the responses that require a new list.
func tooOld(err error) error {
	if apierrors.IsGone(err) || apierrors.IsResourceExpired(err) || apierrors.IsBadRequest(err) {
		return fmt.Errorf("%w: %w", errExpired, err)
	}
	return err
}

// event handles one event; nil means one that was too large. An unreadable event ends the stream: its kind is listed.
func (r *Runtime) event(k *kind, s *stream, data []byte) error {
	if data == nil || tooHeavy(data) {
		r.cfg.Log.Info("An event was too large to be read; the kind is listed", "runtime", r.conn.target.String(), "kind", k.gk.String())
		return errMissed
	}
	e, err := wire.ReadEvent(data, s.needs.depth())
	if err != nil {
		return fmt.Errorf("%w: one of %s cannot be read: %w", errMissed, k.gk, err)
	}
	switch e.Type {
	case "ADDED", "MODIFIED":
		err = r.observe(k, s, &e.Object, r.reduce(&e.Object, s.gvk, s.needs))
	case "DELETED":
		err = r.observe(k, s, &e.Object, nil)
	case "BOOKMARK":
		r.bookmark(k, e.Object.Metadata.ResourceVersion)
	case "ERROR":
		return tooOld(&apierrors.StatusError{ErrStatus: *wire.ReadFailure(r.conn.redact(data))})
	default:
		return fmt.Errorf("%w: one of %s has the unknown type %.20q", errMissed, k.gk, e.Type)
	}
	s.carried = s.carried || err == nil
	return err
}

// tooHeavy reports whether an event would take more memory than allowed.
func tooHeavy(data []byte) bool {
	return len(data) > giantFrom && (&responseBudget{most: maxAnswer}).add(data) != nil
}
