package kyma

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestReconcile_IgnoresReleasedKyma(t *testing.T) {
	kyma := kymaWith("kyma", nil, nil)
	now := metav1.Now()
	kyma.Finalizers, kyma.DeletionTimestamp, kyma.UID = []string{v1beta2.FinalizerKyma}, &now, "u1"
	patches := 0
	kyma.Labels = map[string]string{v1beta2.LabelSync: "false"}
	builder := clientfake.NewClientBuilder().WithScheme(scheme(t)).WithIndex(&v1beta2.Manifest{}, indexKyma, kymaNames)
	stale := builder.WithObjects(kyma).WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			patches++
			return nil // accepted, and not yet in the cache
		},
	}).Build()
	r := &Reconciler{
		Client: stale, Reader: stale, Shard: sharding.All{}, Metrics: &forgetful{}, Events: &events.FakeRecorder{}, Now: metav1.Now,
	}
	request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(kyma)}
	for range 2 {
		if result, err := r.Reconcile(t.Context(), request); err != nil || result.RequeueAfter != 0 {
			t.Errorf("result %+v, error %v", result, err)
		}
	}
	if patches != 1 {
		t.Errorf("%d patches, want one: the second pass saw what was let go of already", patches)
	}
	r.forget(request.NamespacedName)
	if _, ok := r.released.Load(request.NamespacedName); ok {
		t.Error("it is remembered for ever")
	}
}

// A lagging API server lists Manifests that are gone already: their deletion events have passed, and none will bring the Kyma back.
func TestRelease_RetriesWhenTheAPIServerLags(t *testing.T) {
	kyma := kymaWith("kyma", nil, nil)
	now := metav1.Now()
	kyma.Finalizers, kyma.DeletionTimestamp, kyma.UID = []string{v1beta2.FinalizerKyma}, &now, "u1"
	kyma.Labels = map[string]string{v1beta2.LabelSync: "false"}
	gone := &v1beta2.Manifest{}
	gone.Name, gone.Namespace, gone.UID = "kyma-web", kyma.Namespace, "u2"
	gone.Labels = map[string]string{v1beta2.LabelKymaName: kyma.Name, v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager}
	builder := clientfake.NewClientBuilder().WithScheme(scheme(t)).WithIndex(&v1beta2.Manifest{}, indexKyma, kymaNames)
	live := builder.WithObjects(kyma).Build()
	lagging := clientfake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(gone).Build()
	r := &Reconciler{
		Client: live, Reader: lagging, Shard: sharding.All{}, Metrics: &forgetful{}, Events: &events.FakeRecorder{}, Now: metav1.Now,
	}
	request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(kyma)}
	if result, err := r.Reconcile(t.Context(), request); err != nil || result.RequeueAfter != retryStaying {
		t.Errorf("result %+v, error %v, want another look after %v", result, err, retryStaying)
	}
	r.Reader = live
	if _, err := r.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if err := live.Get(t.Context(), request.NamespacedName, &v1beta2.Kyma{}); !apierrors.IsNotFound(err) {
		t.Errorf("the Kyma is still held: %v", err)
	}
}

func TestTeardown_RetriesWhileLeftoversStay(t *testing.T) {
	for name, test := range map[string]struct {
		left module.Leftovers
		want bool
	}{
		"nothing is left":      {module.Leftovers{Reachable: true}, false},
		"the Kyma":             {module.Leftovers{Kyma: true}, true},
		"its definition":       {module.Leftovers{KymaCRD: true}, true},
		"those of the catalog": {module.Leftovers{CatalogCRDs: true}, true},
		"what goes, since its end may not be told": {module.Leftovers{Terminating: []string{"it"}}, true},
		"what goes with the release itself":        {module.Leftovers{PullSecret: true}, false},
		"a runtime that is away has its own time":  {module.Leftovers{Problem: "no answer"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := staying(test.left); got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestLeftovers_OfTheRuntimeKyma(t *testing.T) {
	copyWith := func(deleted bool, finalizers ...string) *unstructured.Unstructured {
		object := &unstructured.Unstructured{}
		object.SetFinalizers(finalizers)
		if deleted {
			at := metav1.NewTime(time.Unix(1, 0))
			object.SetDeletionTimestamp(&at)
		}
		return object
	}
	for name, test := range map[string]struct {
		object *unstructured.Unstructured
		live   inventory.Live
		want   module.Leftovers
	}{
		"one that is there is to be deleted": {
			copyWith(false), inventory.Live{}, module.Leftovers{Kyma: true},
		},
		"one that is being deleted is waited for": {
			copyWith(true), inventory.Live{Terminating: true}, module.Leftovers{Terminating: []string{copyID.String()}},
		},
		"one that we deleted a moment ago is waited for, whatever the stream shows yet": {
			copyWith(false), inventory.Live{Terminating: true}, module.Leftovers{Terminating: []string{copyID.String()}},
		},
		"one that is held by a finalizer of ours is to be let go": {
			copyWith(true, v1beta2.FinalizerKyma), inventory.Live{Terminating: true}, module.Leftovers{Kyma: true},
		},
		"who else holds it is named": {
			copyWith(true, "example.com/mine"), inventory.Live{Terminating: true},
			module.Leftovers{Terminating: []string{copyID.String() + " (held by example.com/mine)"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var left module.Leftovers
			ofCopy(&left, test.object, test.live)
			if diff := cmp.Diff(test.want, left); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
