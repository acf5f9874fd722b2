package view

import (
	"fmt"
	"strings"
)

// Wish is everything that decides which way a module is installed.
type Wish struct {
	Module string
	// Kyma says that there is a Kyma that can take the module in.
	Kyma bool
	// Type of the module: Managed when it is an entry of the Kyma already.
	Type Type
	// Direct says that it is installed without the lifecycle manager already.
	Direct bool
	// WantsCommunity: it was asked for by --community.
	WantsCommunity bool
	// WantsUnmanaged: it was asked for without the lifecycle manager, by --unmanaged.
	WantsUnmanaged bool
}

// Way is how a module is installed.
type Way string

// The ways.
const (
	// ViaKyma makes it an entry of the Kyma; the lifecycle manager does the rest.
	ViaKyma Way = "Kyma"
	// Directly applies its objects.
	Directly Way = "Direct"
	// DirectlyConfirmed applies its objects after somebody has typed that the full support is given up.
	DirectlyConfirmed Way = "DirectConfirmed"
	// NoWay refuses.
	NoWay Way = "Refused"
)

// WayToInstall is the first flowchart of the seed: which way is a module installed?
//
//  1. What a Kyma has is not installed directly.
//  2. Without the lifecycle manager on purpose: a manageable module has to be confirmed, a community module is installed as it always is.
//  3. A community module is installed directly, when it was asked for as one; a Kyma has no such modules.
//  4. A manageable module goes into the Kyma, unless it was installed directly before: both would fight over its objects.
//  5. Without a Kyma it is installed directly, once that was confirmed. What was installed so before needs no second confirmation.
//
// why says why not, and is a hint otherwise.
func WayToInstall(w Wish) (way Way, why string) {
	switch {
	case w.Type == Managed && (w.WantsUnmanaged || w.WantsCommunity || !w.Kyma):
		return NoWay, fmt.Sprintf("the Kyma has module %s already: take it out there first (kyma delete %s)", w.Module, w.Module)
	case w.Type == Community && !w.WantsCommunity:
		return NoWay, fmt.Sprintf("module %s is a community module, without guarantees and automatic upgrades: say --community", w.Module)
	case w.Type == Community:
		return Directly, "community modules are upgraded by hand: kyma upgrade " + w.Module
	case w.WantsCommunity:
		return NoWay, fmt.Sprintf("module %s is no community module: leave --community away", w.Module)
	case w.Direct && (w.WantsUnmanaged || !w.Kyma):
		return Directly, ""
	case w.WantsUnmanaged || !w.Kyma:
		return DirectlyConfirmed, "only you upgrade and repair it, and full support is given up"
	case w.Direct:
		return NoWay, fmt.Sprintf("module %[1]s is installed without the lifecycle manager: "+
			"kyma delete %[1]s takes it down, and then kyma add %[1]s hands it over", w.Module)
	}
	return ViaKyma, ""
}

// Leaving is everything that decides what comes next when a module is deleted.
type Leaving struct {
	Module string
	// Managed says that the module is an entry of a Kyma; Direct, that it is installed without one.
	Managed, Direct bool
	// Resources are the objects that users made with the module, its own custom resources among them, unless it takes those along.
	Resources []Ref
	// Unread says which kinds of them could not be read: nobody knows whether there are any.
	Unread []Unread
	// Cascade says that Resources were shown, and may be deleted.
	Cascade bool
}

// Step is what comes next.
type Step string

// The steps of a deletion.
const (
	// Blocked: somebody has to delete Resources, or to see what could not be read.
	Blocked Step = "Blocked"
	// DeleteResources deletes what was shown, and then asks again.
	DeleteResources Step = "DeleteResources"
	// RemoveEntry takes the module out of the Kyma; the lifecycle manager deletes it.
	RemoveEntry Step = "RemoveEntry"
	// DeleteObjects deletes the objects of the module itself.
	DeleteObjects Step = "DeleteObjects"
	// Gone: there is nothing to do.
	Gone Step = "Gone"
)

// NextToDelete is the second flowchart of the seed: what comes next when a module is deleted? No operator goes before what it has to
// clean up: while there are resources, or may be, nothing else happens.
func NextToDelete(l Leaving) (next Step, why string) {
	switch {
	case !l.Managed && !l.Direct:
		return Gone, fmt.Sprintf("module %s is not installed", l.Module)
	case len(l.Unread) > 0:
		return Blocked, "what the module would leave behind cannot be seen: " + l.Unread[0].Message()
	case len(l.Resources) > 0 && !l.Cascade:
		return Blocked, "delete these first, or say --cascade: " + listed(l.Resources, 5)
	case len(l.Resources) > 0:
		return DeleteResources, "to delete: " + listed(l.Resources, 5)
	case l.Managed:
		return RemoveEntry, ""
	}
	return DeleteObjects, ""
}

// listed names some objects.
func listed(refs []Ref, most int) string {
	var names []string
	for _, r := range refs[:min(len(refs), most)] {
		names = append(names, r.String())
	}
	if left := len(refs) - most; left > 0 {
		names = append(names, fmt.Sprintf("and %d more", left))
	}
	return strings.Join(names, ", ")
}
