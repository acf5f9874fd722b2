package apply

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Action is what was done with an object.
type Action string

// Actions of Apply.
const (
	// Created: the object did not exist and was created.
	Created Action = "Created"
	// Updated: the object was ours and was changed.
	Updated Action = "Updated"
	// Unchanged: the object was ours and was already as it should be.
	Unchanged Action = "Unchanged"
	// Adopted: the object existed already and is ours now.
	Adopted Action = "Adopted"
	// Shared: the object belongs to a sibling, which also keeps it; it was not touched.
	Shared Action = "Shared"
	// Refused: a retry is of no use until the content, or the owner of the object in the cluster, changes.
	Refused Action = "Refused"
	// Failed: the object could not be written or deleted; Class holds the cause.
	Failed Action = "Failed"
)

// Actions of Delete, beside Failed.
const (
	// Deleted: the deletion was accepted, now or earlier; the next read shows whether finalizers hold the object.
	Deleted Action = "Deleted"
	// Gone: the object does not exist.
	Gone Action = "Gone"
	// Kept: the object must not be deleted: not marked, marked as another's, handed to a successor, annotated with AnnotationKeep, or a
	// Namespace that others use. From now on it is not ours.
	Kept Action = "Kept"
	// InUse: a CustomResourceDefinition that has objects which are not ours. It stays ours; a later call deletes it when they are gone.
	InUse Action = "InUse"
)

// Class is the cause of a failure, and so determines who must act; "" where nothing failed.
type Class string

// Classes of errors.
const (
	// ClassRefused: the API server does not accept the object; terminal until the content changes.
	ClassRefused Class = "Refused"
	// ClassAdmissionDenied: a webhook or a policy of the cluster denies it; terminal until the content or that policy changes.
	ClassAdmissionDenied Class = "AdmissionDenied"
	// ClassQuotaExceeded: a ResourceQuota is used up; terminal until the quota, its use or the content changes.
	ClassQuotaExceeded Class = "QuotaExceeded"
	// ClassFieldImmutable: the change affects a field that cannot be changed; terminal until the content or the object changes.
	ClassFieldImmutable Class = "FieldImmutable"
	// ClassUnauthorized: the credentials are not accepted.
	ClassUnauthorized Class = "Unauthorized"
	// ClassForbidden: the credentials do not allow it.
	ClassForbidden Class = "Forbidden"
	// ClassKindUnknown: the cluster does not serve the kind.
	ClassKindUnknown Class = "KindUnknown"
	// ClassOwnershipConflict: the object exists and has another owner.
	ClassOwnershipConflict Class = "OwnershipConflict"
	// ClassNamespaceTerminating: the namespace is being deleted.
	ClassNamespaceTerminating Class = "NamespaceTerminating"
	// ClassNamespaceMissing: the namespace does not exist.
	ClassNamespaceMissing Class = "NamespaceMissing"
	// ClassUnreachable: the API server did not respond, or something in front of it responded in its place.
	ClassUnreachable Class = "Unreachable"
	// ClassThrottled: the API server, or our own rate limit, requires a pause.
	ClassThrottled Class = "Throttled"
	// ClassConflict: the object changed meanwhile or is being deleted; the next pass decides again.
	ClassConflict Class = "Conflict"
	// ClassCanceled: the caller gave up; nothing is known and nothing must be reported.
	ClassCanceled Class = "Canceled"
	// ClassInternal: anything else.
	ClassInternal Class = "Internal"
)

// Outcome is what happened to one object.
type Outcome struct {
	ID     inventory.ID
	Action Action
	// UID of the object that was written, found or deleted.
	UID types.UID
	// Fields is inventory.FieldsHash of the object as the server returned it.
	Fields string
	// Object as the server returned it; nil where no call returned one.
	Object *unstructured.Unstructured
	// Overruled are the declared fields that another manager had set to another value, in the order of their paths.
	Overruled []FieldConflict
	// Yielded: spec.replicas is declared and was left to the autoscaler that targets the object.
	Yielded bool
	// Owner is the mark of another owner that was found on the object, and Successor the owner that it was handed to, where it was Shared or
	// Kept.
	Owner, Successor string
	// Note explains in a sentence why the object was Kept, or who uses it, or what it was before it was Adopted; may be empty.
	Note string
	// Err is an *Error, nil unless Action is Refused or Failed.
	Err error
	// Class of Err.
	Class Class
}

// FieldConflict is a field of an object that another manager had set.
type FieldConflict struct {
	// Field is its path as server-side apply writes it: .spec.template.spec.containers[name="manager"].image. Elements of a set, which are
	// values, are not shown.
	Field string
	// Manager is the field manager that had set it.
	Manager string
}

// Error names the object that could not be written or deleted, and the reason. Its text holds none of the object's values. It deliberately
// wraps nothing: the API server's own error does hold such values, and a log line prints whatever it can unwrap.
type Error struct {
	ID    inventory.ID
	Class Class
	// Message states what was tried, what happened and, where a user can fix it, how.
	Message string
	// RetryAfter is how long the API server requires callers to wait; 0 when it sets no time.
	RetryAfter time.Duration
	// Webhook is the admission webhook because of which the call failed, where that webhook did not answer.
	Webhook string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }
