package installer

import (
	"errors"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Reasons of a Report and an Error, beside those of pkg/content and the classes of pkg/apply.
const (
	// ReasonInstalled: everything is there and runs.
	ReasonInstalled = "Installed"
	// ReasonNotInstalled: there is no record of this installation.
	ReasonNotInstalled = "NotInstalled"
	// ReasonOutdated: the cluster does not hold what is declared; Install changes that. Only Check says so.
	ReasonOutdated = "Outdated"
	// ReasonNotReady: an object is not ready.
	ReasonNotReady = "NotReady"
	// ReasonWaitingForCRDs: a CustomResourceDefinition is not established.
	ReasonWaitingForCRDs = "WaitingForCRDs"
	// ReasonWaitingForInstall: a Source waits for an object of an earlier one.
	ReasonWaitingForInstall = "WaitingForInstall"
	// ReasonWaitingForHook: a hook of a chart has not completed.
	ReasonWaitingForHook = "WaitingForHook"
	// ReasonWaitingForProbe: a probe is not true.
	ReasonWaitingForProbe = "WaitingForProbe"
	// ReasonWaitingForCheck: Installation.Check says no.
	ReasonWaitingForCheck = "WaitingForCheck"
	// ReasonWaitingForDeletion: objects are being deleted.
	ReasonWaitingForDeletion = "WaitingForDeletion"
	// ReasonDeletionBlocked: objects that are not ours hold a CustomResourceDefinition.
	ReasonDeletionBlocked = "DeletionBlocked"
	// ReasonGone: nothing is installed.
	ReasonGone = "Gone"

	// ReasonInstallationInvalid: the Installation itself is wrong; nothing was called.
	ReasonInstallationInvalid = "InstallationInvalid"
	// ReasonProbeInvalid: a probe is no CEL about an object.
	ReasonProbeInvalid = "ProbeInvalid"
	// ReasonCRDChangeRefused: the change of a CustomResourceDefinition would break objects.
	ReasonCRDChangeRefused = "CRDChangeRefused"
	// ReasonChartHookFailed: a hook of a chart has failed. What runs stays as it is; nothing is tried again by itself.
	ReasonChartHookFailed = "ChartHookFailed"
	// ReasonInventoryUnreadable: the record is damaged, or not ours.
	ReasonInventoryUnreadable = "InventoryUnreadable"
	// ReasonRecordConflict: another call works on the same installation; try again.
	ReasonRecordConflict = "RecordConflict"
	// ReasonCheckFailed: Installation.Check returned an error.
	ReasonCheckFailed = "CheckFailed"
)

// Error is why a call could not do its work. Its text holds no value of an object.
type Error struct {
	// Reason is one of the reasons above, of pkg/content, or a class of pkg/apply.
	Reason string
	// Err says what happened, where, and what to do.
	Err error
}

// Error returns the text of the cause; the reason travels beside it.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ReasonOf returns the reason of an error that this package returned, content.ReasonInternal for every other one and "" for nil.
func ReasonOf(err error) string {
	if own, ok := errors.AsType[*Error](err); ok {
		return own.Reason
	}
	if written, ok := errors.AsType[*apply.Error](err); ok {
		return string(written.Class)
	}
	return content.ReasonOf(err)
}
