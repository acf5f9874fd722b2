package manifest

import (
	"testing"
	"time"

	"k8s.io/client-go/util/flowcontrol"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestConflictBackoff_SlowsDownTwoWritersOfOneField(t *testing.T) {
	r := newReconciler(t)
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
}
