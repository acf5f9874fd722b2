package directinstall

import (
	"errors"
	"fmt"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// Reasons of this package, beside those of pkg/installer, pkg/component/descriptor, pkg/content and the classes of pkg/apply.
const (
	// ReasonPlanInvalid: the Plan or the Removal itself is wrong; nothing was called.
	ReasonPlanInvalid = "PlanInvalid"
	// ReasonManaged: a Kyma manages the module.
	ReasonManaged = "Managed"
	// ReasonManageable: a Kyma could manage the module, and the Plan does not say Unmanaged.
	ReasonManageable = "Manageable"
	// ReasonForbidden: it cannot be seen whether something stands in the way.
	ReasonForbidden = "Forbidden"
	// ReasonNoContent: the template says nowhere what the module holds.
	ReasonNoContent = "NoContent"
	// ReasonUnsupported: what the module holds cannot be installed this way.
	ReasonUnsupported = "Unsupported"
	// ReasonContentChanged: there is other content than before under the same version.
	ReasonContentChanged = "ContentChanged"
	// ReasonDowngrade: the installed version is higher.
	ReasonDowngrade = "Downgrade"
	// ReasonBeingDeleted: the deletion of the module has begun and must end first.
	ReasonBeingDeleted = "BeingDeleted"
	// ReasonNotInstalled: the module is not installed directly.
	ReasonNotInstalled = "NotInstalled"
	// ReasonRefused: the API server would refuse a part of it, so nothing was written.
	ReasonRefused = "Refused"
	// ReasonDryRun: nothing was to be written.
	ReasonDryRun = "DryRun"
	// ReasonContentNotCovered: the signature policy asks for signatures, and none covers what must be installed.
	ReasonContentNotCovered = v1beta2.ReasonContentNotCovered
	// ReasonBlocked: objects that users made with the module still exist.
	ReasonBlocked = "Blocked"
)

// Error is why a call could not do its work.
type Error struct {
	// Reason is one of those above.
	Reason string
	// Err says what happened, where, and what to do.
	Err error
}

// Error returns the text of the cause.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ReasonOf returns the reason of an error of this package or of pkg/component/descriptor, installer.ReasonOf for every other one and "" for
// nil.
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
