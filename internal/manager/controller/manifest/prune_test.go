package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// A new version that drops an operator and its custom resource removes the operator only when that has released the custom resource.
func TestPrune_StopsAtTheFirstIncompleteWave(t *testing.T) {
	w := newScope(newManifest(), testTime)
	cr := object("example.com/v1", "Sample", "cr")
	cr.SetNamespace("default")
	cr.SetUID("uid-cr")
	cr.SetAnnotations(marked("", w.owner()).GetAnnotations())
	operator := marked("operator", w.owner())
	operator.SetUID("uid-operator")
	entries := []inventory.Entry{entryOf(inventory.IDOf(cr)), entryOf(inventory.IDOf(operator))}
	c := filled(cr, operator)
	fake := c.dynamic.(*dynamicfake.FakeDynamicClient)
	held := true
	fake.PrependReactor("delete", "samples", func(clienttesting.Action) (bool, runtime.Object, error) { return held, nil, nil })
	w.runtime, w.recorded = c, entries
	r := newReconciler(t, w.manifest)
	deleted := func() (names []string) {
		for _, action := range fake.Actions() {
			if gone, ok := action.(clienttesting.DeleteAction); ok {
				names = append(names, gone.GetName())
			}
		}
		fake.ClearActions()
		return names
	}

	if err := r.prune(t.Context(), w, entries, r.options(t.Context(), w)); err != nil {
		t.Fatal(err)
	}
	for _, name := range deleted() {
		if name != "cr" {
			t.Errorf("%s was deleted while the custom resource was there", name)
		}
	}
	if len(w.recorded) != 2 {
		t.Errorf("recorded: %v", w.recorded)
	}
	held = false
	if err := r.prune(t.Context(), w, entries, r.options(t.Context(), w)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"cr", "operator"}, deleted()); diff != "" || len(w.recorded) != 0 {
		t.Errorf("recorded %v, deleted (-want +got):\n%s", w.recorded, diff)
	}
}
