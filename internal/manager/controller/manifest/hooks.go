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
			Installed: w.installedBefore(name) || slices.Contains(w.takenOver, name),
			GoesBack:  w.wentBack() && (w.manifest.Status.ObservedGeneration != w.generation || w.isGoingBack()),
		})
		w.releases = append(w.releases, &engine.Release{Name: name, Part: i, Set: set, Progress: *begun})
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
		if p := release.Progress; release.Name == name {
			return &v1beta2.HookProgress{
				Release: p.Release, Revision: p.Revision, Event: string(p.Event), OnDelete: p.OnDelete,
				Done: int32(p.Done), Total: int32(p.Total),
			}
		}
	}
	return nil
}

// reach takes over how far a release got, also into the status.
func (w *scope) reach(release *engine.Release, progress hooks.Progress) {
	release.Progress = progress
	status, named := &w.manifest.Status, func(source v1beta2.ResolvedSource) bool { return source.Name == release.Name }
	at := slices.IndexFunc(status.Resolved, named)
	if at < 0 { // it was renamed in a removal, which records no source otherwise
		at = len(status.Resolved)
		status.Resolved = append(status.Resolved, w.resolved[slices.IndexFunc(w.resolved, named)])
	}
	status.Resolved[at].Hooks = w.progressOf(release.Name)
}

// hooksComplete reports whether no chart has hooks that are still to be run, as the status has it. Those of a removal do not count.
func (w *scope) hooksComplete() bool {
	return !slices.ContainsFunc(w.manifest.Status.Resolved, func(source v1beta2.ResolvedSource) bool {
		return source.Hooks != nil && progressFrom(source.Hooks).Open()
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
	return engine.RunBefore(ctx, w.releases, part, r.hookPass(w))
}

// awaitHooksBefore returns what is waited for before anything is pruned: hooks that come before the objects, also of parts that write none.
func (r *Reconciler) awaitHooksBefore(ctx context.Context, w *scope) error {
	start := func(ctx context.Context, part int) (*passResult, error) { return r.awaitStart(ctx, w, part) }
	return asError(engine.RunBeforePrune(ctx, w.releases, start))
}

// completeReleases runs the hooks that come after the objects, once everything is ready, and deletes what policies drop.
func (r *Reconciler) completeReleases(ctx context.Context, w *scope) error {
	if w.releases.Settled(w.recorded) {
		return nil
	}
	if w.releases.Open() {
		if found := r.healthy(w); found.state != v1beta2.StateReady {
			return &found
		}
	}
	return asError(engine.RunAfter(ctx, w.releases, r.hookPass(w)))
}

// hookPass returns what runs the hooks of the event that a release has come to.
func (r *Reconciler) hookPass(w *scope) engine.HookPass[passResult] {
	return func(ctx context.Context, release *engine.Release) (*passResult, error) {
		runner := &hookRunner{reconciler: r, scope: w, release: release, options: r.options(ctx, w)}
		reached, held, err := engine.RunHooks[passResult](ctx, release.Set, release.Progress, runner)
		w.reach(release, reached)
		return held, err
	}
}

// asError returns what is waited for as an error, nil when nothing is.
func asError(held *passResult, err error) error {
	if err == nil && held != nil {
		return held
	}
	return err
}
