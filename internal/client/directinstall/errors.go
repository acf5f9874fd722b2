package directinstall

import (
	"errors"
	"fmt"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// Reasons of this package, in addition to those of pkg/installer, pkg/component/descriptor, pkg/content and the classes of pkg/apply.
const (
	// ReasonPlanInvalid: the Plan or the Removal is invalid; no request was sent.
	ReasonPlanInvalid = "PlanInvalid"
	// ReasonManaged: a Kyma manages the module.
	ReasonManaged = "Managed"
	// ReasonManageable: a Kyma could manage the module, and the Plan does not set Unmanaged.
	ReasonManageable = "Manageable"
	// ReasonForbidden: the user may not read whether something blocks the call.
	ReasonForbidden = "Forbidden"
	// ReasonNoContent: the template does not name the content of the module.
	ReasonNoContent = "NoContent"
	// ReasonUnsupported: the content of the module cannot be installed this way.
	ReasonUnsupported = "Unsupported"
	// ReasonContentChanged: the content under the same version has changed.
	ReasonContentChanged = "ContentChanged"
	// ReasonDowngrade: the installed version is higher.
	ReasonDowngrade = "Downgrade"
	// ReasonBeingDeleted: the deletion of the module has begun, or letting go of it, and must be completed first.
	ReasonBeingDeleted = "BeingDeleted"
	// ReasonNotInstalled: the module is not installed directly.
	ReasonNotInstalled = "NotInstalled"
	// ReasonOwnershipConflict: objects exist that this installation does not own, so nothing was written.
	ReasonOwnershipConflict = string(apply.ClassOwnershipConflict)
	// ReasonRefused: the API server would refuse a part of it, so nothing was written.
	ReasonRefused = "Refused"
	// ReasonDryRun: the call was a dry run.
	ReasonDryRun = "DryRun"
	// ReasonContentNotCovered: the signature policy requires signatures, and none covers the content.
	ReasonContentNotCovered = v1beta2.ReasonContentNotCovered
	// ReasonBlocked: objects that users made with the module still exist.
	ReasonBlocked = "Blocked"
)

// Error is the reason why a call failed.
type Error struct {
	// Reason is one of those above.
	Reason string
	// Err describes the problem, its place and the remedy.
	Err error
}

// Error returns the text of the cause.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ReasonOf returns the reason of an error of this package or of pkg/component/descriptor, installer.ReasonOf for any other error, and ""
// for nil.
func ReasonOf(err error) string {
	if own, ok := errors.AsType[*Error](err); ok {
		return own.Reason
	}
	if reason := descriptor.ReasonOf(err); reason != "" {
		return reason
	}
	return installer.ReasonOf(err)
}

func refuse(reason, format string, args ...any) error {
	return &Error{Reason: reason, Err: fmt.Errorf(format, args...)}
}
