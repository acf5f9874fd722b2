package module

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const saysReinstall = "the module is installed again when its previous installation is gone"

func isDying(m *v1beta2.Manifest) { dying(m) }

func isLeaving(m *v1beta2.Manifest) { m.Annotations[v1beta2.AnnotationIsUnmanaged] = "true" }

func TestWaiting(t *testing.T) {
	for _, test := range []struct {
		name   string
		world  []func(*Snapshot)
		want   verdictWords
		writes string // the applied version, empty for none
	}{
		{"the component is being read for the first time", []func(*Snapshot){notRead(v1)},
			verdictWords{Waiting, "Processing", "ComponentPending", "component " + component + ":1.0.0 is being read", "", ""}, ""},
		{"the component of an upgrade is being read", []func(*Snapshot){installedAt("regular", v1), ofChannel("fast"), notRead(v2)},
			verdictWords{Waiting, "Processing", "ComponentPending", "component " + component + ":2.0.0 is being read", "regular", v1}, ""},
		{"enabled again while it is being removed", []func(*Snapshot){installedAt("regular", v1), theManifest(isDying)},
			verdictWords{Waiting, "Deleting", "ModuleDeleting", saysReinstall, "regular", v1}, ""},
		{"enabled again with a newer version: the one that is being removed is updated",
			[]func(*Snapshot){installedAt("regular", v1), theManifest(isDying), ofChannel("fast")},
			verdictWords{Waiting, "Deleting", "ModuleDeleting", saysReinstall, "fast", v2}, v2},
		{"enabled again with an older version: the one that is being removed stays as it is",
			[]func(*Snapshot){installedAt("fast", v2), theManifest(isDying)},
			verdictWords{Waiting, "Deleting", "ModuleDeleting", saysReinstall, "fast", v2}, ""},
		{"enabled again with the version of the status while a newer one is being removed", []func(*Snapshot){installedAt("fast", v2),
			theManifest(isDying), theEntry(func(e *v1beta2.ModuleStatus) { e.Channel, e.Version = "regular", v1 })},
			verdictWords{Waiting, "Deleting", "ModuleDeleting", saysReinstall, "regular", v1}, ""},
		{"enabled again while the component is being read",
			[]func(*Snapshot){installedAt("regular", v1), theManifest(isDying), ofChannel("fast"), notRead(v2)},
			verdictWords{Waiting, "Deleting", "ModuleDeleting", saysReinstall, "regular", v1}, ""},
		{"managed again while it is becoming unmanaged", []func(*Snapshot){installedAt("regular", v1), theManifest(isLeaving), ofChannel("fast")},
			verdictWords{Waiting, "Deleting", "ModuleDeleting", saysReinstall, "regular", v1}, ""},
		{"a Manifest of another user that has the name is being deleted", []func(*Snapshot){installedAt("regular", v1), func(w *Snapshot) {
			w.Kyma.Status.Modules = nil
		}, theManifest(func(m *v1beta2.Manifest) { m.OwnerReferences[0].UID = "former"; dying(m) })},
			verdictWords{Waiting, "Deleting", "ModuleDeleting", saysReinstall, "", ""}, ""},
		{"a refusal while it is being removed keeps nothing",
			[]func(*Snapshot){installedAt("regular", v1), theManifest(isDying), ofChannel("rapid")},
			verdictWords{Refused, "Error", "ChannelNotFound", `no version found for channel "rapid" in ModuleReleaseMeta "template-operator"`,
				"regular", v1}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(test.world...)
			got := only(t, w)
			if diff := cmp.Diff(test.want, wordsOf(got)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			wantApply(t, MakePlan(w, []Verdict{got}), test.writes)
		})
	}
}

// wantApply checks that a plan applies one Manifest at that version, or nothing when it is empty, and does nothing else.
func wantApply(t *testing.T, plan Plan, version string) {
	t.Helper()
	var applied string
	for _, manifest := range plan.Apply {
		applied += manifest.Spec.Version
	}
	if applied != version || len(plan.Delete)+len(plan.Adjust) > 0 {
		t.Errorf("applied %q, want %q; plan %+v", applied, version, plan)
	}
}

func TestDisabled(t *testing.T) {
	for _, test := range []struct {
		name    string
		world   []func(*Snapshot)
		version string // that is applied while the deletion is blocked
		deletes int
	}{
		{"it is deleted", []func(*Snapshot){disabled}, "", 1},
		{"it is deleted although nothing of it can be resolved", []func(*Snapshot){disabled, func(w *Snapshot) {
			w.Releases, w.Templates, w.Components = nil, nil, nil
		}}, "", 1},
		{"it is being deleted", []func(*Snapshot){disabled, theManifest(isDying)}, "", 0},
		{"it follows its channel while its deletion is blocked", []func(*Snapshot){disabled, theManifest(isDying),
			theRelease(func(r *v1beta2.ModuleReleaseMeta) { r.Spec.Channels[0].Version = v2 })}, v2, 0},
		{"a pinned version follows nothing", []func(*Snapshot){disabled, theManifest(func(m *v1beta2.Manifest) {
			delete(m.Labels, v1beta2.LabelChannel)
			dying(m)
		}), theEntry(func(e *v1beta2.ModuleStatus) { e.Channel = "" }),
			theRelease(func(r *v1beta2.ModuleReleaseMeta) { r.Spec.Channels[0].Version = v2 })}, "", 0},
		{"it follows no version that is not allowed", []func(*Snapshot){disabled, theManifest(isDying),
			theRelease(func(r *v1beta2.ModuleReleaseMeta) { r.Spec.Channels[0].Version = v2 }),
			theTemplate(v2, func(m *v1beta2.ModuleTemplate) { m.Labels = map[string]string{v1beta2.LabelInternal: "true"} })}, "", 0},
		{"a Manifest that is becoming unmanaged is deleted and not changed",
			[]func(*Snapshot){disabled, theManifest(isDying), theManifest(isLeaving), theRelease(func(r *v1beta2.ModuleReleaseMeta) {
				r.Spec.Channels[0].Version = v2
			})}, "", 0},
		{"the Kyma is being deleted", []func(*Snapshot){kymaDeleted}, "", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(append([]func(*Snapshot){installedAt("regular", v1)}, test.world...)...)
			got := only(t, w)
			if got.Kind != Removed || got.State != v1beta2.StateDeleting {
				t.Errorf("verdict %s, %s", got.Kind, got.State)
			}
			plan := MakePlan(w, []Verdict{got})
			if len(plan.Delete) != test.deletes {
				t.Errorf("deletes %d, want %d", len(plan.Delete), test.deletes)
			}
			plan.Delete = nil
			wantApply(t, plan, test.version)
		})
	}
}

func TestUnmanaged(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1), unmanaged, ofChannel("none"))
	got := only(t, w)
	if got.Kind != Unmanaged || got.State != v1beta2.StateUnmanaged || got.Version != v1 {
		t.Fatalf("verdict %s, %s, %s", got.Kind, got.State, got.Version)
	}
	plan := MakePlan(w, []Verdict{got})
	if len(plan.Adjust) != 1 || len(plan.Apply)+len(plan.Delete) > 0 {
		t.Fatalf("plan %+v", plan)
	}
	const want = `{"metadata":{"annotations":{"operator.kyma-project.io/is-unmanaged":"true"},"resourceVersion":"1",` +
		`"uid":"uid-kyma-sample-template-operator-2235966007"}}`
	if diff := cmp.Diff(want, string(plan.Adjust[0].Patch)); diff != "" || plan.Adjust[0].Module != operator {
		t.Errorf("patch of %s (-want +got):\n%s", plan.Adjust[0].Module, diff)
	}
	isLeaving(&w.Manifests[0])
	if plan := MakePlan(w, Resolve(w)); !plan.Empty() {
		t.Errorf("the mark is set twice: %+v", plan)
	}
	w.Manifests = nil
	if plan := MakePlan(w, Resolve(w)); !plan.Empty() || only(t, w).Kind != Unmanaged {
		t.Errorf("what is gone is written: %+v", plan)
	}
}
