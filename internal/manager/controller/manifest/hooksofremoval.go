package manifest

import (
	"context"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/hooks"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
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
func (r *Reconciler) removeInstalled(ctx context.Context, w *scope) error {
	var releases engine.Releases
	if w.hasHooksOfRemoval() {
		if err := r.renderForRemoval(ctx, w); err != nil {
			return err
		}
		releases = w.releases
	}
	return asError(engine.Remove(ctx, releases, engine.Removal[passResult]{
		Run: func(ctx context.Context, release *engine.Release) (*passResult, error) {
			held, err := r.hookPass(w)(ctx, release)
			return held, withWayOut(err)
		},
		Store: func(ctx context.Context) error { return r.storeReached(ctx, w) },
		Last:  w.isGenerated, // the hooks are rendered with it
		Delete: func(ctx context.Context, spared func(inventory.ID) bool) (*passResult, error) {
			return nil, r.removeObjects(ctx, w, spared)
		},
	}))
}

// renderForRemoval reads the hooks from the content.
func (r *Reconciler) renderForRemoval(ctx context.Context, w *scope) error {
	w.leaves = true
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

// storeReached stores how far the hooks have got, unless the hub has it.
func (r *Reconciler) storeReached(ctx context.Context, w *scope) error {
	news := false
	for _, release := range w.releases {
		w.reach(release, release.Progress)
		stored := progressIn(&w.before.Status, release.Name)
		news = news || stored == nil || *stored != release.Progress
	}
	if !news {
		return nil
	}
	return r.reportApplying(ctx, w, false)
}
