package priority

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "ns", Name: name}}
}

func newQueue(t *testing.T, ledger *LastPriority) Queue {
	t.Helper()
	queue := ledger.Keep(priorityqueue.New[reconcile.Request](t.Name()))
	t.Cleanup(queue.ShutDown)
	return queue
}

// order returns the next requests that a queue hands out.
func order(queue Queue, count int) []string {
	var names []string
	for range count {
		next, _ := queue.Get()
		queue.Done(next)
		names = append(names, next.Name)
	}
	return names
}

func TestAdd_UserChangesGoFirst(t *testing.T) {
	queue := newQueue(t, &LastPriority{})
	Add(queue, Idle, request("started"))
	for i := range 100 {
		Add(queue, Later, request(fmt.Sprintf("bump-%03d", i)))
	}
	Add(queue, Soon, request("unfinished"))
	Add(queue, Now, request("person"))
	Add(queue, Now, request("bump-050")) // already waits, and is more urgent now
	got := order(queue, 104-1)
	if want := []string{"person", "bump-050", "unfinished", "bump-000"}; !cmp.Equal(got[:4], want) || got[102] != "started" {
		t.Errorf("the order began with %v and ended with %s", got[:4], got[102])
	}
}

func TestAdd_AsBeforeUsesLastPriority(t *testing.T) {
	ledger := &LastPriority{}
	queue := newQueue(t, ledger)
	Add(queue, Later, request("bulk"))
	Add(queue, Idle, request("started"))
	order(queue, 2)
	for name, want := range map[string]Level{"bulk": Later, "started": Idle, "unknown": Now} {
		if got := ledger.Of(request(name).NamespacedName); got != want {
			t.Errorf("%s was looked at as level %d, want %d", name, got, want)
		}
	}
	Add(queue, AsBefore, request("started"), request("bulk"), request("unknown"))
	if got := order(queue, 3); !cmp.Equal(got, []string{"unknown", "bulk", "started"}) {
		t.Errorf("the order was %v", got)
	}
	Add(queue, Now, request("bulk"))
	order(queue, 1)
	if got := ledger.Of(request("bulk").NamespacedName); got != Now {
		t.Errorf("after a look that was urgent the level is %d", got)
	}
	ledger.Forget(request("started").NamespacedName)
	if got := ledger.Of(request("started").NamespacedName); got != Now || len(ledger.levels) != 0 {
		t.Errorf("something was kept of what is forgotten: level %d, %d entries", got, len(ledger.levels))
	}
}

func TestAddAfter_UserChangeEndsPause(t *testing.T) {
	queue := newQueue(t, &LastPriority{})
	AddAfter(queue, Later, time.Hour, request("spread"))
	Add(queue, Now, request("spread"))
	if got := order(queue, 1); !cmp.Equal(got, []string{"spread"}) {
		t.Errorf("the order was %v", got)
	}
}

func TestAdd_PlainQueueIgnoresPriority(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
		defer queue.ShutDown()
		Add(queue, Later, request("first"))
		Add(queue, AsBefore, request("second"))
		if got := order(queue, 2); !cmp.Equal(got, []string{"first", "second"}) {
			t.Errorf("the order was %v", got)
		}
	})
}

func TestEnqueue(t *testing.T) {
	object := func(version string) client.Object {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", ResourceVersion: version}}
	}
	cases := map[string]struct {
		settled bool
		happens func(ctx context.Context, queue Queue, settled func(client.Object) bool)
		want    Level
	}{
		"a new object has the level of the handler": {
			happens: func(ctx context.Context, queue Queue, settled func(client.Object) bool) {
				Enqueue(RequestFor, Always(Soon), settled).Create(ctx, event.CreateEvent{Object: object("1")}, queue)
			}, want: Soon,
		},
		"a settled object is idle when the manager starts": {
			settled: true,
			happens: func(ctx context.Context, queue Queue, settled func(client.Object) bool) {
				Enqueue(RequestFor, Always(Now), settled).Create(ctx, event.CreateEvent{Object: object("1"), IsInInitialList: true}, queue)
			}, want: Idle,
		},
		"an unfinished object comes soon when the manager starts": {
			happens: func(ctx context.Context, queue Queue, settled func(client.Object) bool) {
				Enqueue(RequestFor, Always(Now), settled).Create(ctx, event.CreateEvent{Object: object("1"), IsInInitialList: true}, queue)
			}, want: Soon,
		},
		"a change has the level of the handler": {
			happens: func(ctx context.Context, queue Queue, settled func(client.Object) bool) {
				Enqueue(RequestFor, Always(Later), settled).Update(ctx, event.UpdateEvent{ObjectOld: object("1"), ObjectNew: object("2")}, queue)
			}, want: Later,
		},
		"a resync of the cache is idle": {
			happens: func(ctx context.Context, queue Queue, settled func(client.Object) bool) {
				Enqueue(RequestFor, Always(Now), settled).Update(ctx, event.UpdateEvent{ObjectOld: object("1"), ObjectNew: object("1")}, queue)
			}, want: Idle,
		},
		"a deletion has the level of the handler": {
			happens: func(ctx context.Context, queue Queue, settled func(client.Object) bool) {
				Enqueue(RequestFor, Always(Later), settled).Delete(ctx, event.DeleteEvent{Object: object("1")}, queue)
			}, want: Later,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			ledger := &LastPriority{}
			queue := newQueue(t, ledger)
			tc.happens(t.Context(), queue, func(client.Object) bool { return tc.settled })
			order(queue, 1)
			if got := ledger.Of(request("a").NamespacedName); got != tc.want {
				t.Errorf("level %d, want %d", got, tc.want)
			}
		})
	}
}
