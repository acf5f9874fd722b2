package manifest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

var (
	secretsResource = schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	mapsResource    = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	samplesResource = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "samples"}
	jobsResource    = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
)

// filled returns a cluster that holds the objects.
func filled(objects ...runtime.Object) *cluster {
	kinds := map[schema.GroupVersionResource]string{mapsResource: "ConfigMapList", samplesResource: "SampleList", jobsResource: "JobList",
		secretsResource: "SecretList"}
	return &cluster{
		dynamic: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), kinds, objects...),
		scopes:  map[string]bool{"ConfigMap": true, "Sample": true, "Job": true, "Secret": true},
	}
}

// marked returns a ConfigMap with an owner mark.
func marked(name, owner string) *unstructured.Unstructured {
	made := object("v1", "ConfigMap", name)
	made.SetNamespace("default")
	made.SetLabels(map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma})
	made.SetAnnotations(map[string]string{v1beta2.AnnotationOwnedBy: owner})
	return made
}

func TestUnmark_ReleasesOnlyOurObjects(t *testing.T) {
	mine := newManifest(ofKyma("kyma", "uid-kyma"))
	sibling := newManifest(ofKyma("kyma", "uid-kyma"))
	sibling.Name, sibling.UID = "sibling", "uid-2"
	_, shared := configMaps("shared")
	sibling.Status.Synced = toStatus(shared)
	_, recorded := configMaps("mine", "shared", "taken", "gone")
	c := filled(marked("mine", "kcp-system/sample"), marked("shared", "kcp-system/sample"), marked("taken", "somebody/else"))
	r := newReconciler(t, mine, sibling)
	w := newScope(mine, testTime)
	w.runtime, w.recorded = c, recorded
	for range 2 { // a second time changes nothing: the first one may have been interrupted
		if err := r.unmark(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		got := map[string][2]string{}
		list, err := c.dynamic.Resource(mapsResource).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list.Items {
			found := &list.Items[i]
			got[found.GetName()] = [2]string{found.GetLabels()[v1beta2.LabelManagedBy], found.GetAnnotations()[v1beta2.AnnotationOwnedBy]}
		}
		want := map[string][2]string{
			"mine":   {"", "kcp-system/sample"},
			"shared": {v1beta2.ManagedByKyma, "kcp-system/sibling"}, // which keeps it
			"taken":  {v1beta2.ManagedByKyma, "somebody/else"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("label and owner differ (-want +got):\n%s", diff)
		}
	}
}

func TestUnmark_SkipsMissingKind(t *testing.T) {
	w, _ := settledWork()
	w.runtime = filled() // which serves no Deployments
	if err := newReconciler(t).unmark(t.Context(), w); err != nil {
		t.Error(err)
	}
}

func TestRelease_DeletesManifestBeforeReleasingObjects(t *testing.T) {
	manifest := newManifest(func(m *v1beta2.Manifest) {
		m.Finalizers = nil
		m.Annotations = map[string]string{v1beta2.AnnotationIsUnmanaged: v1beta2.EnabledValue}
		m.Status.Synced = toStatus(many(1))
	})
	r := newReconciler(t, manifest)
	found, err := r.release(t.Context(), newScope(stored(t, r, manifest), testTime))
	got := stored(t, r, manifest)
	if err != nil || !found.gone || got.DeletionTimestamp.IsZero() || len(got.Finalizers) != 1 {
		t.Errorf("finding %+v, error %v, deleted %v, finalizers %q", found, err, got.DeletionTimestamp, got.Finalizers)
	}
}

func TestBlockade_FindsCustomResourcesInAnyServedVersion(t *testing.T) {
	mine := object("example.com/v1", "Sample", "mine")
	mine.SetNamespace("default")
	manifest := newManifest(withResource(v1beta2.CustomResourcePolicyCreateAndDelete))
	manifest.Spec.Resource.SetAPIVersion("example.com/v2") // which the next version of the module brings
	for name, test := range map[string]struct {
		scopes map[string]bool
		want   int
	}{
		"a kind that is served in another version is looked at in that": {map[string]bool{"Sample": true}, 1},
		"a kind that is not served has no objects":                      {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := filled(mine)
			c.scopes, c.versions = test.scopes, map[string]string{"Sample": "v1"}
			w := newScope(manifest, testTime)
			w.runtime = c
			blockade, err := newReconciler(t).blockade(t.Context(), w)
			if err != nil || blockade.Holds() != (test.want > 0) {
				t.Errorf("%q block, error %v, want %d", blockade.Message(), err, test.want)
			}
		})
	}
}

func TestDeleteModuleCR(t *testing.T) {
	cr := func(deleted bool, finalizers ...string) *unstructured.Unstructured {
		made := object("example.com/v1", "Sample", "default")
		made.SetNamespace("default")
		made.SetUID("uid-cr")
		made.SetFinalizers(finalizers)
		if deleted {
			made.SetDeletionTimestamp(&testTime)
		}
		return made
	}
	for name, test := range map[string]struct {
		cr         *unstructured.Unstructured
		gone       bool
		finalizers []string // that are left
	}{
		"one that nothing holds is gone at once":                {cr(false), true, nil},
		"one that only upstream's finalizer holds is let go of": {cr(true, v1beta2.FinalizerModuleCR), true, nil},
		"one that the module's operator holds is waited for": {
			cr(true, "example.com/cleanup", v1beta2.FinalizerModuleCR), false, []string{"example.com/cleanup"},
		},
		"one that only the operator holds is not touched": {cr(true, "example.com/cleanup"), false, []string{"example.com/cleanup"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := filled(test.cr)
			w := newScope(newManifest(withResource("")), testTime)
			w.runtime = c
			gone, err := w.deleteModuleCR(t.Context(), samplesResource, test.cr.DeepCopy())
			if err != nil || gone != test.gone {
				t.Fatalf("gone %v, error %v", gone, err)
			}
			left, err := c.dynamic.Resource(samplesResource).Namespace("default").Get(t.Context(), "default", metav1.GetOptions{})
			if err != nil {
				return // as it should be for one that nothing held
			}
			if diff := cmp.Diff(test.finalizers, left.GetFinalizers(), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("finalizers differ (-want +got):\n%s", diff)
			}
		})
	}
}

// A client that waits for the deletion of an object must learn whose finalizer holds it.
func TestRemove_ReportsWhatHoldsTheDeletion(t *testing.T) {
	const fields = `{"f:metadata":{"f:finalizers":{".":{},"v:\"example.com/cleanup\"":{}}}}`
	hold := func(object *unstructured.Unstructured) *unstructured.Unstructured {
		object.SetUID("uid-held")
		object.SetDeletionTimestamp(&testTime)
		object.SetFinalizers([]string{"example.com/cleanup"})
		object.SetManagedFields([]metav1.ManagedFieldsEntry{{
			Manager: "its-operator", Operation: metav1.ManagedFieldsOperationUpdate, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
		}})
		return object
	}
	const held = ", held by finalizer example.com/cleanup (set by its-operator)"
	t.Run("an object of the content", func(t *testing.T) {
		w := newScope(newManifest(), testTime)
		object := hold(marked("held", w.owner()))
		w.runtime, w.recorded = filled(object), []inventory.Entry{entryOf(inventory.IDOf(object))}
		err := newReconciler(t, w.manifest).removeInstalled(t.Context(), w)
		found := resultOf(err)
		if found == nil || found.reason != v1beta2.ReasonWaitingForDeletion ||
			!strings.HasSuffix(found.message, "1 object left, first ConfigMap default/held"+held) {
			t.Errorf("finding %+v, error %v", found, err)
		}
	})
	t.Run("the default custom resource", func(t *testing.T) {
		own := object("example.com/v1", "Sample", "default")
		own.SetNamespace("default")
		w := newScope(newManifest(withResource("")), testTime)
		w.runtime = filled(hold(own))
		err := newReconciler(t, w.manifest).removeModuleCRs(t.Context(), w)
		found := resultOf(err)
		if found == nil || !strings.HasSuffix(found.message, "is being deleted"+held) {
			t.Errorf("finding %+v, error %v", found, err)
		}
	})
}

func TestDropFinalizers(t *testing.T) {
	all := []string{v1beta2.FinalizerManifest, v1beta2.FinalizerLabelRemoval, v1beta2.FinalizerModuleCR}
	manifest := newManifest(func(m *v1beta2.Manifest) { m.Finalizers = append([]string{"example.com/not-yet"}, all...) })
	r := newReconciler(t, manifest)
	if err := r.Client.Delete(t.Context(), manifest); err != nil {
		t.Fatal(err)
	}
	if err := r.dropFinalizers(t.Context(), newScope(stored(t, r, manifest), testTime)); err != nil {
		t.Fatal(err)
	}
	got := stored(t, r, manifest)
	if diff := cmp.Diff([]string{"example.com/not-yet"}, got.Finalizers); diff != "" || got.Status.State != v1beta2.StateDeleting ||
		got.Status.Operation != "waiting as other finalizers are present: [example.com/not-yet]" {
		t.Errorf("state %s, operation %q, finalizers differ (-want +got):\n%s", got.Status.State, got.Status.Operation, diff)
	}
}
