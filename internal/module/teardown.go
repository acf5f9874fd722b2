package module

import (
	"cmp"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Step is what to do next with a Kyma that is being deleted.
type Step string

// The steps of a teardown, in their order.
const (
	// StepNone: the Kyma is not being deleted, or no finalizer of ours holds it any more.
	StepNone Step = "None"
	// StepDelete: there is something to delete; carry out Teardown.Actions.
	StepDelete Step = "Delete"
	// StepWait: everything is being deleted; wait until it is gone.
	StepWait Step = "Wait"
	// StepRelease: nothing is left; write Teardown.Finalizers.
	StepRelease Step = "Release"
)

// Action is one thing to do in a pass of a teardown.
type Action string

// The actions of a teardown. Those of one pass are in this order.
const (
	// ActionHubStatus: set the status of the Kyma on the hub to Deleting.
	ActionHubStatus Action = "HubStatus"
	// ActionRuntimeStatus: set the status of the Kyma in the runtime to Deleting.
	ActionRuntimeStatus Action = "RuntimeStatus"
	// ActionDeleteManifests: delete those of Teardown.Delete.
	ActionDeleteManifests Action = "DeleteManifests"
	// ActionDeleteCatalogCRDs: delete the definitions of ModuleTemplate and ModuleReleaseMeta in the runtime, and with them the catalog.
	ActionDeleteCatalogCRDs Action = "DeleteCatalogCRDs"
	// ActionDeleteRuntimeKyma: remove all finalizers but ForeignFinalizers from the Kyma in the runtime, and delete it.
	ActionDeleteRuntimeKyma Action = "DeleteRuntimeKyma"
	// ActionDeleteKymaCRD: delete the definition of Kyma in the runtime.
	ActionDeleteKymaCRD Action = "DeleteKymaCRD"
	// ActionDeletePullSecret: delete the copy of the image pull Secret in the runtime.
	ActionDeletePullSecret Action = "DeletePullSecret"
	// ActionRelease: write Teardown.Finalizers to the Kyma on the hub.
	ActionRelease Action = "Release"
)

// ownFinalizers are this operator's finalizers of a Kyma, and those of upstream's earlier versions that no other controller removes: of the
// purge controller and of the watcher. All of them are removed from a Kyma that is released, on the hub and in the runtime.
var ownFinalizers = []string{v1beta2.FinalizerKyma, v1beta2.FinalizerPurge, v1beta2.FinalizerWatcher}

// Teardown is the next step of a Kyma's deletion.
type Teardown struct {
	// Step sums up the Actions.
	Step Step
	// Actions to carry out in this pass, one after the other; the first failure ends the pass, and the next pass starts over.
	Actions []Action
	// Delete are the Manifests to delete, with UID as precondition.
	Delete []v1beta2.Manifest
	// Waiting are the names of the Manifests that are being deleted, sorted.
	Waiting []string
	// Finalizers that the Kyma keeps when it is released: those that are not ours.
	Finalizers []string
	// Message describes what the deletion waits for; empty when it waits for nothing.
	Message string
}

// NextTeardown returns what to do next with a Kyma that is being deleted: delete the Manifests that it owns, including those of mandatory
// modules; wait until all of them are gone; release the Kyma. Where no finalizer of ours holds the Kyma any more, there is nothing to do,
// whatever is left.
//
// A cache may still lack a Manifest that was created a moment ago: before a StepRelease is carried out, call it again with Manifests that
// were listed from the API server itself.
func NextTeardown(w Snapshot) Teardown {
	return NextTeardownRemote(w, Leftovers{Gone: true})
}

// ForeignFinalizers returns the finalizers of a Kyma without ours and upstream's abandoned ones, and whether it had any of these.
func ForeignFinalizers(finalizers []string) (foreign []string, held bool) {
	for _, finalizer := range finalizers {
		if slices.Contains(ownFinalizers, finalizer) {
			held = true
		} else {
			foreign = append(foreign, finalizer)
		}
	}
	return foreign, held
}

// sortForDeletion separates the Manifests of a Kyma that must still be deleted from the names of those that are being deleted.
func sortForDeletion(w Snapshot) (doomed []v1beta2.Manifest, going []string) {
	for i := range w.Manifests {
		manifest := &w.Manifests[i]
		switch {
		case !ours(w.Kyma, manifest):
		case terminating(manifest):
			going = append(going, manifest.Name)
		default:
			doomed = append(doomed, *manifest.DeepCopy())
		}
	}
	slices.Sort(going)
	slices.SortFunc(doomed, func(a, b v1beta2.Manifest) int { return cmp.Compare(a.Name, b.Name) })
	return inOrder(w, doomed), going
}
