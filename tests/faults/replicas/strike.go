package replicas

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
)

const (
	// grace is what a failover may take beyond the lease, until the requested state is reached; longer where a Lab has more patience.
	grace = 5 * time.Second
	// moment is how long a write of a replica is held after the replica got SIGTERM.
	moment = 300 * time.Millisecond
	// soon bounds immediate effects; longer where a Lab has more patience.
	soon = 10 * time.Second
	// slow takes some four seconds by itself: an API server needs that long until it serves the kinds of new definitions.
	slow = "install"
)

// operated is the result of an operation.
type operated struct {
	at  time.Time
	err error
}

// operate runs the operation as a user.
func (t *attempt) operate(ctx context.Context) <-chan operated {
	done := make(chan operated, 1)
	go func() {
		err := t.Operation.Run(ctx, t.scene, t.Terms.Lease+t.suite.lab.Converges)
		done <- operated{time.Now(), err}
	}()
	return done
}

// during runs the operation, strikes, and waits until it is over and the shares are even again.
func (t *attempt) during(ctx context.Context) error {
	if t.Kind == Failover {
		return t.failover(ctx)
	}
	at := t.scene.Home
	if t.Server != at.Proxy.Name() {
		at = t.suite.lab.Rig.Hub
	}
	if t.N > 0 {
		t.gate = hold(at, t.N, t.suite.longer(soon), writes)
	} else {
		// The second: the first is already on its way, so that the pass has something to record even if no third one is sent.
		t.gate = hold(at, 2, t.suite.longer(soon), func(call proxy.Call) bool { return ofMaps(t.scene, call) })
	}
	defer t.gate.remove()
	defer t.gate.open() // writes that reach it after the operation continue
	done := t.operate(ctx)
	select {
	case t.call = <-t.gate.held:
	case over := <-done:
		t.notef("outcome", "not reached")
		return over.err
	}
	t.notef("held", "%s", t.call)
	if t.N == 0 {
		t.fail(t.answered(ctx))
	}
	struck := time.Now()
	err := t.strike(ctx)
	t.gate.open()
	over := <-done
	t.point.Converged = over.at.Sub(struck).Seconds()
	return errors.Join(err, over.err)
}

// bucket returns the bucket of the Scenario's Kyma.
func (t *attempt) bucket() int { return sharding.Bucket(v1beta2.DefaultNamespace, t.scene.Kyma().Name) }

// pick selects the replica to be struck, and reports whether it owns the Kyma.
func (t *attempt) pick(ctx context.Context) (owns bool, err error) {
	owner, err := t.fleet.owner(t.bucket())
	if err != nil {
		return false, err
	}
	switch t.Kind {
	case Comes:
		t.victim = t.fleet.all[full-1]
	case HeadKilled, HeadStopped:
		t.victim, err = t.fleet.head(ctx)
	case Ends, Killed, Stopped, StoppedLate, Failover:
		t.victim = owner
	}
	return t.victim == owner, err
}

// strike strikes a replica according to the Kind, and checks that nothing moves without need.
func (t *attempt) strike(ctx context.Context) error {
	owns, err := t.pick(ctx)
	if err != nil {
		return err
	}
	switch t.Kind {
	case Comes:
		return t.comes(ctx)
	case Ends:
		return t.replaced(ctx, func() error {
			ended := make(chan error, 1)
			go func() { ended <- t.victim.Stop() }()
			after(ctx, moment)
			t.gate.open()
			return <-ended
		})
	case Killed, HeadKilled:
		return t.replaced(ctx, func() error {
			defer t.gate.open()
			return t.victim.Kill()
		})
	case Stopped, StoppedLate, HeadStopped:
		return t.stands(ctx, owns)
	case Failover:
	}
	return fmt.Errorf("no one knows how to strike %q", t.Kind)
}

// comes starts one more replica, and lets the write continue when that replica was promised a share.
func (t *attempt) comes(ctx context.Context) error {
	mark := t.fleet.table.mark()
	if err := t.fleet.start(t.victim); err != nil {
		return err
	}
	err := wait.PollUntilContextTimeout(ctx, poll, t.fleet.within, true, func(context.Context) (bool, error) {
		for _, share := range t.fleet.table.now() {
			if name := t.fleet.name(t.victim); name != "" && (share.Next == name || share.Owner == name) {
				return true, nil
			}
		}
		return false, nil
	})
	t.gate.open()
	if err != nil {
		return fmt.Errorf("nothing is promised to one that came: %w", err)
	}
	return t.joins(ctx, mark)
}

// joins waits until the victim has its share, and checks that nothing else has moved.
func (t *attempt) joins(ctx context.Context, mark int) error {
	if err := t.fleet.even(ctx, t.fleet.all...); err != nil {
		return fmt.Errorf("one that came gets no even share: %w", err)
	}
	moves := t.fleet.table.since(mark)
	t.blame(come(moves, t.fleet.name(t.victim), full)...)
	t.notef("moved when it came", "%d", len(moves))
	return nil
}

// leaves removes a replica, and waits until the others have its share and nothing else has moved.
func (t *attempt) leaves(ctx context.Context, do func() error) error {
	mark, name, others := t.fleet.table.mark(), t.fleet.name(t.victim), t.fleet.others(t.victim)
	counts, _ := shares(t.fleet.table.now())
	begun := time.Now()
	if err := do(); err != nil {
		return err
	}
	if err := t.fleet.even(ctx, others...); err != nil {
		return fmt.Errorf("the others do not take over: %w", err)
	}
	moves := t.fleet.table.since(mark)
	t.blame(gone(moves, name, counts[name])...)
	t.notef("moved when it went", "%d", len(moves))
	t.notef("taken over after", "%.1f s", time.Since(begun).Seconds())
	return nil
}

// replaced ends the victim for good, and starts another one in its place.
func (t *attempt) replaced(ctx context.Context, do func() error) error {
	if err := t.leaves(ctx, do); err != nil {
		return err
	}
	mark := t.fleet.table.mark()
	if err := t.fleet.start(t.victim); err != nil {
		return err
	}
	t.before[t.victim] = nil // a new process counts from zero
	return t.joins(ctx, mark)
}

// stands stops the victim until the others have its share, and lets it continue, with its write in flight if it has one.
func (t *attempt) stands(ctx context.Context, owns bool) (err error) {
	paused := false
	defer func() {
		if paused {
			err = errors.Join(err, t.victim.Continue())
		}
	}()
	err = t.leaves(ctx, func() error {
		if err := t.victim.Pause(); err != nil {
			return err
		}
		paused = true
		if !owns {
			t.gate.open()
		}
		return nil
	})
	if err != nil {
		return err
	}
	if t.Kind == StoppedLate {
		t.gate.open()
		t.fail(t.gate.await(ctx, t.gate.through, "the late write was not answered"))
	}
	mark := t.fleet.table.mark()
	paused = false
	if err := t.victim.Continue(); err != nil {
		return err
	}
	if owns && t.Kind != StoppedLate {
		t.fail(t.gate.await(ctx, t.gate.back, "the replica that went on did not take its write back"))
		t.fail(t.fences(ctx))
	}
	return t.joins(ctx, mark)
}

// failover kills the owner of the Kyma, and runs the operation at once.
func (t *attempt) failover(ctx context.Context) error {
	if _, err := t.pick(ctx); err != nil {
		return err
	}
	var done <-chan operated
	var struck time.Time
	err := t.replaced(ctx, func() error {
		struck = time.Now()
		if err := t.victim.Kill(); err != nil {
			return err
		}
		done = t.operate(ctx)
		return nil
	})
	if done == nil {
		return err
	}
	over := <-done
	t.point.Converged = over.at.Sub(struck).Seconds()
	served := t.served(struck)
	t.notef("served after", "%.1f s", served.Seconds())
	grace := t.suite.longer(grace)
	limit := t.Terms.Lease + grace
	if served == 0 || served > limit {
		t.blame(fmt.Sprintf("the first write for the Kyma came %s after the death of its replica, more than its lease of %s and %s",
			served, t.Terms.Lease, grace))
	}
	if whole := over.at.Sub(struck); whole > limit && t.Operation.Name != slow {
		t.blame(fmt.Sprintf("the Kyma was as asked for %s after the death of its replica, more than its lease of %s and %s",
			whole, t.Terms.Lease, grace))
	}
	return errors.Join(err, over.err)
}

// served returns how long after a moment the first write for the Kyma reached the hub; 0 when none did.
func (t *attempt) served(since time.Time) time.Duration {
	hub := t.suite.lab.Rig.Hub.Proxy
	for _, call := range hub.Since(t.scene.Since[hub.Name()]) {
		if call.At.After(since) && call.Mutating && !call.Heartbeat() && call.Upstream/100 == 2 && strings.Contains(call.Name, t.scene.ID) {
			return call.At.Add(call.Took).Sub(since)
		}
	}
	return 0
}

// after waits.
func after(ctx context.Context, pause time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}
