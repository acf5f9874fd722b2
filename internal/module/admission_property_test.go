package module

import (
	"maps"
	"slices"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// asks returns the release that a verdict's module is installed from, what its channel offers and the answer of its rollout, as a reader of
// the specification works them out; ok is false where no rollout decides.
func asks(w Snapshot, v *Verdict) (offers string, answer rollout.Answer, ok bool) {
	release, channel := w.Releases[v.Module], ""
	at := slices.IndexFunc(w.Kyma.Spec.Modules, func(m v1beta2.Module) bool { return m.Name == v.Module })
	switch {
	case release == nil || release.Annotations[v1beta2.AnnotationRollout] == "", v.Mandatory != (release.Spec.Mandatory != nil):
		return "", answer, false
	case v.Mandatory:
		offers = release.Spec.Mandatory.Version
	case at < 0 || w.Kyma.Spec.Modules[at].Version != "":
		return "", answer, false
	default:
		channel = moduleRequestOf(w.Kyma, &w.Kyma.Spec.Modules[at]).Channel
		offers = offered(release, channel)
	}
	return offers, rollout.Ask(w.Rollouts[v.Module], release.Annotations[v1beta2.AnnotationRollout], channel, offers, rollout.Applicant{
		UID: string(w.Kyma.UID), Labels: w.Kyma.Labels,
	}), offers != ""
}

// versionsHad returns the versions that the module has or had, according to its Manifests and the status.
func versionsHad(w Snapshot, v *Verdict) []string {
	var versions []string
	for _, manifest := range v.all() {
		versions = append(versions, manifest.Spec.Version)
	}
	if entry := statusByName(w.Kyma)[v.Module]; entry != nil && !v.Mandatory {
		versions = append(versions, entry.Version)
	}
	return versions
}

// neverEarly checks that a plan brings no module to a version that its rollout does not let this Kyma have.
func neverEarly(t *testing.T, w Snapshot, verdicts []Verdict) {
	t.Helper()
	for i := range verdicts {
		v := &verdicts[i]
		offers, answer, ok := asks(w, v)
		if !ok || v.Template == nil || v.Kind == Removed || answer.Allowed || slices.Contains(versionsHad(w, v), v.Version) {
			continue
		}
		if v.Version != answer.From || v.Version == offers && answer.From != offers {
			t.Errorf("%s: %s at %s, and the rollout allows %q", v.Module, v.Kind, v.Version, answer.From)
		}
	}
}

// neverDown checks that nothing is deleted of a module that waits for its rollout.
func neverDown(t *testing.T, verdicts []Verdict, plan Plan) {
	t.Helper()
	for i := range plan.Delete {
		for j := range verdicts {
			v := &verdicts[j]
			if v.Offered != "" && slices.ContainsFunc(v.all(), func(m *v1beta2.Manifest) bool { return m.Name == plan.Delete[i].Name }) {
				t.Errorf("%s waits for its rollout and is deleted", v.Module)
			}
		}
	}
}

func TestProperty_ARolloutIsObeyed(t *testing.T) {
	waiting := 0
	inEveryWorld(t, func(t *testing.T, w Snapshot) {
		verdicts := Resolve(w)
		neverEarly(t, w, verdicts)
		neverDown(t, verdicts, MakePlan(w, verdicts))
		for i := range verdicts {
			if verdicts[i].Offered != "" {
				waiting++
			}
		}
	})
	if waiting < worlds/10 {
		t.Errorf("only %d modules waited", waiting)
	}
}

// settledIn returns the Snapshot after some passes in which everything that was written became ready.
func settledIn(w Snapshot) Snapshot {
	for range 3 {
		verdicts := Resolve(w)
		after := carryOut(w, MakePlan(w, verdicts))
		after.Kyma.Status = Rollup(w, verdicts, nil)
		for i := range after.Manifests {
			makeReady(&after.Manifests[i])
		}
		w = after
	}
	return w
}

// unasked returns the Snapshot with a module's release that names what the module has in all channels, and that no rollout decides about.
func unasked(w Snapshot, module, version string) Snapshot {
	release := w.Releases[module].DeepCopy()
	release.Annotations = nil
	for i := range release.Spec.Channels {
		release.Spec.Channels[i].Version = version
	}
	w.Releases = map[string]*v1beta2.ModuleReleaseMeta{module: release}
	w.Components = maps.Clone(w.Components)
	for _, key := range Needed(w) {
		if _, known := w.Components[key]; !known {
			w.Components[key] = newComponent(key.Version)
		}
	}
	return w
}

func TestProperty_WhatWaitsIsAsReadyAsIfNothingWereOffered(t *testing.T) {
	compared := 0
	inEveryWorld(t, func(t *testing.T, w Snapshot) {
		w = settledIn(w)
		verdicts := Resolve(w)
		entries := statusByName(&v1beta2.Kyma{Status: Rollup(w, verdicts, nil)})
		for i := range verdicts {
			v := &verdicts[i]
			if v.Offered == "" || v.Mandatory || v.Manifest == nil || v.Version == "" {
				continue
			}
			plain := unasked(w, v.Module, v.Version)
			would := statusByName(&v1beta2.Kyma{Status: Rollup(plain, Resolve(plain), nil)})[v.Module]
			if would.State != v1beta2.StateReady {
				continue
			}
			if compared++; entries[v.Module].State != v1beta2.StateReady {
				t.Errorf("%s at %s would be Ready, and is told as %s: %s", v.Module, v.Version, entries[v.Module].State, entries[v.Module].Message)
			}
		}
	})
	if compared < worlds/20 {
		t.Errorf("only %d modules were compared", compared)
	}
}

func TestProperty_NothingOfAClosedWaveIsNeeded(t *testing.T) {
	inEveryWorld(t, func(t *testing.T, w Snapshot) {
		needed := Needed(w)
		verdicts := Resolve(w)
		for i := range verdicts {
			v := &verdicts[i]
			offers, answer, ok := asks(w, v)
			release := w.Releases[v.Module]
			// Two modules may have one component, and a Manifest or a status may name the version, rightly or not. Consent is asked for in time.
			if !ok || asksForConsent(&w) || answer.Allowed || answer.NoSlot || offers == answer.From || release.Spec.OCMComponentName != componentOfModule(v.Module) ||
				slices.Contains(versionsHad(w, v), offers) || v.Mandatory && slices.ContainsFunc(versionsHad(w, v), func(version string) bool {
				return moduleversion.IsDowngrade(version, offers)
			}) {
				continue
			}
			if slices.Contains(needed, ComponentKey{release.Spec.OCMComponentName, offers}) {
				t.Errorf("%s: %s of the closed wave is read", v.Module, offers)
			}
		}
	})
}
