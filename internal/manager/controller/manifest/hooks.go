package manifest

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/hooks"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// release is what a part of a Manifest declares where it has hooks.
type release struct {
	name     string
	part     int
	set      hooks.Set
	progress hooks.Progress
}

// beginReleases finds out how far the hooks of the parts have got. declared are the hooks of all parts as they are written.
func (w *scope) beginReleases(parts []Part, declared []*unstructured.Unstructured) {
	w.releases = nil
	for i := range parts {
		part := &parts[i]
		own := declared[:len(w.order.Hooks[i])]
		declared = declared[len(own):]
		if len(own) == 0 {
			continue
		}
		set, name := hooks.Of(own), part.Source.Name
		namespace := cmp.Or(part.Namespace, w.manifest.Spec.TargetNamespace)
		begun := set.Begin(progressIn(&w.manifest.Status, name), hooks.ReleaseOf(namespace, part.objects()), hooks.Situation{
			Installed: w.installedBefore(name),
			GoesBack:  w.wentBack() && (w.manifest.Status.ObservedGeneration != w.generation || w.isGoingBack()),
		})
		w.releases = append(w.releases, &release{name: name, part: i, set: set, progress: *begun})
	}
}

// installedBefore reports whether a source was installed already.
func (w *scope) installedBefore(name string) bool {
	return slices.ContainsFunc(w.manifest.Status.Resolved, func(source v1beta2.ResolvedSource) bool {
		return source.Name == name && source.Digest != ""
	})
}

// progressIn returns what a status says of the hooks of a source, nil when that is nothing.
func progressIn(status *v1beta2.ManifestStatus, name string) *hooks.Progress {
	for _, source := range status.Resolved {
		if source.Name == name && source.Hooks != nil {
			return progressFrom(source.Hooks)
		}
	}
	return nil
}

func progressFrom(told *v1beta2.HookProgress) *hooks.Progress {
	return &hooks.Progress{
		Release: told.Release, Revision: told.Revision, Event: hooks.Event(told.Event), Done: int(told.Done), Total: int(told.Total),
		OnDelete: told.OnDelete,
	}
}

// progressOf returns how far the hooks of a source have got, for the status.
func (w *scope) progressOf(name string) *v1beta2.HookProgress {
	for _, release := range w.releases {
		if p := release.progress; release.name == name {
			return &v1beta2.HookProgress{
				Release: p.Release, Revision: p.Revision, Event: string(p.Event), OnDelete: p.OnDelete,
				Done: int32(p.Done), Total: int32(p.Total),
			}
		}
	}
	return nil
}

// reach takes over how far a release got, also into the status.
func (w *scope) reach(release *release, progress hooks.Progress) {
	release.progress = progress
	status, named := &w.manifest.Status, func(source v1beta2.ResolvedSource) bool { return source.Name == release.name }
	at := slices.IndexFunc(status.Resolved, named)
	if at < 0 { // it was renamed in a removal, which records no source otherwise
		at = len(status.Resolved)
		status.Resolved = append(status.Resolved, w.resolved[slices.IndexFunc(w.resolved, named)])
	}
	status.Resolved[at].Hooks = w.progressOf(release.name)
}

// hooksComplete reports whether no chart has hooks that are still to be run, as the status has it. Those of a removal do not count.
func (w *scope) hooksComplete() bool {
	return !slices.ContainsFunc(w.manifest.Status.Resolved, func(source v1beta2.ResolvedSource) bool {
		return source.Hooks != nil && isOpen(*progressFrom(source.Hooks))
	})
}

// releasesComplete is hooksComplete for what the content declares now: nothing is to be run, and nothing that was run is to be deleted.
func (w *scope) releasesComplete() bool {
	return !slices.ContainsFunc(w.releases, func(release *release) bool {
		return isOpen(release.progress) || len(release.set.Leftover(release.progress, w.recorded)) > 0
	})
}

// isOpen reports whether an installation, an upgrade or a way back has hooks left.
func isOpen(progress hooks.Progress) bool {
	return !progress.Event.OfDeletion() && !progress.Complete()
}

// spareHooks takes the hooks that the content declares out of what is pruned.
func (w *scope) spareHooks(decision *inventory.Decision) {
	decision.Prune = slices.DeleteFunc(decision.Prune, func(entry inventory.Entry) bool {
		return entry.IsHook() && slices.ContainsFunc(w.releases, func(release *release) bool { return release.set.Declares(entry.ID) })
	})
}

// passesBy reports whether the health of an installation does not depend on an entry: a hook is judged when its turn comes. Once all have
// run, one that is still planned is on its way out.
func (w *scope) passesBy(entry inventory.Entry) bool {
	return entry.IsHook() && (entry.Hash != "" || !w.hooksComplete())
}

// awaitStart returns what a part waits for, nil when its objects may be written: the objects of earlier parts, their hooks, and then its
// own hooks that come before its objects.
func (r *Reconciler) awaitStart(ctx context.Context, w *scope, part int) (*passResult, error) {
	if held := r.awaitEarlierParts(w, part); held != nil {
		return held, nil
	}
	for _, release := range w.releases {
		for release.part <= part && isOpen(release.progress) && (release.part < part || release.progress.Blocks()) {
			if held, err := r.runHooks(ctx, w, release); held != nil || err != nil {
				return held, err
			}
		}
	}
	return nil, nil
}

// awaitHooksBefore returns what is waited for before anything is pruned: hooks that come before the objects, also of parts that write none.
func (r *Reconciler) awaitHooksBefore(ctx context.Context, w *scope) error {
	for _, release := range w.releases {
		if !isOpen(release.progress) || !release.progress.Blocks() {
			continue
		}
		held, err := r.awaitStart(ctx, w, release.part)
		if err != nil {
			return err
		}
		if held != nil {
			return held
		}
	}
	return nil
}

// completeReleases runs the hooks that come after the objects, once everything is ready, and deletes what policies drop.
func (r *Reconciler) completeReleases(ctx context.Context, w *scope) error {
	if w.releasesComplete() {
		return nil
	}
	if slices.ContainsFunc(w.releases, func(release *release) bool { return isOpen(release.progress) }) {
		if found := r.healthy(w); found.state != v1beta2.StateReady {
			return &found
		}
	}
	for _, release := range w.releases {
		for again := true; again; again = isOpen(release.progress) {
			held, err := r.runHooks(ctx, w, release)
			if err != nil {
				return err
			}
			if held != nil {
				return held
			}
		}
	}
	return nil
}

// runHooks runs the hooks of the event that a release has come to, and returns what is waited for, nil when the event is over.
func (r *Reconciler) runHooks(ctx context.Context, w *scope, release *release) (*passResult, error) {
	runner := &hookRunner{reconciler: r, scope: w, release: release, options: r.options(ctx, w)}
	reached, held, err := engine.RunHooks[passResult](ctx, release.set, release.progress, runner)
	w.reach(release, reached)
	return held, err
}
