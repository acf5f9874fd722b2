package manifest

import (
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestRecordOutcomes_DetectsDefaultCRDeletedWithItsDefinition(t *testing.T) {
	const ours, others = "Sample", "Other"
	for name, test := range map[string]struct {
		kind          string
		before, after types.UID
		err           error
		why           inventory.Why
		kept          bool // the custom resource still counts as created
	}{
		"the definition is as it was":                                   {ours, "1", "1", nil, inventory.WhyChanged, true},
		"it was gone, and was made anew":                                {ours, "1", "2", nil, inventory.WhyMissing, false},
		"a user made another one":                                       {ours, "1", "2", nil, inventory.WhyReplaced, false},
		"it went while its new content was on the way":                  {ours, "1", "2", nil, inventory.WhyChanged, false},
		"it went after an apply whose end was not recorded":             {ours, "1", "2", nil, inventory.WhyNew, false},
		"it could not be made anew yet, and is still the one before":    {ours, "1", "", errors.New("no"), inventory.WhyMissing, true},
		"it is new, so the custom resource was made before we wrote it": {ours, "", "2", nil, inventory.WhyNew, true},
		"another definition was made anew":                              {others, "1", "2", nil, inventory.WhyMissing, true},
	} {
		t.Run(name, func(t *testing.T) {
			definition := object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "any")
			definition.Object["spec"] = map[string]any{"group": "example.com", "names": map[string]any{"kind": test.kind}}
			w := newScope(newManifest(func(m *v1beta2.Manifest) {
				m.Spec.Resource = &unstructured.Unstructured{Object: map[string]any{
					"apiVersion": "example.com/v1", "kind": ours, "metadata": map[string]any{"name": "default"},
				}}
			}), testTime)
			w.runtime = &cluster{}
			w.setCondition(v1beta2.ConditionModuleCR, metav1.ConditionTrue, v1beta2.ReasonCreated, v1beta2.MessageModuleCRCreated)

			id := inventory.IDOf(definition)
			w.recordOutcomes([]inventory.Step{{Object: definition, Entry: inventory.Entry{ID: id, UID: test.before}, Why: test.why}},
				[]apply.Outcome{{ID: id, UID: test.after, Err: test.err}})
			if got := w.moduleCRCreated(); got != test.kept {
				t.Errorf("the custom resource counts as created: %t, want %t", got, test.kept)
			}
		})
	}
}

// TestRecordOutcomes_WritesSharedObjectOnceItIsOurs: what a sibling made counts as in order while it answers for it, and not after it handed it
// over.
func TestRecordOutcomes_WritesSharedObjectOnceItIsOurs(t *testing.T) {
	shared := object("v1", "ConfigMap", "shared")
	id := inventory.IDOf(shared)
	w := newScope(newManifest(), testTime)
	w.runtime = &cluster{}
	const fields = inventory.FieldsCreated + "1"
	w.recordOutcomes([]inventory.Step{{Object: shared, Entry: inventory.Entry{ID: id}, Why: inventory.WhyNew}},
		[]apply.Outcome{{ID: id, UID: "1", Action: apply.Shared, Owner: "default/sibling", Fields: fields}})
	for owner, want := range map[string]bool{"default/sibling": false, w.owner(): true} {
		drifted := inventory.Drifted(w.recorded, func(inventory.ID) inventory.Live {
			return inventory.Live{Presence: inventory.Present, UID: "1", Fields: fields, Owner: owner}
		})
		if drifted != want {
			t.Errorf("with the mark of %s: drifted %t, want %t", owner, drifted, want)
		}
	}
}
