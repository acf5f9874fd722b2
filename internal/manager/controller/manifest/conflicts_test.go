package manifest

import (
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/flowcontrol"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestConflictBackoff_SlowsDownTwoWritersOfOneField(t *testing.T) {
	r, repaired := newReconciler(t), &repairs{}
	r.Repairs = repaired
	now := clocktesting.NewFakeClock(testTime.Time)
	r.conflicts.open()
	r.conflicts.backoff = flowcontrol.NewFakeBackOff(firstConflictDelay, maxConflictDelay, now)
	key := newScope(newManifest(), testTime).key
	drifted := inventory.Decision{Apply: []inventory.Step{{Entry: entryOf(deploymentID), Why: inventory.WhyDrifted}}}

	if pause := r.conflictBackoff(key, drifted); pause != nil {
		t.Fatalf("the first edit waits: %v", pause)
	}
	var waits []time.Duration
	for range 8 {
		r.recordConflict(key)
		waited := time.Duration(0)
		for r.conflictBackoff(key, drifted) != nil {
			now.Step(time.Second)
			waited += time.Second
		}
		waits = append(waits, waited)
	}
	if waits[0] > 2*firstConflictDelay || waits[7] < maxConflictDelay/2 || waits[7] > maxConflictDelay+time.Second {
		t.Errorf("the truces are %v", waits)
	}
	if want := (repairs{contested: 7}); *repaired != want {
		t.Errorf("counted %+v, want every round but the first", *repaired)
	}
	r.recordConflict(key)
	upgrade := inventory.Decision{Apply: append(drifted.Apply, inventory.Step{Entry: entryOf(accountID), Why: inventory.WhyChanged})}
	if pause := r.conflictBackoff(key, upgrade); pause != nil {
		t.Errorf("an upgrade waits for a fight: %v", pause)
	}
	now.Step(3 * maxConflictDelay)
	r.recordConflict(key)
	now.Step(2 * firstConflictDelay)
	if pause := r.conflictBackoff(key, drifted); pause != nil {
		t.Errorf("what happened long ago still counts: %v", pause)
	}
	if repaired.contested != 8 {
		t.Errorf("a single edit counts as a fight: %d rounds, want the 8 of the fight", repaired.contested)
	}
}

// repairs counts what was put right.
type repairs struct{ definitions, contested int }

func (r *repairs) DefinitionRestored() { r.definitions++ }
func (r *repairs) FieldsContested()    { r.contested++ }

func TestCountRestored_CountsDefinitionsThatWereLost(t *testing.T) {
	definition := inventory.ID{Group: inventory.CRDKind.Group, Kind: inventory.CRDKind.Kind, Name: "samples.example.com"}
	for name, test := range map[string]struct {
		id       inventory.ID
		was, now types.UID
		err      error
		want     int
	}{
		"a definition that was made again":          {definition, "old", "new", nil, 1},
		"a definition that was changed":             {definition, "old", "old", nil, 0},
		"a definition that is new":                  {definition, "", "new", nil, 0},
		"a definition that cannot be made again":    {definition, "old", "", errors.New("denied"), 0},
		"an object of another kind loses no others": {deploymentID, "old", "new", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, repaired := newReconciler(t), &repairs{}
			r.Repairs = repaired
			entry := entryOf(test.id)
			entry.UID = test.was
			r.countRestored([]inventory.Step{{Entry: entry}}, []apply.Outcome{{ID: test.id, UID: test.now, Err: test.err}})
			if repaired.definitions != test.want {
				t.Errorf("counted %d, want %d", repaired.definitions, test.want)
			}
		})
	}
}
