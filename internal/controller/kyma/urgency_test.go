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
	"github.com/kyma-project/lifecycle-manager/internal/turn"
	"github.com/kyma-project/lifecycle-manager/internal/urgency"
)

// lookedAt has a ledger know how urgent the last look at an object was.
func lookedAt(t *testing.T, ledger *urgency.Ledger, name string, level urgency.Level) {
	t.Helper()
	queue := ledger.Keep(priorityqueue.New[reconcile.Request](t.Name()))
	defer queue.ShutDown()
	urgency.Add(queue, level, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "kcp-system", Name: name}})
	request, _ := queue.Get()
	queue.Done(request)
}

func TestHowUrgentAManifestIsToItsKyma(t *testing.T) {
	manifest := func(generation int64) *v1beta2.Manifest {
		m := &v1beta2.Manifest{ObjectMeta: named("manifest")}
		m.Generation = generation
		m.OwnerReferences = []metav1.OwnerReference{{Kind: "Kyma", Name: "kyma", Controller: new(true)}}
		return m
	}
	cases := map[string]struct {
		kyma, manifest urgency.Level
		before         *v1beta2.Manifest
		want           urgency.Level
	}{
		"one that a new version made is as urgent as that":           {kyma: urgency.Later, want: urgency.Later},
		"one whose spec a new version changed is as urgent as that":  {kyma: urgency.Later, before: manifest(1), want: urgency.Later},
		"a status that follows from a new version comes later, too":  {manifest: urgency.Later, before: manifest(2), want: urgency.Later},
		"a status that tells what happened in a runtime is told now": {kyma: urgency.Later, before: manifest(2), want: urgency.Now},
		"one that a person's change of the Kyma made is told now":    {manifest: urgency.Idle, want: urgency.Now},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := &Reconciler{Causes: &urgency.Causes{}}
			lookedAt(t, &r.Causes.Kymas, "kyma", tc.kyma)
			lookedAt(t, &r.Causes.Manifests, "manifest", tc.manifest)
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

func TestTurnsLeaveItKnownHowUrgentTheLastLookWas(t *testing.T) {
	r := &Reconciler{Causes: &urgency.Causes{}, Turns: &turn.Turns{}}
	options := r.Turns.Bound(controller.Options{MaxConcurrentReconciles: 1}, r.Causes.Kymas.Keep)
	queue := options.NewQueue(t.Name(), workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer queue.ShutDown()
	bulk := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "kcp-system", Name: "bulk"}}
	other := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "kcp-system", Name: "other"}}
	urgency.Add(queue, urgency.Later, bulk)
	if got, _ := queue.Get(); got != bulk {
		t.Fatalf("got %s", got)
	}
	queue.Done(bulk)
	urgency.Add(queue, urgency.AsBefore, bulk)
	urgency.Add(queue, urgency.Soon, other)
	for _, want := range []reconcile.Request{other, bulk} {
		got, _ := queue.Get()
		if queue.Done(got); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if level := r.Causes.Kymas.Of(bulk.NamespacedName); level != urgency.Later {
		t.Errorf("level %d", level)
	}
}

func TestOnlyAKymaThatIsReadyAndSaysSoIsSettled(t *testing.T) {
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
		"new, so that nobody has looked at it before the manager went": {kyma(0, ""), false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := settled(tc.kyma); got != tc.want {
				t.Errorf("settled: %t", got)
			}
		})
	}
}
