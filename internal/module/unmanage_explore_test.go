package module

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// The module's objects in the runtime.
const (
	nothing = "nothing"
	marked  = "marked" // objects that carry our owner mark
	free    = "free"   // objects that are no longer managed
)

// custody is one module between two controllers and users who make it unmanaged and managed again.
type custody struct {
	w       Snapshot
	objects string
}

// key returns everything that counts of a state: two states with the same key have the same future.
func (c custody) key() string {
	key := []string{c.requested(), c.objects, string(c.w.Kyma.Status.State)}
	for i := range c.w.Manifests {
		m := &c.w.Manifests[i]
		key = append(key, fmt.Sprint(leaving(m), terminating(m), m.Status.State, m.Status.ObservedGeneration == m.Generation, m.Spec.Version))
	}
	for _, entry := range c.w.Kyma.Status.Modules {
		key = append(key, string(entry.State)+" "+entry.Version)
	}
	return strings.Join(key, ", ")
}

func (c custody) requested() string {
	switch modules := c.w.Kyma.Spec.Modules; {
	case len(modules) == 0:
		return "removed"
	case modules[0].Managed != nil:
		return "unmanaged"
	default:
		return "managed"
	}
}

// with returns a changed copy.
func (c custody) with(change func(*custody)) custody {
	c.w = carryOut(c.w, Plan{})
	change(&c)
	return c
}

// edits returns the states after the edits of users: managed, unmanaged and, with all, removed or the Manifest deleted with kubectl.
func (c custody) edits(all bool) []custody {
	ask := func(modules ...v1beta2.Module) custody {
		return c.with(func(c *custody) {
			c.w.Kyma.Spec.Modules = modules
			c.w.Kyma.Generation++
		})
	}
	after := []custody{ask(module(operator)), ask(v1beta2.Module{Name: operator, Managed: new(bool)})}
	if !all {
		return after
	}
	after = append(after, ask())
	for i := range c.w.Manifests {
		if !terminating(&c.w.Manifests[i]) {
			after = append(after, c.with(func(c *custody) { dying(&c.w.Manifests[i]) }))
		}
	}
	return after
}

// passes returns the states after a pass of the Kyma controller that is interrupted between its write and its report, and after a whole
// one.
func (c custody) passes(t *testing.T) []custody {
	t.Helper()
	verdicts := Resolve(c.w)
	plan := MakePlan(c.w, verdicts)
	interrupted := custody{w: carryOut(c.w, plan), objects: c.objects}
	if again := MakePlan(interrupted.w, Resolve(interrupted.w)); !again.Empty() {
		t.Errorf("%s\nis written twice: %+v", c.key(), again)
	}
	whole := interrupted.with(func(n *custody) { n.w.Kyma.Status = Rollup(c.w, verdicts, nil) })
	for _, entry := range whole.w.Kyma.Status.Modules {
		if entry.State == v1beta2.StateReady && (c.objects != marked || len(c.w.Manifests) == 0 || leaving(&c.w.Manifests[0]) || terminating(&c.w.Manifests[0])) {
			t.Errorf("%s\nis told to be Ready", c.key())
		}
	}
	return []custody{interrupted, whole}
}

// steps returns the states after the next write of the Manifest controller; none when there is nothing to do.
func (c custody) steps() []custody {
	if len(c.w.Manifests) == 0 {
		return nil
	}
	m := &c.w.Manifests[0]
	left := map[bool]string{true: free, false: nothing}[leaving(m)]
	switch {
	case leaving(m) && !terminating(m):
		return []custody{c.with(func(n *custody) { dying(&n.w.Manifests[0]) })}
	case terminating(m) && c.objects == marked:
		return []custody{c.with(func(n *custody) { n.objects = left })}
	case terminating(m) && c.objects == free && !leaving(m):
		return []custody{c.with(func(n *custody) { n.objects = nothing })}
	case terminating(m):
		return []custody{c.with(func(n *custody) { n.w.Manifests = nil })}
	case c.objects != marked:
		return []custody{c.with(func(n *custody) { n.objects = marked })}
	case m.Status.State != v1beta2.StateReady || m.Status.ObservedGeneration != m.Generation:
		return []custody{c.with(func(n *custody) { makeReady(&n.w.Manifests[0]) })}
	default:
		return nil
	}
}

// undisturbed continues until nothing changes any more.
func (c custody) undisturbed(t *testing.T) custody {
	t.Helper()
	for range 20 {
		before := c.key()
		for steps := c.steps(); len(steps) > 0; steps = c.steps() {
			c = steps[0]
		}
		if c = c.passes(t)[1]; c.key() == before {
			return c
		}
	}
	t.Errorf("comes to no rest: %s", c.key())
	return c
}

// rest checks the final state for each request.
var rest = map[string]func(custody) bool{
	"managed": func(c custody) bool {
		return c.objects == marked && len(c.w.Manifests) == 1 && !leaving(&c.w.Manifests[0]) && !terminating(&c.w.Manifests[0]) &&
			c.w.Kyma.Status.Modules[0].State == v1beta2.StateReady
	},
	"unmanaged": func(c custody) bool {
		return c.objects != marked && len(c.w.Manifests) == 0 && c.w.Kyma.Status.Modules[0].State == v1beta2.StateUnmanaged
	},
	"removed": func(c custody) bool {
		return c.objects != marked && len(c.w.Manifests) == 0 && len(c.w.Kyma.Status.Modules) == 0
	},
}

// everyWay explores every interleaving of users, both controllers and restarts.
func everyWay(t *testing.T, all bool, check func(before, after custody)) {
	t.Helper()
	begin := custody{w: newWorld(newKyma(module(operator))), objects: nothing}
	known, open := map[string]bool{begin.key(): true}, []custody{begin}
	for len(open) > 0 && !t.Failed() {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		for _, of := range [][]custody{at.edits(all), at.passes(t), at.steps()} {
			for _, next := range of {
				check(at, next)
				if !known[next.key()] {
					known[next.key()] = true
					open = append(open, next)
				}
			}
		}
		if final := at.undisturbed(t); !rest[at.requested()](final) {
			t.Errorf("%s\nends as %s", at.key(), final.key())
		}
	}
	t.Logf("%d states", len(known))
}

func TestLettingGoAndTakingBackInEveryOrder(t *testing.T) {
	everyWay(t, true, func(before, after custody) {
		if len(after.w.Manifests) > 1 {
			t.Errorf("two Manifests of one module: %s\nafter %s", after.key(), before.key())
		}
	})
}

func TestLettingGoAndTakingBackDeletesNothing(t *testing.T) {
	everyWay(t, false, func(before, after custody) {
		if before.objects != nothing && after.objects == nothing {
			t.Errorf("the objects are deleted though no one wanted it: %s\nafter %s", after.key(), before.key())
		}
	})
}
