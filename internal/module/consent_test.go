package module

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// offered2 returns a Snapshot in which 1.0.0 runs and the channel offers 2.0.0. What 2.0.0 asks for is found out unless an edit says so.
func offered2(edits ...func(*Snapshot)) Snapshot {
	return sampleWorld(append([]func(*Snapshot){installedAt("regular", v1), offers(v2)}, edits...)...)
}

func manual(w *Snapshot) { w.Kyma.Spec.Modules[0].UpgradeStrategy = v1beta2.UpgradeManual }

func approving(reference string) func(*Snapshot) {
	return theModule(func(m *v1beta2.Module) { m.Approved = reference })
}

func runtimeSays(strategy v1beta2.UpgradeStrategy, approved string) func(*Snapshot) {
	return func(w *Snapshot) { w.RuntimeConsent = map[string]EntryConsent{operator: {strategy, approved}} }
}

func runtimeUnread(w *Snapshot) { w.RuntimeUnread = true }

func local(w *Snapshot) {
	w.Kyma.Spec.Remote = new(bool)
	for i := range w.Manifests {
		w.Manifests[i].Spec.Remote = false
	}
}

// demands adds a rule for every module.
func demands(when ApprovalTrigger, by ...v1beta2.ConsentSide) func(*Snapshot) {
	return demandsOf(ApprovalRule{Modules: []string{"*"}, When: []ApprovalTrigger{when}, By: by})
}

func demandsOf(rule ApprovalRule) func(*Snapshot) {
	return func(w *Snapshot) {
		if w.Approvals == nil {
			w.Approvals = &ApprovalPolicy{}
		}
		w.Approvals.Rules = append(w.Approvals.Rules, rule)
	}
}

var secrets = Change{NewRights: true, Counts: v1beta2.PendingCounts{RightsAdded: 4, Definitions: 1},
	Gravest: []string{"May read every Secret of the cluster.", "Runs privileged Pods."}}

// finding says what every step asks for that the Snapshot needs to know. It must be the last edit.
func finding(change Change) func(*Snapshot) {
	return func(w *Snapshot) {
		w.Changes = map[ChangeKey]Change{}
		for _, needed := range NeededChanges(*w) {
			w.Changes[needed.ChangeKey] = change
		}
	}
}

// republished publishes a component version again, with other content.
func republished(version string) func(*Snapshot) {
	other := newComponent(version)
	other.Source.Ref = "sha256:again-" + version
	return isComponent(version, other)
}

// referenceIn returns the reference of what a Snapshot's sample module would get.
func referenceIn(w Snapshot) string {
	for _, needed := range NeededChanges(w) {
		return revision.Reference(needed.Wanted.Spec.Version, needed.To)
	}
	return ""
}

// consentVerdict is what becomes of the sample module.
type consentVerdict struct {
	consent Consent
	from    string // the sides that a waiting version waits for
	applies string // the versions that are written
}

func tellConsent(w Snapshot) (got consentVerdict, v Verdict) {
	verdicts := Resolve(w)
	v = verdicts[slices.IndexFunc(verdicts, func(v Verdict) bool { return v.Module == operator })]
	got.consent = v.Consent
	if v.Pending != nil {
		got.from = fmt.Sprint(v.Pending.From)
	}
	for _, applied := range MakePlan(w, verdicts).Apply {
		if !notesOnly(w, applied) {
			got.applies += applied.Spec.Version
		}
	}
	return got, v
}

// notesOnly reports whether a Manifest is only written to note that new versions wait for a person.
func notesOnly(w Snapshot, applied *v1beta2.Manifest) bool {
	at := slices.IndexFunc(w.Manifests, func(m v1beta2.Manifest) bool { return m.Name == applied.Name })
	if at < 0 {
		return false
	}
	noted := w.Manifests[at].DeepCopy()
	noted.Annotations[v1beta2.AnnotationUpgradeStrategy] = applied.Annotations[v1beta2.AnnotationUpgradeStrategy]
	return compare(noted, applied).none()
}

func TestConsent(t *testing.T) {
	const hub, runtime = v1beta2.ConsentHub, v1beta2.ConsentRuntime
	ref := referenceAt(v2)
	missing := func(from string) consentVerdict { return consentVerdict{ConsentMissing, from, ""} }
	installs := func(consent Consent) consentVerdict { return consentVerdict{consent, "", v2} }
	for _, test := range []struct {
		name string
		w    Snapshot
		want consentVerdict
	}{
		{"nothing asks for consent", offered2(), installs(ConsentNotNeeded)},
		{"a module that is Manual waits", offered2(manual, finding(Change{})), missing("[Hub]")},
		{"what a person approved is installed", offered2(manual, approving(ref)), installs(ConsentGiven)},
		{"an approval of another digest does not count", offered2(manual, approving(revision.Reference(v2, "sha256:"+strings.Repeat("0", 64))), finding(secrets)), missing("[Hub]")},
		{"nor does one of another version", offered2(manual, approving(referenceAt(v1)), finding(secrets)), missing("[Hub]")},
		{"the runtime's user holds", offered2(runtimeSays("Manual", ""), finding(secrets)), missing("[Runtime]")},
		{"and releases", offered2(runtimeSays("Manual", ref)), installs(ConsentGiven)},
		{"the hub cannot release what the runtime holds", offered2(approving(ref), runtimeSays("Manual", ""), finding(secrets)), missing("[Runtime]")},
		{"the runtime cannot release what the hub holds", offered2(manual, runtimeSays("", ref), finding(secrets)), missing("[Hub]")},
		{"both may hold", offered2(manual, runtimeSays("Manual", ""), finding(secrets)), missing("[Hub Runtime]")},
		{"and then both release", offered2(manual, approving(ref), runtimeSays("Manual", ref)), installs(ConsentGiven)},
		{"Automatic holds nothing", offered2(theModule(func(m *v1beta2.Module) { m.UpgradeStrategy = v1beta2.UpgradeAutomatic }), runtimeSays("Automatic", "")), installs(ConsentNotNeeded)},
		{"a pinned version is a person's choice", offered2(manual, runtimeSays("Manual", ""), pinned(v2)), installs(ConsentNotNeeded)},
		{"Manual does not hold a first installation", sampleWorld(manual, runtimeSays("Manual", ""), offers(v2)), installs(ConsentNotNeeded)},
		{"what is installed is not held", sampleWorld(installedAt("regular", v1), manual), consentVerdict{ConsentNotNeeded, "", ""}},
		{"the same content under a higher version is nothing new", offered2(manual, isComponent(v2, newComponent(v1))), installs(ConsentNotNeeded)},
		{"a version that was published again is new", sampleWorld(installedAt("regular", v1), manual, republished(v1), finding(secrets)), missing("[Hub]")},
		{"until it is approved", sampleWorld(installedAt("regular", v1), manual, republished(v1), func(w *Snapshot) { approving(referenceIn(*w))(w) }), consentVerdict{ConsentGiven, "", v1}},
		{"what the Manifest asks for has begun, although the status does not know it", sampleWorld(installedAt("regular", v2), theEntry(func(e *v1beta2.ModuleStatus) { e.Version = v1 }), offers(v2), manual), consentVerdict{ConsentNotNeeded, "", ""}},
		{"a Manifest that was edited by hand is put back", sampleWorld(installedAt("regular", v1), withHistory(began(v1, -time.Hour, "", "Succeeded", "")), manual, theManifest(func(m *v1beta2.Manifest) {
			m.Spec.Install.Source.Raw = encodeSource(newSource("edited"))
		})), consentVerdict{ConsentNotNeeded, "", v1}},
		{"one that is taken out of the spec gets no version without consent while its deletion is blocked", offered2(theManifest(isDying), theManifest(func(m *v1beta2.Manifest) { m.Annotations[v1beta2.AnnotationUpgradeStrategy] = "Manual" }), disabled), consentVerdict{}},
		{"one that never waited for a person does", offered2(theManifest(isDying), disabled), consentVerdict{"", "", v2}},
		{"a rule that asks always", offered2(demands(ApprovalAlways, hub), finding(Change{})), missing("[Hub]")},
		{"its consent", offered2(demands(ApprovalAlways, hub), approving(ref)), installs(ConsentGiven)},
		{"a rule is not met by the side that it does not name", offered2(demands(ApprovalAlways, hub), runtimeSays("", ref), finding(secrets)), missing("[Hub]")},
		{"by the other side, neither", offered2(demands(ApprovalAlways, runtime), approving(ref), finding(secrets)), missing("[Runtime]")},
		{"either of two sides meets a rule that names both", offered2(demands(ApprovalAlways, runtime, hub), runtimeSays("", ref)), installs(ConsentGiven)},
		{"either will do", offered2(demands(ApprovalAlways, runtime, hub), finding(secrets)), missing("[Any]")},
		{"of the two the one that is needed anyway is enough", offered2(demands(ApprovalAlways, runtime, hub), manual, finding(secrets)), missing("[Hub]")},
		{"all rules that match must be met", offered2(demands(ApprovalAlways, hub), demands(ApprovalNewRights, runtime), approving(ref), finding(secrets)), missing("[Runtime]")},
		{"new rights", offered2(demands(ApprovalNewRights, hub), finding(secrets)), missing("[Hub]")},
		{"no new rights", offered2(demands(ApprovalNewRights, hub), finding(Change{NewWebhook: true, DefinitionChange: true})), installs(ConsentNotNeeded)},
		{"a new webhook", offered2(demands(ApprovalNewWebhook, hub), finding(Change{NewWebhook: true})), missing("[Hub]")},
		{"no new webhook", offered2(demands(ApprovalNewWebhook, hub), finding(secrets)), installs(ConsentNotNeeded)},
		{"another definition", offered2(demands(ApprovalDefinitionChange, hub), finding(Change{DefinitionChange: true})), missing("[Hub]")},
		{"no other definition", offered2(demands(ApprovalDefinitionChange, hub), finding(secrets)), installs(ConsentNotNeeded)},
		{"what cannot be found out counts as everything", offered2(demands(ApprovalNewWebhook, hub), finding(Change{Problem: "ContentInvalid"})), missing("[Hub]")},
		{"what is being found out waits", offered2(demands(ApprovalNewRights, hub)), consentVerdict{ConsentUnknown, "", ""}},
		{"but not where it was approved", offered2(demands(ApprovalNewRights, hub), approving(ref)), installs(ConsentGiven)},
		{"the policy also concerns pinned versions", offered2(demands(ApprovalAlways, hub), pinned(v2), finding(secrets)), missing("[Hub]")},
		{"a first installation is free", sampleWorld(demands(ApprovalAlways, hub), offers(v2)), installs(ConsentNotNeeded)},
		{"unless the rule says otherwise", sampleWorld(demandsOf(ApprovalRule{Modules: []string{"*"}, When: []ApprovalTrigger{ApprovalNewRights}, By: []v1beta2.ConsentSide{hub}, FirstInstallation: true}), offers(v2), finding(secrets)), missing("[Hub]")},
		{"the rule is for another module", offered2(demandsOf(ApprovalRule{Modules: []string{"istio", "serverless-*"}, When: []ApprovalTrigger{ApprovalAlways}, By: []v1beta2.ConsentSide{hub}})), installs(ConsentNotNeeded)},
		{"the rule is for modules of this kind", offered2(demandsOf(ApprovalRule{Modules: []string{"istio", "template-*"}, When: []ApprovalTrigger{ApprovalAlways}, By: []v1beta2.ConsentSide{hub}}), finding(secrets)), missing("[Hub]")},
		{"the rule is for other Kymas", offered2(demandsOf(ApprovalRule{Modules: []string{"*"}, Kymas: labels.SelectorFromSet(labels.Set{"plan": "azure"}), When: []ApprovalTrigger{ApprovalAlways}, By: []v1beta2.ConsentSide{hub}})), installs(ConsentNotNeeded)},
		{"the rule is for such Kymas", offered2(func(w *Snapshot) { w.Kyma.Labels = map[string]string{"plan": "azure"} }, demandsOf(ApprovalRule{Modules: []string{"*"}, Kymas: labels.SelectorFromSet(labels.Set{"plan": "azure"}), When: []ApprovalTrigger{ApprovalAlways}, By: []v1beta2.ConsentSide{hub}}), finding(secrets)), missing("[Hub]")},
		{"what the runtime's user says is not known: nothing new begins", offered2(runtimeUnread), consentVerdict{ConsentUnknown, "", ""}},
		{"a pinned version does", offered2(runtimeUnread, pinned(v2)), installs(ConsentNotNeeded)},
		{"a first installation does", sampleWorld(runtimeUnread, offers(v2)), installs(ConsentNotNeeded)},
		{"what is kept is kept", sampleWorld(installedAt("regular", v1), runtimeUnread), consentVerdict{ConsentNotNeeded, "", ""}},
		{"where a runtime's user may consent, and is not known", offered2(runtimeUnread, pinned(v2), demands(ApprovalAlways, runtime)), consentVerdict{ConsentUnknown, "", ""}},
		{"the hub's word is enough where it counts", offered2(runtimeUnread, pinned(v2), demands(ApprovalAlways, hub, runtime), approving(ref)), installs(ConsentGiven)},
		{"a local Kyma has one user", offered2(local, runtimeUnread, demands(ApprovalAlways, runtime), manual, finding(secrets)), missing("[Hub]")},
		{"who approves for both", offered2(local, demands(ApprovalAlways, runtime), manual, approving(ref)), installs(ConsentGiven)},
		{"a local Kyma asks no runtime", offered2(local, runtimeSays("Manual", ""), runtimeUnread), installs(ConsentNotNeeded)},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, v := tellConsent(test.w)
			if got != test.want {
				t.Errorf("got %+v, want %+v\n%+v", got, test.want, v)
			}
			if waits := v.Kind == Waiting && (v.Reason == v1beta2.ReasonApprovalRequired && v.State == "" || v.Reason == v1beta2.ReasonComponentPending); waits != (test.want.consent == ConsentMissing || test.want.consent == ConsentUnknown) {
				t.Errorf("the verdict is %s %s %s", v.Kind, v.State, v.Reason)
			}
			for _, needed := range NeededChanges(test.w) {
				if needed.Wanted.Spec.Version == "" || needed.To != revision.Digest(&needed.Wanted.Spec) || (needed.Installed == nil) != (needed.From == "") {
					t.Errorf("the change %+v does not fit its Manifests", needed.ChangeKey)
				}
			}
		})
	}
}

func TestConsent_WhatIsNotAskedForIsNotFoundOut(t *testing.T) {
	for name, w := range map[string]Snapshot{
		"nothing asks for consent":  offered2(),
		"all who ask have approved": offered2(manual, demands(ApprovalNewRights, v1beta2.ConsentHub), approving(referenceAt(v2))),
		"nothing is new":            sampleWorld(installedAt("regular", v1), manual, demands(ApprovalAlways, v1beta2.ConsentHub)),
	} {
		if needed := NeededChanges(w); len(needed) > 0 {
			t.Errorf("%s: %v is found out", name, needed)
		}
	}
	if needed := NeededChanges(offered2(manual)); len(needed) != 1 || needed[0].From != keyAt(v1).Digest || needed[0].To != keyAt(v2).Digest {
		t.Errorf("a version that waits needs %+v", needed)
	}
}

// TestConsent_NothingElseIsInstalledMeanwhile: what runs may have been published again, too.
func TestConsent_NothingElseIsInstalledMeanwhile(t *testing.T) {
	for _, test := range []struct {
		name    string
		w       Snapshot
		applies string
	}{
		{"while a version waits for consent, what is installed is not replaced by what was published again", offered2(manual, republished(v1), finding(secrets)), ""},
		{"what is installed is still enforced", offered2(manual, unlabelled, finding(secrets)), v1},
		{"nor where the Manifest does not say which channel it came from", sampleWorld(installedAt("", v1), ofChannel("regular"), manual, republished(v1), finding(secrets)), ""},
		{"nor while it waits for a window", offered2(manual, approving(referenceAt(v2)), republished(v1), needsDowntime(v2), closedUntilNight, finding(secrets)), ""},
		{"nor while it waits for its rollout", offered2(manual, rollsOut(), inWaveRest, republished(v1), finding(secrets)), ""},
		{"nor while the version is refused", offered2(manual, republished(v1), unreadable(v2, v1beta2.ReasonComponentNotFound), finding(secrets)), ""},
		{"nor while it is avoided", offered2(manual, republished(v1), avoiding(referenceAt(v2)), finding(secrets)), ""},
		{"nor while it is being deleted", offered2(manual, func(w *Snapshot) { dying(&w.Manifests[0]) }, finding(secrets)), ""},
		{"a version that replaces the one before without consent goes on while it is deleted", offered2(func(w *Snapshot) { dying(&w.Manifests[0]) }), v2},
		{"going back needs none", sampleWorld(installedAt("regular", v2), offers(v2), manual, demands(ApprovalAlways, v1beta2.ConsentHub), withHistory(began(v1, -time.Hour, "", "Succeeded", ""), began(v2, 0, "Ready", "Succeeded", "")), avoiding(referenceAt(v2)), finding(secrets)), v1},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got, v := tellConsent(test.w); got.applies != test.applies {
				t.Errorf("%q is written, want %q: %+v", got.applies, test.applies, v)
			}
		})
	}
}

// unlabelled takes a label of the Manifest away.
func unlabelled(w *Snapshot) { delete(w.Manifests[0].Labels, v1beta2.LabelManagedBy) }

func TestConsent_AMandatoryModuleNeedsNone(t *testing.T) {
	w := sampleWorld(installedAt("", v1), disabled, demandsOf(ApprovalRule{Modules: []string{"*"}, When: []ApprovalTrigger{ApprovalAlways}, By: []v1beta2.ConsentSide{v1beta2.ConsentHub}, FirstInstallation: true}), runtimeUnread)
	release := w.Releases[operator]
	release.Spec.Channels, release.Spec.Mandatory = nil, &v1beta2.Mandatory{Version: v2}
	w.Mandatory, w.Kyma.Status.Modules = []*v1beta2.ModuleReleaseMeta{release}, nil
	if got, v := tellConsent(w); got.applies != v2 || got.consent != ConsentNotNeeded {
		t.Errorf("%+v: %+v", got, v)
	}
}

func TestConsentIn(t *testing.T) {
	spec := &v1beta2.KymaSpec{Modules: []v1beta2.Module{
		{Name: "a"}, {Name: "b", UpgradeStrategy: "Manual"}, {Name: "c", Approved: "1.0.0@x"}, {Name: "a", Approved: "second"}, {Name: "b"},
	}}
	got := ConsentIn(spec)
	if len(got) != 2 || got["b"].Strategy != "Manual" || got["c"].Approved != "1.0.0@x" {
		t.Errorf("got %v", got)
	}
}

// forced says how long the version that channel regular offers waits for consent.
func forced(after time.Duration) func(*Snapshot) {
	return theRelease(func(release *v1beta2.ModuleReleaseMeta) {
		release.Spec.Channels[0].ForceAfter = &metav1.Duration{Duration: after}
	})
}
