package module

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestNextTeardownRemote(t *testing.T) {
	living := withManifest(func(m *v1beta2.Manifest) { m.Name = "m" })
	going := withManifest(func(m *v1beta2.Manifest) { m.Name = "m"; dying(m) })
	told := func(w *Snapshot) { w.Kyma.Status.State = v1beta2.StateDeleting }
	all := Leftovers{Reachable: true, Kyma: true, KymaCRD: true, CatalogCRDs: true, PullSecret: true}
	for _, tc := range []struct {
		name    string
		world   []func(*Snapshot)
		left    Leftovers
		step    Step
		actions string
		message string
	}{
		{"everything that can be done is done in the first pass", []func(*Snapshot){living}, all, StepDelete,
			"HubStatus RuntimeStatus DeleteManifests DeleteCatalogCRDs DeleteRuntimeKyma DeleteKymaCRD", ""},
		{"completed actions are not repeated", []func(*Snapshot){told, going}, Leftovers{Reachable: true, Kyma: true, StatusDeleting: true},
			StepDelete, "DeleteRuntimeKyma", "waiting for Manifests that are being deleted: m"},
		{"objects that block the deletion in the runtime are named", []func(*Snapshot){told, going}, Leftovers{Reachable: true, PullSecret: true,
			Terminating: []string{"Kyma kyma-system/default (held by finalizer x)", "b", "c", "d"}}, StepWait, "",
			"waiting for Manifests that are being deleted: m; and for objects that are being deleted in the runtime: " +
				"Kyma kyma-system/default (held by finalizer x), b, c and 1 more"},
		{"the pull Secret is deleted at the end", []func(*Snapshot){told}, Leftovers{Reachable: true, PullSecret: true}, StepRelease,
			"DeletePullSecret Release", ""},
		{"nothing was ever installed", nil, Leftovers{Reachable: true}, StepRelease, "Release", ""},
		{"the runtime cannot be reached: the Manifests are deleted, the rest waits", []func(*Snapshot){living},
			Leftovers{Kyma: true, KymaCRD: true, Problem: "connection refused"}, StepDelete, "HubStatus DeleteManifests",
			"waiting for the runtime, which cannot be reached (connection refused); delete its access Secret to leave its content behind"},
		{"the runtime cannot be reached and the hub has nothing left", []func(*Snapshot){told}, Leftovers{}, StepWait, "",
			"waiting for the runtime, which cannot be reached; delete its access Secret to leave its content behind"},
		{"the Secret is gone: the runtime is left as it is", []func(*Snapshot){told},
			Leftovers{Gone: true, Reachable: true, Kyma: true, KymaCRD: true, CatalogCRDs: true, PullSecret: true, Terminating: []string{"x"}},
			StepRelease, "Release", ""},
		{"the Secret is gone: the deletion of the Manifests is awaited", []func(*Snapshot){living}, Leftovers{Gone: true}, StepDelete,
			"HubStatus DeleteManifests", ""},
		{"the Kyma is not being deleted", []func(*Snapshot){living, func(w *Snapshot) { w.Kyma.DeletionTimestamp = nil }}, all, StepNone, "", ""},
		{"no finalizer of ours is left", []func(*Snapshot){func(w *Snapshot) { w.Kyma.Finalizers = []string{"x"} }}, all, StepNone, "", ""},
		{"only the finalizer of upstream's watcher holds it", []func(*Snapshot){func(w *Snapshot) {
			w.Kyma.Finalizers = []string{v1beta2.FinalizerWatcher}
		}}, Leftovers{Gone: true}, StepRelease, "Release", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(newKyma(), append([]func(*Snapshot){kymaDeleted}, tc.world...)...)
			got := NextTeardownRemote(w, tc.left)
			if got.Step != tc.step || spelledActions(got.Actions) != tc.actions || got.Message != tc.message {
				t.Errorf("%s %q\n%s", got.Step, spelledActions(got.Actions), got.Message)
			}
		})
	}
}

func spelledActions(actions []Action) string {
	words := make([]string, len(actions))
	for i := range actions {
		words[i] = string(actions[i])
	}
	return strings.Join(words, " ")
}

func TestHeld(t *testing.T) {
	for _, tc := range []struct {
		name string
		left Leftovers
		want string
	}{
		{"nothing to wait for where nothing is left", Leftovers{Reachable: true}, ""},
		{"nothing to wait for in a runtime that is left as it is", Leftovers{Gone: true, Problem: "no Secret"}, ""},
		{"objects that are being deleted are named", Leftovers{Reachable: true, Terminating: []string{"a", "b"}},
			"waiting for objects that are being deleted in the runtime: a, b"},
		{"an unreachable runtime is named, with the remedy", Leftovers{Problem: "refused"},
			"waiting for the runtime, which cannot be reached (refused); delete its access Secret to leave its content behind"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Held(tc.left); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestForeignFinalizers(t *testing.T) {
	foreign, held := ForeignFinalizers([]string{"a", v1beta2.FinalizerKyma, "b", v1beta2.FinalizerPurge, v1beta2.FinalizerWatcher})
	if !held || !cmp.Equal(foreign, []string{"a", "b"}) {
		t.Errorf("%q, %v", foreign, held)
	}
	if foreign, held = ForeignFinalizers([]string{"a"}); held || !cmp.Equal(foreign, []string{"a"}) {
		t.Errorf("%q, %v", foreign, held)
	}
}

// phase is the phase of an object.
type phase int

const (
	absent phase = iota
	alive
	leavingSoon
)

// end is the model of a Kyma that is being deleted, whose states are explored.
type end struct {
	told, released             bool
	manifests                  [2]phase
	kyma, definition, catalog  phase
	toldThere, held, pull, ill bool // held: by a user's finalizer on the Kyma in the runtime; ill: the runtime does not answer
	noSecret                   bool
}

// look returns the operator's view of the state.
func (e end) look() (Snapshot, Leftovers) {
	w := newWorld(newKyma(), kymaDeleted)
	if e.told {
		w.Kyma.Status.State = v1beta2.StateDeleting
	}
	for i, manifest := range e.manifests {
		switch name := fmt.Sprintf("m%d", i); manifest {
		case alive:
			withManifest(func(m *v1beta2.Manifest) { m.Name = name })(&w)
		case leavingSoon:
			withManifest(func(m *v1beta2.Manifest) { m.Name = name; dying(m) })(&w)
		case absent:
		}
	}
	left := Leftovers{Reachable: !e.ill, Gone: e.noSecret, Kyma: e.kyma == alive, KymaCRD: e.definition == alive,
		CatalogCRDs: e.catalog == alive, StatusDeleting: e.toldThere, PullSecret: e.pull}
	for name, object := range map[string]phase{"Kyma": e.kyma, "definition": e.definition, "catalog": e.catalog} {
		if object == leavingSoon {
			left.Terminating = append(left.Terminating, name)
		}
	}
	slices.Sort(left.Terminating)
	return w, left
}

// carryOut does one action, and returns the new state and any violation.
func (e end) carryOut(action Action) (after end, wrong string) {
	remove := func(object *phase, name string) {
		if *object != alive {
			wrong = name + " is deleted twice, or was not there"
		}
		*object = leavingSoon
	}
	switch inRuntime := action != ActionHubStatus && action != ActionDeleteManifests && action != ActionRelease; {
	case e.released:
		return e, "done after the release"
	case inRuntime && (e.ill || e.noSecret):
		return e, "done in a runtime that is out of reach"
	}
	switch action {
	case ActionHubStatus:
		e.told = true
	case ActionRuntimeStatus:
		e.toldThere = true
	case ActionDeleteManifests:
		for i := range e.manifests {
			if e.manifests[i] == alive {
				e.manifests[i] = leavingSoon
			}
		}
	case ActionDeleteCatalogCRDs:
		remove(&e.catalog, "the catalog")
	case ActionDeleteRuntimeKyma:
		remove(&e.kyma, "the runtime's Kyma")
	case ActionDeleteKymaCRD:
		remove(&e.definition, "the definition")
		if e.kyma == alive {
			e.kyma = leavingSoon
		}
	case ActionDeletePullSecret:
		e.pull = false
	case ActionRelease:
		e.released = true
		wrong = e.leak()
	}
	return e, wrong
}

// leak returns a description of anything that a release must not leave behind.
func (e end) leak() string {
	switch {
	case e.manifests != [2]phase{}:
		return "a Manifest is left"
	case e.noSecret:
		return ""
	case e.ill || e.kyma != absent || e.definition != absent || e.catalog != absent || e.pull:
		return "the runtime still holds something"
	default:
		return ""
	}
}

// passes returns the states after each action of a pass, since it may fail or be interrupted there; the last one is that of the whole pass.
func (e end) passes(t *testing.T) []end {
	t.Helper()
	next := NextTeardownRemote(e.look())
	if next.Step == StepWait && next.Message == "" || next.Step == StepDelete && len(next.Actions) == 0 {
		t.Errorf("%+v: %s of nothing", e, next.Step)
	}
	var after []end
	at := e
	for _, action := range next.Actions {
		var wrong string
		if at, wrong = at.carryOut(action); wrong != "" {
			t.Errorf("%+v: %s: %s", e, action, wrong)
		}
		after = append(after, at)
	}
	return after
}

// progress returns the states after progress without this operator, by a controller or by the runtime's API server.
func (e end) progress() []end {
	var after []end
	add := func(may bool, change func(*end)) {
		if may {
			next := e
			change(&next)
			after = append(after, next)
		}
	}
	for i := range e.manifests {
		add(e.manifests[i] == leavingSoon && (!e.ill || e.noSecret), func(n *end) { n.manifests[i] = absent })
	}
	add(e.kyma == leavingSoon && !e.held, func(n *end) { n.kyma = absent })
	add(e.catalog == leavingSoon, func(n *end) { n.catalog = absent })
	add(e.definition == leavingSoon && e.kyma == absent, func(n *end) { n.definition = absent })
	return after
}

// meddling returns the states after an action of a user, or a failure.
func (e end) meddling() []end {
	var after []end
	add := func(may bool, change func(*end)) {
		if may {
			next := e
			change(&next)
			after = append(after, next)
		}
	}
	add(!e.ill, func(n *end) { n.ill = true })
	add(e.ill, func(n *end) { n.ill = false })
	add(!e.noSecret, func(n *end) { n.noSecret = true })
	add(e.noSecret, func(n *end) { n.noSecret = false })
	add(e.held, func(n *end) { n.held = false })
	add(e.kyma == alive && !e.held, func(n *end) { n.held = true })
	add(e.kyma == alive, func(n *end) { n.kyma = leavingSoon })
	add(e.definition == alive, func(n *end) { n.definition, n.kyma = leavingSoon, min(n.kyma*2, leavingSoon) })
	add(e.kyma == absent && e.definition == alive, func(n *end) { n.kyma, n.toldThere = alive, false })
	add(e.catalog == absent, func(n *end) { n.catalog = alive })
	add(e.manifests[0] == alive, func(n *end) { n.manifests[0] = leavingSoon })
	add(e.toldThere, func(n *end) { n.toldThere = false })
	return after
}

// undisturbed continues until nothing happens any more, and returns the final state and the number of passes.
func (e end) undisturbed(t *testing.T) (end, int) {
	t.Helper()
	for passes := 0; ; passes++ {
		for after := e.progress(); len(after) > 0; after = e.progress() {
			e = after[0]
		}
		if e.released {
			return e, passes
		}
		after := e.passes(t)
		if len(after) == 0 || passes > 5 {
			return e, passes
		}
		e = after[len(after)-1]
	}
}

func TestTeardownRemote_EveryWayThroughATeardownEnds(t *testing.T) {
	begin := end{manifests: [2]phase{alive, alive}, kyma: alive, definition: alive, catalog: alive, pull: true}
	seen, open := map[end]bool{begin: true}, []end{begin}
	for len(open) > 0 && !t.Failed() {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		if at.released {
			continue
		}
		for _, next := range slices.Concat(at.passes(t), at.progress(), at.meddling()) {
			if !seen[next] {
				seen[next] = true
				open = append(open, next)
			}
		}
		final, _ := at.undisturbed(t)
		if wait := NextTeardownRemote(final.look()); !final.released && (wait.Step != StepWait || !namesTheCause(final, wait.Message)) {
			t.Errorf("%+v\nends as %+v\nwith %s %q", at, final, wait.Step, wait.Message)
		}
	}
	t.Logf("%d states", len(seen))
	if final, passes := begin.undisturbed(t); !final.released || passes != 2 {
		t.Errorf("a deletion without trouble takes %d passes: %+v", passes, final)
	}
}

// namesTheCause reports whether the message of a blocked deletion names its cause.
func namesTheCause(e end, message string) bool {
	switch {
	case e.ill && !e.noSecret:
		return strings.Contains(message, "the runtime, which cannot be reached")
	case e.held:
		return strings.Contains(message, "Kyma")
	default:
		return false
	}
}
