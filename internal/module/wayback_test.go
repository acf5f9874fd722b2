package module

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
)

// upgrading returns a Snapshot in which the sample module was ready at 1.0.0, follows a channel that offers 2.0.0, and has been upgrading
// to it for an hour; the author vouches for the way back, and the module goes back by itself.
func upgrading(edits ...func(*Snapshot)) Snapshot {
	return sampleWorld(append([]func(*Snapshot){
		ofChannel("fast"), automatic, installedAt("fast", v2), vouching(">=1.0.0"),
		theManifest(func(m *v1beta2.Manifest) {
			reporting(m, v1beta2.StateProcessing, v1beta2.ReasonWaitingForObjects, "Deployment x: 0 of 1 replicas are available")
		}),
		withHistory(began(v1, -48*time.Hour, "", v1beta2.RevisionSucceeded, ""), began(v2, -time.Hour, v1beta2.StateReady, "", "")),
	}, append(edits, observedAllTheTime)...)...)
}

// wentBack returns upgrading an hour later: 1.0.0 is installed again, and Ready.
func wentBack(edits ...func(*Snapshot)) Snapshot {
	return upgrading(append([]func(*Snapshot){
		func(w *Snapshot) { w.Manifests, w.Kyma.Status.Modules = nil, nil }, installedAt("fast", v1),
		withHistory(
			began(v1, -48*time.Hour, "", v1beta2.RevisionSucceeded, ""),
			began(v2, -2*time.Hour, v1beta2.StateReady, v1beta2.RevisionRolledBack, v1beta2.ReasonProgressDeadlineExceeded),
			began(v1, -time.Hour, v1beta2.StateProcessing, v1beta2.RevisionSucceeded, ""),
		),
		theManifest(func(m *v1beta2.Manifest) {
			m.Annotations[v1beta2.AnnotationRollback] = v1beta2.ReasonProgressDeadlineExceeded
			m.Annotations[v1beta2.AnnotationRollbackMessage] = "Deployment x: 0 of 1 replicas are available"
		}),
	}, edits...)...)
}

func automatic(w *Snapshot) {
	theModule(func(m *v1beta2.Module) { m.OnFailedUpgrade = v1beta2.FailedUpgradeRollback })(w)
}

func vouching(within string) func(*Snapshot) {
	return theTemplate(v2, func(template *v1beta2.ModuleTemplate) { template.Spec.RollbackTo = within })
}

// keyAt returns the key of the sample module's Manifest at a version.
func keyAt(version string) revision.Key {
	w := sampleWorld()
	return revision.Of(&manifestAt(&w, "regular", version).Spec)
}

func referenceAt(version string) string { return revision.Reference(version, keyAt(version).Digest) }

func began(version string, ago time.Duration, before v1beta2.State, outcome v1beta2.RevisionOutcome, reason string) v1beta2.Revision {
	key := keyAt(version)
	return v1beta2.Revision{Version: version, Digest: key.Digest, Template: key.Template, At: metav1.NewTime(noon.Add(ago)),
		Before: before, Outcome: outcome, Reason: reason}
}

// withHistory gives the only Manifest revisions, numbered from 1.
func withHistory(history ...v1beta2.Revision) func(*Snapshot) {
	return theManifest(func(m *v1beta2.Manifest) {
		m.Status.Revisions = slices.Clone(history)
		for i := range m.Status.Revisions {
			m.Status.Revisions[i].Number = int64(i + 1)
		}
	})
}

func theRevision(number int, edit func(*v1beta2.Revision)) func(*Snapshot) {
	return theManifest(func(m *v1beta2.Manifest) { edit(&m.Status.Revisions[number-1]) })
}

func reports(state v1beta2.State, reason string) func(*Snapshot) {
	return theManifest(func(m *v1beta2.Manifest) { reporting(m, state, reason, "the Manifest says so") })
}

func avoiding(reference string) func(*Snapshot) {
	return theModule(func(m *v1beta2.Module) { m.Avoid = reference })
}

func retrying(number int64) func(*Snapshot) {
	return theModule(func(m *v1beta2.Module) { m.Retry = number })
}

func without(version string) func(*Snapshot) {
	return func(w *Snapshot) { delete(w.Templates, operator+"-"+version) }
}

func otherData(version string) func(*Snapshot) {
	return theTemplate(version, func(template *v1beta2.ModuleTemplate) { template.Spec.Manager.Name = "another" })
}

func awaitsWindow(version string) func(*Snapshot) {
	return func(w *Snapshot) {
		theTemplate(version, func(template *v1beta2.ModuleTemplate) { template.Spec.RequiresDowntime = true })(w)
		w.Windows = &WindowPolicy{Default: []Window{{Days: wholeWeek, Begin: noon.Add(3 * time.Hour), End: noon.Add(4 * time.Hour)}}}
	}
}

func TestWayBack(t *testing.T) {
	for _, test := range []struct {
		name    string
		world   Snapshot
		version string // of the Manifest that is wanted
		kind    Kind
		reason  string // of the verdict, and what its message must contain
		says    string
	}{
		{"an upgrade that was not ready in time goes back", upgrading(), v1, Run, "RolledBack", "version 2.0.0 failed here (Deployment x: 0 of 1 replicas are available) and 1.0.0 is installed"},
		{"an object that failed is no better", upgrading(reports("Error", "ObjectFailed")), v1, Run, "RolledBack", ""},
		{"so is content that cannot be installed", upgrading(reports("Error", "ContentInvalid")), v1, Run, "RolledBack", ""},
		{"a failed outcome is none that counts", upgrading(theRevision(2, func(r *v1beta2.Revision) { r.Outcome = "Failed" })), v1, Run, "RolledBack", ""},
		{"it does not wait for a window, since it is down already", upgrading(awaitsWindow(v1)), v1, Run, "RolledBack", ""},
		{"several upgrades failed one after the other, and it was ready before the first", upgrading(
			withHistory(began(v1, -48*time.Hour, "", "Succeeded", ""), began("1.5.0", -2*time.Hour, "Ready", "Superseded", ""),
				began(v2, -time.Hour, "Processing", "", ""))), v1, Run, "RolledBack", ""},

		{"its runtime answers again since an hour", upgrading(theRevision(2, func(r *v1beta2.Revision) {
			r.At, r.Since = metav1.NewTime(noon.Add(-2*time.Hour)), &metav1.Time{Time: noon.Add(-time.Hour)}
		})), v1, Run, "RolledBack", ""},
		{"it was asked for nothing", upgrading(theModule(func(m *v1beta2.Module) { m.OnFailedUpgrade = "" })), v2, Run, "", ""},
		{"it has time left", upgrading(theRevision(2, func(r *v1beta2.Revision) { r.At = noon })), v2, Run, "", ""},
		{"its own deadline is longer", upgrading(theModule(func(m *v1beta2.Module) { m.ProgressDeadline = &metav1.Duration{Duration: 2 * time.Hour} })), v2, Run, "", ""},
		{"its runtime answers again since ten minutes", upgrading(theRevision(2, func(r *v1beta2.Revision) {
			r.Since = &metav1.Time{Time: noon.Add(-10 * time.Minute)}
		})), v2, Run, "", ""},
		{"its objects were not looked at yet after a restart", upgrading(theManifest(func(m *v1beta2.Manifest) {
			reporting(m, "Processing", "WaitingForObjects", "Deployment x: "+v1beta2.MessageNotSeenYet)
		})), v2, Run, "", ""},
		{"no pass of this process has confirmed its status", upgrading(observedFor(-1)), v2, Run, "", ""},
		{"most of the time the operator was down", upgrading(observedFor(29 * time.Minute)), v2, Run, "", ""},
		{"the operator was down, and has observed it for long enough since", upgrading(observedFor(30 * time.Minute)), v1, Run, "RolledBack", ""},
		{"the clock was set back, which only delays", upgrading(observedFor(time.Hour), theRevision(2, func(r *v1beta2.Revision) { r.At = noon })), v2, Run, "", ""},
		{"an object is waited for that was not looked at yet after a restart", upgrading(theManifest(func(m *v1beta2.Manifest) {
			reporting(m, "Processing", "WaitingForObjects", "Deployment x: "+v1beta2.MessageNotSeenYet+"; then this is tried again: no")
		})), v2, Run, "", ""},
		{"it was ready once", upgrading(theRevision(2, func(r *v1beta2.Revision) { r.Outcome = "Succeeded" })), v2, Run, "", ""},
		{"it is ready", upgrading(reports("Ready", "Ready")), v2, Run, "", ""},
		{"its own resource is ready, which is what counts", upgrading(func(w *Snapshot) {
			w.Kyma.Spec.Readiness = v1beta2.ReadinessModuleCR
			w.Manifests[0].Status.ResourceState = v1beta2.StateReady
		}), v2, Run, "", ""},
		{"its runtime does not answer", upgrading(reports("Error", "RuntimeUnreachable")), v2, Run, "", ""},
		{"its registry does not answer", upgrading(reports("Error", "RegistryUnreachable")), v2, Run, "", ""},
		{"it is being applied at this moment", upgrading(reports("Processing", "Applying")), v2, Run, "", ""},
		{"its status is of another generation", upgrading(theManifest(func(m *v1beta2.Manifest) { m.Generation++ })), v2, Run, "", ""},
		{"its Manifest is suspended", upgrading(theManifest(func(m *v1beta2.Manifest) { m.Labels[v1beta2.LabelSkipReconciliation] = "true" })), v2, Run, "", ""},

		{"it was not ready before, either", upgrading(theRevision(2, func(r *v1beta2.Revision) { r.Before = "Error" })), v2, Run, "RollbackUnavailable", "was not ready before version 2.0.0 began, either (Error)"},
		{"the first of several upgrades is not kept any more", upgrading(theRevision(2, func(r *v1beta2.Revision) { r.Before = "Error" }),
			theManifest(func(m *v1beta2.Manifest) { m.Status.Revisions[1].Number = 9 })), v1, Run, "RolledBack", ""},
		{"its author does not vouch", upgrading(vouching("")), v2, Run, "RollbackUnavailable", "has no rollbackTo"},
		{"its author vouches for others", upgrading(vouching(">=1.1.0")), v2, Run, "RollbackUnavailable", "does not include 1.0.0"},
		{"what its author wrote is no range", upgrading(vouching("one")), v2, Run, "RollbackUnavailable", "is no range of versions"},
		{"nothing succeeded before", upgrading(theRevision(1, func(r *v1beta2.Revision) { r.Outcome = "Failed" })), v2, Run, "RollbackUnavailable", "no earlier version"},
		{"the template of before is gone", upgrading(without(v1)), v2, Run, "RollbackUnavailable", `"template-operator-1.0.0" not found`},
		{"the template of before was changed", upgrading(otherData(v1)), v2, Run, "RollbackUnavailable", "was changed since"},
		{"the component of before has other content", upgrading(isComponent(v1, newComponent("9.9.9"))), v2, Run, "RollbackUnavailable", "has other content"},
		{"the component of before cannot be read", upgrading(unreadable(v1, "RegistryUnreachable")), v2, Run, "RollbackUnavailable", "the registry says so"},
		{"the component of before is being read", upgrading(notRead(v1)), v2, Run, "", ""},
		{"the target's component is being read, and its Manifest stands in", upgrading(notRead(v2)), v1, Run, "RolledBack", ""},

		{"what it went back from is not tried again", wentBack(), v1, Run, "RolledBack", "version 2.0.0 failed here (Deployment x: 0 of 1 replicas are available)"},
		{"even if it shall not go back by itself any more", wentBack(theModule(func(m *v1beta2.Module) { m.OnFailedUpgrade = "None" })), v1, Run, "RolledBack", ""},
		{"even if the registry does not answer", wentBack(unreadable(v2, "RegistryUnreachable")), v1, Run, "RolledBack", ""},
		{"even if the way back is not ready", wentBack(reports("Error", "ObjectFailed")), v1, Run, "RolledBack", ""},
		{"even if its history does not show it yet", wentBack(withHistory(
			began(v1, -48*time.Hour, "", "Succeeded", ""), began(v2, -time.Hour, "Ready", "", ""))), v1, Run, "RolledBack", ""},
		{"even if the status still names the version before", wentBack(theEntry(func(e *v1beta2.ModuleStatus) { e.Version = v2 })), v1, Run, "RolledBack", ""},
		{"a person who retries has it tried again", wentBack(retrying(2)), v2, Run, "", ""},
		{"a retry of an earlier revision does not count", wentBack(retrying(1)), v1, Run, "RolledBack", ""},
		{"a retry of a revision that never was does not count", wentBack(retrying(1000000)), v1, Run, "RolledBack", ""},
		{"a retry does not turn a way back around that was just written", wentBack(retrying(2), withHistory(
			began(v1, -48*time.Hour, "", "Succeeded", ""), began(v2, -time.Hour, "Ready", "", ""))), v1, Run, "RolledBack", ""},
		{"a retry that is taken back does not count against what it led to", upgrading(reports("Ready", "Ready"), withHistory(
			began(v2, -2*time.Hour, "Ready", "RolledBack", "ProgressDeadlineExceeded"), began(v1, -time.Hour, "Processing", "Succeeded", ""),
			began(v2, -time.Minute, "Ready", "Succeeded", ""))), v2, Run, "", ""},
		{"other content of the same version is another try", wentBack(isComponent(v2, newComponent("9.9.9"))), v2, Run, "", ""},
		{"another template of the same version is another try", wentBack(otherData(v2)), v2, Run, "", ""},
		{"a channel that offers what is installed is followed", wentBack(ofChannel("regular")), v1, Run, "", ""},
		{"a channel that is set back meanwhile is no downgrade", wentBack(ofChannel("regular"), theEntry(func(e *v1beta2.ModuleStatus) { e.Version = v2 })), v1, Run, "", ""},
		{"the template of what is installed is gone, which stays", wentBack(without(v1)), v1, Keep, "RolledBack", "version 2.0.0 failed here"},
		{"the template of what is installed is for others by now, which does not remove it", wentBack(theTemplate(v1,
			func(m *v1beta2.ModuleTemplate) { m.Labels = map[string]string{v1beta2.LabelBeta: "true"} })), v1, Keep, "RolledBack", "version 2.0.0 failed here"},
		{"the module's component has another name by now, under which the old version is not", wentBack(withHistory(
			began(v1, -time.Hour, "", "Succeeded", "")), avoiding(referenceAt(v2)), theRelease(func(m *v1beta2.ModuleReleaseMeta) {
			m.Spec.OCMComponentName = "kyma-project.io/module/renamed"
		}), func(w *Snapshot) {
			w.Components[ComponentKey{"kyma-project.io/module/renamed", v2}] = newComponent(v2)
			w.Components[ComponentKey{"kyma-project.io/module/renamed", v1}] = Component{Reason: v1beta2.ReasonComponentInvalid, Message: "no"}
		}), v1, Keep, "RolledBack", "version 2.0.0 is avoided"},
		{"a Manifest that is gone and cannot be made again is told", sampleWorld(ofChannel("fast"), statusAt("fast", v1), without(v1),
			avoiding(referenceAt(v2))), "", Refused, "TemplateNotFound", ""},
		{"the template of what is installed was changed, which is followed", wentBack(otherData(v1)), v1, Run, "RolledBack", ""},

		{"a person's word is enough", upgrading(vouching(""), avoiding(referenceAt(v2))), v1, Run, "RolledBack", "version 2.0.0 is avoided"},
		{"even if it is ready", upgrading(reports("Ready", "Ready"), theRevision(2, func(r *v1beta2.Revision) { r.Outcome = "Succeeded" }), avoiding(referenceAt(v2))), v1, Run, "RolledBack", ""},
		{"even if its component is being read", upgrading(notRead(v2), avoiding(referenceAt(v2))), v1, Run, "RolledBack", ""},
		{"it is about a digest", upgrading(theModule(func(m *v1beta2.Module) { m.OnFailedUpgrade = "" }), avoiding(referenceAt(v2)+"0")), v2, Run, "", ""},
		{"it is about a version", upgrading(theModule(func(m *v1beta2.Module) { m.OnFailedUpgrade = "" }), avoiding(referenceAt(v1))), v2, Run, "", ""},
		{"it cannot be had", upgrading(without(v1), avoiding(referenceAt(v2))), v2, Run, "RollbackUnavailable", "not found"},
		{"it waits for a window while that is ready", upgrading(awaitsWindow(v1), reports("Ready", "Ready"), avoiding(referenceAt(v2))), v2, Waiting, "WaitingForMaintenanceWindow", "version 1.0.0"},
		{"and for none where it failed, as without that word", upgrading(awaitsWindow(v1), avoiding(referenceAt(v2))), v1, Run, "RolledBack", "version 2.0.0 is avoided"},
		{"the earlier component is read first", upgrading(notRead(v1), avoiding(referenceAt(v2))), v2, Waiting, "ComponentPending", ""},
		{"the status still names the version before, and the way back is checked nevertheless", upgrading(otherData(v1),
			theEntry(func(e *v1beta2.ModuleStatus) { e.Version = v1 }), avoiding(referenceAt(v2))), v2, Run, "RollbackUnavailable", "was changed since"},
		{"the Manifest was edited by hand, which is reverted", sampleWorld(ofChannel("fast"), installedAt("fast", v1), theManifest(
			func(m *v1beta2.Manifest) { m.Spec.Version = v2 }), avoiding(referenceAt(v2))), v1, Run, "RolledBack", "version 2.0.0 is avoided"},
		{"a higher version was written before the status was, and stays while another is avoided", func() Snapshot {
			w := sampleWorld(ofChannel("fast"), installedAt("fast", v1), avoiding(referenceAt(v2)))
			w.Templates[operator+"-3.0.0"], w.Components[ComponentKey{component, "3.0.0"}] = newTemplate(operator, "3.0.0"), newComponent("3.0.0")
			w.Manifests = []v1beta2.Manifest{*manifestAt(&w, "fast", "3.0.0")}
			return w
		}(), "3.0.0", Run, "RolledBack", "version 2.0.0 is avoided"},
		{"a version can be avoided before it comes", sampleWorld(ofChannel("fast"), installedAt("fast", v1), avoiding(referenceAt(v2))), v1, Run, "RolledBack", ""},
		{"a Manifest that is gone is made again as it was", sampleWorld(ofChannel("fast"), statusAt("fast", v1), avoiding(referenceAt(v2))), v1, Run, "RolledBack", ""},
		{"a channel that was set back is followed when a person says so", upgrading(ofChannel("regular"), avoiding(referenceAt(v2))), v1, Run, "RolledBack", "version 2.0.0 is avoided"},
		{"and not without that word, unless it failed", upgrading(ofChannel("regular"), reports("Ready", "Ready")), v2, Keep, "Downgrade", ""},
		{"which is a word of its own", upgrading(ofChannel("regular")), v1, Run, "RolledBack", "version 2.0.0 failed here"},
		{"where that version is avoided, what is installed stays", upgrading(ofChannel("regular"), avoiding(referenceAt(v1))), v2, Run, "RolledBack", "version 1.0.0 is avoided"},
		{"nor without a way back", upgrading(ofChannel("regular"), avoiding(referenceAt(v2)), theRevision(1, func(r *v1beta2.Revision) { r.Outcome = "Failed" })), v2, Keep, "Downgrade", ""},
		{"where nothing is installed, an avoided version is better than none", sampleWorld(ofChannel("fast"), avoiding(referenceAt(v2))), v2, Run, "RollbackUnavailable", "no earlier version"},
	} {
		t.Run(test.name, func(t *testing.T) {
			expectWayBack(t, newResolver(test.world), test.version, test.kind, test.reason, test.says)
		})
	}
}

func TestWayBack_ARolloutTakesAVersionBack(t *testing.T) {
	for _, test := range []struct {
		name    string
		world   Snapshot
		version string
		kind    Kind
		reason  string
		says    string
	}{
		{"at once where it failed, and the message names the rollout", upgrading(), v1, Run, "RolledBack", "the rollout of version 2.0.0 rolled it back"},
		{"in a window while it is ready", upgrading(awaitsWindow(v1), theRevision(2, func(r *v1beta2.Revision) { r.Outcome = "Succeeded" }), reports("Ready", "Ready")), v2, Waiting, "WaitingForMaintenanceWindow", ""},
		{"only with the author's word, although the status still names the version before", upgrading(vouching(""),
			theEntry(func(e *v1beta2.ModuleStatus) { e.Version = v1 })), v2, Run, "RollbackUnavailable", "has no rollbackTo"},
		{"without a window where it failed", upgrading(awaitsWindow(v1)), v1, Run, "RolledBack", ""},
		{"only with the author's word", upgrading(vouching("")), v2, Run, "RollbackUnavailable", "has no rollbackTo"},
	} {
		t.Run(test.name, func(t *testing.T) {
			takingBack(&test.world)
			expectWayBack(t, newResolver(test.world), test.version, test.kind, test.reason, test.says)
		})
	}
}

// takingBack adds a rollout that takes 2.0.0 back from the Kyma.
func takingBack(w *Snapshot) {
	release := w.Releases[operator]
	release.Annotations = map[string]string{v1beta2.AnnotationRollout: "rollout-uid"}
	plan := &v1beta2.ModuleRollout{}
	plan.UID = "rollout-uid"
	plan.Spec.Waves = []v1beta2.RolloutWave{{Name: "all"}}
	plan.Status.Channels = []v1beta2.RolloutChannel{{
		Name: "fast", Phase: v1beta2.RolloutRollingBack, Wave: "all", Back: []string{rollout.Prefix(string(w.Kyma.UID))},
		From: v1beta2.RolloutVersion{Version: v1}, To: v1beta2.RolloutVersion{Version: v2},
	}}
	w.Rollouts = map[string]*v1beta2.ModuleRollout{operator: plan}
}

// expectWayBack compares the verdict on the sample module with the version that its Manifest shall ask for, its kind, its reason and a part
// of its message.
func expectWayBack(t *testing.T, r *resolver, version string, kind Kind, reason, says string) {
	t.Helper()
	v := r.resolve()[0]
	asked := v.Version
	if v.Template == nil && v.Manifest == nil {
		asked = ""
	} else if v.Template == nil {
		asked = v.Manifest.Spec.Version
	}
	if v.Kind != kind || asked != version || v.Reason != reason || !strings.Contains(v.Message, says) {
		t.Errorf("%s of %s, %s: %s", v.Kind, asked, v.Reason, v.Message)
	}
}

func TestWayBack_APersonChoosesAmongRevisions(t *testing.T) {
	history := withHistory(began(v1, -48*time.Hour, "", "Succeeded", ""), began("1.5.0", -24*time.Hour, "Ready", "Succeeded", ""),
		began(v2, -time.Hour, "Ready", "Succeeded", ""))
	between := func(w *Snapshot) {
		w.Templates[operator+"-1.5.0"] = newTemplate(operator, "1.5.0")
		w.Components[ComponentKey{component, "1.5.0"}] = newComponent("1.5.0")
	}
	backTo := func(number int64) func(*Snapshot) { return theModule(func(m *v1beta2.Module) { m.BackTo = number }) }
	for _, test := range []struct {
		name  string
		world Snapshot
		want  string
	}{
		{"without a choice it is the last one that succeeded", upgrading(history, between, avoiding(referenceAt(v2))), "1.5.0"},
		{"a choice counts", upgrading(history, between, avoiding(referenceAt(v2)), backTo(1)), v1},
		{"a choice without a version to avoid says nothing", upgrading(history, between, reports("Ready", "Ready"), backTo(1)), v2},
		{"a choice of what is avoided is none that can be followed", upgrading(history, between, avoiding(referenceAt(v2)), backTo(3)), v2},
		{"a choice that is not kept any more leaves the last one that succeeded", upgrading(history, between, avoiding(referenceAt(v2)), backTo(9)), "1.5.0"},
		{"a choice can be changed after the way back", upgrading(between, func(w *Snapshot) { w.Manifests, w.Kyma.Status.Modules = nil, nil },
			installedAt("fast", "1.5.0"), history, avoiding(referenceAt(v2)), backTo(1)), v1},
		{"a choice that cannot be had leaves what is installed, and not what is avoided", upgrading(between, otherData(v1),
			func(w *Snapshot) { w.Manifests, w.Kyma.Status.Modules = nil, nil },
			installedAt("fast", "1.5.0"), history, avoiding(referenceAt(v2)), backTo(1)), "1.5.0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if v := only(t, test.world); v.Version != test.want || v.Kind != Run {
				t.Errorf("%s of %s, want %s: %s", v.Kind, v.Version, test.want, v.Message)
			}
		})
	}
}

func TestWayBack_WithoutAWayFromWhatIsInstalledThatStays(t *testing.T) {
	held := func(w *Snapshot) {
		w.Manifests[0].Status.Revisions[2].Outcome = "" // 1.0.0 runs again, which a person does not want, and nothing else succeeded
		w.Manifests[0].Status.Revisions[0].Outcome = "Failed"
	}
	expectWayBack(t, newResolver(wentBack(held, avoiding(referenceAt(v1)))), v1, Run, "RollbackUnavailable",
		"version 1.0.0 stays, although the module should go back from it: no earlier version")
	w := wentBack(held, avoiding(referenceAt(v1)))
	if entry := Rollup(w, Resolve(w), nil).Modules[0]; entry.State != "Warning" || entry.Version != v1 || entry.Avoid != referenceAt(v2) {
		t.Errorf("%s at %s, avoids %q: %s", entry.State, entry.Version, entry.Avoid, entry.Message)
	}
}

func TestWayBack_TheManifestIsMarkedAsLongAsTheVersionStays(t *testing.T) {
	const detail = "Deployment x: 0 of 1 replicas are available"
	for _, test := range []struct {
		name           string
		world          Snapshot
		reason, detail string
	}{
		{"by itself", upgrading(), "ProgressDeadlineExceeded", detail},
		{"by a person", upgrading(avoiding(referenceAt(v2))), "Requested", ""},
		{"and while the version is kept for another reason", wentBack(otherData(v1), ofChannel("rapid")), "ProgressDeadlineExceeded", detail},
		{"and once the channel offers just that version", wentBack(otherData(v1), ofChannel("regular")), "ProgressDeadlineExceeded", detail},
		{"not when the next version comes", wentBack(retrying(2)), "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			plan := MakePlan(test.world, Resolve(test.world))
			if len(plan.Apply) != 1 {
				t.Fatalf("%d Manifests are applied", len(plan.Apply))
			}
			marks := plan.Apply[0].Annotations
			if marks[v1beta2.AnnotationRollback] != test.reason || marks[v1beta2.AnnotationRollbackMessage] != test.detail {
				t.Errorf("marked %q, %q", marks[v1beta2.AnnotationRollback], marks[v1beta2.AnnotationRollbackMessage])
			}
		})
	}
	if plan := MakePlan(wentBack(), Resolve(wentBack())); !plan.Empty() {
		t.Errorf("what has gone back comes to no rest: %+v", plan)
	}
}
