package apply

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Ownership determines what happens to an existing object that we did not create.
type Ownership string

const (
	// Prevent leaves it alone and reports it.
	Prevent Ownership = "Prevent"
	// AdoptIfUnowned takes it over unless its mark is that of an owner that still exists.
	AdoptIfUnowned Ownership = "AdoptIfUnowned"
	// Adopt takes it over, whatever its owner mark.
	Adopt Ownership = "Adopt"
)

// Relation is how the owner that is marked on an object is related to us.
type Relation int

const (
	// OwnerForeign: an owner that is unknown to us. It is the zero value, because it permits the least.
	OwnerForeign Relation = iota
	// OwnerSelf: another spelling of ourselves.
	OwnerSelf
	// OwnerSibling: an owner that exists and shares objects with us.
	OwnerSibling
	// OwnerGone: an owner that no longer exists; its objects count as unowned.
	OwnerGone
)

// verdict is the decision about an object that exists already.
type verdict int

const (
	refuse verdict = iota // owned by another installation: leave it alone and report it
	share                 // a sibling's: leave it alone, it is as good as ours
	adopt                 // without a reliable owner: take it over
	own                   // ours: write it
)

// judge decides by the owner mark of an object that exists, and by the claim of an installer that marks objects in another way, in this
// order:
//
//  1. our own mark: ours, unless there is a claim to an object other than the one that the inventory recorded.
//  2. a sibling's mark: shared. Also with Adopt, as two owners that take over each other's objects would never come to rest.
//  3. a claim: adopted only with Adopt.
//  4. no mark, or that of an owner that is gone, on exactly the object that the inventory recorded: ours; its mark was removed.
//  5. no mark, or that of an owner that is gone, on any other object: adopted unless Prevent.
//  6. the mark of any other owner: adopted only with Adopt.
func judge(owner, claim string, recorded bool, opts Options) verdict {
	relation := opts.relation(owner)
	unowned := relation == OwnerGone && claim == ""
	switch {
	case relation == OwnerSelf && (recorded || claim == ""):
		return own
	case relation == OwnerSibling:
		return share
	case unowned && recorded:
		return own
	case unowned && opts.Ownership == AdoptIfUnowned, opts.Ownership == Adopt:
		return adopt
	}
	return refuse
}

// Adopts reports whether Apply would take over an object that exists and that the inventory does not know; one that is being deleted is as
// good as gone. The error is that of Apply where the object is not ours to write.
func (o Options) Adopts(live *unstructured.Unstructured) (bool, error) {
	verdict := judge(o.mark(live), o.claim(live), false, o)
	if verdict == refuse {
		return false, Explain("apply", inventory.IDOf(live), o.foreign(live))
	}
	return verdict == adopt && live.GetDeletionTimestamp() == nil, nil
}

// relation returns how an owner mark is related to us. An absent mark is like that of an owner that is gone: no owner claims the object.
func (o Options) relation(owner string) Relation {
	switch {
	case owner == "":
		return OwnerGone
	case owner == o.Owner:
		return OwnerSelf
	case o.Relation == nil:
		return OwnerForeign
	}
	return o.Relation(owner)
}

// mark reads the owner mark of an object.
func (o Options) mark(obj *unstructured.Unstructured) string { return obj.GetAnnotations()[o.OwnerKey] }

// claim returns the installer that claims an object in another way; "" for none. A namespace that many use is claimed by none of them.
func (o Options) claim(obj *unstructured.Unstructured) string {
	if o.Claim == nil || o.keeps(inventory.IDOf(obj)) {
		return ""
	}
	return o.Claim(obj)
}

// foreign returns the error for an object that exists and is not ours to write.
func (o Options) foreign(live *unstructured.Unstructured) *Error {
	if claim := o.claim(live); claim != "" {
		return &Error{Class: ClassOwnershipConflict, Message: "it exists and belongs to " + shortened(claim, maxReason)}
	}
	owner := o.mark(live)
	whose, way := "it exists and carries no owner mark", AdoptIfUnowned
	if owner != "" {
		whose = fmt.Sprintf("it exists and belongs to %q", shortened(owner, maxMark))
		switch o.relation(owner) {
		case OwnerGone:
			whose += ", which no longer exists"
		default:
			way = Adopt
		}
	}
	return &Error{Class: ClassOwnershipConflict, Message: fmt.Sprintf("%s; set ownership to %s to take it over, or remove it", whose, way)}
}

// Terminating returns the error for an object that is being deleted: a write would not save it, and it does not count as present.
func Terminating(live *unstructured.Unstructured) *Error {
	class := ClassConflict
	if live.GetKind() == "Namespace" && live.GetAPIVersion() == "v1" {
		class = ClassNamespaceTerminating
	}
	message := "it is being deleted; it is recreated when it is gone"
	if finalizers := live.GetFinalizers(); len(finalizers) > 0 {
		message += fmt.Sprintf(" (finalizers hold it: %s)", shortened(strings.Join(finalizers, ", "), maxMark))
	}
	return &Error{Class: class, Message: message}
}
