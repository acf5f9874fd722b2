package module

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

const worlds = 500

// inEveryWorld runs a check in many random Snapshots and shows the first in which it fails.
func inEveryWorld(t *testing.T, check func(t *testing.T, w Snapshot)) {
	t.Helper()
	for seed := range uint64(worlds) {
		w := dice{rand.New(rand.NewPCG(seed, 42))}.snapshot()
		before := spelled(w)
		check(t, w)
		if spelled(w) != before {
			t.Error("the World was changed")
		}
		if t.Failed() {
			t.Fatalf("in the World of seed %d: Kyma %+v\nManifests %+v", seed, w.Kyma, w.Manifests)
		}
	}
}

// spelled returns the mutable parts of the Snapshot as JSON.
func spelled(w Snapshot) string {
	raw, err := json.Marshal([]any{w.Kyma, w.Manifests, w.Releases, w.Templates, w.Rollouts})
	must(err)
	return string(raw)
}

func TestProperty_OneVerdictEachSortedAndTheSameEveryTime(t *testing.T) {
	inEveryWorld(t, func(t *testing.T, w Snapshot) {
		verdicts := Resolve(w)
		if !slices.IsSortedFunc(verdicts, func(a, b Verdict) int { return strings.Compare(a.Module, b.Module) }) {
			t.Error("the verdicts are not sorted")
		}
		type one struct {
			module    string
			mandatory bool
		}
		seen, writing := map[one]bool{}, map[string]bool{}
		for _, v := range verdicts {
			if seen[one{v.Module, v.Mandatory}] || v.Origin == (Origin{}) {
				t.Errorf("%s: twice or from nowhere", v.Module)
			}
			seen[one{v.Module, v.Mandatory}] = true
			if v.Manifest == nil && v.Template == nil || v.Kind == Removed {
				continue
			}
			if writing[v.Module] {
				t.Errorf("%s: two verdicts have something to write", v.Module)
			}
			writing[v.Module] = true
		}
		for _, spec := range w.Kyma.Spec.Modules {
			if !seen[one{spec.Name, false}] {
				t.Errorf("no verdict for %s", spec.Name)
			}
		}
		for _, release := range w.Mandatory {
			if release.DeletionTimestamp == nil && !seen[one{release.Name, true}] {
				t.Errorf("no verdict for the mandatory %s", release.Name)
			}
		}
		if again := Resolve(w); !reflect.DeepEqual(verdicts, again) {
			t.Errorf("another time, another verdict:\n%s", cmp.Diff(verdicts, again))
		}
	})
}

func TestProperty_AVerdictKeepsItsKindsWord(t *testing.T) {
	inEveryWorld(t, func(t *testing.T, w Snapshot) {
		for _, v := range Resolve(w) {
			switch {
			case v.Kind == Run && (v.Template == nil || v.Source == nil || v.State != "" || v.Reason != ""):
				t.Errorf("%s: runs nothing: %+v", v.Module, v)
			case v.WakeAt.IsZero() != (v.Reason != v1beta2.ReasonWaitingForMaintenanceWindow) || v.WakeAt.After(noon.Time) == v.WakeAt.IsZero():
				t.Errorf("%s: %s is woken at %s", v.Module, v.Reason, v.WakeAt)
			case (v.Offered != "") != (v.Reason == v1beta2.ReasonWaitingForRollout) || v.Offered != "" && v.Kind != Waiting:
				t.Errorf("%s: %s, %s, and %q is offered", v.Module, v.Kind, v.Reason, v.Offered)
			case v.Kind != Run && (v.State == "" && v.WakeAt.IsZero() && v.Offered == "" && v.Reason != v1beta2.ReasonRolloutAborted &&
				v.Reason != v1beta2.ReasonApprovalRequired ||
				v.Reason == "" || v.Message == ""):
				t.Errorf("%s: %s without state, reason or message", v.Module, v.Kind)
			case v.Kind == Keep && v.Manifest == nil && v.Template == nil, v.Kind == Refused && v.Template != nil:
				t.Errorf("%s: %s, Manifest %v, template %v", v.Module, v.Kind, v.Manifest, v.Template)
			case v.Kind != Run && !slices.ContainsFunc(Rules(), func(r Rule) bool {
				return r.Reason == v.Reason && r.State == v.State && (r.Kinds == nil || slices.Contains(r.Kinds, v.Kind))
			}):
				t.Errorf("%s: %s, %s, %s is not in the table", v.Module, v.Kind, v.State, v.Reason)
			}
		}
	})
}

func TestProperty_NeverADowngrade(t *testing.T) {
	inEveryWorld(t, func(t *testing.T, w Snapshot) {
		told := statusByName(w.Kyma)
		for _, v := range Resolve(w) {
			if v.Template == nil {
				continue
			}
			entry := told[v.Module]
			if v.Mandatory {
				if entry = nil; v.Manifest != nil && sameSource(v.Manifest, v.Source) {
					continue // the same content, whatever version a user wrote into the Manifest
				}
			}
			if entry != nil && entry.State != v1beta2.StateDeleting && moduleversion.IsDowngrade(entry.Version, v.Version) {
				t.Errorf("%s: %s at %s, the status said %s", v.Module, v.Kind, v.Version, entry.Version)
			}
			if entry == nil && v.Manifest != nil && moduleversion.IsDowngrade(v.Manifest.Spec.Version, v.Version) {
				t.Errorf("%s: %s at %s, the Manifest says %s", v.Module, v.Kind, v.Version, v.Manifest.Spec.Version)
			}
		}
	})
}

func TestProperty_NeverARemovalByRefusal(t *testing.T) {
	inEveryWorld(t, func(t *testing.T, w Snapshot) {
		verdicts := Resolve(w)
		for _, doomed := range MakePlan(w, verdicts).Delete {
			at := slices.IndexFunc(verdicts, func(v Verdict) bool {
				return slices.ContainsFunc(v.all(), func(m *v1beta2.Manifest) bool { return m.Name == doomed.Name })
			})
			v := verdicts[at]
			surplus := v.Kind == Run && v.Manifest.Name != doomed.Name && settled(w, &v)
			asked := v.Kind == Removed && (!v.Origin.Spec || noLongerAllowed(&v) || w.Kyma.DeletionTimestamp != nil)
			if !surplus && !asked {
				t.Errorf("%s: %s (%s) deletes %s", v.Module, v.Kind, v.Reason, doomed.Name)
			}
		}
	})
}

func TestProperty_NothingOfOthersIsWritten(t *testing.T) {
	inEveryWorld(t, func(t *testing.T, w Snapshot) {
		plan := MakePlan(w, Resolve(w))
		var written []string
		for _, manifest := range plan.Apply {
			written = append(written, manifest.Name)
		}
		for i := range plan.Delete {
			written = append(written, plan.Delete[i].Name)
		}
		for _, adjustment := range plan.Adjust {
			written = append(written, adjustment.Manifest.Name)
		}
		for i := range w.Manifests {
			if !ours(w.Kyma, &w.Manifests[i]) && slices.Contains(written, w.Manifests[i].Name) {
				t.Errorf("%s belongs to another user", w.Manifests[i].Name)
			}
		}
		slices.Sort(written)
		if len(slices.Compact(slices.Clone(written))) != len(written) {
			t.Errorf("a Manifest is written twice: %q", written)
		}
	})
}

func TestProperty_APlanIsEmptyAfterItself(t *testing.T) {
	inEveryWorld(t, func(t *testing.T, w Snapshot) {
		verdicts := Resolve(w)
		plan := MakePlan(w, verdicts)
		after := carryOut(w, plan)
		// The controller has run: every Manifest was observed, which does not make it ready.
		after.Kyma.Status = Rollup(w, verdicts, nil)
		again := MakePlan(after, Resolve(after))
		for round := 0; len(plan.Delete) > 0 && !again.Empty() && round < 3; round++ {
			// A module that is being deleted may now follow its channel.
			plan, after = again, carryOut(after, again)
			again = MakePlan(after, Resolve(after))
		}
		if !again.Empty() {
			t.Errorf("there is still to write: %+v", again)
		}
	})
}

func TestProperty_AStatusComesToRest(t *testing.T) {
	inEveryWorld(t, func(t *testing.T, w Snapshot) {
		at := w
		for range 4 {
			verdicts := Resolve(at)
			after := carryOut(at, MakePlan(at, verdicts))
			after.Kyma.Status = Rollup(at, verdicts, nil)
			at = after
		}
		at.Now = one
		if after := Rollup(at, Resolve(at), nil); !reflect.DeepEqual(at.Kyma.Status, after) {
			t.Errorf("the status moves without cause (-before +after):\n%s", cmp.Diff(at.Kyma.Status, after))
		}
	})
}

func TestReadyNeverLies(t *testing.T) {
	inEveryWorld(t, func(t *testing.T, w Snapshot) {
		verdicts := Resolve(w)
		plan := MakePlan(w, verdicts)
		status := Rollup(w, verdicts, nil)
		for _, entry := range status.Modules {
			v := verdicts[slices.IndexFunc(verdicts, func(v Verdict) bool { return v.Module == entry.Name && !v.Mandatory })]
			if entry.State != v1beta2.StateReady {
				continue
			}
			m := v.Manifest
			kept := entry.Maintenance || v.Offered != "" || v.Reason == v1beta2.ReasonRolloutAborted || v.Reason == v1beta2.ReasonApprovalRequired
			if v.Kind != Run && !kept || m == nil || m.Status.State != v1beta2.StateReady || m.Status.ObservedGeneration != m.Generation ||
				m.DeletionTimestamp != nil || m.Spec.Version != v.Version {
				t.Errorf("%s is told to be Ready: %+v", entry.Name, v)
			}
			for _, applied := range plan.Apply {
				if applied.Name == m.Name && compare(m, applied).Spec {
					t.Errorf("%s is told to be Ready while its spec changes", entry.Name)
				}
			}
		}
		if (status.State == v1beta2.StateReady) != conditions.IsTrue(status.Conditions, v1beta2.ConditionReady) {
			t.Error("state and condition Ready differ")
		}
		if problems := conditions.Check(w.Kyma.Generation, status.Conditions); len(problems) > 0 {
			t.Error(strings.Join(problems, "; "))
		}
	})
}

func TestProperty_EveryReasonIsInTheTable(t *testing.T) {
	declared := map[string]bool{v1beta2.ReasonNoModules: true}
	for _, r := range Rules() {
		declared[r.Reason] = true
	}
	inEveryWorld(t, func(t *testing.T, w Snapshot) {
		for _, condition := range Rollup(w, Resolve(w), nil).Conditions {
			if !declared[condition.Reason] {
				t.Errorf("condition %s has reason %s", condition.Type, condition.Reason)
			}
		}
	})
}

func TestNeededIsEnough(t *testing.T) {
	// When all components that Needed returns are readable, Resolve waits for none.
	inEveryWorld(t, func(t *testing.T, w Snapshot) {
		w.Components = map[ComponentKey]Component{}
		for _, key := range Needed(w) {
			w.Components[key] = newComponent(key.Version)
		}
		for _, v := range Resolve(w) {
			if v.Reason == v1beta2.ReasonComponentPending && v.Consent != ConsentUnknown {
				t.Errorf("%s: %s", v.Module, v.Message)
			}
		}
	})
}
