package revision

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// ofTheModule are the reasons of a Manifest that is not ready because of what it installs. Everything else, such as a runtime or a registry
// that does not answer, says nothing about the version.
var ofTheModule = []string{
	v1beta2.ReasonWaitingForObjects, v1beta2.ReasonWaitingForCRDs, v1beta2.ReasonWaitingForProbe, v1beta2.ReasonWaitingForInstall,
	v1beta2.ReasonObjectFailed, v1beta2.ReasonObjectRefused, v1beta2.ReasonKindUnknown, v1beta2.ReasonOwnershipConflict,
	v1beta2.ReasonCRDChangeRefused, v1beta2.ReasonAdmissionDenied, v1beta2.ReasonQuotaExceeded, v1beta2.ReasonFieldImmutable,
	v1beta2.ReasonProbeInvalid, v1beta2.ReasonContentNotCovered, v1beta2.ReasonContentTooLarge, v1beta2.ReasonContentInvalid,
	v1beta2.ReasonContentNotFound, v1beta2.ReasonArchiveRefused, v1beta2.ReasonSourceInvalid, v1beta2.ReasonSourceUnsupported,
	v1beta2.ReasonValuesInvalid, v1beta2.ReasonNonDeterministic, v1beta2.ReasonHooksRefused, v1beta2.ReasonRemoteBaseRefused,
	v1beta2.ReasonDigestMismatch, v1beta2.ReasonModuleCRNotReady, v1beta2.ReasonWaitingForHook, v1beta2.ReasonChartHookFailed,
}

// OfTheModule reports whether a Manifest that is not ready for a reason is so because of what it installs.
func OfTheModule(reason string) bool { return slices.Contains(ofTheModule, reason) }

// obstacle reports whether a reason is neither of the module nor part of every installation.
func obstacle(reason string) bool {
	switch reason {
	case "", v1beta2.ReasonReady, v1beta2.ReasonPending, v1beta2.ReasonApplying:
		return false
	}
	return !OfTheModule(reason)
}

// Clear returns the history after a report: where the report before named an obstacle that is not the module itself and this one does not,
// the newest revision has its time from now on. One that ended already needs none. The history that was passed is not changed.
func Clear(history []v1beta2.Revision, before, reason string, now time.Time) []v1beta2.Revision {
	if len(history) == 0 || !obstacle(before) || obstacle(reason) {
		return history
	}
	if last := history[len(history)-1]; last.Outcome != "" && last.Outcome != v1beta2.RevisionFailed {
		return history
	}
	next := slices.Clone(history)
	since := metav1.NewTime(now).Rfc3339Copy()
	next[len(next)-1].Since, next[len(next)-1].Observed = &since, nil
	return next
}
