package module

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// story takes one Kyma through its life cycle and records its status.
type story struct {
	t      *testing.T
	w      Snapshot
	writes int
	told   []string
}

// pass does what the controller does: resolve, plan, act, roll up. It returns the plan.
func (s *story) pass() Plan {
	s.t.Helper()
	verdicts := Resolve(s.w)
	plan := MakePlan(s.w, verdicts)
	after := carryOut(s.w, plan)
	results := map[string]Result{}
	for _, applied := range plan.Apply {
		for i := range after.Manifests {
			if after.Manifests[i].Name == applied.Name {
				results[applied.Labels[v1beta2.LabelModuleName]] = Result{Manifest: after.Manifests[i].DeepCopy()}
			}
		}
	}
	status := Rollup(s.w, verdicts, results)
	if !cmp.Equal(s.w.Kyma.Status, status) {
		s.writes++
		line := string(status.State) + " " + readyOf(status).Reason
		for _, module := range status.Modules {
			line += ", " + module.Name + " " + module.Version + " " + string(module.State)
		}
		s.told = append(s.told, line)
	}
	s.w = after
	s.w.Kyma.Status = status
	if again := MakePlan(s.w, Resolve(s.w)); !again.Empty() {
		s.t.Errorf("after %q there is still to write: %+v", s.told, again)
	}
	return plan
}

func (s *story) manifests(state v1beta2.State, reason, message string) {
	for i := range s.w.Manifests {
		reporting(&s.w.Manifests[i], state, reason, message)
	}
	s.pass()
}

func (s *story) wantTold(want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.told); diff != "" {
		s.t.Errorf("the status said (-want +got):\n%s", diff)
	}
	s.told = nil
}

func TestStory_TheLifeOfAKyma(t *testing.T) {
	s := &story{t: t, w: newWorld(newKyma())}
	s.pass()
	s.wantTold("Ready NoModules")

	// Install: two writes of the Kyma's status in all, and never Error or Warning.
	s.w.Kyma.Spec.Modules = []v1beta2.Module{module(operator)}
	s.writes = 0
	s.pass()
	s.manifests("Processing", "Pending", "")
	s.manifests("Processing", "Applying", "7 of 20 objects")
	s.manifests("Ready", "Ready", "20 objects are ready")
	s.pass()
	s.wantTold("Processing ManifestPending, template-operator 1.0.0 Processing", "Ready Ready, template-operator 1.0.0 Ready")
	if s.writes != 2 {
		t.Errorf("an installation took %d writes of the Kyma's status, want 2", s.writes)
	}

	// Upgrade: not Ready from the pass that changes the Manifest until the new version was observed ready.
	ofChannel("fast")(&s.w)
	s.pass()
	s.pass()
	s.manifests("Processing", "WaitingForObjects", "Deployment foo")
	s.manifests("Ready", "Ready", "")
	s.wantTold("Processing ManifestPending, template-operator 2.0.0 Processing",
		"Processing ModuleProcessing, template-operator 2.0.0 Processing", "Ready Ready, template-operator 2.0.0 Ready")

	// Back to the older channel: the newer version stays, and is put back when a user changes it.
	ofChannel("")(&s.w)
	s.pass()
	s.w.Manifests[0].Spec.Version = "0.0.1"
	if plan := s.pass(); len(plan.Apply) != 1 || plan.Apply[0].Spec.Version != v2 {
		t.Errorf("plan %+v", plan)
	}
	s.wantTold("Warning Downgrade, template-operator 2.0.0 Warning", "Warning Downgrade, template-operator 2.0.0 Warning") // new generation
	ofChannel("fast")(&s.w)
	s.manifests("Ready", "Ready", "")
	s.wantTold("Ready Ready, template-operator 2.0.0 Ready")

	// Disabled, and enabled again in the older channel while it is being removed: installed anew once it is gone.
	disabled(&s.w)
	s.pass()
	s.w.Kyma.Spec.Modules = []v1beta2.Module{module(operator)}
	s.pass()
	s.w.Manifests = nil
	s.pass()
	s.manifests("Ready", "Ready", "")
	s.wantTold("Processing ModuleDeleting, template-operator 2.0.0 Deleting", "Processing ModuleDeleting, template-operator 2.0.0 Deleting",
		"Processing ManifestPending, template-operator 1.0.0 Processing", "Ready Ready, template-operator 1.0.0 Ready")

	// Unmanaged, and managed again.
	unmanaged(&s.w)
	s.pass()
	s.pass()
	s.w.Manifests = nil
	s.pass()
	s.w.Kyma.Spec.Modules[0].Managed = nil
	s.pass()
	s.manifests("Ready", "Ready", "")
	s.wantTold("Ready Ready, template-operator 1.0.0 Unmanaged", "Processing ManifestPending, template-operator 1.0.0 Processing",
		"Ready Ready, template-operator 1.0.0 Ready")

	// The end.
	kymaDeleted(&s.w)
	s.pass()
	s.w.Manifests = nil
	s.pass()
	s.wantTold("Deleting Deleting, template-operator 1.0.0 Deleting", "Deleting Deleting")
}
