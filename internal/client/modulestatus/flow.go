package modulestatus

import (
	"fmt"
	"strings"
)

// InstallInput is everything that decides which way a module is installed.
type InstallInput struct {
	Module string
	// Kyma reports whether there is a Kyma that can take the module in.
	Kyma bool
	// Type of the module: Managed when it is an entry of the Kyma already.
	Type Type
	// Direct reports whether it is installed without the lifecycle manager already.
	Direct bool
	// WantsCommunity: it was requested by --community.
	WantsCommunity bool
	// WantsUnmanaged: it was requested without the lifecycle manager, by --unmanaged.
	WantsUnmanaged bool
}

// InstallMethod is how a module is installed.
type InstallMethod string

// The ways.
const (
	// ViaKyma makes it an entry of the Kyma; the lifecycle manager does the rest.
	ViaKyma InstallMethod = "Kyma"
	// Directly applies its objects.
	Directly InstallMethod = "Direct"
	// DirectlyConfirmed applies its objects after the user has confirmed the loss of full support.
	DirectlyConfirmed InstallMethod = "DirectConfirmed"
	// NoWay refuses.
	NoWay InstallMethod = "Refused"
)

// WayToInstall returns the first flowchart of the seed: which way is a module installed?
//
//  1. What a Kyma has is not installed directly.
//  2. Without the lifecycle manager on purpose: a manageable module must be confirmed, a community module is installed as it always is.
//  3. A community module is installed directly, when it was requested as one; a Kyma has no such modules.
//  4. A manageable module goes into the Kyma, unless it was installed directly before: both would fight over its objects.
//  5. Without a Kyma it is installed directly, once that was confirmed. What was installed so before needs no second confirmation.
//
// why says why not, and is a hint otherwise.
func WayToInstall(w InstallInput) (way InstallMethod, why string) {
	switch {
	case w.Type == Managed && (w.WantsUnmanaged || w.WantsCommunity || !w.Kyma):
		return NoWay, fmt.Sprintf("the Kyma has module %s already: take it out there first (kyma delete %s)", w.Module, w.Module)
	case w.Type == Community && !w.WantsCommunity:
		return NoWay, fmt.Sprintf("module %s is a community module, without guarantees and automatic upgrades: use --community", w.Module)
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

// DeleteInput is everything that decides what comes next when a module is deleted.
type DeleteInput struct {
	Module string
	// Managed says that the module is an entry of a Kyma; Direct, that it is installed without one.
	Managed, Direct bool
	// Resources are the objects that users made with the module, its own custom resources among them, unless it takes those along.
	Resources []Ref
	// Unread lists the kinds of them that could not be read: objects of them may exist.
	Unread []Unread
	// Cascade reports whether Resources were shown, and may be deleted.
	Cascade bool
}

// Step is what comes next.
type Step string

// The steps of a deletion.
const (
	// Blocked: a user must delete Resources, or get permission to read what could not be read.
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

// NextToDelete returns the second flowchart of the seed: what comes next when a module is deleted? No operator goes before what it has to
// clean up: while there are resources, or may be, nothing else happens.
func NextToDelete(l DeleteInput) (next Step, why string) {
	switch {
	case !l.Managed && !l.Direct:
		return Gone, fmt.Sprintf("module %s is not installed", l.Module)
	case len(l.Unread) > 0:
		return Blocked, "what the module would leave behind cannot be seen: " + l.Unread[0].Message()
	case len(l.Resources) > 0 && !l.Cascade:
		return Blocked, "delete these first, or use --cascade: " + listed(l.Resources, 5)
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
