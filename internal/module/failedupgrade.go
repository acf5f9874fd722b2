package module

import (
	"cmp"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// unobservedPause is how often a Kyma is looked at while an upgrade is not observed that it waits for. It costs no call.
const unobservedPause = 5 * time.Second

// DefaultProgressDeadline is how long an upgrade may take where its module does not say.
const DefaultProgressDeadline = 30 * time.Minute

// failed goes back from an upgrade that is not ready in time, where the module asks for that. It reports whether the verdict is final.
//
// Everything of this must hold; otherwise the new version stays, and the verdict says why:
//
//   - the Manifest was observed for progressDeadline since it asks for the target, and was not ready with it; neither does time count
//     before an obstacle went away that was not the module itself, nor time in which the operator was down, see revision.Observed;
//   - the target is no way back itself: one that fails stays, and leads no further back;
//   - that is because of what it installs, as a pass over the Manifest found since the operator began to observe it;
//   - the module was ready before;
//   - there is an earlier version that succeeded, and the author of the target vouches that it can take over.
func (r *resolver) failed(v *Verdict, u *upgrade) bool {
	begun := u.begun()
	if !u.automatic() || begun != nil && u.cameBack() {
		return false
	}
	to := r.wayFrom(v, u)
	if to.pending {
		return false // the answer wakes the Kyma
	}
	problem := cmp.Or(to.problem, u.unvouched(to), u.brokenBefore(to))
	switch {
	case begun == nil:
		v.Note = noWayBack(problem)
	case problem == "" && !r.expired(v, u):
	case r.Now.Time.Before(u.due(begun)) && u.stands:
		v.Deadline = u.due(begun)
	case r.Now.Time.Before(u.due(begun)):
		v.Note, v.Deadline = noWayBack(problem), u.due(begun)
	case !u.broken(r.Snapshot):
	case problem != "":
		v.warn(u, problem)
	default:
		r.installBack(v, u, v1beta2.ReasonProgressDeadlineExceeded, to)
		return true
	}
	return false
}

// noWayBack tells in time that onFailedUpgrade will have no effect.
func noWayBack(problem string) string {
	if problem == "" {
		return ""
	}
	return "should it fail, it does not go back by itself: " + problem
}

// automatic reports whether the module goes back by itself from upgrades that fail.
func (u *upgrade) automatic() bool { return u.entry.OnFailedUpgrade == v1beta2.FailedUpgradeRollback }

// succeeded reports whether the target is what the Manifest last asked for, and was ready.
func (u *upgrade) succeeded() bool {
	newest := u.newest()
	return newest != nil && newest.Version == u.key.Version && newest.Outcome == v1beta2.RevisionSucceeded
}

// begun returns the revision of the target where it is under way, nil otherwise.
func (u *upgrade) begun() *v1beta2.Revision {
	newest := u.newest()
	if newest == nil || u.key.Digest == "" || revision.KeyOf(*newest) != u.key || ended(newest) ||
		revision.Of(&u.manifest.Spec) != u.key {
		return nil
	}
	return newest
}

// cameBack reports whether the newest revision began as a way back: it took the place of the one before it.
func (u *upgrade) cameBack() bool {
	before := len(u.history) - 2
	return before >= 0 && u.history[before].Outcome == v1beta2.RevisionRolledBack && u.history[before].Number+1 == u.newest().Number
}

// expired reports whether an upgrade was observed for as long as it may take. Otherwise the verdict says when to look again: one that looks
// broken, and is not observed at the moment, will be soon, and no event tells that.
func (r *resolver) expired(v *Verdict, u *upgrade) bool {
	observed, known := r.Progress[u.manifest.Name]
	left := deadlineOf(&u.entry) - observed
	switch {
	case known && left <= 0:
		return true
	case known:
		v.Deadline = r.Now.Add(left)
	case u.broken(r.Snapshot):
		v.Deadline = r.Now.Add(unobservedPause)
	}
	return false
}

// due returns when an upgrade must be ready that was observed all the time.
func (u *upgrade) due(begun *v1beta2.Revision) time.Time {
	deadline := deadlineOf(&u.entry)
	if begun.Since != nil && begun.Since.After(begun.At.Time) {
		return begun.Since.Add(deadline)
	}
	return begun.At.Add(deadline)
}

// deadlineOf returns how long an upgrade of an entry's module may take.
func deadlineOf(entry *v1beta2.Module) time.Duration {
	if given := entry.ProgressDeadline; given != nil && given.Duration > 0 {
		return given.Duration
	}
	return DefaultProgressDeadline
}

// broken reports whether the target is not ready because of what it installs: its objects, or its custom resource where that counts. With
// ModuleCR, objects that are not ready are no fault as long as the resource says Ready; content that cannot be installed is one.
func (u *upgrade) broken(w Snapshot) bool {
	if u.manifest == nil || !observed(u.manifest) || ManifestSuspended(u.manifest) {
		return false
	}
	readiness := readinessOf(w.Kyma, u.target.Template)
	if u.manifest.Status.State == v1beta2.StateReady {
		return countsResource(readiness) && u.brokenResource()
	}
	reason, message := report(u.manifest)
	if !revision.OfTheModule(reason) || strings.Contains(message, v1beta2.MessageNotSeenYet) {
		return false
	}
	return readiness != v1beta2.ReadinessModuleCR || u.manifest.Status.ResourceState != v1beta2.StateReady || !isOfObjects(reason)
}

// fault says what is wrong with a target that is broken.
func (u *upgrade) fault() string {
	if u.manifest.Status.State == v1beta2.StateReady {
		return judgeResource(u.manifest).message
	}
	_, message := report(u.manifest)
	return message
}

// brokenResource reports whether the module's custom resource is not ready. One that is being deleted is what a user wanted.
func (u *upgrade) brokenResource() bool {
	return !ResourceReady(u.manifest) && u.manifest.Status.ResourceState != v1beta2.StateDeleting
}

// brokenBefore says that the module was not ready before the upgrades began that follow a way back, empty when it was: then the upgrade may
// not be to blame, and what it left may not work any better. Where the first of many upgrades is not kept any more, the way back counts as
// it ended, which is ready.
func (u *upgrade) brokenBefore(to way) string {
	for i := range u.history {
		one := &u.history[i]
		if one.Number == to.revision.Number+1 && one.Before != v1beta2.StateReady {
			return "the module was not ready before version " + one.Version + " began, either (" + cmp.Or(string(one.Before), "unknown") + ")"
		}
	}
	return ""
}
