package module

import (
	"cmp"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// DefaultProgressDeadline is how long an upgrade may take where its module does not say.
const DefaultProgressDeadline = 30 * time.Minute

// ofTheModule are the reasons of a Manifest that is not ready because of what it installs. Everything else, such as a runtime or a registry
// that does not answer, says nothing about the version.
var ofTheModule = []string{
	v1beta2.ReasonWaitingForObjects, v1beta2.ReasonWaitingForCRDs, v1beta2.ReasonWaitingForProbe, v1beta2.ReasonWaitingForInstall,
	v1beta2.ReasonObjectFailed, v1beta2.ReasonObjectRefused, v1beta2.ReasonKindUnknown, v1beta2.ReasonOwnershipConflict,
	v1beta2.ReasonCRDChangeRefused, v1beta2.ReasonAdmissionDenied, v1beta2.ReasonQuotaExceeded, v1beta2.ReasonFieldImmutable,
	v1beta2.ReasonProbeInvalid, v1beta2.ReasonContentNotCovered, v1beta2.ReasonContentTooLarge, v1beta2.ReasonContentInvalid,
	v1beta2.ReasonContentNotFound, v1beta2.ReasonArchiveRefused, v1beta2.ReasonSourceInvalid, v1beta2.ReasonSourceUnsupported,
	v1beta2.ReasonValuesInvalid, v1beta2.ReasonNonDeterministic, v1beta2.ReasonHooksRefused, v1beta2.ReasonRemoteBaseRefused,
	v1beta2.ReasonDigestMismatch, v1beta2.ReasonModuleCRNotReady,
}

// failed goes back from an upgrade that is not ready in time, where the module asks for that. It reports whether the verdict is final.
//
// Everything of this must hold; otherwise the new version stays, and the verdict says why:
//
//   - the Manifest has asked for the target for progressDeadline, and has not been ready with it since;
//   - that is because of what it installs;
//   - the module was ready before;
//   - there is an earlier version that succeeded, and the author of the target vouches that it can take over.
func (r *resolver) failed(v *Verdict, u *upgrade) bool {
	if !u.automatic() {
		return false
	}
	to := r.wayFrom(v, u)
	if to.pending {
		return false // the answer wakes the Kyma
	}
	problem := cmp.Or(to.problem, u.unvouched(to), u.brokenBefore(to))
	begun := u.begun()
	switch {
	case begun == nil:
		v.Note = noWayBack(problem)
	case r.Now.Time.Before(u.due(begun)):
		v.Note, v.Deadline = noWayBack(problem), u.due(begun)
	case !u.broken(r.Snapshot):
	case problem != "":
		v.warn(ruleRollbackUnavailable.message("version", u.key.Version, "detail", problem))
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

// due returns when an upgrade must be ready.
func (u *upgrade) due(begun *v1beta2.Revision) time.Time {
	deadline := DefaultProgressDeadline
	if given := u.entry.ProgressDeadline; given != nil && given.Duration > 0 {
		deadline = given.Duration
	}
	return begun.At.Add(deadline)
}

// broken reports whether the target is not ready because of what it installs.
func (u *upgrade) broken(w Snapshot) bool {
	if u.manifest == nil || !observed(u.manifest) || ManifestSuspended(u.manifest) || u.manifest.Status.State == v1beta2.StateReady {
		return false
	}
	reason, _ := report(u.manifest)
	if !slices.Contains(ofTheModule, reason) {
		return false
	}
	readiness := cmp.Or(w.Kyma.Spec.Readiness, u.target.Template.Spec.Readiness)
	return readiness != v1beta2.ReadinessModuleCR || u.manifest.Status.ResourceState != v1beta2.StateReady
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
