package modulestatus

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize/english"
)

// InstallInput is everything that decides how a module is installed.
type InstallInput struct {
	Module string
	// Kyma reports whether there is a Kyma that can have the module.
	Kyma bool
	// Type of the module: Managed when the Kyma already has an entry for it.
	Type Type
	// Direct reports whether it is already installed without the lifecycle manager.
	Direct bool
	// WantsCommunity reports whether it was requested with --community.
	WantsCommunity bool
	// WantsUnmanaged reports whether it was requested without the lifecycle manager, with --unmanaged.
	WantsUnmanaged bool
}

// InstallMethod is how a module is installed.
type InstallMethod string

// The methods.
const (
	// ViaKyma adds it to the Kyma; the lifecycle manager does the rest.
	ViaKyma InstallMethod = "Kyma"
	// Directly applies its objects.
	Directly InstallMethod = "Direct"
	// DirectlyConfirmed applies its objects after the user has confirmed the loss of full support.
	DirectlyConfirmed InstallMethod = "DirectConfirmed"
	// NoWay means that the installation is refused.
	NoWay InstallMethod = "Refused"
)

// WayToInstall returns the result of the first flowchart of the seed: how is a module installed?
//
//  1. A module of a Kyma is not installed directly.
//  2. Without the lifecycle manager on purpose: a manageable module must be confirmed, a community module is installed as usual.
//  3. A community module is installed directly, if it was requested as one; a Kyma has no such modules.
//  4. A manageable module goes into the Kyma, unless it is installed directly: both would fight over its objects. A caller that lets go of
//     the direct installation first asks without Direct.
//  5. Without a Kyma it is installed directly after a confirmation. A module that was already installed so needs no second confirmation.
//
// why is the reason of a refusal, and otherwise a hint.
func WayToInstall(w InstallInput) (way InstallMethod, why string) {
	switch {
	case w.Type == Managed && (w.WantsUnmanaged || w.WantsCommunity || !w.Kyma):
		return NoWay, fmt.Sprintf("the Kyma has module %s already: remove it from the Kyma first (kyma delete %s)", w.Module, w.Module)
	case w.Type == Community && !w.WantsCommunity:
		return NoWay, fmt.Sprintf("module %s is a community module, without guarantees and automatic upgrades: use --community", w.Module)
	case w.Type == Community:
		return Directly, "community modules are upgraded by hand: kyma upgrade " + w.Module
	case w.WantsCommunity:
		return NoWay, fmt.Sprintf("module %s is no community module: omit --community", w.Module)
	case w.Direct && (w.WantsUnmanaged || !w.Kyma):
		return Directly, ""
	case w.WantsUnmanaged || !w.Kyma:
		return DirectlyConfirmed, "only you upgrade and repair it, and full support is given up"
	case w.Direct:
		return NoWay, fmt.Sprintf("module %[1]s is installed without the lifecycle manager: "+
			"kyma add %[1]s --adopt hands it over as it is, and kyma delete %[1]s takes it down", w.Module)
	}
	return ViaKyma, ""
}

// DeleteInput is everything that decides the next step of a deletion.
type DeleteInput struct {
	Module string
	// Managed reports that a Kyma has an entry for the module; Direct, that it is installed without one.
	Managed, Direct bool
	// Resources are the objects that users created with the module, including custom resources of its own kind, except those that are deleted
	// with it.
	Resources []Ref
	// Dependents are the modules of the Kyma that need it, and are not deleted with it.
	Dependents []string
	// Unread lists the kinds that could not be read: objects of them may exist.
	Unread []Unread
	// Cascade reports whether Resources and Dependents were shown to the user, and may be deleted.
	Cascade bool
}

// Step is the next step of a deletion.
type Step string

// The steps of a deletion.
const (
	// Blocked: a user must delete Resources or Dependents, or get permission to read the unread kinds.
	Blocked Step = "Blocked"
	// DeleteResources deletes the Resources; after that, the flowchart starts again.
	DeleteResources Step = "DeleteResources"
	// RemoveEntry removes the module from the Kyma; the lifecycle manager deletes it.
	RemoveEntry Step = "RemoveEntry"
	// DeleteObjects deletes the objects of the module itself.
	DeleteObjects Step = "DeleteObjects"
	// Gone: there is nothing left to delete.
	Gone Step = "Gone"
)

// NextToDelete returns the result of the second flowchart of the seed: what is the next step of a module's deletion? An operator must not
// be deleted before the objects that it cleans up: while there are resources, or may be, no other step follows. Neither is a module deleted
// before those that need it; with them it can be.
func NextToDelete(l DeleteInput) (next Step, why string) {
	switch {
	case !l.Managed && !l.Direct:
		return Gone, fmt.Sprintf("module %s is not installed", l.Module)
	case len(l.Unread) > 0:
		return Blocked, "what the module would leave behind cannot be seen: " + l.Unread[0].Message()
	case len(l.Dependents) > 0 && !l.Cascade:
		return Blocked, needed(l.Dependents) + ": delete that first, or use --cascade"
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

// needed says which modules need one that is to be deleted.
func needed(by []string) string {
	if len(by) == 1 {
		return "module " + by[0] + " needs it"
	}
	return "modules " + english.WordSeries(by, "and") + " need it"
}
