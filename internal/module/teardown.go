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
	// StepNone: the Kyma is not being deleted, or nothing of ours holds it any more.
	StepNone Step = "None"
	// StepDelete: delete the Manifests of Teardown.Delete.
	StepDelete Step = "Delete"
	// StepWait: every Manifest is being deleted; wait until they are gone.
	StepWait Step = "Wait"
	// StepRelease: no Manifest is left; write Teardown.Finalizers.
	StepRelease Step = "Release"
)

// Teardown is the next step of a Kyma's deletion.
type Teardown struct {
	// Step to take.
	Step Step
	// Delete are the Manifests to delete, with UID as precondition.
	Delete []v1beta2.Manifest
	// Waiting are the names of the Manifests that are being deleted, sorted.
	Waiting []string
	// Finalizers that the Kyma keeps when it is released: those that are not ours.
	Finalizers []string
}

// NextTeardown says what to do next with a Kyma that is being deleted: delete what it owns, mandatory modules too; wait until all of it is
// gone; let go of the Kyma. Where nothing of ours holds the Kyma any more there is nothing to do, whatever is left.
//
// A cache may not yet know a Manifest that was created a moment ago: before a StepRelease is carried out, ask again with
// Manifests that were listed from the API server itself.
func NextTeardown(w World) Teardown {
	finalizers, held := foreignFinalizers(w.Kyma)
	if w.Kyma.DeletionTimestamp == nil || !held {
		return Teardown{Step: StepNone}
	}
	next := Teardown{Step: StepRelease, Finalizers: finalizers}
	for i := range w.Manifests {
		manifest := &w.Manifests[i]
		switch {
		case !ours(w.Kyma, manifest):
		case terminating(manifest):
			next.Waiting = append(next.Waiting, manifest.Name)
		default:
			next.Delete = append(next.Delete, *manifest.DeepCopy())
		}
	}
	slices.Sort(next.Waiting)
	slices.SortFunc(next.Delete, func(a, b v1beta2.Manifest) int { return cmp.Compare(a.Name, b.Name) })
	switch {
	case len(next.Delete) > 0:
		next.Step, next.Finalizers = StepDelete, nil
	case len(next.Waiting) > 0:
		next.Step, next.Finalizers = StepWait, nil
	}
	return next
}

// foreignFinalizers are the Kyma's finalizers without ours and upstream's old one, and whether any of those was there.
func foreignFinalizers(kyma *v1beta2.Kyma) (foreign []string, held bool) {
	for _, finalizer := range kyma.Finalizers {
		switch finalizer {
		case v1beta2.FinalizerKyma, v1beta2.FinalizerPurge:
			held = true
		default:
			foreign = append(foreign, finalizer)
		}
	}
	return foreign, held
}
