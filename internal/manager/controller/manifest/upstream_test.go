package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestExpect_MarksWhatUpstreamRecorded(t *testing.T) {
	_, entries := configMaps("recorded", "new", "drifted")
	for name, test := range map[string]struct {
		observed int64
		want     []inventory.Why
	}{
		"in a status of upstream":             {0, []inventory.Why{inventory.WhyTakenOver, inventory.WhyNew, inventory.WhyDrifted}},
		"in our own, of which an end is open": {1, []inventory.Why{inventory.WhyNew, inventory.WhyNew, inventory.WhyDrifted}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newScope(newManifest(func(m *v1beta2.Manifest) { m.Status.ObservedGeneration = test.observed }), testTime)
			w.recorded = []inventory.Entry{entries[0], entries[2]}
			steps := []inventory.Step{
				{Entry: entries[0], Why: inventory.WhyNew}, {Entry: entries[1], Why: inventory.WhyNew}, {Entry: entries[2], Why: inventory.WhyDrifted},
			}
			w.expect(steps)
			var got []inventory.Why
			for _, step := range steps {
				got = append(got, step.Why)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
}
