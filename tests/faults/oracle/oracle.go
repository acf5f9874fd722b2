package oracle

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
)

// Bounds limit the cost of a Scenario, including faults. The zero value of a field means no bound.
type Bounds struct {
	// Lines of the manager's log.
	Lines int
	// Writes to all servers, refused ones included.
	Writes int
	// Memory of the manager, at its highest, in bytes.
	Memory int64
}

// Usual returns the bounds of a Scenario: ten times the cost of one without faults, except for the memory.
func Usual() Bounds { return Bounds{Lines: 1500, Writes: 1500, Memory: 512 << 20} }

// Oracle judges one Scenario.
type Oracle struct {
	scene      *operation.Scenario
	watchdog   *Watchdog
	lines      int
	violations int
}

// Begin starts judging a new Scenario, before any fault.
func (w *Watchdog) Begin(s *operation.Scenario) *Oracle {
	return &Oracle{scene: s, watchdog: w, lines: s.Rig.Manager.Log.Lines(), violations: len(s.Rig.Watch.Violations())}
}

// End waits, now without faults, until the Scenario is in the wanted State, and returns all problems. A nil State is not compared: End then
// waits until the State no longer changes. Call it before Scenario.Close.
func (o *Oracle) End(ctx context.Context, want State, within time.Duration, bounds Bounds) (State, []string) {
	var problems []string
	var got State
	if want == nil {
		state, err := Rest(ctx, o.scene, within)
		if got = state; err != nil {
			problems = append(problems, err.Error())
		}
	} else {
		var diff string
		if got, diff = Converge(ctx, o.scene, want, within); diff != "" {
			problems = append(problems, fmt.Sprintf("the end state differs after %s:\n%s", within, diff))
		}
	}
	problems = append(problems, o.watchdog.Never(ctx, o.scene)...)
	problems = append(problems, o.scene.Rig.Watch.Violations()[o.violations:]...)
	return got, append(problems, o.exceeded(bounds)...)
}

// untouched returns which objects of others have changed, and whether the bystander is healthy.
func untouched(ctx context.Context, s *operation.Scenario) []string {
	var problems []string
	for server, decoys := range s.Decoys {
		for _, decoy := range decoys {
			live := decoy.DeepCopy()
			err := server.Client.Get(ctx, client.ObjectKeyFromObject(decoy), live)
			if err != nil || live.UID != decoy.UID || live.ResourceVersion != decoy.ResourceVersion {
				problems = append(problems, fmt.Sprintf("ConfigMap %s in %s is not ours and was touched: %v %v",
					decoy.Name, server.Proxy.Name(), err, live.ManagedFields))
			}
		}
	}
	if err := operation.Await(ctx, s, fares, recovers); err != nil {
		problems = append(problems, err.Error())
	}
	return problems
}

// recovers is how long a bystander may be without its runtime after a manager's start: on a busy machine the first contact may time out. It
// is then reported, and retried a second later.
const recovers = 10 * time.Second

// fares returns why the bystander is not healthy.
func fares(ctx context.Context, s *operation.Scenario) error {
	bystander := &v1beta2.Kyma{}
	key := client.ObjectKey{Namespace: v1beta2.DefaultNamespace, Name: s.Rig.Bystander}
	if err := s.Rig.Hub.Client.Get(ctx, key, bystander); err != nil {
		return fmt.Errorf("read the bystander: %w", err)
	}
	if bystander.Status.State != v1beta2.StateReady {
		return fmt.Errorf("the bystander suffers: %s %v", bystander.Status.State, bystander.Status.Conditions)
	}
	return nil
}

// Cost returns the cost of the Scenario so far.
func (o *Oracle) Cost() (lines, writes int, memory int64) {
	for _, server := range o.scene.Rig.Servers() {
		for _, call := range server.Proxy.Since(o.scene.Since[server.Proxy.Name()]) {
			if call.Mutating && !call.Heartbeat() {
				writes++
			}
		}
	}
	_, peak, err := o.scene.Rig.Manager.Memory()
	if err != nil {
		peak = 0 // it does not run, which is allowed
	}
	return o.scene.Rig.Manager.Log.Lines() - o.lines, writes, peak
}

func (o *Oracle) exceeded(bounds Bounds) []string {
	var problems []string
	lines, writes, memory := o.Cost()
	if bounds.Lines > 0 && lines > bounds.Lines {
		problems = append(problems, fmt.Sprintf("the manager logged %d lines, more than %d; the last: %v",
			lines, bounds.Lines, o.scene.Rig.Manager.Log.Tail(1)))
	}
	if bounds.Writes > 0 && writes > bounds.Writes {
		problems = append(problems, fmt.Sprintf("%d writes, more than %d", writes, bounds.Writes))
	}
	if bounds.Memory > 0 && memory > bounds.Memory {
		problems = append(problems, fmt.Sprintf("the manager held %d MiB, more than %d", memory>>20, bounds.Memory>>20))
	}
	return problems
}
