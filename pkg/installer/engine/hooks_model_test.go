package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/hooks"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

var previous = map[hooks.Event]hooks.Event{
	hooks.PostInstall: hooks.PreInstall, hooks.PostUpgrade: hooks.PreUpgrade, hooks.PostRollback: hooks.PreRollback,
	hooks.PostDelete: hooks.PreDelete,
}

// install is one pass of a manager. It returns what is waited for.
func (w *hookWorld) install(now hooks.Situation) (*waits, error) {
	w.recorded = slices.Clone(w.stored)
	release := w.release(now)
	if held, err := engine.RunBefore(w.t.Context(), engine.Releases{release}, 0, w.run); held != nil || err != nil {
		return held, err
	}
	progress := release.Progress
	w.expectCompleted("objects are written", progress, previous[progress.Event])
	for _, id := range w.asked.objects {
		w.recorded = inventory.Merge(w.recorded, []inventory.Entry{{ID: id, Version: "v1", Hash: w.asked.release}}, nil)
	}
	if !slices.Equal(w.recorded, w.stored) || w.progress == nil || *w.progress != progress {
		if err := w.Store(w.t.Context(), progress); err != nil {
			return nil, err
		}
	}
	for _, id := range w.asked.objects {
		if w.written[id] == w.asked.release {
			continue
		}
		if err := w.call(func() { w.written[id] = w.asked.release; w.writes++ }); err != nil {
			return nil, err
		}
	}
	if held, err := w.deleteAll(func(id inventory.ID) bool {
		return !w.asked.set.Declares(id) && !slices.Contains(w.asked.objects, id)
	}); held != nil || err != nil {
		return held, err
	}
	if w.crashes > 0 && w.random.IntN(3) == 0 {
		said := waits("the objects are not ready")
		return &said, nil
	}
	if held, err := engine.RunAfter(w.t.Context(), engine.Releases{release}, w.run); held != nil || err != nil {
		return held, err
	}
	reached := release.Progress
	w.expectCompleted("the release is complete", reached, reached.Event)
	if !slices.Equal(w.recorded, w.stored) || !reached.Complete() {
		return nil, w.Store(w.t.Context(), reached)
	}
	return nil, nil
}

// release is what is asked for, as far as the hub knows it.
func (w *hookWorld) release(now hooks.Situation) *engine.Release {
	return &engine.Release{Set: w.asked.set, Progress: *w.asked.set.Begin(w.progress, w.asked.release, now)}
}

// run is an engine.HookPass.
func (w *hookWorld) run(ctx context.Context, release *engine.Release) (*waits, error) {
	reached, held, err := engine.RunHooks[waits](ctx, release.Set, release.Progress, w)
	release.Progress = reached
	return held, err
}

// uninstall is one pass of a manager that removes everything; done when nothing is left.
func (w *hookWorld) uninstall() (done bool, held *waits, err error) {
	w.recorded = slices.Clone(w.stored)
	release, last := w.release(hooks.Situation{}), false
	held, err = engine.Remove(w.t.Context(), engine.Releases{release}, engine.Removal[waits]{
		Run: w.run,
		Store: func(ctx context.Context) error {
			if w.progress != nil && *w.progress == release.Progress {
				return nil
			}
			return w.Store(ctx, release.Progress)
		},
		Delete: func(_ context.Context, spared func(inventory.ID) bool) (*waits, error) {
			if last {
				w.expectCompleted("the removal ends", release.Progress, hooks.PostDelete)
				if len(w.written) > 0 {
					w.failf("the removal leaves %v", w.written)
				}
			} else {
				w.expectCompleted("objects are deleted", release.Progress, hooks.PreDelete)
			}
			last = true
			return w.deleteAll(func(id inventory.ID) bool { return !spared(id) })
		},
	})
	return held == nil && err == nil, held, err
}

func (w *hookWorld) deleteAll(of func(inventory.ID) bool) (*waits, error) {
	var entries []inventory.Entry
	for _, entry := range w.recorded {
		if of(entry.ID) {
			entries = append(entries, entry)
		}
	}
	if err := w.Delete(w.t.Context(), entries); err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if w.live[entry.ID] != nil {
			said := waits(entry.ID.String() + " is being deleted")
			return &said, nil
		}
	}
	return nil, nil
}

// randomVersion is a chart with some of a few hooks, which run at random events.
func (w *hookWorld) randomVersion(number int) version {
	events := []string{
		"pre-install", "post-install", "pre-upgrade", "post-upgrade", "pre-rollback", "post-rollback", "pre-delete", "post-delete",
	}
	made := version{release: fmt.Sprint("r", number)}
	var objects []*unstructured.Unstructured
	for i := range 1 + w.random.IntN(4) {
		kind := []string{"Job", "Job", "ConfigMap"}[w.random.IntN(3)]
		object := named(kind, fmt.Sprint("hook", i))
		if kind == "Job" {
			object.SetAPIVersion("batch/v1")
		}
		at := events[w.random.IntN(len(events))]
		for range w.random.IntN(4) {
			at += "," + events[w.random.IntN(len(events))]
		}
		object.SetAnnotations(map[string]string{
			hooks.AnnotationEvents: at, hooks.AnnotationWeight: fmt.Sprint(w.random.IntN(3) - 1),
			hooks.AnnotationDeletePolicy: []string{"", "hook-succeeded", "before-hook-creation,hook-succeeded"}[w.random.IntN(3)],
		})
		objects = append(objects, object)
		w.notef("%s has %s at %s", made.release, inventory.IDOf(object), at)
	}
	made.set = hooks.Of(objects)
	for i := range 1 + w.random.IntN(3) {
		made.objects = append(made.objects, inventory.IDOf(named("Secret", fmt.Sprint("object", i))))
	}
	return made
}

// TestRunHooks_Model explores the lives of charts: crashes at any call, hooks that fail and are tried again, versions that change in the
// middle and come back, and a removal at any time. Its laws:
//
//   - no object of a release is written before the hooks that come before it have completed, and none is deleted before those of the removal
//   - no hook is written that was not planned, or for an event of a release for which it has completed, or over another run
//   - a release is complete when its hooks have completed
//   - once nothing fails any more, a release completes and then costs no write, and a removal leaves nothing behind
func TestRunHooks_Model(t *testing.T) {
	for seed := range uint64(1500) {
		w := &hookWorld{
			t: t, seed: seed, random: rand.New(rand.NewPCG(seed, 30)), live: map[inventory.ID]*unstructured.Unstructured{},
			written: map[inventory.ID]string{}, completed: map[string]bool{}, crashes: 60,
		}
		versions := []version{w.randomVersion(0), w.randomVersion(1), w.randomVersion(2)}
		w.asked = versions[0]
		for range 5 + w.random.IntN(40) {
			if w.random.IntN(12) == 0 {
				w.asked = versions[w.random.IntN(len(versions))]
				w.notef("asked for %s", w.asked.release)
			}
			if _, err := w.install(hooks.Situation{GoesBack: w.random.IntN(4) == 0}); err != nil && !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
			w.goOn(30)
		}
		if w.random.IntN(2) == 0 {
			w.settles()
		}
		w.goes()
	}
}

// settles expects the release to complete when nothing fails any more, and to be at rest then.
func (w *hookWorld) settles() {
	w.crashes = 0
	for range 200 {
		held, err := w.install(hooks.Situation{})
		if err != nil {
			w.failf("error %v", err)
		}
		if held == nil && w.progress.Complete() && len(w.asked.set.Leftover(*w.progress, w.stored)) == 0 {
			w.goOn(0)
			before := w.writes
			if held, err := w.install(hooks.Situation{}); held != nil || err != nil || w.writes != before {
				w.failf("%d writes at rest, held %q, error %v", w.writes-before, deref(held), err)
			}
			for _, entry := range w.stored {
				if entry.IsHook() && entry.Hash == "" {
					w.failf("%s stays planned when the release is complete", entry.ID)
				}
			}
			w.crashes = 60
			return
		}
		w.goOn(0)
	}
	w.failf("the release does not complete: %+v", *w.progress)
}

// goes expects a removal to end without a trace, also with crashes and failures in it.
func (w *hookWorld) goes() {
	w.notef("the removal begins")
	for round := range 300 {
		fails := 30
		if round > 100 {
			w.crashes, fails = 0, 0
		}
		done, _, err := w.uninstall()
		if err != nil && !errors.Is(err, errCrash) {
			w.failf("error %v", err)
		}
		if done {
			if len(w.live)+len(w.written) > 0 {
				w.failf("left behind: %v %v", w.live, w.written)
			}
			return
		}
		w.goOn(fails)
	}
	w.failf("the removal does not end: %+v, recorded %v", *w.progress, w.recorded)
}
