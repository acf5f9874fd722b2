package engine

import (
	"context"
	"slices"

	"github.com/kyma-project/lifecycle-manager/pkg/hooks"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Release is what a part of an installation declares where it has hooks.
type Release struct {
	// Name and Part are the name and the number of the part.
	Name string
	Part int
	// Set are its hooks, and Progress is how far they got.
	Set      hooks.Set
	Progress hooks.Progress
}

// Releases are those of an installation, in the order of its parts.
type Releases []*Release

// HookPass runs the hooks of the event that a release has come to, by RunHooks, and takes over how far it got. It returns what is waited
// for, nil when the event is over.
type HookPass[W any] func(ctx context.Context, release *Release) (*W, error)

// Open reports whether hooks of an installation, an upgrade or a way back are left to run.
func (r Releases) Open() bool {
	return slices.ContainsFunc(r, func(release *Release) bool { return release.Progress.Open() })
}

// Settled reports whether nothing is left to run, and nothing that ran is left to be deleted.
func (r Releases) Settled(recorded []inventory.Entry) bool {
	return !slices.ContainsFunc(r, func(release *Release) bool {
		return release.Progress.Open() || len(release.Set.Leftover(release.Progress, recorded)) > 0
	})
}

// Spare takes the hooks that are declared out of what is pruned.
func (r Releases) Spare(decision *inventory.Decision) {
	decision.Prune = slices.DeleteFunc(decision.Prune, func(entry inventory.Entry) bool {
		return entry.IsHook() && slices.ContainsFunc(r, func(release *Release) bool { return release.Set.Declares(entry.ID) })
	})
}

// RunBefore runs the hooks that the objects of a part wait for: all of earlier parts, and those of its own that come before its objects.
func RunBefore[W any](ctx context.Context, releases Releases, part int, run HookPass[W]) (*W, error) {
	for _, release := range releases {
		for release.Part <= part && release.Progress.Open() && (release.Part < part || release.Progress.Blocks()) {
			if held, err := run(ctx, release); held != nil || err != nil {
				return held, err
			}
		}
	}
	return nil, nil
}

// RunBeforePrune starts the parts that have hooks before their objects left: of one that writes nothing, these come before anything is
// deleted, too. start returns what a part waits for, as Writer.AwaitStart does.
func RunBeforePrune[W any](ctx context.Context, releases Releases, start func(ctx context.Context, part int) (*W, error)) (*W, error) {
	for _, release := range releases {
		if !release.Progress.Open() || !release.Progress.Blocks() {
			continue
		}
		if held, err := start(ctx, release.Part); held != nil || err != nil {
			return held, err
		}
	}
	return nil, nil
}

// RunAfter runs the hooks that come after the objects, which are ready, and deletes what the policies of hooks drop.
func RunAfter[W any](ctx context.Context, releases Releases, run HookPass[W]) (*W, error) {
	for _, release := range releases {
		for again := true; again; again = release.Progress.Open() {
			if held, err := run(ctx, release); held != nil || err != nil {
				return held, err
			}
		}
	}
	return nil, nil
}

// Removal is what Remove needs. W is what the caller reports while something is waited for.
type Removal[W any] struct {
	// Run runs hooks.
	Run HookPass[W]
	// Store stores how far the hooks got, unless that is stored.
	Store func(ctx context.Context) error
	// Last reports whether an object stays until the last hook is through; nil where none has to.
	Last func(inventory.ID) bool
	// Delete deletes what is recorded and not spared, wave after wave. Nothing that is waited for means that nothing of it is left.
	Delete func(ctx context.Context, spared func(inventory.ID) bool) (*W, error)
}

// Remove removes an installation, with the hooks of its removal around the objects, and returns what is waited for: nil when nothing is
// left.
//
//  1. The hooks that come before; that they have completed is stored.
//  2. All objects, but those that hooks after that write, and those that go last.
//  3. The hooks that come after, and what all hooks have left.
func Remove[W any](ctx context.Context, releases Releases, removal Removal[W]) (*W, error) {
	nothing := func(inventory.ID) bool { return false }
	if len(releases) == 0 {
		return removal.Delete(ctx, nothing)
	}
	if held, err := runOfRemoval(ctx, releases, hooks.PreDelete, removal.Run); held != nil || err != nil {
		return held, err
	}
	if err := removal.Store(ctx); err != nil {
		return nil, err
	}
	isHook := releases.writesAt(hooks.PostDelete)
	spared := func(id inventory.ID) bool { return isHook(id) || removal.Last != nil && removal.Last(id) }
	if held, err := removal.Delete(ctx, spared); held != nil || err != nil {
		return held, err
	}
	if held, err := runOfRemoval(ctx, releases, hooks.PostDelete, removal.Run); held != nil || err != nil {
		return held, err
	}
	return removal.Delete(ctx, nothing)
}

// runOfRemoval runs the hooks of an event of the removal, of all parts in their order.
func runOfRemoval[W any](ctx context.Context, releases Releases, event hooks.Event, run HookPass[W]) (*W, error) {
	for _, release := range releases {
		if release.Progress = release.Set.Remove(release.Progress); release.Progress.Event != event {
			continue
		}
		if held, err := run(ctx, release); held != nil || err != nil {
			return held, err
		}
	}
	return nil, nil
}

// writesAt returns a function that reports whether an object is a hook at an event.
func (r Releases) writesAt(event hooks.Event) func(inventory.ID) bool {
	return func(id inventory.ID) bool {
		return slices.ContainsFunc(r, func(release *Release) bool { return release.Set.At(event).Declares(id) })
	}
}
