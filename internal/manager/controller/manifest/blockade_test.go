package manifest

import (
	"context"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// zoo is a cluster that serves kinds of group example.com beside definitions and ConfigMaps.
type zoo struct {
	*cluster
	kinds []string
}

func newZoo(kinds []string, objects ...runtime.Object) *zoo {
	lists := map[schema.GroupVersionResource]string{inventory.CRDResource: "CustomResourceDefinitionList", mapsResource: "ConfigMapList"}
	for _, kind := range append([]string{"Pen"}, kinds...) { // that of the definitions, which is served only where kinds says so
		lists[resourceOf(kind)] = kind + "List"
	}
	return &zoo{&cluster{
		dynamic: dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, objects...),
		live:    map[inventory.ID]inventory.Live{},
	}, kinds}
}

func resourceOf(kind string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: strings.ToLower(kind) + "s"}
}

func (z *zoo) Cluster() *apply.Cluster {
	return &apply.Cluster{Dynamic: z.dynamic, Resource: func(_ context.Context, gvk schema.GroupVersionKind) (apply.Resource, error) {
		switch {
		case gvk.Kind == "ConfigMap":
			return apply.Resource{GroupVersionResource: mapsResource, Namespaced: true}, nil
		case gvk.GroupKind() == inventory.CRDKind:
			return apply.Resource{GroupVersionResource: inventory.CRDResource}, nil
		case slices.Contains(z.kinds, gvk.Kind):
			return apply.Resource{GroupVersionResource: resourceOf(gvk.Kind), Namespaced: true}, nil
		}
		return apply.Resource{}, &apply.UnknownKindError{GroupVersionKind: gvk}
	}}
}

// there is the cluster as a Fleet.
type there struct {
	reached
	runtime Runtime
}

func (t there) Get(context.Context, Target) (Runtime, error) { return t.runtime, nil }

// animal returns an object of a kind in group example.com.
func animal(kind, name string, change ...func(*unstructured.Unstructured)) *unstructured.Unstructured {
	made := object("example.com/v1", kind, name)
	made.SetNamespace("default")
	made.SetUID(types.UID("uid-" + name))
	for _, c := range change {
		c(made)
	}
	return made
}

// ours marks an object as one that the Manifest sample installed.
func ours(o *unstructured.Unstructured) {
	o.SetAnnotations(map[string]string{v1beta2.AnnotationOwnedBy: "kcp-system/sample"})
}

func keep(o *unstructured.Unstructured) {
	o.SetAnnotations(map[string]string{v1beta2.AnnotationOwnedBy: "kcp-system/sample", apply.AnnotationKeep: "true"})
}

func definedKind(kind string, change func(*unstructured.Unstructured)) *unstructured.Unstructured {
	made := definedBy(strings.ToLower(kind))
	_ = unstructured.SetNestedField(made.Object, kind, "spec", "names", "kind")
	made.SetUID("uid-definition")
	change(made)
	return made
}

// leaving returns a Manifest that is being deleted, of a module whose default CR is Sample default, and which is associated with Paper and
// Ink.
func leaving(recorded ...*unstructured.Unstructured) *v1beta2.Manifest {
	return newManifest(withResource(v1beta2.CustomResourcePolicyCreateAndDelete), func(m *v1beta2.Manifest) {
		m.DeletionTimestamp = &testTime
		for _, kind := range []string{"Paper", "Ink"} {
			m.Spec.AssociatedResources = append(m.Spec.AssociatedResources, metav1.GroupVersionKind{Group: "example.com", Version: "v1", Kind: kind})
		}
		conditions.Set(&m.Status.Conditions, v1beta2.ConditionModuleCR, metav1.ConditionTrue, v1beta2.ReasonCreated, "", 3, testTime)
		var entries []inventory.Entry
		for _, o := range recorded {
			entry := entryOf(inventory.IDOf(o))
			entry.UID = o.GetUID()
			entries = append(entries, entry)
		}
		m.Status.Synced = toStatus(entries)
	})
}

// removing returns one pass of the deletion: what it found, and what it wrote into the cluster.
func removing(t *testing.T, manifest *v1beta2.Manifest, z *zoo) (passResult, []string) {
	t.Helper()
	r := newReconciler(t, manifest)
	r.Clusters, r.Content = there{runtime: z}, &contents{parts: []Part{part("raw-manifest", nil)}}
	found, err := r.remove(t.Context(), newScope(stored(t, r, manifest), testTime))
	if err != nil {
		t.Fatal(err)
	}
	return found, verbs(z.cluster)
}

func TestBlockade_DeletesNothingWhileAnyObjectBlocks(t *testing.T) {
	sample := animal("Sample", "default")
	for name, test := range map[string]struct {
		kinds   []string
		objects []runtime.Object
		brought []*unstructured.Unstructured
		want    string
	}{
		"one of the second associated kind": {
			[]string{"Sample", "Paper", "Ink"}, []runtime.Object{animal("Ink", "mine")}, nil, "delete the Ink default/mine",
		},
		"one of a kind whose definition the module brought": {
			[]string{"Sample", "Pen"}, []runtime.Object{animal("Pen", "mine"), definedKind("Pen", ours)},
			[]*unstructured.Unstructured{definedKind("Pen", ours)}, "delete the Pen default/mine",
		},
		"one that the module brought, and that is to be kept": {
			[]string{"Sample", "Pen"}, []runtime.Object{animal("Pen", "kept", keep), definedKind("Pen", ours)},
			[]*unstructured.Unstructured{definedKind("Pen", ours), animal("Pen", "kept", keep)}, "delete the Pen default/kept",
		},
		"one with the mark of the module that it did not bring": {
			[]string{"Sample", "Paper"}, []runtime.Object{animal("Paper", "copied", ours)}, nil, "delete the Paper default/copied",
		},
		"one beside the default custom resource": {
			[]string{"Sample"}, []runtime.Object{animal("Sample", "mine")}, nil, "delete the Sample default/mine",
		},
	} {
		t.Run(name, func(t *testing.T) {
			found, written := removing(t, leaving(test.brought...), newZoo(test.kinds, append(test.objects, sample.DeepCopy())...))
			if found.state != v1beta2.StateDeleting || found.reason != v1beta2.ReasonDeletionBlocked ||
				found.message != v1beta2.OperationWaitingModuleCRs+": "+test.want || found.retry == 0 {
				t.Errorf("%+v, want %q", found, test.want)
			}
			if len(written) > 0 {
				t.Errorf("it writes: %v", written)
			}
		})
	}
}

func TestBlockade_IgnoresWhatIsNotAUsers(t *testing.T) {
	sample := animal("Sample", "default", func(o *unstructured.Unstructured) { o.SetUID("uid-default") })
	child := animal("Paper", "child", func(o *unstructured.Unstructured) {
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "Sample", Name: "default", UID: "uid-default"}})
	})
	theirs := func(o *unstructured.Unstructured) {
		o.SetAnnotations(map[string]string{v1beta2.AnnotationOwnedBy: "kcp-system/other"})
	}
	refused := definedKind("Pen", func(o *unstructured.Unstructured) {
		ours(o)
		o.Object["status"] = map[string]any{"conditions": []any{
			map[string]any{"type": "NamesAccepted", "status": "False"}, map[string]any{"type": "Established", "status": "False"},
		}}
	})
	for name, test := range map[string]struct {
		kinds   []string
		objects []runtime.Object
		brought []*unstructured.Unstructured
	}{
		"the default custom resource alone": {kinds: []string{"Sample", "Paper", "Ink"}},
		"what is collected with it":         {[]string{"Sample", "Paper"}, []runtime.Object{child}, nil},
		"kinds that are not served":         {kinds: []string{"Sample"}},
		"an object of a definition that belongs to another Manifest by now": {
			[]string{"Sample", "Pen"}, []runtime.Object{animal("Pen", "mine"), definedKind("Pen", theirs)},
			[]*unstructured.Unstructured{definedKind("Pen", theirs)},
		},
		"an object of a definition that is kept": {
			[]string{"Sample", "Pen"}, []runtime.Object{animal("Pen", "mine"), definedKind("Pen", keep)},
			[]*unstructured.Unstructured{definedKind("Pen", keep)},
		},
		"a definition whose names were not accepted": {
			[]string{"Sample"}, []runtime.Object{refused}, []*unstructured.Unstructured{refused},
		},
		"what the module brought": {
			[]string{"Sample", "Paper"}, []runtime.Object{animal("Paper", "brought", ours)},
			[]*unstructured.Unstructured{animal("Paper", "brought", ours)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			found, written := removing(t, leaving(test.brought...), newZoo(test.kinds, append(test.objects, sample.DeepCopy())...))
			if found.reason == v1beta2.ReasonDeletionBlocked || !slices.Contains(written, "delete") {
				t.Errorf("%+v, writes %v", found, written)
			}
		})
	}
}

// What cannot be read is not taken for absent, and neither is a kind that is not served for a moment.
func TestBlockade_BlocksOnKindsThatCannotBeListed(t *testing.T) {
	inks := schema.GroupResource{Group: "example.com", Resource: "inks"}
	for name, test := range map[string]struct {
		kinds          []string
		err            error
		objects        []runtime.Object
		reason, within string
	}{
		"what may not be listed": {
			[]string{"Sample", "Ink"}, apierrors.NewForbidden(inks, "", nil), nil,
			v1beta2.ReasonDeletionBlocked, "objects of kind Ink.example.com could not be listed",
		},
		"what cannot be listed": {
			[]string{"Sample", "Ink"}, apierrors.NewMethodNotSupported(inks, "list"), nil,
			v1beta2.ReasonDeletionBlocked, "Ink.example.com could not be listed",
		},
		"what is converted by a webhook that does not answer": {
			[]string{"Sample", "Ink"}, apierrors.NewInternalError(context.DeadlineExceeded), nil,
			v1beta2.ReasonDeletionBlocked, "Ink.example.com could not be listed",
		},
		"a runtime that does not know us": {
			[]string{"Sample", "Ink"}, apierrors.NewUnauthorized("who"), nil, v1beta2.ReasonRuntimeUnauthorized, "",
		},
		"a kind that is not served though its definition is there": {
			[]string{"Sample"}, nil, []runtime.Object{definedKind("Ink", func(*unstructured.Unstructured) {})},
			v1beta2.ReasonWaitingForDeletion, "inks.example.com",
		},
	} {
		t.Run(name, func(t *testing.T) {
			z := newZoo(test.kinds, append(test.objects, animal("Sample", "default"))...)
			z.dynamic.(*dynamicfake.FakeDynamicClient).PrependReactor("list", "inks",
				func(clienttesting.Action) (bool, runtime.Object, error) { return test.err != nil, nil, test.err })
			brought := []*unstructured.Unstructured{marked("brought", "kcp-system/sample")}
			found, written := removing(t, leaving(brought...), z)
			if found.state != v1beta2.StateDeleting || found.reason != test.reason || !strings.Contains(found.message, test.within) {
				t.Errorf("%+v", found)
			}
			if slices.Contains(written, "delete") {
				t.Errorf("it writes: %v", written)
			}
		})
	}
}

// A removal that is confined to what inventory and owner mark claim reads nothing that the spec alone names: its status would reveal it.
func TestBlockade_ReadsNothingOfTheSpecWhenConfined(t *testing.T) {
	manifest := leaving(marked("brought", "tenant/sample"))
	manifest.Namespace = "tenant"
	z := newZoo([]string{"Paper", "Ink"}, animal("Ink", "secret"))
	if found, _ := removing(t, manifest, z); strings.Contains(found.message, "secret") || found.reason == v1beta2.ReasonDeletionBlocked {
		t.Errorf("%+v", found)
	}
}

// TestDefinitions_AreReadOnce: a deletion that waits costs a list for each kind, and no definitions again.
func TestDefinitions_AreReadOnce(t *testing.T) {
	pen := definedKind("Pen", ours)
	manifest := leaving(pen)
	z := newZoo([]string{"Sample", "Pen"}, pen, animal("Pen", "mine"))
	z.live[inventory.IDOf(pen)] = inventory.Live{Presence: inventory.Present, UID: pen.GetUID(), Owner: "kcp-system/sample"}
	r := newReconciler(t, manifest)
	for pass := range 2 {
		w := newScope(manifest, testTime)
		w.runtime, w.recorded = z, fromStatus(manifest.Status.Synced)
		blockade, err := r.blockade(t.Context(), w)
		if err != nil || blockade.Message() != "delete the Pen default/mine" {
			t.Fatalf("%q, error %v", blockade.Message(), err)
		}
		reads := 0
		for _, action := range z.dynamic.(*dynamicfake.FakeDynamicClient).Actions() {
			if action.GetVerb() == "get" && action.GetResource() == inventory.CRDResource && action.(clienttesting.GetAction).GetName() == "pens.example.com" {
				reads++
			}
		}
		if reads != 1 {
			t.Errorf("pass %d: the definition was read %d times", pass, reads)
		}
		if !slices.ContainsFunc(w.interests(w.desired), func(i runtimes.Interest) bool { return i.GroupVersionKind.Kind == "Pen" && i.Mode == runtimes.ModuleCR }) {
			t.Error("the end of what blocks is not heard of")
		}
	}
}
