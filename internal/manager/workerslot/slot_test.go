package workerslot

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}}
}

// bound returns a pool with count slots, and its queue.
func bound(t *testing.T, count int) (*Pool, Queue) {
	t.Helper()
	turns := &Pool{}
	options := turns.Configure(controller.Options{MaxConcurrentReconciles: count}, nil)
	made := options.NewQueue(t.Name(), workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(made.ShutDown)
	return turns, made.(Queue)
}

// workers gets requests until the queue is shut down, as a controller's workers do. The requests arrive on the channel in order.
func workers(t *testing.T, from Queue, count int) <-chan string {
	t.Helper()
	got := make(chan string, 1000)
	var running sync.WaitGroup
	for range count {
		running.Go(func() {
			for {
				next, shutdown := from.Get()
				if shutdown {
					return
				}
				got <- next.Name
			}
		})
	}
	t.Cleanup(func() { from.ShutDown(); running.Wait() })
	return got
}

// wantNext checks that requests come out, and none after them. Their order is certain only when they come out one at a time.
func wantNext(t *testing.T, got <-chan string, want ...string) {
	t.Helper()
	synctest.Wait()
	for _, name := range want {
		select {
		case next := <-got:
			if next != name {
				t.Errorf("%s was handed out, want %s", next, name)
			}
		default:
			t.Errorf("nothing was handed out, want %s", name)
		}
	}
	select {
	case next := <-got:
		t.Errorf("%s was handed out, want nothing more", next)
	default:
	}
}

func TestPool_BoundsRequestsMostUrgentFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, queue := bound(t, 2)
		got := workers(t, queue, 8)
		for _, name := range []string{"a", "b"} { // one by one: of two workers with slots, either may report its request first
			queue.Add(request(name))
			wantNext(t, got, name)
		}
		for name, level := range map[string]int{"later": -50, "soon": -10} {
			queue.AddWithOpts(priorityqueue.AddOpts{Priority: &level}, request(name))
		}
		wantNext(t, got)
		queue.AddWithOpts(priorityqueue.AddOpts{}, request("now"))
		wantNext(t, got)
		queue.Done(request("a"))
		wantNext(t, got, "now")
		queue.Done(request("b"))
		wantNext(t, got, "soon")
		Yield(turns.With(t.Context(), request("now")))
		wantNext(t, got, "later")
	})
}

func TestSlot_IsGivenBackOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, queue := bound(t, 1)
		got := workers(t, queue, 8)
		for _, name := range []string{"a", "b", "c", "d"} {
			queue.Add(request(name))
			synctest.Wait()
		}
		wantNext(t, got, "a")
		ctx := turns.With(t.Context(), request("a"))
		derived, cancel := context.WithCancel(context.WithoutCancel(ctx))
		defer cancel()
		var writes sync.WaitGroup
		for range 8 { // as the writes of one pass do
			writes.Go(func() { Yield(ctx); Yield(derived) })
		}
		writes.Wait()
		wantNext(t, got, "b")
		if n := turns.Yielded(); n != 1 {
			t.Errorf("%d passes go on without a turn, want 1", n)
		}
		queue.Done(request("a"))
		wantNext(t, got) // it had no slot to give back
		queue.Done(request("b"))
		wantNext(t, got, "c")
		Yield(ctx) // for a pass that has ended
		Yield(t.Context())
		wantNext(t, got)
		if n := turns.Yielded(); n != 0 {
			t.Errorf("%d passes go on without a turn, want none", n)
		}
	})
}

func TestPool_RequeuedRequestGetsItsOwnSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns, queue := bound(t, 2)
		got := workers(t, queue, 8)
		queue.Add(request("a"))
		wantNext(t, got, "a")
		first := FromContext(turns.With(t.Context(), request("a")))
		first.Yield()
		queue.Add(request("a"))
		wantNext(t, got) // never twice at a time
		queue.Done(request("a"))
		wantNext(t, got, "a")
		if second := FromContext(turns.With(t.Context(), request("a"))); second == nil || second == first || !second.held.Load() {
			t.Errorf("the second pass has %+v", second)
		}
		queue.Done(request("a"))
		if FromContext(turns.With(t.Context(), request("a"))) != nil {
			t.Error("a turn is left over from a pass that is done")
		}
		if free := len(turns.free); free != 0 { // both are held by workers that wait for requests
			t.Errorf("%d turns are free", free)
		}
	})
}

func TestQueue_ShutDownReleasesWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, queue := bound(t, 2)
		queue.Add(request("a"))
		got := workers(t, queue, 8)
		wantNext(t, got, "a")
		queue.ShutDown()
		queue.ShutDownWithDrain() // twice does no harm
		if _, _, shutdown := queue.GetWithPriority(); !shutdown {
			t.Error("a queue that was shut down hands something out")
		}
		queue.Done(request("a"))
	}) // synctest.Test waits for all goroutines
}

func TestPool_NilRunsAsManyRequestsAsWorkers(t *testing.T) {
	var turns *Pool
	options := turns.Configure(controller.Options{MaxConcurrentReconciles: 3}, nil)
	if options.MaxConcurrentReconciles != 3 {
		t.Errorf("%d workers", options.MaxConcurrentReconciles)
	}
	queue := options.NewQueue(t.Name(), workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	queue.Add(request("a"))
	if got, _ := queue.Get(); got != request("a") {
		t.Errorf("got %s", got)
	}
	around := turns.Wrap(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
		Yield(ctx)
		return reconcile.Result{}, nil
	}))
	if _, err := around.Reconcile(t.Context(), request("a")); err != nil {
		t.Error(err)
	}
}

// All requests yield somewhere, and return: no more requests run than there are slots, and at the end all slots are free.
func TestPool_ConservesSlots(t *testing.T) {
	const count, passes = 3, 400
	turns := &Pool{}
	options := turns.Configure(controller.Options{MaxConcurrentReconciles: count}, nil)
	queue := options.NewQueue(t.Name(), workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	var working, most, done atomic.Int64
	var running sync.WaitGroup
	all := make(chan struct{})
	pass := turns.Wrap(reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
		most.Store(max(most.Load(), working.Add(1)))
		working.Add(-1)
		for range 4 {
			running.Go(func() { Yield(ctx) })
		}
		return reconcile.Result{}, nil
	}))
	for range 50 {
		running.Go(func() {
			for {
				next, shutdown := queue.Get()
				if shutdown {
					return
				}
				_, _ = pass.Reconcile(t.Context(), next)
				queue.Done(next)
				if done.Add(1) == passes {
					close(all)
				}
			}
		})
	}
	for i := range passes {
		queue.Add(request(fmt.Sprint(i)))
	}
	<-all
	queue.ShutDown()
	running.Wait()
	if free, yielded := len(turns.free), turns.Yielded(); free != count || yielded != 0 || len(turns.passes) != 0 {
		t.Errorf("%d of %d turns are free, %d passes go on without, %d are known", free, count, yielded, len(turns.passes))
	}
	if most.Load() > count { // before they yielded
		t.Errorf("%d worked at a time, want %d at most", most.Load(), count)
	}
}

func TestPool_AllowsMoreRequestsThanSlots(t *testing.T) {
	turns := &Pool{}
	for workers, want := range map[int][2]int{0: {1, requestsPerSlot}, 8: {8, 8 * requestsPerSlot}} {
		options := turns.Configure(controller.Options{MaxConcurrentReconciles: workers}, nil)
		if got := [2]int{len(turns.free), options.MaxConcurrentReconciles}; !slices.Equal(got[:], want[:]) {
			t.Errorf("%d workers make turns and passes %v, want %v", workers, got, want)
		}
	}
}
