package modulecatalog

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func newQueue(t *testing.T) queue {
	t.Helper()
	made := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(made.ShutDown)
	return made
}

func key(i int) types.NamespacedName {
	return types.NamespacedName{Namespace: "kcp-system", Name: fmt.Sprintf("kyma-%d", i)}
}

// take waits for n Kymas.
func take(to queue, n int) (names []string) {
	for range n {
		request, _ := to.Get()
		to.Done(request)
		names = append(names, request.Name)
	}
	return names
}

func TestRateLimitedSource_KeepsItsRate(t *testing.T) {
	p, to := newRateLimitedSource(50), newQueue(t)
	if err := p.source().Start(t.Context(), to); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	for i := range burst + 10 {
		p.add(key(i), key(i)) // however often it is added
	}
	names := take(to, burst+10)
	took := time.Since(begun)
	if names[0] != "kyma-0" || names[burst+9] != fmt.Sprintf("kyma-%d", burst+9) {
		t.Errorf("the order is %v", names)
	}
	if took < 150*time.Millisecond || took > 30*time.Second {
		t.Errorf("20 Kymas at 50 a second, 10 of them at once, took %s", took)
	}
	if len(p.waiting) != 0 || to.Len() != 0 {
		t.Errorf("%d wait and %d are queued afterwards", len(p.waiting), to.Len())
	}
}

func TestRateLimitedSource_KeepsEarlyKymasAndDropsHandledOnes(t *testing.T) {
	p, to := newRateLimitedSource(1000), newQueue(t)
	p.add(key(1), key(2), key(3), key(1))
	p.drop(key(2))
	ctx, end := context.WithCancel(t.Context())
	defer end()
	if err := p.source().Start(ctx, to); err != nil {
		t.Fatal(err)
	}
	names := take(to, 2)
	if fmt.Sprint(names) != "[kyma-1 kyma-3]" {
		t.Errorf("passed on %v", names)
	}
	p.add(key(2))
	if names = take(to, 1); names[0] != "kyma-2" {
		t.Errorf("passed on %v", names)
	}
}

func TestNotifier_EnqueuesForSubscribers(t *testing.T) {
	var b notifier
	b.notify(key(1)) // no one listens yet
	first, second := newQueue(t), newQueue(t)
	for _, to := range []queue{first, second} {
		if err := b.source().Start(t.Context(), to); err != nil {
			t.Fatal(err)
		}
	}
	b.notify(key(2))
	for _, to := range []queue{first, second} {
		if names := take(to, 1); names[0] != "kyma-2" || to.Len() != 0 {
			t.Errorf("heard %v and %d more", names, to.Len())
		}
	}
}
