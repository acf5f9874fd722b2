package manifest

import (
	"context"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// upgrading returns a Manifest whose content is now the ConfigMaps of these names. "old", which it had before, exists; refuse says what the
// cluster answers to the creation of one.
func upgrading(t *testing.T, refuse func(name string) error, names ...string) (*Reconciler, *scope, *cluster) {
	t.Helper()
	gone, recorded := configMaps("old")
	live := marked("old", "kcp-system/sample")
	live.SetUID(recorded[0].UID)
	c := filled(live)
	c.live = map[inventory.ID]inventory.Live{inventory.IDOf(gone[0]): seen(recorded[0])}
	c.dynamic.(*dynamicfake.FakeDynamicClient).PrependReactor("create", "configmaps",
		func(action clienttesting.Action) (bool, runtime.Object, error) {
			created, _ := action.(clienttesting.CreateAction).GetObject().(*unstructured.Unstructured)
			err := refuse(created.GetName())
			return err != nil, nil, err
		})
	manifest := newManifest(func(m *v1beta2.Manifest) { m.Status.Synced = toStatus(recorded) })
	r := newReconciler(t, manifest)
	desired, _ := configMaps(names...)
	r.Content = &contents{parts: []Part{part("raw-manifest", desired)}}
	w := newScope(stored(t, r, manifest), testTime)
	w.runtime, w.recorded, w.stored = c, recorded, recorded
	w.sources = []v1beta2.ResolvedSource{{Name: "raw-manifest"}}
	return r, w, c
}

// verbs returns the writes to a cluster, in order.
func verbs(c *cluster) []string {
	var verbs []string
	for _, action := range c.dynamic.(*dynamicfake.FakeDynamicClient).Actions() {
		if verb := action.GetVerb(); verb != "get" && verb != "list" && verb != "watch" {
			verbs = append(verbs, verb)
		}
	}
	return verbs
}

func TestUpgrade_PrunesNothingBeforeEverythingIsApplied(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "b", nil)
	for name, test := range map[string]struct {
		refuse func(string) error
		verbs  []string
		synced []string
	}{
		"everything is applied, then the rest goes": {
			func(string) error { return nil }, []string{"create", "create", "delete"}, []string{"a", "b"},
		},
		"one is refused, so nothing goes": {
			func(name string) error {
				if name == "b" {
					return forbidden
				}
				return nil
			}, []string{"create", "create"}, []string{"a", "b", "old"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, w, c := upgrading(t, test.refuse, "a", "b")
			_ = r.applyDesired(t.Context(), w)
			if diff := cmp.Diff(test.verbs, verbs(c)); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
			var synced []string
			for _, entry := range w.recorded {
				synced = append(synced, entry.Name)
			}
			slices.Sort(synced)
			if diff := cmp.Diff(test.synced, synced); diff != "" {
				t.Errorf("inventory (-want +got):\n%s", diff)
			}
		})
	}
}

// The runtime disappears when one object of three is written. What was and what might have been written stays recorded, nothing is pruned,
// and the status reports why.
func TestInstall_RecordsWhatWasAppliedWhenTheRuntimeDisappears(t *testing.T) {
	nobody := &url.Error{Op: "Post", URL: "https://runtime", Err: &net.OpError{Op: "dial", Err: net.UnknownNetworkError("gone")}}
	var first sync.Once
	r, w, c := upgrading(t, func(string) error {
		err := error(nobody)
		first.Do(func() { err = nil })
		return err
	}, "a", "b", "c")
	err := r.applyDesired(t.Context(), w)
	found, err := r.failure(err)
	if err != nil || found.state != v1beta2.StateError || found.reason != v1beta2.ReasonRuntimeUnreachable {
		t.Fatalf("finding %+v, error %v", found, err)
	}
	w.report(found)
	if err := r.flush(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{} // and whether it is known to be applied
	for _, entry := range stored(t, r, w.manifest).Status.Synced {
		got[entry.Name] = entry.Hash != ""
	}
	applied := 0
	for _, name := range []string{"a", "b", "c"} {
		if got[name] {
			applied++
		}
	}
	if len(got) != 4 || applied != 1 || !got["old"] || slices.Contains(verbs(c), "delete") || len(c.reported) == 0 {
		t.Errorf("inventory %v, writes %v, %d failures told to the fleet", got, verbs(c), len(c.reported))
	}
}

// defining is a cluster that holds definitions.
type defining struct {
	*cluster
	holds *apply.Cluster
}

func (d defining) Cluster() *apply.Cluster { return d.holds }

func definedBy(name string, fields ...string) *unstructured.Unstructured {
	properties := map[string]any{}
	for _, field := range fields {
		properties[field] = map[string]any{"type": "string"}
	}
	made := object("apiextensions.k8s.io/v1", "CustomResourceDefinition", name+"s.example.com")
	made.Object["spec"] = map[string]any{
		"group": "example.com", "scope": "Namespaced", "names": map[string]any{"kind": name, "plural": name + "s"},
		"versions": []any{map[string]any{
			"name": "v1", "served": true, "storage": true,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": properties}},
		}},
	}
	return made
}

// One upgrade adds a definition and changes two others: the new one is no change, and the others are judged together.
func TestUpgrade_JudgesChangedDefinitionsTogether(t *testing.T) {
	resource := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	lists := map[schema.GroupVersionResource]string{
		resource: "CustomResourceDefinitionList",
		{Group: "example.com", Version: "v1", Resource: "things"}: "ThingList", {Group: "example.com", Version: "v1", Resource: "parts"}: "PartList",
	}
	before, part := definedBy("thing", "size", "colour"), definedBy("part", "size")
	thing, other := object("example.com/v1", "thing", "one"), object("example.com/v1", "part", "one")
	for name, test := range map[string]struct {
		after, part *unstructured.Unstructured
		allow       []v1beta2.CRDRule
		empty       bool
		says        []string
	}{
		"a change that breaks no user":      {after: definedBy("thing", "size", "colour", "weight"), part: part},
		"one that takes a field away":       {after: definedBy("thing", "size"), part: part, says: []string{"FieldRemoved (1)"}},
		"one without an object":             {after: definedBy("thing", "size"), part: definedBy("part"), empty: true},
		"one whose rule is allowed by name": {after: definedBy("thing", "size"), part: part, allow: []v1beta2.CRDRule{crdsafety.FieldRemoved}},
		"one for which another one is allowed": {
			after: definedBy("thing", "size"), part: part, allow: []v1beta2.CRDRule{crdsafety.EnumNarrowed}, says: []string{"FieldRemoved (1)"},
		},
		"two of them are told at once": {
			after: definedBy("thing"), part: definedBy("part"),
			says: []string{"2 CustomResourceDefinitions", "FieldRemoved (3)", "parts.example.com v1 size", "things.example.com v1 colour"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			exists := []runtime.Object{before.DeepCopy(), part.DeepCopy(), thing.DeepCopy(), other.DeepCopy()}
			if test.empty {
				exists = exists[:2]
			}
			hub := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, exists...)
			r, w := newReconciler(t), newScope(newManifest(func(m *v1beta2.Manifest) { m.Spec.AllowCRDChanges = test.allow }), testTime)
			w.runtime = defining{&cluster{}, &apply.Cluster{
				Dynamic: hub, Resource: func(context.Context, schema.GroupVersionKind) (apply.Resource, error) {
					return apply.Resource{GroupVersionResource: resource}, nil
				},
			}}
			var recorded []inventory.Entry
			for _, old := range []*unstructured.Unstructured{before, part} {
				recorded = append(recorded, inventory.Entry{ID: inventory.IDOf(old), Version: "v1", UID: "uid", Hash: inventory.ContentHash(old)})
			}
			desired := []*unstructured.Unstructured{definedBy("gadget", "size"), test.after, test.part}
			steps := inventory.Decide(recorded, desired, func(inventory.ID) inventory.Live { return inventory.Live{} }).Apply
			problem := problemOf(w.checkCRDs(t.Context(), steps, r.options(t.Context(), w)))
			if (problem != nil) != (test.says != nil) {
				t.Fatalf("problem %+v, want %q", problem, test.says)
			}
			if problem == nil {
				return
			}
			for _, words := range test.says {
				if !strings.Contains(problem.Message, words) {
					t.Errorf("no %q in %s", words, problem.Message)
				}
			}
			if problem.Reason != v1beta2.ReasonCRDChangeRefused || strings.Contains(problem.Message, "gadgets") {
				t.Errorf("problem %+v", problem)
			}
		})
	}
}

// The operator of a module, whatever its kind, may be needed to release the rest: so it is deleted after it.
func TestRemoveObjects_DeletesTheManagerLast(t *testing.T) {
	_, recorded := configMaps("operator", "settings")
	w := newScope(newManifest(func(m *v1beta2.Manifest) {
		m.Spec.Manager = &v1beta2.Manager{Name: "operator", Namespace: "default"}
		m.Spec.Manager.Version, m.Spec.Manager.Kind = "v1", "ConfigMap"
	}), testTime)
	first, second := marked("operator", w.owner()), marked("settings", w.owner())
	first.SetUID(recorded[0].UID)
	second.SetUID(recorded[1].UID)
	c := filled(first, second)
	c.live = map[inventory.ID]inventory.Live{recorded[0].ID: seen(recorded[0]), recorded[1].ID: seen(recorded[1])}
	w.runtime, w.recorded = c, recorded
	r := newReconciler(t, w.manifest)
	for range 5 {
		if err := r.removeInstalled(t.Context(), w); err != nil && !resultOf(err).waits() {
			t.Fatal(err)
		}
	}
	var deleted []string
	for _, action := range c.dynamic.(*dynamicfake.FakeDynamicClient).Actions() {
		if gone, ok := action.(clienttesting.DeleteAction); ok {
			deleted = append(deleted, gone.GetName())
		}
	}
	if diff := cmp.Diff([]string{"settings", "operator"}, deleted); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
}
