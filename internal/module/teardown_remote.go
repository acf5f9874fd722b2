package module

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Leftovers describe what a runtime still holds of a Kyma that is being deleted, beside its modules.
type Leftovers struct {
	// Reachable reports whether the runtime could be inspected: there is a client, the cluster answers, and it is the expected one.
	Reachable bool
	// Gone reports that there is no access Secret, or that the runtime was never met: it is left as it is. Gone takes precedence over all
	// other fields.
	Gone bool
	// Problem is the reason why the runtime is not Reachable, as a sentence for users.
	Problem string
	// Kyma reports whether the Kyma exists, and is not being deleted or is held by a finalizer that is not one of ForeignFinalizers.
	Kyma bool
	// KymaCRD and CatalogCRDs (at least one of the two) report whether the definitions exist and are not being deleted. They must be false
	// where the runtime is the hub itself: there the definitions belong to the hub.
	KymaCRD, CatalogCRDs bool
	// StatusDeleting reports whether the status of the Kyma in the runtime is Deleting already.
	StatusDeleting bool
	// PullSecret reports whether the copy of the image pull Secret exists.
	PullSecret bool
	// Terminating lists the objects that are being deleted, as shown to users: `Kyma kyma-system/default (held by finalizer x)`.
	Terminating []string
}

// NextTeardownRemote is NextTeardown for a Kyma whose modules are in a runtime. It keeps upstream's order, in as few passes as possible:
//
//  1. Both statuses are set to Deleting.
//  2. The Manifests, the definitions of the catalog, the Kyma in the runtime and its definition are deleted.
//  3. The deletion waits for all of them. Objects that are still being deleted are named.
//  4. The copy of the pull Secret is deleted, only now since modules that are being removed may still have to pull images, and the Kyma on
//     the hub is released.
//
// While the runtime cannot be reached, the Manifests are deleted on the hub, and everything else waits. When the access Secret is gone, the
// runtime is not inspected; the deletion still waits for the Manifests.
func NextTeardownRemote(w Snapshot, left Leftovers) Teardown {
	finalizers, held := ForeignFinalizers(w.Kyma.Finalizers)
	if w.Kyma.DeletionTimestamp == nil || !held {
		return Teardown{Step: StepNone}
	}
	if left.Gone || !left.Reachable {
		left = Leftovers{Gone: left.Gone, Problem: left.Problem}
	}
	next := Teardown{}
	next.Delete, next.Waiting = sortForDeletion(w)
	next.plan(w, left)
	next.Message = waitsFor(next.Waiting, left)
	switch {
	case slices.ContainsFunc(next.Actions, deletes):
		next.Step = StepDelete
	case next.Message != "":
		next.Step = StepWait
	default:
		// A status that is about to be deleted is not written.
		next.Step, next.Finalizers, next.Actions = StepRelease, finalizers, nil
		next.add(left.PullSecret, ActionDeletePullSecret)
		next.add(true, ActionRelease)
	}
	return next
}

// plan plans steps 1 and 2.
func (t *Teardown) plan(w Snapshot, left Leftovers) {
	t.add(w.Kyma.Status.State != v1beta2.StateDeleting, ActionHubStatus)
	t.add(left.Kyma && !left.StatusDeleting, ActionRuntimeStatus)
	t.add(len(t.Delete) > 0, ActionDeleteManifests)
	t.add(left.CatalogCRDs, ActionDeleteCatalogCRDs)
	t.add(left.Kyma, ActionDeleteRuntimeKyma)
	t.add(left.KymaCRD, ActionDeleteKymaCRD)
}

func (t *Teardown) add(needed bool, action Action) {
	if needed {
		t.Actions = append(t.Actions, action)
	}
}

func deletes(action Action) bool { return action != ActionHubStatus && action != ActionRuntimeStatus }

// waitsFor names everything that the deletion waits for.
func waitsFor(manifests []string, left Leftovers) string {
	var parts []string
	if len(manifests) > 0 {
		parts = append(parts, "Manifests that are being deleted: "+first(manifests))
	}
	return joinParts(append(parts, hangs(left)...))
}

// Held returns what a deletion waits for in a runtime, beside modules; empty when it waits for nothing.
func Held(left Leftovers) string { return joinParts(hangs(left)) }

func hangs(left Leftovers) []string {
	var parts []string
	if len(left.Terminating) > 0 {
		parts = append(parts, "objects that are being deleted in the runtime: "+first(left.Terminating))
	}
	if !left.Gone && !left.Reachable {
		part := "the runtime, which cannot be reached"
		if left.Problem != "" {
			part += " (" + left.Problem + ")"
		}
		parts = append(parts, part+"; delete its access Secret to leave its content behind")
	}
	return parts
}

func joinParts(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	return "waiting for " + strings.Join(parts, "; and for ")
}

// first lists the first few names and counts the others.
func first(names []string) string {
	text := strings.Join(names[:min(len(names), named)], ", ")
	if more := len(names) - named; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
