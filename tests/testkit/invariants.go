package testkit

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// violations compares two successive versions of an object and returns the broken invariants, as sentences. The earlier version is empty
// for an object that was not seen before.
func violations(before, now subject) []string {
	if now.foreign() {
		return nil
	}
	found := conditions.Check(now.generation, now.conditions)
	add := func(format string, values ...any) { found = append(found, fmt.Sprintf(format, values...)) }
	if now.observed > now.generation {
		add("the status speaks of generation %d of an object at generation %d", now.observed, now.generation)
	}
	if max(now.observed, 0) < before.observed && now.observed != 0 { // a definition without the field drops it
		add("the status spoke of generation %d and now speaks of %d", before.observed, now.observed)
	}
	for _, cond := range now.conditions {
		old := conditions.Find(before.conditions, cond.Type)
		if old != nil && old.Status == cond.Status && !old.LastTransitionTime.Equal(&cond.LastTransitionTime) {
			add("condition %s is %s as before, and its lastTransitionTime moved", cond.Type, cond.Status)
		}
	}
	found = append(found, misremembers(before.manifest, now.manifest)...)
	found = append(found, misleads(now)...)
	return append(found, lies(now)...)
}

// foreign reports whether upstream wrote the status: it has conditions, but no Ready, and no observed generation but the one of the
// definition's default, where ours always has one.
func (s subject) foreign() bool {
	return s.observed <= 0 && len(s.conditions) > 0 && conditions.Find(s.conditions, v1beta2.ConditionReady) == nil
}

// lies returns where the state claims more than the rest of the status.
func lies(now subject) []string {
	var found []string
	ready := conditions.IsTrue(now.conditions, v1beta2.ConditionReady)
	switch now.state {
	case v1beta2.StateReady:
		if !ready {
			found = append(found, "state is Ready and condition Ready is not True")
		}
		for _, module := range now.modules {
			if module.State != v1beta2.StateReady && module.State != v1beta2.StateUnmanaged {
				found = append(found, fmt.Sprintf("state is Ready and module %s is %s", module.Name, module.State))
			}
		}
	case v1beta2.StateError, v1beta2.StateProcessing, v1beta2.StateDeleting:
		if ready {
			found = append(found, fmt.Sprintf("state is %s and condition Ready is %s", now.state, metav1.ConditionTrue))
		}
	case v1beta2.StateWarning, v1beta2.StateUnmanaged: // running modules may be ready
	}
	return found
}
