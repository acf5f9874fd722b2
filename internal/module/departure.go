package module

import (
	"cmp"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// depart implements rule 12a for what runs: where a verdict keeps that, since what is offered waits, is refused or is avoided, the module
// leaves it as it would leave a target. A version that fails has its way back whatever is offered meanwhile, and so has a person who wants
// another one. What can be installed at once comes before any way back, and so does the answer about a component that is being read.
func (r *resolver) depart(verdicts []Verdict) {
	for i := range verdicts {
		v := &verdicts[i]
		if !keepsWhatRuns(v) {
			continue
		}
		u := r.whatRuns(v)
		if u == nil {
			continue
		}
		next := *v
		next.Offered, next.Silent, next.WakeAt = "", false, time.Time{}
		switch leaves := r.departFrom(&next, u); {
		case v.Reason == v1beta2.ReasonComponentPending: // Needed names the way back, too
		case leaves:
			*v = next
		default:
			v.Note, v.Deadline = next.Note, next.Deadline
		}
	}
}

// keepsWhatRuns reports whether a verdict may leave a Manifest as it is because of what is offered.
func keepsWhatRuns(v *Verdict) bool {
	if v.Manifest == nil || terminating(v.Manifest) || leaving(v.Manifest) {
		return false
	}
	return v.Kind == Keep || v.Kind == Waiting || v.Kind == Run && v.Back != ""
}

// whatRuns returns what is known of the way to what runs; nil where nothing can lead away from that, or where the verdict changes it. The
// Manifest says what that is: its history is about it, and a component that cannot be read any more says nothing.
func (r *resolver) whatRuns(v *Verdict) *upgrade {
	u := &upgrade{stands: true, manifest: v.Manifest, history: v.Manifest.Status.Revisions, have: installedOf(nil, v.Manifest)}
	if spec := r.spec[v.Module]; !v.Mandatory && spec != nil {
		u.entry = *spec
	}
	found := r.targets[targetKey{v.Module, v.Mandatory}]
	u.taken = found.admission.Back && found.admission.Allowed && found.admission.offered == v.Manifest.Spec.Version
	if newest := u.newest(); !u.taken && u.entry.Avoid == "" && (!u.automatic() || newest == nil || ended(newest)) {
		return nil
	}
	u.key = revision.Of(&v.Manifest.Spec)
	if v.Template != nil {
		spec := wantedSpec(r.Snapshot.Kyma, v, nameOf(r.Snapshot, v, v.Manifest))
		if u.planned(&spec) != u.key {
			return nil
		}
	}
	u.target = target{Channel: v.Channel, Version: u.key.Version, Component: cmp.Or(found.Component, v.ComponentName)}
	if found.Version != "" {
		u.target.Channel = found.Channel
	}
	u.target.Template, _ = templateAt(r.Snapshot, v.Module, u.key.Version) // without it no author vouches for a way back
	return u
}

// departFrom leaves what runs, where a person or a rollout wants that or where it failed. It reports whether the verdict is another one.
func (r *resolver) departFrom(v *Verdict, u *upgrade) bool {
	reason := u.avoided()
	if reason == "" && u.goesFurther() {
		reason = v1beta2.ReasonRequested
	}
	switch {
	case reason != "":
		return r.leave(v, u, reason, r.wayFrom(v, u))
	case u.begun() == nil:
		return false
	}
	return r.failed(v, u)
}

// goesFurther reports whether a person chose another revision after the module went back: what runs is only where it went first.
func (u *upgrade) goesFurther() bool {
	return u.manifest.Annotations[v1beta2.AnnotationRollback] != "" && u.chosenElsewhere()
}
