package kyma

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/manager/workerslot"
)

// lookedAt records the priority of the last pass of an object.
func lookedAt(t *testing.T, ledger *priority.LastPriority, name string, level priority.Level) {
	t.Helper()
	queue := ledger.Keep(priorityqueue.New[reconcile.Request](t.Name()))
	defer queue.ShutDown()
	priority.Add(queue, level, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "kcp-system", Name: name}})
	request, _ := queue.Get()
	queue.Done(request)
}

func TestOfManifest_ReturnsPriority(t *testing.T) {
	manifest := func(generation int64) *v1beta2.Manifest {
		m := &v1beta2.Manifest{ObjectMeta: named("manifest")}
		m.Generation = generation
		m.OwnerReferences = []metav1.OwnerReference{{Kind: "Kyma", Name: "kyma", Controller: new(true)}}
		return m
	}
	cases := map[string]struct {
		kyma, manifest priority.Level
		before         *v1beta2.Manifest
		want           priority.Level
	}{
		"one that a new version made is as urgent as that":           {kyma: priority.Later, want: priority.Later},
		"one whose spec a new version changed is as urgent as that":  {kyma: priority.Later, before: manifest(1), want: priority.Later},
		"a status that follows from a new version comes later, too":  {manifest: priority.Later, before: manifest(2), want: priority.Later},
		"a status that tells what happened in a runtime is told now": {kyma: priority.Later, before: manifest(2), want: priority.Now},
		"one that a person's change of the Kyma made is told now":    {manifest: priority.Idle, want: priority.Now},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &Reconciler{Priorities: &priority.LastPriorities{}}
			lookedAt(t, &r.Priorities.Kymas, "kyma", tc.kyma)
			lookedAt(t, &r.Priorities.Manifests, "manifest", tc.manifest)
			got := r.ofManifest(nil, manifest(2))
			if tc.before != nil {
				got = r.ofManifest(tc.before, manifest(2))
			}
			if got != tc.want {
				t.Errorf("level %d, want %d", got, tc.want)
			}
		})
	}
}

func TestSlots_KeepThePriorityOfTheLastPass(t *testing.T) {
	r := &Reconciler{Priorities: &priority.LastPriorities{}, Slots: &workerslot.Pool{}}
	options := r.Slots.Configure(controller.Options{MaxConcurrentReconciles: 1}, r.Priorities.Kymas.Keep)
	queue := options.NewQueue(t.Name(), workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	bulk := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "kcp-system", Name: "bulk"}}
	other := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "kcp-system", Name: "other"}}
	priority.Add(queue, priority.Later, bulk)
	if got, _ := queue.Get(); got != bulk {
		t.Fatalf("got %s", got)
	}
	queue.Done(bulk)
	priority.Add(queue, priority.AsBefore, bulk)
	priority.Add(queue, priority.Soon, other)
	for _, want := range []reconcile.Request{other, bulk} {
		got, _ := queue.Get()
		if queue.Done(got); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if level := r.Priorities.Kymas.Of(bulk.NamespacedName); level != priority.Later {
		t.Errorf("level %d", level)
	}
}

func TestSettled_RequiresReadyOfTheCurrentGeneration(t *testing.T) {
	kyma := func(observed int64, state v1beta2.State) *v1beta2.Kyma {
		k := kymaWith("kyma", nil, nil)
		k.Generation, k.Status.ObservedGeneration, k.Status.State = 3, observed, state
		return k
	}
	cases := map[string]struct {
		kyma *v1beta2.Kyma
		want bool
	}{
		"Ready, and nothing was changed since":                         {kyma(3, v1beta2.StateReady), true},
		"Ready, and changed while the manager was down":                {kyma(2, v1beta2.StateReady), false},
		"in the middle of something when the manager went":             {kyma(3, v1beta2.StateProcessing), false},
		"in error, which may be over by now":                           {kyma(3, v1beta2.StateError), false},
		"new, so that no one has looked at it before the manager went": {kyma(0, ""), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := settled(tc.kyma); got != tc.want {
				t.Errorf("settled: %t", got)
			}
		})
	}
}
