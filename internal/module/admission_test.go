package module

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
)

const (
	v3         = "3.0.0"
	kymaUID    = "0f6c2a44-91c5-4d5e-8a7b-3f0f5f6d7a01"
	rolloutUID = "5b1f9d62-7c0e-4f7f-9c59-1d2e3f4a5b6c"
)

// rollsOut marks the sample module's release, whose channel regular now offers 2.0.0, and adds its rollout from 1.0.0: the Kyma is in the
// wave canary, which has begun and has no place for it.
func rollsOut(edits ...func(*v1beta2.RolloutChannel)) func(*Snapshot) {
	return func(w *Snapshot) {
		w.Kyma.UID = kymaUID
		for i := range w.Manifests {
			w.Manifests[i].OwnerReferences[0].UID = kymaUID
		}
		w.Kyma.Labels = map[string]string{"ring": "canary"}
		release := w.Releases[operator]
		release.Annotations = map[string]string{v1beta2.AnnotationRollout: rolloutUID}
		release.Spec.Channels[0].Version = v2
		channel := rolloutOf("regular", v1, v2)
		for _, edit := range edits {
			edit(&channel)
		}
		w.Rollouts = map[string]*v1beta2.ModuleRollout{operator: newRollout(operator, channel)}
	}
}

// newRollout returns a rollout with the waves canary and rest.
func newRollout(name string, channels ...v1beta2.RolloutChannel) *v1beta2.ModuleRollout {
	return &v1beta2.ModuleRollout{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, UID: types.UID(rolloutUID)},
		Spec: v1beta2.ModuleRolloutSpec{Waves: []v1beta2.RolloutWave{
			{Name: "canary", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"ring": "canary"}}, MaxConcurrent: 1},
			{Name: "rest"},
		}},
		Status: v1beta2.ModuleRolloutStatus{Channels: channels},
	}
}

// rolloutOf returns the state of a rollout whose wave canary has begun.
func rolloutOf(channel, from, to string) v1beta2.RolloutChannel {
	return v1beta2.RolloutChannel{
		Name: channel, From: v1beta2.RolloutVersion{Version: from}, To: v1beta2.RolloutVersion{Version: to},
		Phase: v1beta2.RolloutProgressing, Wave: "canary",
		Waves: []v1beta2.RolloutWaveStatus{{Name: "canary", Since: noon}, {Name: "rest"}, {Name: "others"}},
	}
}

func inWaveRest(w *Snapshot) { w.Kyma.Labels = map[string]string{"ring": "other"} }

func underway(channel *v1beta2.RolloutChannel) {
	channel.Underway = []string{kymaUID[:rollout.PrefixLength]}
}

func takenBack(channel *v1beta2.RolloutChannel) {
	channel.Back = []string{kymaUID[:rollout.PrefixLength]}
}

func inPhase(is v1beta2.RolloutPhase) func(*v1beta2.RolloutChannel) {
	return func(channel *v1beta2.RolloutChannel) {
		if channel.Phase = is; is == v1beta2.RolloutCompleted {
			channel.Wave = ""
		}
	}
}

func rolledFrom(version string) func(*v1beta2.RolloutChannel) {
	return func(channel *v1beta2.RolloutChannel) { channel.From.Version = version }
}

func withoutTemplate(version string) func(*Snapshot) {
	return func(w *Snapshot) { delete(w.Templates, operator+"-"+version) }
}

func takesDown(version string) func(*Snapshot) {
	return theTemplate(version, func(m *v1beta2.ModuleTemplate) { m.Spec.RequiresDowntime = true })
}

// wantVerdict is what becomes of a module under a rollout.
type wantVerdict struct {
	kind             Kind
	state            v1beta2.State // in the status
	reason           string        // of the verdict
	version, offered string
	applies          string // the versions that are written
}

func tellSample(t *testing.T, w Snapshot) wantVerdict {
	t.Helper()
	at := slices.IndexFunc(Resolve(w), func(v Verdict) bool { return v.Module == operator })
	verdicts := Resolve(w)
	v := verdicts[at]
	got := wantVerdict{kind: v.Kind, reason: v.Reason, version: v.Version, offered: v.Offered}
	for _, applied := range MakePlan(w, verdicts).Apply {
		got.applies += applied.Spec.Version
	}
	modules, mandatory := tellAll(w, verdicts, nil)
	for _, one := range slices.Concat(modules, mandatory) {
		if got.state = one.entry.State; one.entry.Offered != v.Offered {
			t.Errorf("the entry says that %q is offered, the verdict %q", one.entry.Offered, v.Offered)
		}
	}
	return got
}

// held are the words for a module that keeps 1.0.0 while 2.0.0 waits.
var held = wantVerdict{Waiting, "Ready", "WaitingForRollout", v1, v2, ""}

func TestRollout_OneKymaObeys(t *testing.T) {
	running, nothing := installedAt("regular", v1), func(*Snapshot) {}
	for _, test := range []struct {
		name  string
		world []func(*Snapshot)
		want  wantVerdict
	}{
		{"the wave of the Kyma has not begun: what runs stays Ready", []func(*Snapshot){running, rollsOut(), inWaveRest}, held},
		{"the wave has begun and has no place: what runs stays Ready", []func(*Snapshot){running, rollsOut()}, held},
		{"the Kyma has a place: it upgrades", []func(*Snapshot){running, rollsOut(underway)},
			wantVerdict{Run, "Processing", "", v2, "", v2}},
		{"the wave is open: it upgrades", []func(*Snapshot){running, rollsOut(func(c *v1beta2.RolloutChannel) { c.Open = true }),
			func(w *Snapshot) { w.Rollouts[operator].Spec.Waves[0].MaxConcurrent = 0 }},
			wantVerdict{Run, "Processing", "", v2, "", v2}},
		{"the rollout is through: it upgrades", []func(*Snapshot){running, rollsOut(inPhase(v1beta2.RolloutCompleted)), inWaveRest},
			wantVerdict{Run, "Processing", "", v2, "", v2}},
		{"the rollout halted: a place is worth nothing", []func(*Snapshot){running, rollsOut(inPhase(v1beta2.RolloutHalted), underway)}, held},
		{"the rollout is not known: no version changes", []func(*Snapshot){running, rollsOut(underway), func(w *Snapshot) { w.Rollouts = nil }}, held},
		{"the rollout is another one than the release names: no version changes", []func(*Snapshot){running, rollsOut(underway),
			func(w *Snapshot) { w.Rollouts[operator].UID = "another" }}, held},
		{"a release without the mark needs no rollout", []func(*Snapshot){running, rollsOut(), func(w *Snapshot) {
			w.Releases[operator].Annotations, w.Rollouts = nil, nil
		}}, wantVerdict{Run, "Processing", "", v2, "", v2}},
		{"what the rollout takes back stays where there is no way back", []func(*Snapshot){installedAt("regular", v2),
			rollsOut(inPhase(v1beta2.RolloutRollingBack), takenBack)}, wantVerdict{Run, "Warning", "RollbackUnavailable", v2, "", ""}},
		{"once it is left, it waits", []func(*Snapshot){running, rollsOut(inPhase(v1beta2.RolloutRollingBack), takenBack)}, held},
		{"it has the version already, whatever its wave", []func(*Snapshot){installedAt("regular", v2), rollsOut(), inWaveRest},
			wantVerdict{Run, "Ready", "", v2, "", ""}},
		{"a pinned version waits for no rollout", []func(*Snapshot){running, rollsOut(), pinned(v2)},
			wantVerdict{Run, "Processing", "", v2, "", v2}},
		{"a first installation gets the version before", []func(*Snapshot){nothing, rollsOut(), inWaveRest},
			wantVerdict{Waiting, "Processing", "WaitingForRollout", v1, v2, v1}},
		{"a first installation whose wave has begun waits for a place", []func(*Snapshot){nothing, rollsOut()},
			wantVerdict{Waiting, "Processing", "WaitingForRollout", "", v2, ""}},
		{"a first installation waits when there is no version before", []func(*Snapshot){nothing, rollsOut(rolledFrom("")), inWaveRest},
			wantVerdict{Waiting, "Processing", "WaitingForRollout", "", v2, ""}},
		{"a first installation waits when the template of the version before is gone", []func(*Snapshot){nothing, rollsOut(), inWaveRest,
			withoutTemplate(v1)}, wantVerdict{Waiting, "Processing", "WaitingForRollout", "", v2, ""}},
		{"a first installation waits when the component of the version before is gone", []func(*Snapshot){nothing, rollsOut(), inWaveRest,
			unreadable(v1, "ComponentNotFound")}, wantVerdict{Waiting, "Processing", "WaitingForRollout", "", v2, ""}},
		{"a first installation waits when it may not have the version before", []func(*Snapshot){nothing, rollsOut(), inWaveRest,
			theTemplate(v1, func(m *v1beta2.ModuleTemplate) { m.Labels = map[string]string{v1beta2.LabelInternal: "true"} })},
			wantVerdict{Waiting, "Processing", "WaitingForRollout", "", v2, ""}},
		{"the component of the version before is being read", []func(*Snapshot){nothing, rollsOut(), inWaveRest, notRead(v1)},
			wantVerdict{Waiting, "Processing", "ComponentPending", "", "", ""}},
		{"what runs is lower than the version before: it gets that", []func(*Snapshot){running, rollsOut(rolledFrom(v2), to(v3)), inWaveRest, offers(v3)},
			wantVerdict{Waiting, "Processing", "WaitingForRollout", v2, v3, v2}},
		{"the version before needs downtime: it waits for its window first", []func(*Snapshot){running, rollsOut(rolledFrom(v2), to(v3)), inWaveRest, offers(v3),
			takesDown(v2), tomorrow}, wantVerdict{Waiting, "Ready", "WaitingForMaintenanceWindow", v1, "", ""}},
		{"the version before needs downtime, and no policy names a window: what runs stays Ready", []func(*Snapshot){running,
			rollsOut(rolledFrom(v2), to(v3)), inWaveRest, offers(v3), takesDown(v2)}, wantVerdict{Waiting, "Ready", "WaitingForRollout", v1, v3, ""}},
		{"what runs is higher than the version before and stays", []func(*Snapshot){installedAt("regular", v2),
			rollsOut(to(v3)), inWaveRest, offers(v3)}, wantVerdict{Waiting, "Ready", "WaitingForRollout", v2, v3, ""}},
		{"nothing of what waits is looked at: its template is missing", []func(*Snapshot){running, rollsOut(), inWaveRest, withoutTemplate(v2)}, held},
		{"nothing of what waits is looked at: its signature is broken", []func(*Snapshot){running, rollsOut(), inWaveRest,
			unreadable(v2, "SignatureInvalid")}, held},
		{"nothing of what waits is looked at: it is internal", []func(*Snapshot){running, rollsOut(), inWaveRest,
			theTemplate(v2, func(m *v1beta2.ModuleTemplate) { m.Labels = map[string]string{v1beta2.LabelInternal: "true"} })}, held},
		{"once the wave has begun everything is looked at", []func(*Snapshot){running, rollsOut(), withoutTemplate(v2)},
			wantVerdict{Keep, "Error", "TemplateNotFound", v1, "", ""}},
		{"the window comes before the place", []func(*Snapshot){running, rollsOut(), takesDown(v2), tomorrow},
			wantVerdict{Waiting, "Ready", "WaitingForMaintenanceWindow", v1, "", ""}},
		{"what is being read for a module without a place disturbs nothing", []func(*Snapshot){running, rollsOut(), notRead(v2)}, held},
		{"the template of what runs is gone: it stays as it is", []func(*Snapshot){running, rollsOut(), inWaveRest, withoutTemplate(v1)}, held},
		{"what runs was changed by hand: it is put back", []func(*Snapshot){running, rollsOut(), inWaveRest,
			theManifest(func(m *v1beta2.Manifest) { m.Spec.Install.Source.Raw = []byte(`{"type":"oci-ref"}`) })},
			wantVerdict{Waiting, "Processing", "WaitingForRollout", v1, v2, v1}},
		{"the Manifest of what runs is gone: it comes back", []func(*Snapshot){running, rollsOut(), inWaveRest, func(w *Snapshot) { w.Manifests = nil }},
			wantVerdict{Waiting, "Processing", "WaitingForRollout", v1, v2, v1}},
		{"so it does in a wave that has begun", []func(*Snapshot){running, rollsOut(), func(w *Snapshot) { w.Manifests = nil }},
			wantVerdict{Waiting, "Processing", "WaitingForRollout", v1, v2, v1}},
		{"what runs has failed: that is told", []func(*Snapshot){running, rollsOut(), inWaveRest, reported("Error", "ObjectFailed", "no")},
			wantVerdict{Waiting, "Error", "WaitingForRollout", v1, v2, ""}},
		{"a Kyma that the release no longer selects loses the module", []func(*Snapshot){running, rollsOut(), inWaveRest, restricted,
			selecting("region", "eu")}, wantVerdict{Removed, "Error", "ModuleRestricted", v1, "", ""}},
		{"restrictions that contradict each other wait, too", []func(*Snapshot){running, rollsOut(), inWaveRest, restricted}, held},
		{"the channel offers nothing: refused as ever", []func(*Snapshot){running, rollsOut(), ofChannel("rapid")},
			wantVerdict{Keep, "Error", "ChannelNotFound", v1, "", ""}},
		{"the Manifest was written and the status was not: it goes on", []func(*Snapshot){installedAt("regular", v2), rollsOut(), inWaveRest,
			theEntry(func(e *v1beta2.ModuleStatus) { e.Version = v1 })}, wantVerdict{Run, "Ready", "", v2, "", ""}},
		{"a hand-written version in the Manifest is no admission", []func(*Snapshot){running, rollsOut(), inWaveRest,
			theManifest(func(m *v1beta2.Manifest) { m.Spec.Version = v2 })}, wantVerdict{Waiting, "Processing", "WaitingForRollout", v1, v2, v1}},
		{"enabled again while it is being removed", []func(*Snapshot){running, rollsOut(), inWaveRest, theManifest(isDying)},
			wantVerdict{Waiting, "Deleting", "ModuleDeleting", v1, "", ""}},
		{"enabled again without a place, while it is being removed", []func(*Snapshot){running, rollsOut(), theManifest(isDying)},
			wantVerdict{Waiting, "Deleting", "ModuleDeleting", v1, "", ""}},
		{"enabled again with a place, while it is being removed", []func(*Snapshot){running, rollsOut(underway), theManifest(isDying)},
			wantVerdict{Waiting, "Deleting", "ModuleDeleting", v2, "", v2}},
		{"enabled again, and the version before cannot be installed", []func(*Snapshot){running, rollsOut(), inWaveRest, theManifest(isDying),
			withoutTemplate(v1)}, wantVerdict{Waiting, "Deleting", "ModuleDeleting", v1, "", ""}},
		{"a module whose removal is blocked waits, too", []func(*Snapshot){running, rollsOut(), inWaveRest, theManifest(isDying), disabled},
			wantVerdict{Removed, "Deleting", "ModuleDeleting", v1, "", ""}},
		{"a module whose removal is blocked needs a place", []func(*Snapshot){running, rollsOut(), theManifest(isDying), disabled},
			wantVerdict{Removed, "Deleting", "ModuleDeleting", v1, "", ""}},
		{"a module whose removal is blocked follows its channel with a place", []func(*Snapshot){running, rollsOut(underway), theManifest(isDying),
			disabled}, wantVerdict{Removed, "Deleting", "ModuleDeleting", v2, "", v2}},
		{"another Manifest has the name: that comes before the place", []func(*Snapshot){running, rollsOut(), func(w *Snapshot) {
			w.Kyma.Status.Modules = nil
			w.Manifests[0].OwnerReferences[0].UID = "other"
		}}, wantVerdict{Refused, "Error", "ManifestConflict", "", "", ""}},
		{"the rollout of what runs was aborted: it stays, Ready", []func(*Snapshot){installedAt("regular", v2), rollsOut(inPhase(v1beta2.RolloutAborted)),
			offers(v1)}, wantVerdict{Keep, "Ready", "RolloutAborted", v2, "", ""}},
		{"the rollout was aborted, and what runs has failed", []func(*Snapshot){installedAt("regular", v2), rollsOut(inPhase(v1beta2.RolloutAborted)),
			offers(v1), reported("Error", "ObjectFailed", "no")}, wantVerdict{Keep, "Error", "RolloutAborted", v2, "", ""}},
		{"the rollout was aborted, and the Manifest is gone: it comes back", []func(*Snapshot){installedAt("regular", v2),
			rollsOut(inPhase(v1beta2.RolloutAborted)), offers(v1), func(w *Snapshot) { w.Manifests = nil }},
			wantVerdict{Keep, "Processing", "RolloutAborted", v2, "", v2}},
		{"the rollout was aborted, and nothing can bring it back", []func(*Snapshot){installedAt("regular", v2), withoutTemplate(v2),
			rollsOut(inPhase(v1beta2.RolloutAborted)), offers(v1), func(w *Snapshot) { w.Manifests = nil }},
			wantVerdict{Refused, "Warning", "Downgrade", v2, "", ""}},
		{"the rollout was aborted, and another Manifest has the name", []func(*Snapshot){installedAt("regular", v2),
			rollsOut(inPhase(v1beta2.RolloutAborted)), offers(v1), func(w *Snapshot) { w.Manifests[0].OwnerReferences[0].UID = "other" }},
			wantVerdict{Refused, "Error", "ManifestConflict", v2, "", ""}},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := sampleWorld(append([]func(*Snapshot){hasVersion3}, test.world...)...)
			if got := tellSample(t, w); got != test.want {
				t.Errorf("got  %+v\nwant %+v\nmessage %s", got, test.want, only(t, w).Message)
			}
		})
	}
}

func to(version string) func(*v1beta2.RolloutChannel) {
	return func(channel *v1beta2.RolloutChannel) { channel.To.Version = version }
}

func offers(version string) func(*Snapshot) {
	return theRelease(func(r *v1beta2.ModuleReleaseMeta) { r.Spec.Channels[0].Version = version })
}

func hasVersion3(w *Snapshot) {
	w.Templates[operator+"-"+v3], w.Components[ComponentKey{component, v3}] = newTemplate(operator, v3), newComponent(v3)
}

// tomorrow is a policy whose window is not open now.
func tomorrow(w *Snapshot) {
	w.Windows = &WindowPolicy{Default: []Window{{Begin: noon.Add(20 * 3600e9), End: noon.Add(22 * 3600e9)}}}
}

func TestRollout_NeededNamesNothingOfWhatWaits(t *testing.T) {
	for name, world := range map[string][]func(*Snapshot){
		"it keeps what runs":            {installedAt("regular", v1), rollsOut(), inWaveRest},
		"it gets the version before":    {rollsOut(), inWaveRest},
		"the rollout is not known":      {installedAt("regular", v1), rollsOut(), func(w *Snapshot) { w.Rollouts = nil }},
		"its removal is blocked":        {installedAt("regular", v1), rollsOut(), inWaveRest, theManifest(isDying), disabled},
		"it is enabled again meanwhile": {installedAt("regular", v1), rollsOut(), inWaveRest, theManifest(isDying)},
	} {
		t.Run(name, func(t *testing.T) {
			if needed := Needed(sampleWorld(world...)); slices.Contains(needed, ComponentKey{component, v2}) {
				t.Errorf("needed %v", needed)
			}
		})
	}
	if needed := Needed(sampleWorld(installedAt("regular", v1), rollsOut())); !slices.Contains(needed, ComponentKey{component, v2}) {
		t.Errorf("a wave that has begun needs the target: %v", needed)
	}
}

func TestRollout_AMandatoryModuleObeys(t *testing.T) {
	rolls := func(phase v1beta2.RolloutPhase, edits ...func(*v1beta2.RolloutChannel)) func(*Snapshot) {
		return func(w *Snapshot) {
			rollsOut(append(edits, func(c *v1beta2.RolloutChannel) { c.Name, c.Phase = "", phase })...)(w)
			w.Kyma.Spec.Modules = nil
			release := w.Releases[operator]
			release.Spec.Channels, release.Spec.Mandatory = nil, &v1beta2.Mandatory{Version: v2}
			w.Mandatory = []*v1beta2.ModuleReleaseMeta{release}
		}
	}
	running := func(version string) func(*Snapshot) {
		return func(w *Snapshot) {
			w.Manifests = append(w.Manifests, *makeReady(stored(wanted(w.Kyma, &Verdict{
				Module: operator, Mandatory: true, Version: version, ComponentName: component, Template: newTemplate(operator, version),
				Source: newSource(version), LocalizedImages: newComponent(version).LocalizedImages,
			}), nil)))
		}
	}
	for name, test := range map[string]struct {
		world []func(*Snapshot)
		want  wantVerdict
	}{
		"the wave has not begun":         {[]func(*Snapshot){running(v1), rolls("Progressing"), inWaveRest}, held},
		"there is no place":              {[]func(*Snapshot){running(v1), rolls("Progressing")}, held},
		"there is a place":               {[]func(*Snapshot){running(v1), rolls("Progressing", underway)}, wantVerdict{Run, "Processing", "", v2, "", v2}},
		"it has the version":             {[]func(*Snapshot){running(v2), rolls("Progressing"), inWaveRest}, wantVerdict{Run, "Ready", "", v2, "", ""}},
		"it comes with the one before":   {[]func(*Snapshot){rolls("Progressing"), inWaveRest}, wantVerdict{Waiting, "Processing", "WaitingForRollout", v1, v2, v1}},
		"what runs is higher, and stays": {[]func(*Snapshot){running(v1), rolls("Progressing", rolledFrom("0.9.0")), inWaveRest}, held},
		"there is none before": {[]func(*Snapshot){rolls("Progressing", rolledFrom("")), inWaveRest},
			wantVerdict{Waiting, "Processing", "WaitingForRollout", "", v2, ""}},
		"that of the version before is gone": {[]func(*Snapshot){running(v1), rolls("Progressing"), inWaveRest, withoutTemplate(v1)}, held},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tellSample(t, sampleWorld(test.world...)); got != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestRollout_TheKymaStaysReadyAndTellsWhy(t *testing.T) {
	w := sampleWorld(installedAt("regular", v1), rollsOut(), inWaveRest)
	status := Rollup(w, Resolve(w), nil)
	ready := readyOf(status)
	if status.State != v1beta2.StateReady || status.ModulesReady != "1/1" || ready.Status != metav1.ConditionTrue ||
		ready.Reason != v1beta2.ReasonWaitingForRollout || !strings.Contains(ready.Message, "template-operator: WaitingForRollout: version 2.0.0 waits ") {
		t.Errorf("state %s, %s ready, condition %+v", status.State, status.ModulesReady, ready)
	}
	w.Kyma.Status = status
	w.Now = one
	// Its wave begins, and has no place for it.
	channel := &w.Rollouts[operator].Status.Channels[0]
	channel.Wave, channel.Waves[1].Since = "rest", one
	w.Rollouts[operator].Spec.Waves[1].MaxConcurrent = 1
	if again := Rollup(w, Resolve(w), nil); again.LastUpdateTime != status.LastUpdateTime || len(again.Modules) != 1 ||
		again.Modules[0].Offered != v2 || again.Modules[0].Message != status.Modules[0].Message {
		t.Errorf("the second pass tells something else: %+v", again)
	}
	runtime := RuntimeStatus(&status, 1)
	if runtime.Modules[0].Offered != v2 || !strings.HasPrefix(runtime.Modules[0].Message, "version 2.0.0 waits ") {
		t.Errorf("the runtime's user reads %+v", runtime.Modules[0])
	}
}

func TestRollout_TheKymaStaysReadyWithAnAbortedVersion(t *testing.T) {
	w := sampleWorld(installedAt("regular", v2), rollsOut(inPhase(v1beta2.RolloutAborted)), offers(v1))
	status := Rollup(w, Resolve(w), nil)
	if ready := readyOf(status); status.State != v1beta2.StateReady || ready.Reason != v1beta2.ReasonRolloutAborted {
		t.Errorf("state %s, condition %+v", status.State, ready)
	}
}

func TestRollout_TheMessageNamesWhatIsMissing(t *testing.T) {
	w := sampleWorld(rollsOut(), inWaveRest, withoutTemplate(v1))
	if got := only(t, w).Message; !strings.Contains(got, `; version 1.0.0, which the module would have until then, is not available: `+saysMissing) {
		t.Error(got)
	}
}

func TestRollout_BothStepsOfAFirstInstallation(t *testing.T) {
	w := sampleWorld(rollsOut(), inWaveRest)
	w = carryOut(w, MakePlan(w, Resolve(w)))
	makeReady(&w.Manifests[0])
	w.Kyma.Status = Rollup(w, Resolve(w), nil)
	if got := tellSample(t, w); got != held {
		t.Fatalf("with the version before: %+v", got)
	}
	inPhase(v1beta2.RolloutCompleted)(&w.Rollouts[operator].Status.Channels[0])
	if got := tellSample(t, w); got.applies != v2 || got.kind != Run {
		t.Errorf("once the rollout is through: %+v", got)
	}
}
