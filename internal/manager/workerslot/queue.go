package workerslot

import (
	"context"
	"sync"

	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// requestsPerSlot is how many requests may be in progress for each slot. All but one of them wait for runtimes, at the cost of a goroutine;
// above that, new requests wait until one of them gets its response.
const requestsPerSlot = 64

// Queue is the queue of a controller.
type Queue = priorityqueue.PriorityQueue[reconcile.Request]

// Configure limits a controller to as many slots as its options set workers. keep, unless it is nil, wraps the queue. Without
// a Pool (nil) there are as many requests in progress as workers, and none can yield.
func (t *Pool) Configure(
	options controller.Options, keep func(Queue) workqueue.TypedRateLimitingInterface[reconcile.Request],
) controller.Options {
	if t != nil {
		count := max(options.MaxConcurrentReconciles, 1)
		options.MaxConcurrentReconciles = count * requestsPerSlot
		t.free, t.passes = make(chan struct{}, count), make(map[reconcile.Request]*Slot, count)
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
			made = &queue{PriorityQueue: made, slots: t, closed: make(chan struct{})}
		}
		if keep == nil {
			return made
		}
		return keep(made)
	}
	return options
}

// Wrap makes a reconciler's requests carry their slots in their contexts.
func (t *Pool) Wrap(next reconcile.Reconciler) reconcile.Reconciler {
	if t == nil {
		return next
	}
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		return next.Reconcile(t.With(ctx, request), request)
	})
}

// queue hands out a request only with a slot. It acquires the slot first: otherwise a request that waits for a slot would block
// those that became more urgent meanwhile.
type queue struct {
	priorityqueue.PriorityQueue[reconcile.Request]
	slots  *Pool
	once   sync.Once
	closed chan struct{}
}

// GetWithPriority waits for a slot, and then for a request.
func (q *queue) GetWithPriority() (reconcile.Request, int, bool) {
	select {
	case <-q.slots.free:
	case <-q.closed:
		return reconcile.Request{}, 0, true
	}
	request, priority, shutdown := q.PriorityQueue.GetWithPriority()
	if shutdown {
		q.slots.free <- struct{}{}
		return request, priority, true
	}
	q.slots.begin(request)
	return request, priority, false
}

// Get is GetWithPriority without the priority.
func (q *queue) Get() (reconcile.Request, bool) {
	request, _, shutdown := q.GetWithPriority()
	return request, shutdown
}

// Done ends a request. Its slot is forgotten before the request can be handed out again, and is free only after that, so that the most
// urgent request gets it.
func (q *queue) Done(request reconcile.Request) {
	taken := q.slots.leave(request)
	q.PriorityQueue.Done(request)
	if taken != nil {
		taken.end()
	}
}

// ShutDown releases all waiting workers.
func (q *queue) ShutDown() {
	q.once.Do(func() {
		close(q.closed)
		q.PriorityQueue.ShutDown()
	})
}

// ShutDownWithDrain calls ShutDown: the priority queue does not drain either.
func (q *queue) ShutDownWithDrain() { q.ShutDown() }
