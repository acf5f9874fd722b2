package fleet

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/internal/urgency"
)

// Variables, since tests hold on machines that are ten times slower.
var (
	// echoGrace is how long after a write of ours an event may still be its echo: the time between the answer's first byte and Learn.
	echoGrace = 100 * time.Millisecond
	// echoLimit is the longest that an event is held back, however busy we are writing.
	echoLimit = time.Second
)

// writes knows whether writes of ours are under way in a runtime. A stream often shows a write before its answer is read.
type writes struct {
	mu      sync.Mutex
	running int
	ended   time.Time
	removed func(path string, uid types.UID) // told of every accepted DELETE
}

// begin takes note of a call; done is to be called with its answer.
func (w *writes) begin(req *http.Request) (done func(*http.Response)) {
	if req.Method == http.MethodGet || req.Method == http.MethodHead {
		return func(*http.Response) {}
	}
	w.mu.Lock()
	w.running++
	w.mu.Unlock()
	return func(resp *http.Response) {
		w.mu.Lock()
		w.running--
		w.ended = time.Now()
		w.mu.Unlock()
		if req.Method == http.MethodDelete && resp != nil && resp.StatusCode < http.StatusMultipleChoices {
			w.removed(req.URL.Path, boundTo(req))
		}
	}
}

// recent says whether what a stream shows now may be the echo of a write of ours.
func (w *writes) recent() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running > 0 || time.Since(w.ended) < echoGrace
}

// echo is an event that may be a write of ours: it wakes its owners unless the write's answer tells the same.
type echo struct {
	version uint64
	owners  []types.NamespacedName
	since   time.Time
}

// postpone holds an event back. The caller holds the lock.
func (r *Runtime) postpone(s subject, version uint64, owners []types.NamespacedName) {
	since := time.Now()
	if earlier, ok := r.echoes[s]; ok {
		since = earlier.since
		for _, owner := range earlier.owners { // once each: an object can change ten thousand times until they are told
			if !slices.Contains(owners, owner) {
				owners = append(owners, owner)
			}
		}
	}
	r.echoes[s] = echo{version: version, owners: owners, since: since}
	if r.flush == nil {
		r.flush = time.AfterFunc(echoGrace, r.release)
	}
}

// release wakes those whose events were nobody's echo.
func (r *Runtime) release() {
	r.mu.Lock()
	recent := r.conn.writes.recent()
	var told []types.NamespacedName
	for s, e := range r.echoes {
		if !recent || time.Since(e.since) > echoLimit {
			told = append(told, e.owners...)
			delete(r.echoes, s)
		}
	}
	r.flush = nil
	if len(r.echoes) == 0 {
		r.echoes = make(map[subject]echo) // a map that was emptied is as large as it was
	}
	if len(r.echoes) > 0 && r.ctx.Err() == nil {
		r.flush = time.AfterFunc(echoGrace/2, r.release)
	}
	r.mu.Unlock()
	r.conn.tell(urgency.Now, told...)
}

// tellOnce enqueues those whom something new concerns at once, and those whose wait is over; who is both, once.
func (c *connection) tellOnce(told, ready []types.NamespacedName) {
	c.tell(urgency.Now, told...)
	c.tell(urgency.AsBefore, slices.DeleteFunc(ready, func(owner types.NamespacedName) bool { return slices.Contains(told, owner) })...)
}

// queues are the controllers' queues that are fed.
type queues struct {
	mu   sync.RWMutex
	open map[*workqueue.TypedRateLimitingInterface[reconcile.Request]]Role
}

// Source feeds a controller's queue with the owners of a role that changes in runtimes concern. It never blocks and holds no channel: the
// queue itself keeps every request once.
func (f *Fleet) Source(role Role) source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		q := &f.queues
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.open == nil {
			q.open = make(map[*workqueue.TypedRateLimitingInterface[reconcile.Request]]Role)
		}
		q.open[&queue] = role
		context.AfterFunc(ctx, func() {
			q.mu.Lock()
			defer q.mu.Unlock()
			delete(q.open, &queue)
		})
		return nil
	})
}

// add enqueues owners; no lock of a runtime may be held.
func (q *queues) add(level urgency.Level, owners ...types.NamespacedName) {
	if len(owners) == 0 {
		return
	}
	q.mu.RLock()
	defer q.mu.RUnlock()
	for _, owner := range owners {
		role, name := roleOf(owner)
		for queue, served := range q.open {
			if served == role {
				urgency.Add(*queue, level, reconcile.Request{NamespacedName: name})
			}
		}
	}
}
