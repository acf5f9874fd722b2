package modulereleasemeta

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	clientfake "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
)

const foreign = "example.com/foreign"

type counter struct{ modules int }

func (c *counter) CountMandatory(modules int) { c.modules = modules }

// releaseWith returns a release, mandatory or with a channel.
func releaseWith(mandatory bool, finalizers ...string) *v1beta2.ModuleReleaseMeta {
	release := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "warden", Finalizers: finalizers}}
	if mandatory {
		release.Spec.Mandatory = &v1beta2.Mandatory{Version: "1.0.0"}
	}
	return release
}

// manifestWith returns a Manifest that a foreign finalizer holds.
func manifestWith(name string, labels map[string]string) *v1beta2.Manifest {
	return &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{
		Namespace: "kcp-system", Name: name, UID: "uid", Labels: labels, Finalizers: []string{foreign},
	}}
}

func TestReconcile(t *testing.T) {
	ours := map[string]string{v1beta2.LabelModuleName: "warden", v1beta2.LabelMandatoryModule: "true"}
	asked := map[string]string{v1beta2.LabelModuleName: "warden"}
	other := map[string]string{v1beta2.LabelModuleName: "other", v1beta2.LabelMandatoryModule: "true"}
	for _, test := range []struct {
		name      string
		release   *v1beta2.ModuleReleaseMeta
		deleted   bool
		manifests map[string]map[string]string
		blind     bool // the cache knows no Manifest
		want      []string
		dying     []string
		count     int
	}{
		{name: "a mandatory one gets the finalizer", release: releaseWith(true, foreign), want: []string{foreign, v1beta2.FinalizerMandatoryModule}, count: 1},
		{name: "one that has it is left as it is", release: releaseWith(true, v1beta2.FinalizerMandatoryModule), want: []string{v1beta2.FinalizerMandatoryModule}, count: 1},
		{name: "one with channels gets none", release: releaseWith(false, foreign), want: []string{foreign}},
		{name: "one that is no longer mandatory loses it", release: releaseWith(false, foreign, v1beta2.FinalizerMandatoryModule), want: []string{foreign}},
		{
			name: "one that is being deleted waits for its Manifests", release: releaseWith(true, v1beta2.FinalizerMandatoryModule), deleted: true,
			manifests: map[string]map[string]string{"a": ours, "b": ours, "c": asked, "d": other},
			want:      []string{v1beta2.FinalizerMandatoryModule}, dying: []string{"a", "b"},
		},
		{
			name: "also for those that the cache does not know", release: releaseWith(true, v1beta2.FinalizerMandatoryModule), deleted: true,
			manifests: map[string]map[string]string{"a": ours}, blind: true, want: []string{v1beta2.FinalizerMandatoryModule}, dying: []string{"a"},
		},
		{
			name: "and goes when there is none", release: releaseWith(true, foreign, v1beta2.FinalizerMandatoryModule), deleted: true,
			manifests: map[string]map[string]string{"c": asked, "d": other}, want: []string{foreign},
		},
		{name: "one that is held by others alone is left to them", release: releaseWith(true, foreign), deleted: true, want: []string{foreign}},
	} {
		t.Run(test.name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := v1beta2.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			builder := clientfake.NewClientBuilder().WithScheme(scheme).WithObjects(test.release)
			for name, labels := range test.manifests {
				builder = builder.WithObjects(manifestWith(name, labels))
			}
			hub := builder.Build()
			if test.deleted {
				if err := hub.Delete(t.Context(), test.release); err != nil {
					t.Fatal(err)
				}
			}
			cached := interceptor.NewClient(hub, interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
				if _, manifests := list.(*v1beta2.ManifestList); manifests && test.blind {
					return nil
				}
				return c.List(ctx, list, options...)
			}})
			count := &counter{}
			r := &Reconciler{Client: cached, Reader: hub, Events: events.NewFakeRecorder(10), Metrics: count, Shard: sharding.All{}}
			key := client.ObjectKeyFromObject(test.release)
			for range 2 { // the second pass finds nothing new to do
				if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
					t.Fatal(err)
				}
			}
			got := &v1beta2.ModuleReleaseMeta{}
			if err := hub.Get(t.Context(), key, got); err != nil {
				t.Fatal(err)
			}
			left := &v1beta2.ManifestList{}
			if err := hub.List(t.Context(), left); err != nil {
				t.Fatal(err)
			}
			var dying []string
			for i := range left.Items {
				if left.Items[i].DeletionTimestamp != nil {
					dying = append(dying, left.Items[i].Name)
				}
			}
			if diff := cmp.Diff([]any{test.want, test.dying, test.count}, []any{got.Finalizers, dying, count.modules}); diff != "" {
				t.Errorf("finalizers, Manifests that go, and how many there are (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReconcile_SortsErrors(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1beta2.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	broken := interceptor.NewClient(clientfake.NewClientBuilder().WithScheme(scheme).Build(), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return errors.New("broken")
		},
	})
	r := &Reconciler{Client: broken, Metrics: &counter{}, Shard: sharding.All{}}
	if _, err := r.Reconcile(t.Context(), ctrl.Request{}); err == nil {
		t.Error("an error is kept back")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Reconcile(ended, ctrl.Request{}); err != nil {
		t.Errorf("the end of the manager is an error: %v", err)
	}
}
