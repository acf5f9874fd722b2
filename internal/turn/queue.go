package turn

import (
	"context"
	"sync"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// crowd is how many passes there may be for each turn. All but one of them wait for runtimes, at the cost of a goroutine; when there are
// no more of them, everybody waits for whoever is answered first.
const crowd = 64

// Queue is what a controller gets its requests from.
type Queue = priorityqueue.PriorityQueue[reconcile.Request]

// Bound has a controller take turns, as many as its options give it workers. keep, unless it is nil, is put around the queue. Without
// Turns (nil) there are as many passes as workers, and nobody can yield.
func (t *Turns) Bound(
	options controller.Options, keep func(Queue) workqueue.TypedRateLimitingInterface[reconcile.Request],
) controller.Options {
	if t != nil {
		count := max(options.MaxConcurrentReconciles, 1)
		options.MaxConcurrentReconciles = count * crowd
		t.free, t.passes = make(chan struct{}, count), make(map[reconcile.Request]*Turn, count)
		for range count {
			t.free <- struct{}{}
		}
	}
	options.NewQueue = func(
		name string, limiter workqueue.TypedRateLimiter[reconcile.Request],
	) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		made := priorityqueue.New(name, func(o *priorityqueue.Opts[reconcile.Request]) {
			o.Log, o.RateLimiter = ctrl.Log.WithValues("controller", name), limiter
		})
		if t != nil {
			made = &queue{PriorityQueue: made, turns: t, closed: make(chan struct{})}
		}
		if keep == nil {
			return made
		}
		return keep(made)
	}
	return options
}

// Around has every pass of a reconciler know its turn.
func (t *Turns) Around(next reconcile.Reconciler) reconcile.Reconciler {
	if t == nil {
		return next
	}
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		return next.Reconcile(t.With(ctx, request), request)
	})
}

// queue hands out a request only to whoever has a turn. The turn comes first: whoever took a request and then waited for a turn would let
// pass by what became more urgent meanwhile.
type queue struct {
	priorityqueue.PriorityQueue[reconcile.Request]
	turns  *Turns
	once   sync.Once
	closed chan struct{}
}

// GetWithPriority waits for a turn, and then for a request.
func (q *queue) GetWithPriority() (reconcile.Request, int, bool) {
	select {
	case <-q.turns.free:
	case <-q.closed:
		return reconcile.Request{}, 0, true
	}
	request, priority, shutdown := q.PriorityQueue.GetWithPriority()
	if shutdown {
		q.turns.free <- struct{}{}
		return request, priority, true
	}
	q.turns.begin(request)
	return request, priority, false
}

// Get is GetWithPriority for who does not ask how urgent it is.
func (q *queue) Get() (reconcile.Request, bool) {
	request, _, shutdown := q.GetWithPriority()
	return request, shutdown
}

// Done ends a pass. The pass is forgotten before its request can be handed out again, and the turn is free only after that, so that it is
// for the most urgent one.
func (q *queue) Done(request reconcile.Request) {
	taken := q.turns.leave(request)
	q.PriorityQueue.Done(request)
	if taken != nil {
		taken.end()
	}
}

// ShutDown lets go of all who wait.
func (q *queue) ShutDown() {
	q.once.Do(func() {
		close(q.closed)
		q.PriorityQueue.ShutDown()
	})
}

// ShutDownWithDrain is ShutDown: the priority queue does not drain either.
func (q *queue) ShutDownWithDrain() { q.ShutDown() }
