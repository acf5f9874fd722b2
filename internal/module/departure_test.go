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

// offersThird lets the channel of the sample module offer 3.0.0, under no rollout.
func offersThird(w *Snapshot) {
	hasVersion3(w)
	w.Releases[operator].Spec.Channels[1].Version = v3
}

// wavesOf lets the channel of the sample module offer 3.0.0, with a rollout from 1.0.0 in whose wave canary the Kyma is.
func wavesOf(edits ...func(*v1beta2.RolloutChannel)) func(*Snapshot) {
	return func(w *Snapshot) {
		offersThird(w)
		w.Kyma.Labels = map[string]string{"ring": "canary"}
		channel := rolloutOf("fast", v1, v3)
		for _, edit := range edits {
			edit(&channel)
		}
		w.Releases[operator].Annotations = map[string]string{v1beta2.AnnotationRollout: rolloutUID}
		w.Rollouts = map[string]*v1beta2.ModuleRollout{operator: newRollout(operator, channel)}
	}
}

func place(w *Snapshot) {
	channel := &w.Rollouts[operator].Status.Channels[0]
	channel.Underway = []string{rollout.Prefix(string(w.Kyma.UID))}
}

// heldThird went back from 3.0.0 by itself, and came to 2.0.0 afterwards.
func heldThird(w *Snapshot) {
	offersThird(w)
	failed := began(v3, -72*time.Hour, "Ready", "RolledBack", "ProgressDeadlineExceeded")
	withHistory(failed, began(v1, -48*time.Hour, "", "Succeeded", ""), began(v2, -time.Hour, "Ready", "", ""))(w)
}

const (
	avoidedBefore = "a person avoids it"
	failedBefore  = "it failed here before"
)

// keepsSecond are the ways in which something else is offered than 2.0.0, and does not come.
var keepsSecond = map[string]struct {
	world  func(*Snapshot)
	kind   Kind
	reason string // of the verdict while 2.0.0 stays
}{
	"its wave has not begun, and what runs is higher than the version before": {chained(wavesOf(), inWaveRest), Waiting, "WaitingForRollout"},
	"its wave has not begun, and what runs is the version before":             {chained(wavesOf(rolledFrom(v2)), inWaveRest), Waiting, "WaitingForRollout"},
	"its wave has not begun, and there is no version before":                  {chained(wavesOf(rolledFrom("")), inWaveRest), Waiting, "WaitingForRollout"},
	"there is no place":                 {wavesOf(), Waiting, "WaitingForRollout"},
	"its rollout halted":                {wavesOf(inPhase(v1beta2.RolloutHalted)), Waiting, "WaitingForRollout"},
	"its rollout was aborted":           {wavesOf(inPhase(v1beta2.RolloutAborted)), Waiting, "WaitingForRollout"},
	"its rollout was rolled back":       {wavesOf(inPhase(v1beta2.RolloutRolledBack)), Waiting, "WaitingForRollout"},
	"its rollout cannot be read":        {chained(wavesOf(), func(w *Snapshot) { w.Rollouts = nil }), Waiting, "WaitingForRollout"},
	"its window is closed":              {chained(offersThird, awaitsWindow(v3)), Waiting, "WaitingForMaintenanceWindow"},
	"it has a place, and no window":     {chained(wavesOf(), place, awaitsWindow(v3)), Waiting, "WaitingForMaintenanceWindow"},
	"no policy names a window":          {chained(offersThird, takesDown(v3)), Keep, "MaintenanceWindowUnknown"},
	"its component cannot be read":      {chained(offersThird, unreadable(v3, "RegistryUnreachable")), Keep, "RegistryUnreachable"},
	"its signature is refused":          {chained(offersThird, unreadable(v3, "SignatureInvalid")), Keep, "SignatureInvalid"},
	"there is no template of it":        {chained(offersThird, withoutTemplate(v3)), Keep, "TemplateNotFound"},
	"the channel is gone":               {ofChannel("rapid"), Keep, "ChannelNotFound"},
	"the release is gone":               {func(w *Snapshot) { delete(w.Releases, operator) }, Keep, "ReleaseNotFound"},
	"the module has no component name":  {theRelease(func(r *v1beta2.ModuleReleaseMeta) { r.Spec.OCMComponentName = "" }), Keep, "ComponentNameMissing"},
	"the restrictions contradict":       {func(w *Snapshot) { w.Restricted = []string{operator} }, Keep, "ModuleRestricted"},
	"a version is pinned that is not":   {chained(ofChannel(""), pinned("9.9.9")), Keep, "TemplateNotFound"},
	"the channel was set back":          {ofChannel("regular"), Keep, "Downgrade"},
	"the rollout of 2.0.0 was aborted":  {chained(wavesOf(inPhase(v1beta2.RolloutAborted), to(v2)), offersFast(v1)), Keep, "RolloutAborted"},
	avoidedBefore:                       {chained(offersThird, avoiding(referenceAt(v3))), Run, "RolledBack"},
	failedBefore:                        {heldThird, Run, "RolledBack"},
	"the status is older than 2.0.0":    {chained(wavesOf(), theEntry(func(e *v1beta2.ModuleStatus) { e.Version = v1 })), Waiting, "WaitingForRollout"},
	"what runs has no component either": {chained(wavesOf(), unreadable(v2, "ComponentNotFound")), Waiting, "WaitingForRollout"},
}

// chained returns edits as one.
func chained(edits ...func(*Snapshot)) func(*Snapshot) {
	return func(w *Snapshot) {
		for _, edit := range edits {
			edit(w)
		}
	}
}

func offersFast(version string) func(*Snapshot) {
	return theRelease(func(r *v1beta2.ModuleReleaseMeta) { r.Spec.Channels[1].Version = version })
}

// leaves lets some passes go by, and returns the versions that the Manifest was given, and the last status entry and kind of verdict.
func leaves(w Snapshot) (versions []string, entry v1beta2.ModuleStatus, kind Kind) {
	for round := range 5 {
		verdicts := Resolve(w)
		plan := MakePlan(w, verdicts)
		for _, want := range plan.Apply {
			versions = append(versions, want.Spec.Version)
		}
		after := carryOut(w, plan)
		after.Kyma.Status = Rollup(w, verdicts, nil)
		w, kind = after, verdicts[0].Kind
		if late := round < 2; !late { // the Manifest controller is slower than the Kyma's
			m := &w.Manifests[0]
			m.Status.Revisions = revision.Begin(m.Status.Revisions, revision.Of(&m.Spec), "Error", m.Annotations[v1beta2.AnnotationRollback], noon.Time)
			makeReady(m)
		}
	}
	return versions, w.Kyma.Status.Modules[0], kind
}

func TestDeparture_WhatRunsBrokenGoesBackWhateverIsOffered(t *testing.T) {
	for name, held := range keepsSecond {
		t.Run(name, func(t *testing.T) {
			expectWayBack(t, newResolver(upgrading(held.world)), v1, Run, "RolledBack",
				"version 2.0.0 failed here (Deployment x: 0 of 1 replicas are available) and 1.0.0 is installed")
			v, avoids := only(t, upgrading(held.world)), referenceAt(v2)
			if name == failedBefore {
				avoids = referenceAt(v3) // which is what it would get otherwise
			}
			if v.Back != "ProgressDeadlineExceeded" || v.Avoid != avoids || v.Offered != "" || !v.WakeAt.IsZero() {
				t.Errorf("back %q, avoids %q, %q is offered, woken at %s", v.Back, v.Avoid, v.Offered, v.WakeAt)
			}
			versions, entry, kind := leaves(upgrading(held.world))
			if name == failedBefore { // the history has room for one that is held: that is 2.0.0 now
				if !slices.Equal(versions, []string{v1, v3}) {
					t.Errorf("the Manifest is given %q", versions)
				}
				return
			}
			if (kind == Waiting || kind == Keep) && entry.Avoid != referenceAt(v2) {
				t.Errorf("%s, and the entry avoids %q: %s", kind, entry.Avoid, entry.Message)
			}
			if !slices.Equal(versions, []string{v1}) || entry.Version != v1 {
				t.Errorf("the Manifest is given %q, the entry says %s: %s", versions, entry.Version, entry.Message)
			}
		})
	}
}

func TestDeparture_APersonLeavesWhatRunsWhateverIsOffered(t *testing.T) {
	for name, held := range keepsSecond {
		if name == avoidedBefore || name == failedBefore {
			continue // a person can avoid one version only; what failed gives way to what is not avoided without this rule
		}
		t.Run(name, func(t *testing.T) {
			w := upgrading(vouching(""), reports("Ready", "Ready"), held.world, avoiding(referenceAt(v2)))
			theRevision(len(w.Manifests[0].Status.Revisions), func(r *v1beta2.Revision) { r.Outcome = "Succeeded" })(&w)
			expectWayBack(t, newResolver(w), v1, Run, "RolledBack", "version 2.0.0 is avoided, as the spec asks, and 1.0.0 is installed")
			if versions, entry, _ := leaves(w); !slices.Equal(versions, []string{v1}) || entry.Version != v1 {
				t.Errorf("the Manifest is given %q, the entry says %s: %s", versions, entry.Version, entry.Message)
			}
		})
	}
}

func TestDeparture_WhatRunsStaysWithoutCause(t *testing.T) {
	for cause, edit := range map[string]func(*Snapshot){
		"it was asked for nothing": theModule(func(m *v1beta2.Module) { m.OnFailedUpgrade = "" }),
		"it is ready":              reports("Ready", "Ready"),
		"it was ready once": func(w *Snapshot) {
			theRevision(len(w.Manifests[0].Status.Revisions), func(r *v1beta2.Revision) { r.Outcome = "Succeeded" })(w)
		},
		"its runtime does not answer": reports("Error", "RuntimeUnreachable"),
		"its author does not vouch":   vouching(""),
	} {
		for name, held := range keepsSecond {
			t.Run(cause+" and "+name, func(t *testing.T) {
				expectWayBack(t, newResolver(upgrading(held.world, edit)), v2, held.kind, held.reason, "")
			})
		}
	}
}

func TestDeparture(t *testing.T) {
	closed := chained(wavesOf(), inWaveRest)
	for _, test := range []struct {
		name    string
		world   Snapshot
		version string
		kind    Kind
		reason  string
		note    string // of the status
	}{
		{"what can be installed at once is better than any way back", upgrading(offersThird), v3, Run, "", ""},
		{"so is what has its place", upgrading(wavesOf(), place), v3, Run, "", ""},
		{"even for a person who wants to leave what runs", upgrading(offersThird, avoiding(referenceAt(v2))), v3, Run, "", ""},
		{"what is being read may be installed in a moment", upgrading(offersThird, notRead(v3)), v2, Waiting, "ComponentPending", ""},
		{"the way back is read first", upgrading(closed, notRead(v1)), v2, Waiting, "WaitingForRollout", ""},
		{"and for a person", upgrading(closed, notRead(v1), avoiding(referenceAt(v2))), v2, Waiting, "ComponentPending", ""},
		{"a person waits for a window", upgrading(closed, awaitsWindow(v1), reports("Ready", "Ready"), avoiding(referenceAt(v2))), v2, Waiting,
			"WaitingForMaintenanceWindow", ""},
		{"not where what runs is down", upgrading(closed, awaitsWindow(v1), avoiding(referenceAt(v2))), v1, Run, "RolledBack", ""},
		{"without a way back the status says so", upgrading(closed, otherData(v1)), v2, Waiting, "WaitingForRollout",
			"; version 2.0.0 stays, although the module should go back from it: "},
		{"so it does to a person", upgrading(closed, otherData(v1), avoiding(referenceAt(v2))), v2, Waiting, "WaitingForRollout", "was changed since"},
		{"no author vouches for what has no template any more", upgrading(closed, without(v2)), v2, Waiting, "WaitingForRollout",
			"the ModuleTemplate of version 2.0.0, which alone can vouch for a way back, does not exist any more"},
		{"a person needs no such word", upgrading(closed, without(v2), avoiding(referenceAt(v2))), v1, Run, "RolledBack", ""},
		{"a template that was edited is another try", upgrading(closed, otherData(v2)), v2, Waiting, "WaitingForRollout", ""},
		{"a way back that fails stays", upgrading(closed, withHistory(began("0.9.0", -72*time.Hour, "", "Succeeded", ""),
			began("2.1.0", -2*time.Hour, "Ready", "RolledBack", "ProgressDeadlineExceeded"), began(v2, -time.Hour, "Error", "", ""))),
			v2, Waiting, "WaitingForRollout", ""},
		{"what a rollout takes back is left although the module's restrictions contradict", upgrading(func(w *Snapshot) {
			takingBack(w)
			w.Restricted = []string{operator}
		}), v1, Run, "RolledBack", ""},
		{"what is being deleted is not left", upgrading(closed, theManifest(isDying)), v2, Waiting, "ModuleDeleting", ""},
		{"nor what becomes unmanaged", upgrading(closed, theManifest(isLeaving), avoiding(referenceAt(v2))), v2, Waiting, "ModuleDeleting", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			expectWayBack(t, newResolver(test.world), test.version, test.kind, test.reason, "")
			if entry := Rollup(test.world, Resolve(test.world), nil).Modules[0]; !strings.Contains(entry.Message, test.note) ||
				test.note == "" && strings.Contains(entry.Message, "although") {
				t.Errorf("the status says: %s", entry.Message)
			}
		})
	}
}

func TestDeparture_APersonGoesFurtherWhileSomethingElseWaits(t *testing.T) {
	backTo := theModule(func(m *v1beta2.Module) { m.BackTo = 1 })
	world := func(edits ...func(*Snapshot)) Snapshot {
		return upgrading(append([]func(*Snapshot){chained(wavesOf(), inWaveRest), func(w *Snapshot) {
			w.Manifests, w.Kyma.Status.Modules = nil, nil
			w.Templates[operator+"-1.5.0"], w.Components[ComponentKey{component, "1.5.0"}] = newTemplate(operator, "1.5.0"), newComponent("1.5.0")
			installedAt("fast", "1.5.0")(w)
		}, withHistory(began(v1, -48*time.Hour, "", "Succeeded", ""), began("1.5.0", -24*time.Hour, "Ready", "Succeeded", ""),
			began(v2, -2*time.Hour, "Ready", "RolledBack", "Requested"), began("1.5.0", -time.Hour, "Ready", "Succeeded", "")),
			avoiding(referenceAt(v2)), backTo}, edits...)...)
	}
	marked := theManifest(func(m *v1beta2.Manifest) { m.Annotations[v1beta2.AnnotationRollback] = "Requested" })
	expectWayBack(t, newResolver(world(marked)), v1, Run, "RolledBack", "")
	// What was installed since stays: the choice was about the version before it.
	expectWayBack(t, newResolver(world()), "1.5.0", Waiting, "WaitingForRollout", "")
}

func TestDeparture_ThePassComesAtTheDeadline(t *testing.T) {
	for name, held := range keepsSecond {
		w := upgrading(held.world)
		theRevision(len(w.Manifests[0].Status.Revisions), func(r *v1beta2.Revision) { r.At = metav1.NewTime(noon.Add(-time.Minute)) })(&w)
		expectWayBack(t, newResolver(w), v2, held.kind, held.reason, "")
		if wake := NextWake(Resolve(w), noon.Time); wake != DefaultProgressDeadline-time.Minute {
			t.Errorf("%s: the next pass comes after %s", name, wake)
		}
	}
}

func TestDeparture_NeededNamesTheWayBackInTheSameRound(t *testing.T) {
	w := upgrading(offersThird, unreadable(v3, "RegistryUnreachable"))
	w.Components = nil
	if needed := Needed(w); !slices.Contains(needed, ComponentKey{component, v1}) || !slices.Contains(needed, ComponentKey{component, v3}) {
		t.Errorf("%v is read", needed)
	}
	w = sampleWorld(ofChannel("fast"), installedAt("fast", v2), automatic, wavesOf(), inWaveRest, withHistory(
		began(v1, -48*time.Hour, "", "Succeeded", ""), began(v2, -time.Hour, "Ready", "Succeeded", "")))
	if needed := Needed(w); !slices.Equal(needed, []ComponentKey{{component, v2}}) {
		t.Errorf("at rest %v is read", needed)
	}
}
