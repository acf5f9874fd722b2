package testbench

import (
	"context"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// Calls are what the manager said, and to whom.
type Calls struct{ Hub, Runtimes calls.Counts }

// Since returns what came on top of an earlier snapshot.
func (c Calls) Since(before Calls) Calls {
	return Calls{Hub: c.Hub.Diff(before.Hub), Runtimes: c.Runtimes.Diff(before.Runtimes)}
}

// Calls counts everything that the manager said so far.
func (w *Bench) Calls() (Calls, error) {
	hub, err := w.Hub.audit.snapshot()
	if err != nil {
		return Calls{}, err
	}
	// The bare loop of the necessary writes has the manager's account on the hub.
	hub = hub.Where(managers)
	if w.Sim != nil {
		return Calls{Hub: hub, Runtimes: w.Sim.Counts().Calls.Where(managers)}, nil
	}
	all := calls.Counts{}
	for _, r := range w.Runtimes {
		if r.audit == nil {
			continue
		}
		counts, err := r.audit.snapshot()
		if err != nil {
			return Calls{}, err
		}
		for call, n := range counts {
			all[call] += n
		}
	}
	return Calls{Hub: hub, Runtimes: all}, nil
}

// managers says that a call is the manager's, and not the bare loop's.
func managers(c calls.Call) bool { return !strings.HasPrefix(c.Agent, bareUser) }

// Total returns how many there were.
func (c Calls) Total() int { return c.Hub.Total() + c.Runtimes.Total() }

// settlePoll is how often it is looked whether anything was said, at most.
const settlePoll = 500 * time.Millisecond

// Settle waits until the manager has said nothing to anyone for some time, and returns the calls until then. Leases do not count.
func (w *Bench) Settle(ctx context.Context, quiet time.Duration) (Calls, error) {
	ticker := time.NewTicker(min(settlePoll, quiet/4))
	defer ticker.Stop()
	last, since := -1, time.Now()
	for {
		now, err := w.Calls()
		if err != nil {
			return Calls{}, err
		}
		total := now.Total() - leases(now.Hub)
		if total != last {
			last, since = total, time.Now()
		}
		if time.Since(since) >= quiet {
			return now, nil
		}
		select {
		case <-ctx.Done():
			return now, ctx.Err()
		case <-ticker.C:
		}
	}
}

func leases(c calls.Counts) int {
	return c.Where(func(call calls.Call) bool { return call.Resource == "leases.coordination.k8s.io" }).Total()
}
