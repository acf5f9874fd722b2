package manifest

import (
	"testing"
	"time"

	"k8s.io/client-go/util/flowcontrol"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestTwoWhoFightForAFieldAreSlowedDown(t *testing.T) {
	r := newReconciler(t)
	now := clocktesting.NewFakeClock(testTime.Time)
	r.fights.open()
	r.fights.backoff = flowcontrol.NewFakeBackOff(firstTruce, longestTruce, now)
	key := newWork(newManifest(), testTime).key
	drifted := inventory.Decision{Apply: []inventory.Step{{Entry: entryOf(deploymentID), Why: inventory.WhyDrifted}}}

	if pause := r.fighting(key, drifted); pause != nil {
		t.Fatalf("the first edit waits: %v", pause)
	}
	var waits []time.Duration
	for range 8 {
		r.fought(key)
		waited := time.Duration(0)
		for r.fighting(key, drifted) != nil {
			now.Step(time.Second)
			waited += time.Second
		}
		waits = append(waits, waited)
	}
	if waits[0] > 2*firstTruce || waits[7] < longestTruce/2 || waits[7] > longestTruce+time.Second {
		t.Errorf("the truces are %v", waits)
	}
	r.fought(key)
	upgrade := inventory.Decision{Apply: append(drifted.Apply, inventory.Step{Entry: entryOf(accountID), Why: inventory.WhyChanged})}
	if pause := r.fighting(key, upgrade); pause != nil {
		t.Errorf("an upgrade waits for a fight: %v", pause)
	}
	now.Step(3 * longestTruce)
	r.fought(key)
	now.Step(2 * firstTruce)
	if pause := r.fighting(key, drifted); pause != nil {
		t.Errorf("what happened long ago still counts: %v", pause)
	}
}
