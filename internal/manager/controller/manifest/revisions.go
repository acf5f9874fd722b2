package manifest

import (
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

const (
	// adoptionsPerSecond bounds the writes that give a history to Manifests of a version that had none: an upgrade of the manager must not
	// write all of them at once, beside what it has to do after a restart.
	adoptionsPerSecond = 20
	// A Manifest that must wait for that is looked at again after shortestAdoptionPause to longestAdoptionPause: it costs no call.
	shortestAdoptionPause = time.Minute
	longestAdoptionPause  = 10 * time.Minute
)

// NewAdoptions returns the limit of a manager for the writes that adopt Manifests.
func NewAdoptions() flowcontrol.PassiveRateLimiter {
	return flowcontrol.NewTokenBucketPassiveRateLimiter(adoptionsPerSecond, adoptionsPerSecond)
}

// revisionFailures are the reasons that speak of what a revision asks for: it cannot be installed, or does not run. The others speak of the
// runtime, the registry or the hub, of which another version would say the same, or of what is still under way.
var revisionFailures = map[string]bool{
	v1beta2.ReasonObjectFailed: true, v1beta2.ReasonObjectRefused: true, v1beta2.ReasonKindUnknown: true,
	v1beta2.ReasonOwnershipConflict: true, v1beta2.ReasonAdmissionDenied: true, v1beta2.ReasonQuotaExceeded: true,
	v1beta2.ReasonFieldImmutable: true, v1beta2.ReasonCRDChangeRefused: true, v1beta2.ReasonProbeInvalid: true,
	v1beta2.ReasonContentNotFound: true, v1beta2.ReasonContentNotCovered: true, v1beta2.ReasonDigestMismatch: true,
	v1beta2.ReasonContentTooLarge: true, v1beta2.ReasonContentInvalid: true, v1beta2.ReasonArchiveRefused: true,
	v1beta2.ReasonSourceInvalid: true, v1beta2.ReasonSourceUnsupported: true, v1beta2.ReasonValuesInvalid: true,
	v1beta2.ReasonNonDeterministic: true, v1beta2.ReasonHooksRefused: true, v1beta2.ReasonRemoteBaseRefused: true,
	v1beta2.ReasonChartHookFailed: true,
}

// beginRevision records what the spec asks for, in the first report of a generation: that is written anyway. The status still has the state
// of what was asked for before. Later reports of the generation look at nothing.
func (w *scope) beginRevision() {
	status := &w.manifest.Status
	if !w.hasRevisions() || status.ObservedGeneration == w.generation {
		return
	}
	reason := w.manifest.Annotations[v1beta2.AnnotationRollback]
	before := module.ModuleState(w.manifest)
	status.Revisions = revision.Begin(status.Revisions, revision.Of(&w.manifest.Spec), before, reason, w.now.Time)
}

// endRevision records how the newest revision ended, in the write that reports the same as a state.
func (w *scope) endRevision(found passResult) {
	status := &w.manifest.Status
	if before := conditions.Find(w.before.Status.Conditions, v1beta2.ConditionReady); before != nil && w.hasRevisions() {
		status.Revisions = revision.Clear(status.Revisions, before.Reason, found.reason, w.now.Time)
	}
	switch {
	case !w.hasRevisions():
	case w.succeeded(found):
		status.Revisions = revision.End(status.Revisions, v1beta2.RevisionSucceeded, "")
	case w.moduleCRFailed(found):
		status.Revisions = revision.End(status.Revisions, v1beta2.RevisionFailed, v1beta2.ReasonModuleCRNotReady)
	case found.state == v1beta2.StateError && revisionFailures[found.reason]:
		status.Revisions = revision.End(status.Revisions, v1beta2.RevisionFailed, found.reason)
	}
}

// hasRevisions reports whether this pass is about what the spec asks for: the Manifest stays, and the spec did not change meanwhile.
func (w *scope) hasRevisions() bool {
	return w.manifest.DeletionTimestamp.IsZero() && w.manifest.Generation == w.generation
}

// adoptRevision gives a history to a Manifest that an earlier version of the manager installed: without it, the next upgrade had no way
// back, and when that begins the spec before is gone. So it cannot wait for the next change. Any write of the status takes it along; a
// Manifest that is at rest gets a write of its own, once, and no more of them a second than adoptionsPerSecond: five thousand take about
// ten minutes. Where there is no turn left, it returns when to try again.
//
// When an upgrade comes first, it is the first revision, and there is no way back from it, which is reported before.
func (r *Reconciler) adoptRevision(w *scope, found passResult) (pause time.Duration) {
	status := &w.manifest.Status
	if found.cut || !w.hasRevisions() || len(status.Revisions) > 0 || status.ObservedGeneration != w.generation {
		return 0
	}
	if equality.Semantic.DeepEqual(w.before.Status, *status) && r.Adoptions != nil && !r.Adoptions.TryAccept() {
		return shortestAdoptionPause + rand.N(longestAdoptionPause-shortestAdoptionPause) //nolint:gosec // spreads load
	}
	// It began before it was ready: that is the closest that is known, and the same in every pass.
	began := w.now
	if conditions.IsTrueAt(status.Conditions, v1beta2.ConditionInstallation, w.generation) {
		began = conditions.Find(status.Conditions, v1beta2.ConditionInstallation).LastTransitionTime
	}
	status.Revisions = revision.Begin(nil, revision.Of(&w.manifest.Spec), "", "", began.Time)
	w.endRevision(found)
	return 0
}
