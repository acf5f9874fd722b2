package manifest

import (
	"context"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/hooks"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// wayOut says how to remove a module whose hooks do not let it go.
const wayOut = "to remove it without the hooks of its removal, annotate the Manifest with " +
	v1beta2.AnnotationSkipDeleteHooks + "=" + v1beta2.EnabledValue

// hasHooksOfRemoval reports whether an installed chart has hooks for its removal that are to be run.
func (w *scope) hasHooksOfRemoval() bool {
	return !w.confined && w.manifest.Annotations[v1beta2.AnnotationSkipDeleteHooks] != v1beta2.EnabledValue &&
		slices.ContainsFunc(w.manifest.Status.Resolved, func(source v1beta2.ResolvedSource) bool {
			return source.Hooks != nil && source.Hooks.OnDelete
		})
}

// owesHooks reports whether the objects of a removal are gone, and hooks that come after that are not through.
func (w *scope) owesHooks() bool {
	return w.hasHooksOfRemoval() && slices.ContainsFunc(w.manifest.Status.Resolved, func(source v1beta2.ResolvedSource) bool {
		return source.Hooks != nil && source.Hooks.Event == string(hooks.PostDelete) && source.Hooks.Done < source.Hooks.Total
	})
}

// removeInstalled removes what is recorded, with the hooks of charts around it. Nil means that nothing is left.
//
//  1. The hooks that come before; that they have completed is stored.
//  2. All objects, but those that hooks after that write.
//  3. The hooks that come after, and what all hooks have left.
func (r *Reconciler) removeInstalled(ctx context.Context, w *scope) error {
	nothing := func(inventory.ID) bool { return false }
	if !w.hasHooksOfRemoval() {
		return r.removeObjects(ctx, w, nothing)
	}
	if err := r.renderForRemoval(ctx, w); err != nil {
		return err
	}
	if err := r.runHooksOfRemoval(ctx, w, hooks.PreDelete); err != nil {
		return err
	}
	if err := r.storeReached(ctx, w); err != nil {
		return err
	}
	if err := r.removeObjects(ctx, w, w.isHookAt(hooks.PostDelete)); err != nil {
		return err
	}
	if err := r.runHooksOfRemoval(ctx, w, hooks.PostDelete); err != nil {
		return err
	}
	return r.removeObjects(ctx, w, nothing)
}

// renderForRemoval reads the hooks from the content.
func (r *Reconciler) renderForRemoval(ctx context.Context, w *scope) error {
	err := r.readSources(w)
	if err == nil {
		err = r.renderDesired(ctx, w)
	}
	return withWayOut(err)
}

// withWayOut adds to a cause that stands in the way of a removal what a user can do about it.
func withWayOut(err error) error {
	problem := problemOf(err)
	if problem == nil || problem.Passing {
		return err
	}
	told := *problem
	told.Message += "; " + wayOut
	return &told
}

// runHooksOfRemoval runs the hooks of an event of the removal, of all parts in their order.
func (r *Reconciler) runHooksOfRemoval(ctx context.Context, w *scope, event hooks.Event) error {
	for _, release := range w.releases {
		w.reach(release, release.set.Remove(release.progress))
		if release.progress.Event != event {
			continue
		}
		held, err := r.runHooks(ctx, w, release)
		if err != nil {
			return withWayOut(err)
		}
		if held != nil {
			return held
		}
	}
	return nil
}

// storeReached stores how far the hooks have got, unless the hub has it.
func (r *Reconciler) storeReached(ctx context.Context, w *scope) error {
	for _, release := range w.releases {
		if stored := progressIn(&w.before.Status, release.name); stored == nil || *stored != release.progress {
			return r.reportApplying(ctx, w, false)
		}
	}
	return nil
}

// isHookAt returns a function that reports whether an object is a hook at an event.
func (w *scope) isHookAt(event hooks.Event) func(inventory.ID) bool {
	return func(id inventory.ID) bool {
		return slices.ContainsFunc(w.releases, func(release *release) bool { return release.set.At(event).Declares(id) })
	}
}
