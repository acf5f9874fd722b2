package module

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// pass returns the Snapshot after a pass of the controller, and the sample module's entry.
func pass(w Snapshot) (Snapshot, *v1beta2.ModuleStatus) {
	verdicts := Resolve(w)
	after := carryOut(w, MakePlan(w, verdicts))
	after.Kyma.Status = Rollup(w, verdicts, nil)
	for i := range after.Kyma.Status.Modules {
		if entry := &after.Kyma.Status.Modules[i]; entry.Name == operator {
			return after, entry
		}
	}
	return after, nil
}

func passes(by time.Duration) func(*Snapshot) {
	return func(w *Snapshot) { w.Now = metav1.NewTime(w.Now.Add(by)) }
}

// changed returns a Snapshot with edits, which leave the one that was passed alone.
func changed(w Snapshot, edits ...func(*Snapshot)) Snapshot {
	w = carryOut(w, Plan{})
	w.Releases, w.Templates, w.Components, w.Changes = maps.Clone(w.Releases), maps.Clone(w.Templates), maps.Clone(w.Components), maps.Clone(w.Changes)
	for name, release := range w.Releases {
		w.Releases[name] = release.DeepCopy()
	}
	for name, template := range w.Templates {
		w.Templates[name] = template.DeepCopy()
	}
	for _, edit := range edits {
		edit(&w)
	}
	return w
}

func TestConsent_TheKymaStaysReadyAndTellsWhatIsAskedFor(t *testing.T) {
	for _, test := range []struct {
		name, says string
		w          Snapshot
	}{
		{"the gravest of many", "of the hub's operator: it may read every Secret of the cluster; 4 new rights in all", offered2(manual, finding(secrets))},
		{"one right", "of the runtime's user: it may read every Secret of the cluster", offered2(runtimeSays("Manual", ""), finding(Change{Counts: v1beta2.PendingCounts{RightsAdded: 1}, Gravest: secrets.Gravest[:1]}))},
		{"a right that is not the gravest", "of the hub's operator: it defines a.b; 1 new right in all", offered2(manual, finding(Change{Counts: v1beta2.PendingCounts{RightsAdded: 1}, Gravest: []string{"Defines a.b.", "May read every pod."}}))},
		{"what is no right", "of the hub's operator: it runs images from x", offered2(manual, finding(Change{Gravest: []string{"Runs images from x."}}))},
		{"what is no verb", "of the hub's operator: Secret a cannot be judged", offered2(manual, finding(Change{Gravest: []string{"Secret a cannot be judged."}}))},
		{"nothing new", "of the hub's operator: it asks for no new rights", offered2(manual, finding(Change{}))},
		{"either side", "of the hub's operator or the runtime's user: it asks for no new rights", offered2(demands(ApprovalAlways, "Hub", "Runtime"), finding(Change{}))},
		{"both sides", "of the hub's operator and of the runtime's user: it asks for no new rights", offered2(manual, runtimeSays("Manual", ""), finding(Change{}))},
		{"one user", ": it asks for no new rights", offered2(local, manual, finding(Change{}))},
		{"what cannot be found out", "of the hub's operator: what it asks for cannot be found out (HooksRefused)", offered2(demands(ApprovalNewRights, "Hub"), finding(Change{Problem: "HooksRefused"}))},
		{"what is installed cannot be found out", "of the hub's operator: it may read every Secret of the cluster; 4 new rights in all; all of it counts as new, since what the installed version may do cannot be found out (ContentNotFound)",
			offered2(manual, finding(Change{FromProblem: "ContentNotFound", Counts: secrets.Counts, Gravest: secrets.Gravest}))},
		{"the deadline", "of the hub's operator: it asks for no new rights; it is installed without it after 2026-03-15T12:00:00Z", offered2(manual, forced(336*time.Hour), finding(Change{}))},
		{"no deadline for what the policy asks for", "of the hub's operator: it asks for no new rights", offered2(manual, forced(336*time.Hour), demands(ApprovalAlways, "Hub"), finding(Change{}))},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := "version 2.0.0 waits for consent" + map[bool]string{true: " "}[!strings.HasPrefix(test.says, ":")] + test.says
			after, entry := pass(test.w)
			ready := conditions.Find(after.Kyma.Status.Conditions, v1beta2.ConditionReady)
			if entry.State != v1beta2.StateReady || entry.Version != v1 || entry.Message != want || entry.Offered != "" || entry.Maintenance {
				t.Errorf("the entry: %+v\nwant %s", entry, want)
			}
			if ready.Status != metav1.ConditionTrue || ready.Reason != "ApprovalRequired" || !strings.Contains(ready.Message, want) {
				t.Errorf("condition Ready: %+v", ready)
			}
			if again, _ := pass(changed(after, passes(time.Hour))); !reflect.DeepEqual(again.Kyma.Status, after.Kyma.Status) {
				t.Errorf("the status moves at rest: %+v", again.Kyma.Status.Modules)
			}
		})
	}
}

func TestConsent_NothingInstalledIsProcessing(t *testing.T) {
	w := sampleWorld(offers(v2), demandsOf(ApprovalRule{Modules: []string{"*"}, When: []ApprovalTrigger{ApprovalAlways}, By: []v1beta2.ConsentSide{"Hub"}, FirstInstallation: true}))
	_, entry := pass(w)
	if entry.State != v1beta2.StateProcessing || !strings.Contains(entry.Message, "component "+component+":2.0.0 is being") || entry.Pending != nil {
		t.Errorf("while it is found out: %+v", entry)
	}
	_, entry = pass(changed(w, finding(secrets)))
	if entry.State != v1beta2.StateProcessing || entry.Version != "" || entry.Pending == nil || entry.Pending.Digest != keyAt(v2).Digest || entry.Pending.Downtime {
		t.Errorf("the entry: %+v", entry)
	}
}

func TestConsent_AnotherRequestIsNotReadyBeforeItIsLookedAt(t *testing.T) {
	for name, w := range map[string]Snapshot{
		"another channel": sampleWorld(installedAt("regular", v1), ofChannel("fast"), manual),
		"a version":       offered2(pinned(v2), demands(ApprovalNewRights, "Hub")),
	} {
		if _, entry := pass(w); entry.State != v1beta2.StateProcessing || entry.Version != v1 {
			t.Errorf("%s: %+v", name, entry)
		}
		if _, entry := pass(changed(w, finding(secrets))); entry.State != v1beta2.StateReady || entry.Pending == nil {
			t.Errorf("%s, once it is known: %+v", name, entry)
		}
	}
}

func TestConsent_WhatIsNotReadySaysBoth(t *testing.T) {
	_, entry := pass(offered2(manual, reports(v1beta2.StateError, "ObjectFailed"), finding(secrets)))
	if entry.State != v1beta2.StateError || !strings.HasPrefix(entry.Message, "the Manifest says so; version 2.0.0 waits for consent") || entry.Pending == nil {
		t.Errorf("the entry: %+v", entry)
	}
}

// TestConsent_NothingFlickers: what was told stays while it is found out again, and nothing is told before it is known.
func TestConsent_NothingFlickers(t *testing.T) {
	silent := offered2(manual)
	if after, _ := pass(silent); !reflect.DeepEqual(after.Kyma.Status.Modules, Rollup(sampleWorld(installedAt("regular", v1)), Resolve(sampleWorld(installedAt("regular", v1))), nil).Modules) {
		t.Errorf("while it is found out what the version asks for, the status says %+v", after.Kyma.Status.Modules)
	}
	waiting, _ := pass(changed(silent, forced(48*time.Hour), finding(secrets)))
	for name, edit := range map[string]func(*Snapshot){
		"the manager starts":                             func(w *Snapshot) { w.Changes = nil },
		"the component is being read":                    notRead(v2),
		"no component was read":                          func(w *Snapshot) { w.Components, w.Changes = nil, nil },
		"what it asks for cannot be found out any more":  finding(Change{Problem: "RegistryUnreachable"}),
		"the runtime does not answer for a moment":       runtimeUnread,
		"the deadline was set for longer":                forced(96 * time.Hour),
		"and the content of the other version is unread": func(w *Snapshot) { notRead(v1)(w); w.Changes = nil },
	} {
		after, entry := pass(changed(waiting, passes(time.Hour), edit))
		if !reflect.DeepEqual(after.Kyma.Status, waiting.Kyma.Status) {
			t.Errorf("%s: the status becomes %+v, %+v", name, entry, entry.Pending)
		}
	}
}

// TestConsent_NotesAreNotRepeated: after a restart, what runs and misses something says so once, until the component was read again.
func TestConsent_NotesAreNotRepeated(t *testing.T) {
	w := settle(t, newGraph(publishes("a", v1), publishes("b", v1, "a <2"), asksFor("b", "a")))
	waiting := onePass(changed(edited(w, publishes("b", v2), manual), finding(Change{})))
	restarted := changed(waiting, func(w *Snapshot) {
		w.Kyma.Spec.Modules, w.Kyma.Status.Modules = w.Kyma.Spec.Modules[:1], w.Kyma.Status.Modules[1:]
		w.Manifests = slices.DeleteFunc(w.Manifests, func(m v1beta2.Manifest) bool { return m.Labels[v1beta2.LabelModuleName] == "a" })
		delete(w.Components, ComponentKey{componentOfModule("b"), v2})
		w.Changes = nil
	})
	want := "version 2.0.0 waits for consent of the hub's operator: it asks for no new rights; it needs module a (<2), which the Kyma does not have"
	for range 3 {
		restarted = onePass(restarted)
		if entry := statusByName(restarted.Kyma)["b"]; entry == nil || entry.Message != want {
			t.Fatalf("told %+v\nwant %s", entry, want)
		}
	}
}

func TestConsent_WhatIsToldIsKeptWhileNothingIsDecided(t *testing.T) {
	waiting, told := pass(offered2(manual, forced(48*time.Hour), finding(secrets)))
	for _, test := range []struct {
		name  string
		edit  func(*Snapshot)
		keeps bool
	}{
		{"the release is gone for a moment", func(w *Snapshot) { w.Releases = nil }, true},
		{"the component cannot be read", unreadable(v2, v1beta2.ReasonRegistryUnreachable), true},
		{"the template is gone for a moment", withoutTemplate(v2), true},
		{"another version is offered", func(w *Snapshot) { hasVersion3(w); offers(v3)(w) }, false},
		{"the version is not offered any more", offers(v1), false},
		{"a person avoids it", avoiding(referenceAt(v2)), false},
		{"the module is not managed any more", unmanaged, false},
	} {
		_, entry := pass(changed(waiting, passes(time.Hour), test.edit))
		if keeps := entry.Pending != nil && reflect.DeepEqual(entry.Pending.Deadline, told.Pending.Deadline) && entry.Pending.Version == v2; keeps != test.keeps {
			t.Errorf("%s: the entry says %+v", test.name, entry.Pending)
		}
	}
	held := HoldAll(waiting, Access{Reason: v1beta2.ReasonOwnershipConflict, Message: "no"})
	if status := Rollup(waiting, held, nil); !reflect.DeepEqual(status.Modules[0].Pending, told.Pending) {
		t.Errorf("while the runtime's spec is not known: %+v", status.Modules[0].Pending)
	}
}

func TestConsent_ItBeginsAtTheDeadline(t *testing.T) {
	waiting, told := pass(offered2(manual, runtimeSays("Manual", ""), forced(48*time.Hour), finding(secrets)))
	if told.Pending == nil || !told.Pending.Deadline.Equal(new(metav1.NewTime(noon.Add(48*time.Hour)))) {
		t.Fatalf("the entry says %+v", told.Pending)
	}
	for _, test := range []struct {
		name    string
		w       Snapshot
		want    consentVerdict
		pending bool
		wake    time.Duration
	}{
		{"before it", changed(waiting, passes(47*time.Hour)), consentVerdict{ConsentMissing, "[Hub Runtime]", ""}, true, time.Hour},
		{"at it", changed(waiting, passes(48*time.Hour)), consentVerdict{ConsentForced, "[]", v2}, false, 0},
		{"also when the channel changes how long it waits", changed(waiting, passes(48*time.Hour), forced(time.Hour*1000)), consentVerdict{ConsentForced, "[]", v2}, false, 0},
		{"not when the channel does not force it any more", changed(waiting, passes(48*time.Hour), theRelease(func(r *v1beta2.ModuleReleaseMeta) { r.Spec.Channels[0].ForceAfter = nil })), consentVerdict{ConsentMissing, "[Hub Runtime]", ""}, true, 0},
		{"what the runtime says need not be known then", changed(waiting, passes(48*time.Hour), runtimeUnread), consentVerdict{ConsentForced, "[]", v2}, false, 0},
		{"it does not take the place of what the policy asks for", changed(waiting, passes(48*time.Hour), demands(ApprovalNewRights, "Hub"), finding(secrets)), consentVerdict{ConsentMissing, "[Hub]", ""}, true, 0},
		{"it opens no window", changed(waiting, passes(48*time.Hour), needsDowntime(v2), closedUntilNight), consentVerdict{ConsentForced, "[]", ""}, true, 10 * time.Hour},
		{"nor a rollout", changed(waiting, passes(48*time.Hour), rollsOut(), inWaveRest), consentVerdict{ConsentForced, "[]", ""}, true, 0},
		{"nor is there a place before others have begun", changed(waiting, passes(48*time.Hour), rollsOut()), consentVerdict{ConsentForced, "[]", ""}, true, 0},
		{"content that was published again waits anew", changed(waiting, passes(48*time.Hour), republished(v2), finding(secrets)), consentVerdict{ConsentMissing, "[Hub Runtime]", ""}, true, 48 * time.Hour},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, v := tellConsent(test.w)
			if got != test.want {
				t.Errorf("got %+v, want %+v\n%+v", got, test.want, v)
			}
			if wake := NextWake(Resolve(test.w), test.w.Now.Time); wake != test.wake {
				t.Errorf("the next pass comes after %s, want %s", wake, test.wake)
			}
			_, entry := pass(test.w)
			if (entry.Pending != nil) != test.pending {
				t.Errorf("the entry says %+v", entry.Pending)
			}
		})
	}
}

// TestConsent_ADeadlineStaysUntilTheVersionHasBegun: a write that failed, or consent that is taken back, must not give more time.
func TestConsent_ADeadlineStaysUntilTheVersionHasBegun(t *testing.T) {
	waiting, told := pass(offered2(manual, forced(48*time.Hour), needsDowntime(v2), closedUntilNight, finding(secrets)))
	if !told.Pending.Downtime {
		t.Errorf("a version with downtime: %+v", told.Pending)
	}
	approved, entry := pass(changed(waiting, passes(time.Hour), approving(referenceAt(v2))))
	if entry.Pending == nil || len(entry.Pending.From) > 0 || !entry.Maintenance || !reflect.DeepEqual(entry.Pending.Deadline, told.Pending.Deadline) {
		t.Errorf("approved, and waiting for its window: %+v", entry.Pending)
	}
	_, entry = pass(changed(approved, passes(time.Hour), approving("")))
	if entry.Pending == nil || len(entry.Pending.From) != 1 || !reflect.DeepEqual(entry.Pending.Deadline, told.Pending.Deadline) {
		t.Errorf("consent was taken back: %+v", entry.Pending)
	}
	begins := changed(waiting, passes(48*time.Hour), func(w *Snapshot) { w.Windows = nil; w.Kyma.Spec.SkipMaintenanceWindows = true })
	failed := Rollup(begins, Resolve(begins), map[string]Result{operator: {Reason: v1beta2.ReasonManifestPending, Message: "conflict"}})
	if pending := failed.Modules[0].Pending; pending == nil || !reflect.DeepEqual(pending.Deadline, told.Pending.Deadline) {
		t.Errorf("the Manifest could not be written: %+v", pending)
	}
	if _, entry = pass(begins); entry.Pending != nil || entry.Version != v2 {
		t.Errorf("it has begun: %+v", entry)
	}
}

func TestConsent_PendingIsBounded(t *testing.T) {
	long := make([]string, 9)
	for i := range long {
		long[i] = fmt.Sprintf("May do <%d> \"%s\"\nand more é.", i, strings.Repeat("&x", 100))
	}
	many := v1beta2.PendingCounts{RightsAdded: 99999, RightsRemoved: 99999, Definitions: 99999, Webhooks: 99999, Images: 99999}
	for _, gravest := range [][]string{long, long[:1], {strings.Repeat("May x. ", 30), "", "a", "b", "c"}, nil} {
		_, entry := pass(offered2(manual, runtimeSays("Manual", ""), forced(48*time.Hour), needsDowntime(v2), finding(Change{Counts: many, Gravest: gravest})))
		raw, err := json.Marshal(entry.Pending)
		must(err)
		if len(raw) > maxPending || len(entry.Pending.Gravest) > 5 || len(gravest) > 0 && len(entry.Pending.Gravest) == 0 || strings.ContainsAny(entry.Message, "\n\t") {
			t.Errorf("%d bytes: %s", len(raw), raw)
		}
	}
}

func TestConsent_ARolloutIsToldInTime(t *testing.T) {
	for _, test := range []struct {
		name  string
		edits []func(*Snapshot)
		want  consentVerdict
	}{
		{"before its wave begins", []func(*Snapshot){rollsOut(), inWaveRest, finding(secrets)}, consentVerdict{ConsentMissing, "[Hub]", ""}},
		{"once it has begun", []func(*Snapshot){rollsOut(), finding(secrets)}, consentVerdict{ConsentMissing, "[Hub]", ""}},
		{"with a place", []func(*Snapshot){rollsOut(underway), finding(secrets)}, consentVerdict{ConsentMissing, "[Hub]", ""}},
		{"halted", []func(*Snapshot){rollsOut(inPhase(v1beta2.RolloutHalted)), finding(secrets)}, consentVerdict{ConsentMissing, "[Hub]", ""}},
		{"approved before its wave begins", []func(*Snapshot){rollsOut(), inWaveRest, approving(referenceAt(v2))}, consentVerdict{ConsentGiven, "", ""}},
		{"approved without a place", []func(*Snapshot){rollsOut(), approving(referenceAt(v2))}, consentVerdict{ConsentGiven, "", ""}},
		{"approved with a place", []func(*Snapshot){rollsOut(underway), approving(referenceAt(v2))}, consentVerdict{ConsentGiven, "", v2}},
		{"what cannot be read before its wave begins is no matter of consent", []func(*Snapshot){rollsOut(), inWaveRest, unreadable(v2, "SignatureInvalid")}, consentVerdict{ConsentNotNeeded, "", ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, v := tellConsent(sampleWorld(append([]func(*Snapshot){installedAt("regular", v1), manual}, test.edits...)...))
			if got != test.want {
				t.Errorf("got %+v, want %+v\n%+v", got, test.want, v)
			}
		})
	}
	w := sampleWorld(installedAt("regular", v1), rollsOut(), inWaveRest)
	w.Components = nil
	if needed := Needed(w); len(needed) != 1 {
		t.Errorf("without a word of consent, %v is read before its wave begins", needed)
	}
}
