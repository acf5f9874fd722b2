package clustercache

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

	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
)

// Variables, because tests also run on machines that are ten times slower.
var (
	// echoGrace is how long after our write an event may still be caused by it: the time between the response's first byte and Learn.
	echoGrace = 100 * time.Millisecond
	// echoLimit is the longest time that an event is postponed, however many writes are in progress.
	echoLimit = time.Second
)

// writes tracks our writes to a runtime that are in progress. A stream often shows a write before its response is read.
type writes struct {
	mu      sync.Mutex
	running int
	ended   time.Time
	removed func(path string, uid types.UID) // told of every accepted DELETE
}

// begin records the start of a call; the caller passes the response to done.
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
			w.removed(req.URL.Path, uidPrecondition(req))
		}
	}
}

// recent reports whether an event that arrives now may be caused by our own write.
func (w *writes) recent() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.running > 0 || time.Since(w.ended) < echoGrace
}

// selfWriteEvent is an event that our own write may have caused: its owners are enqueued unless the write's response shows the same.
type selfWriteEvent struct {
	version uint64
	owners  []types.NamespacedName
	since   time.Time
}

// postponeEventLocked postpones an event. The caller holds the lock.
func (r *Runtime) postponeEventLocked(s subject, version uint64, owners []types.NamespacedName) {
	since := time.Now()
	if earlier, ok := r.echoes[s]; ok {
		since = earlier.since
		for _, owner := range earlier.owners { // once each: an object can change ten thousand times until they are told
			if !slices.Contains(owners, owner) {
				owners = append(owners, owner)
			}
		}
	}
	r.echoes[s] = selfWriteEvent{version: version, owners: owners, since: since}
	if r.flush == nil {
		r.flush = time.AfterFunc(echoGrace, r.release)
	}
}

// release enqueues the owners of postponed events that no write of ours caused.
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
		r.echoes = make(map[subject]selfWriteEvent) // a map that was emptied is as large as it was
	}
	if len(r.echoes) > 0 && r.ctx.Err() == nil {
		r.flush = time.AfterFunc(echoGrace/2, r.release)
	}
	r.mu.Unlock()
	r.conn.tell(priority.Now, told...)
}

// tellOnce enqueues the told owners at once, and the ready ones with the priority that they had; an owner in both only once.
func (c *connection) tellOnce(told, ready []types.NamespacedName) {
	c.tell(priority.Now, told...)
	c.tell(priority.AsBefore, slices.DeleteFunc(ready, func(owner types.NamespacedName) bool { return slices.Contains(told, owner) })...)
}

// queues holds the controllers' queues.
type queues struct {
	mu   sync.RWMutex
	open map[*workqueue.TypedRateLimitingInterface[reconcile.Request]]Role
}

// Source feeds a controller's queue with the owners of a role that changes in runtimes concern. It never blocks and holds no channel: the
// queue itself deduplicates the requests.
func (f *Clusters) Source(role Role) source.Source {
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
func (q *queues) add(level priority.Level, owners ...types.NamespacedName) {
	if len(owners) == 0 {
		return
	}
	q.mu.RLock()
	defer q.mu.RUnlock()
	for _, owner := range owners {
		role, name := roleOf(owner)
		for queue, served := range q.open {
			if served == role {
				priority.Add(*queue, level, reconcile.Request{NamespacedName: name})
			}
		}
	}
}
