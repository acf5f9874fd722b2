package fleet

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

	"github.com/kyma-project/lifecycle-manager/internal/urgency"
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
	only     place
	resume   string
	begun    time.Time

	opened  time.Time // when the answer began
	carried bool      // it told something
}

// handed is a stream's body that can hand over what comes, so that no goroutine has to wait for it.
type handed interface {
	io.Closer
	// outlive takes the stream off the context of its request: only Close ends it from our side.
	outlive()
	handOver(deliver func([]byte) error, ended func(error))
}

// watch opens the stream of a kind; s is nil when none is wanted. handedOver says that it goes on without us: its end will start another
// goroutine.
func (r *Runtime) watch(ctx context.Context, k *kind) (s *stream, handedOver bool, err error) {
	leash := &leash{}
	opening, opened := leash.hold(ctx)
	if s = r.begin(k, leash.pull); s == nil {
		opened()
		return nil, false, errCut
	}
	body, err := r.openInTime(opening, opened, s)
	if err != nil {
		defer opened()
		return s, false, r.end(ctx, k, leash, err)
	}
	r.began(k, s)
	cutter := &cutter{max: maxEvent, together: &r.carried}
	deliver := func(data []byte) error {
		return cutter.feed(data, func(event []byte) error { return r.event(k, s, event) })
	}
	ended := func(err error) error {
		if at := cutter.end(); errors.Is(err, io.EOF) {
			err = at
		}
		return r.end(ctx, k, leash, err)
	}
	if body, ok := body.(handed); ok {
		body.outlive()
		leash.pass(body)
		opened()
		body.handOver(deliver, func(err error) {
			r.conn.spawn(func() { r.carryOn(ctx, k, s, ended(err)) })
		})
		return s, true, nil
	}
	defer opened()
	defer func() { _ = body.Close() }()
	return s, false, ended(pull(body, deliver))
}

// openInTime opens a stream, or gives up. That concerns the answer's head, which a trunk waits for as long, and an answer that tells of an
// error and never comes to its end.
func (r *Runtime) openInTime(ctx context.Context, giveUp context.CancelFunc, s *stream) (io.ReadCloser, error) {
	var late atomic.Bool
	timer := time.AfterFunc(2*callTimeout, func() {
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

// began notes that a stream came up. Where owners were told that the kind cannot be watched, they hear that it can when that has lasted.
func (r *Runtime) began(k *kind, s *stream) {
	s.opened = time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	k.stream = s
	if k.doubt == nil {
		return
	}
	time.AfterFunc(glance, func() {
		r.mu.Lock()
		var told []types.NamespacedName
		if r.kinds[k.gk] == k && k.stream == s {
			k.shown(time.Now())
			told = r.doubted(k)
		}
		r.mu.Unlock()
		r.conn.tell(urgency.Now, told...)
	})
}

// pull reads a body that cannot hand over.
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

// begin notes that a stream is about to be opened; nil when none is wanted.
func (r *Runtime) begin(k *kind, cut context.CancelFunc) *stream {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !k.watched || k.due || !k.listed {
		return nil
	}
	k.cut = cut
	gvk := k.gk.WithVersion(k.resource.Version)
	return &stream{gvk: gvk, resource: k.resource, needs: k.wish.needs, only: k.wish.only, resume: k.resume, begun: time.Now()}
}

// end notes that a stream is over, and says why: cut when that was on purpose, nil when it was the server's doing, in order and on time.
func (r *Runtime) end(ctx context.Context, k *kind, l *leash, err error) error {
	r.mu.Lock()
	k.cut, k.stream = nil, nil
	r.mu.Unlock()
	switch {
	case ctx.Err() != nil || l.cut():
		return errCut
	case errors.Is(err, io.EOF):
		return nil
	}
	return err
}

// open makes the WATCH call. It asks for no bookmarks: one a minute and stream, they were most of what a fleet at rest costs (ADR 3).
// Where a kind has to be listed anew for want of them, that is one list of metadata in an hour or more.
func (r *Runtime) open(ctx context.Context, s *stream) (io.ReadCloser, error) {
	w := wish{needs: s.needs, only: s.only}
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
	resp, err := r.call(marked(ctx, markStream), r.place(s.resource, w), query, header)
	if err != nil {
		return nil, tooOld(err)
	}
	resp.Request, resp.Header = nil, nil // would be kept for as long as the stream lives
	return resp.Body, nil
}

// tooOld recognises the answers that ask for a new list.
func tooOld(err error) error {
	if apierrors.IsGone(err) || apierrors.IsResourceExpired(err) || apierrors.IsBadRequest(err) {
		return fmt.Errorf("%w: %w", errExpired, err)
	}
	return err
}

// event takes one event; nil stands for one that was too large. What cannot be read ends the stream: the object that it told of is listed.
func (r *Runtime) event(k *kind, s *stream, data []byte) error {
	if data == nil || tooHeavy(data) {
		r.cfg.Log.Info("An event was too large to be read; the kind is listed", "runtime", r.conn.target.String(), "kind", k.gk.String())
		return errMissed
	}
	e, err := readEvent(data, s.needs)
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
		return tooOld(&apierrors.StatusError{ErrStatus: *readFailure(r.conn.hide(data))})
	default:
		return fmt.Errorf("%w: one of %s has the unknown type %.20q", errMissed, k.gk, e.Type)
	}
	s.carried = s.carried || err == nil
	return err
}

// tooHeavy says that an event would become more in memory than is read.
func tooHeavy(data []byte) bool {
	return len(data) > giantFrom && (&scale{most: maxAnswer}).add(data) != nil
}
