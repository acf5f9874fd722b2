package manifest

import (
	"context"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

// An operator that must release the default custom resource may need what an upgrade brings, or what was deleted under it.
func TestRemove_KeepsModuleRunningWhileDefaultCRIsDeleting(t *testing.T) {
	denied := apierrors.NewForbidden(samplesResource.GroupResource(), "default", nil)
	denied.ErrStatus.Message = `admission webhook "samples.example.com" denied the request: not now`
	for name, test := range map[string]struct {
		err    error
		reason string
	}{
		"a finalizer holds it":                      {nil, v1beta2.ReasonWaitingForDeletion},
		"the module's webhook refuses its deletion": {denied, v1beta2.ReasonAdmissionDenied},
	} {
		t.Run(name, func(t *testing.T) {
			cr := animal("Sample", "default", func(o *unstructured.Unstructured) { o.SetFinalizers([]string{"example.com/operator"}) })
			z := newZoo([]string{"Sample"}, cr)
			z.dynamic.(*dynamicfake.FakeDynamicClient).PrependReactor("delete", "samples",
				func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, test.err })
			desired, _ := configMaps("operator")
			manifest := leaving()
			manifest.Spec.AssociatedResources = nil
			r := newReconciler(t, manifest)
			r.Clusters, r.Content = there{runtime: z}, &contents{parts: []Part{part("raw-manifest", desired)}}
			found, err := r.remove(t.Context(), newScope(stored(t, r, manifest), testTime))
			if err != nil || found.state != v1beta2.StateDeleting || found.reason != test.reason {
				t.Fatalf("%+v, error %v", found, err)
			}
			if written := verbs(z.cluster); !slices.Equal(written, []string{"delete", "create"}) {
				t.Errorf("it writes %v: what is missing of the module stays so", written)
			}
		})
	}
}

// What others hold is freed as well when there is no cluster any more in which anything could be done: its Kyma would wait for good.
func TestDropFinalizers_RemovesForeignOnesWithTheAccessSecret(t *testing.T) {
	const foreign = "example.com/not-yet"
	access := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "kcp-system", Name: "access", Labels: map[string]string{v1beta2.LabelKymaName: "kyma"},
	}}
	kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "kyma", UID: "uid-kyma"}}
	no := false
	local := kyma.DeepCopy()
	local.Spec.Remote = &no
	for name, test := range map[string]struct {
		objects    []client.Object
		finalizers []string
		installed  bool
		left       []string
	}{
		"while it is being removed":                    {[]client.Object{kyma}, []string{v1beta2.FinalizerManifest, foreign}, true, nil},
		"when nothing was ever installed":              {[]client.Object{kyma}, []string{v1beta2.FinalizerManifest, foreign}, false, nil},
		"when everything was removed before":           {[]client.Object{kyma}, []string{foreign}, false, nil},
		"but not while there is one":                   {[]client.Object{kyma, access}, []string{v1beta2.FinalizerManifest, foreign}, false, []string{foreign}},
		"nor when everything was removed before":       {[]client.Object{kyma, access}, []string{foreign}, false, []string{foreign}},
		"nor those of a module that is in the hub":     {[]client.Object{local}, []string{foreign}, false, []string{foreign}},
		"a Manifest without a Kyma is in the hub, too": {nil, []string{foreign}, false, []string{foreign}},
	} {
		t.Run(name, func(t *testing.T) {
			manifest := leaving()
			manifest.Status.Conditions = nil
			manifest.Finalizers = test.finalizers
			if len(test.objects) > 0 {
				ofKyma("kyma", "uid-kyma")(manifest)
			}
			if test.installed {
				manifest.Status.Synced = leaving(marked("a", "kcp-system/sample")).Status.Synced
			}
			r := newReconciler(t, append(test.objects, manifest)...)
			r.Clusters = without{}
			key := client.ObjectKeyFromObject(manifest)
			for range 2 { // the second is what an event of the Secret asks for
				if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
					t.Fatal(err)
				}
			}
			got := &v1beta2.Manifest{}
			if err := r.Client.Get(t.Context(), key, got); client.IgnoreNotFound(err) != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.left, got.Finalizers); diff != "" {
				t.Errorf("finalizers (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFreeHeld_ReleasesManifestWhenAccessSecretIsDeleted(t *testing.T) {
	const foreign = "example.com/not-yet"
	access := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "kcp-system", Name: "access", Labels: map[string]string{v1beta2.LabelKymaName: "kyma"},
	}}
	kyma := &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "kyma", UID: "uid-kyma"}}
	manifest := leaving()
	manifest.Status.Conditions, manifest.Finalizers = nil, []string{v1beta2.FinalizerManifest, foreign}
	ofKyma("kyma", "uid-kyma")(manifest)
	r := newReconciler(t, kyma, manifest, access)
	r.Clusters = without{}
	request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(manifest)}
	if _, err := r.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, r, manifest); !cmp.Equal(got.Finalizers, []string{foreign}) {
		t.Fatalf("finalizers %v", got.Finalizers)
	}
	if err := r.Client.Delete(t.Context(), access); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Reconcile(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if err := r.Client.Get(t.Context(), request.NamespacedName, &v1beta2.Manifest{}); !apierrors.IsNotFound(err) {
		t.Errorf("it is still held: %v", err)
	}
}

// without is a Fleet that finds no access Secret.
type without struct{ reached }

func (without) Get(context.Context, Target) (Runtime, error) {
	return nil, &runtimes.Problem{Reason: v1beta2.ReasonAccessSecretNotFound, Message: "no Secret"}
}
