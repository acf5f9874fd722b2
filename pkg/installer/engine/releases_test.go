package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/hooks"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// releasesOf returns those of parts that are installed. Each of their hooks is named after the part and its only event.
func releasesOf(parts map[int][]hooks.Event) (releases engine.Releases) {
	for part := range 3 {
		var objects []*unstructured.Unstructured
		for _, event := range parts[part] {
			hook := named("Job", fmt.Sprintf("%s-%d", event, part))
			hook.SetAnnotations(map[string]string{hooks.AnnotationEvents: string(event)})
			objects = append(objects, hook)
		}
		set := hooks.Of(objects)
		if begun := set.Begin(nil, "r", hooks.Situation{}); begun != nil {
			releases = append(releases, &engine.Release{Name: fmt.Sprint(part), Part: part, Set: set, Progress: *begun})
		}
	}
	return releases
}

// timeline notes what happens. Hooks complete at once, but for the one that is held.
type timeline struct {
	held   string
	fails  error
	events []string
}

func (l *timeline) run(_ context.Context, release *engine.Release) (*waits, error) {
	for event := release.Progress.Event; event == release.Progress.Event; {
		hook, more := release.Set.Next(release.Progress)
		if !more {
			break
		}
		name := hook.Object.GetName()
		if name == l.held {
			said := waits(name)
			return &said, l.fails
		}
		l.events = append(l.events, name)
		release.Progress = release.Set.Advance(release.Progress)
	}
	return nil, nil
}

func (l *timeline) note(event string) { l.events = append(l.events, event) }

var aroundObjects = map[int][]hooks.Event{
	0: {hooks.PreInstall, hooks.PostInstall}, 2: {hooks.PreInstall, hooks.PostInstall},
}

func TestRunBefore(t *testing.T) {
	for name, test := range map[string]struct {
		part int
		held string
		want []string
	}{
		"the first part waits for its hooks before":         {0, "", []string{"pre-install-0"}},
		"one without hooks waits for all of earlier parts":  {1, "", []string{"pre-install-0", "post-install-0"}},
		"a later part also waits for its own before":        {2, "", []string{"pre-install-0", "post-install-0", "pre-install-2"}},
		"a hook that does not complete holds what is later": {2, "post-install-0", []string{"pre-install-0"}},
	} {
		t.Run(name, func(t *testing.T) {
			line := &timeline{held: test.held}
			held, err := engine.RunBefore(t.Context(), releasesOf(aroundObjects), test.part, line.run)
			if err != nil || (held != nil) != (test.held != "") {
				t.Errorf("held %v, %v", held, err)
			}
			if diff := cmp.Diff(test.want, line.events); diff != "" {
				t.Errorf("ran (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRunBeforePrune_StartsPartsThatHaveHooksBefore(t *testing.T) {
	releases, line := releasesOf(aroundObjects), &timeline{}
	var started []int
	start := func(ctx context.Context, part int) (*waits, error) {
		started = append(started, part)
		return engine.RunBefore(ctx, releases, part, line.run)
	}
	for range 2 {
		if held, err := engine.RunBeforePrune(t.Context(), releases, start); held != nil || err != nil {
			t.Fatal(held, err)
		}
	}
	if !slices.Equal(started, []int{0, 2}) {
		t.Errorf("started %v, want each part with hooks once", started)
	}
	line.held = "pre-install-0"
	if held, _ := engine.RunBeforePrune(t.Context(), releasesOf(aroundObjects), func(ctx context.Context, part int) (*waits, error) {
		return engine.RunBefore(ctx, releasesOf(aroundObjects), part, line.run)
	}); held == nil {
		t.Error("a hook that does not complete holds nothing")
	}
}

func TestRunAfter(t *testing.T) {
	releases, line := releasesOf(aroundObjects), &timeline{held: "post-install-2"}
	if held, err := engine.RunAfter(t.Context(), releases, line.run); held == nil || err != nil || !releases.Open() {
		t.Fatalf("held %v, %v, open %t", held, err, releases.Open())
	}
	line.held = ""
	if held, err := engine.RunAfter(t.Context(), releases, line.run); held != nil || err != nil || releases.Open() {
		t.Fatalf("held %v, %v, open %t", held, err, releases.Open())
	}
	want := []string{"pre-install-0", "post-install-0", "pre-install-2", "post-install-2"}
	if diff := cmp.Diff(want, line.events); diff != "" {
		t.Errorf("ran (-want +got):\n%s", diff)
	}
}

func TestRemove(t *testing.T) {
	failure := errors.New("no")
	for name, test := range map[string]struct {
		releases engine.Releases
		held     string
		fails    error
		want     []string
	}{
		"without hooks everything goes at once": {nil, "", nil, []string{"delete all"}},
		"hooks run around what goes": {
			releasesOf(map[int][]hooks.Event{0: {hooks.PreDelete, hooks.PostDelete}, 1: {hooks.PreDelete}}), "", nil,
			[]string{"pre-delete-0", "pre-delete-1", "store", "delete all but post-delete-0", "post-delete-0", "delete all"},
		},
		"nothing goes before a hook has completed": {releasesOf(map[int][]hooks.Event{0: {hooks.PreDelete}}), "pre-delete-0", nil, nil},
		"or when it cannot be run":                 {releasesOf(map[int][]hooks.Event{0: {hooks.PreDelete}}), "pre-delete-0", failure, nil},
		"hooks are left until the last one has completed": {
			releasesOf(map[int][]hooks.Event{0: {hooks.PostDelete}}), "post-delete-0", nil, []string{"store", "delete all but post-delete-0"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			line := &timeline{held: test.held, fails: test.fails}
			held, err := engine.Remove(t.Context(), test.releases, engine.Removal[waits]{
				Run:   line.run,
				Store: func(context.Context) error { line.note("store"); return nil },
				Delete: func(_ context.Context, spared func(inventory.ID) bool) (*waits, error) {
					if hook := inventory.IDOf(named("Job", "post-delete-0")); spared(hook) {
						line.note("delete all but " + hook.Name)
					} else {
						line.note("delete all")
					}
					return nil, nil
				},
			})
			if !errors.Is(err, test.fails) || (held != nil) != (test.held != "") {
				t.Errorf("held %v, %v", held, err)
			}
			if diff := cmp.Diff(test.want, line.events); diff != "" {
				t.Errorf("happened (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReleases_SpareAndSettle(t *testing.T) {
	releases := releasesOf(map[int][]hooks.Event{0: {hooks.PostInstall}})
	hook := inventory.IDOf(named("Job", "post-install-0"))
	ran := inventory.Entry{ID: hook, Hash: "x"}.AsHook()
	gone := inventory.Entry{ID: inventory.IDOf(named("Job", "undeclared")), Hash: "x"}.AsHook()
	decision := inventory.Decision{Prune: []inventory.Entry{ran, gone, {ID: hook, Hash: "x"}}}
	releases.Spare(&decision)
	if len(decision.Prune) != 2 || decision.Prune[0].ID != gone.ID || decision.Prune[1].IsHook() {
		t.Errorf("pruned: %v, want what is declared as a hook, and was one, to stay", decision.Prune)
	}
	if releases.Settled(nil) {
		t.Error("nothing is left to run before the hook has")
	}
	releases[0].Progress = releases[0].Set.Advance(releases[0].Progress)
	if !releases.Settled([]inventory.Entry{ran}) {
		t.Error("something is left when all hooks have run")
	}
	if releases.Settled([]inventory.Entry{inventory.Entry{ID: hook}.AsHook()}) {
		t.Error("a hook that was only planned is not left to be deleted")
	}
}
