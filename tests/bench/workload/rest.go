package workload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
)

// released is how long after the last work the manager has given back the memory of it, which costs a collection.
const released = 75 * time.Second

// rest is B3: nothing changes anywhere. Every call is told. The manager is alone and has no heartbeat; that of several is counted by
// tests/shards.
func rest(ctx context.Context, b *Bench, f *Setup) error {
	if _, err := f.Settle(ctx, quiet); err != nil {
		return err
	}
	if err := pause(ctx, min(b.Idle, released)); err != nil {
		return err
	}
	r := b.Result("B3", fmt.Sprintf("%s, %s", b.Case(f.Size()), b.Idle))
	cost, err := begin(ctx, f.Bench)
	if err != nil {
		return err
	}
	if err := pause(ctx, b.Idle); err != nil {
		return err
	}
	spent, err := cost.end(ctx)
	if err != nil {
		return err
	}
	memory, err := meter.Live(ctx, f.Manager.Profiles)
	if err != nil {
		return err
	}
	hub := spent.calls.Hub
	r.Add("writes to runtimes", "writes", float64(spent.calls.Runtimes.Writes().Total()), report.Exactly(0))
	r.Add("writes to the hub", "writes", float64(hub.Writes().Total()), report.Exactly(0))
	r.Add("reads of runtimes", "calls", float64(reads(spent.calls.Runtimes).Total()))
	r.Add("reads of the hub", "calls", float64(reads(hub).Total()), report.AtMost(0)) // its watches last for an hour at least
	spent.tell(r, 1, "")
	r.Add("CPU of one core", "%", 100*spent.usage.CPU.Seconds()/spent.took.Seconds(), report.AtMost(1))
	r.Add("live heap", "MiB", mib(memory.Live))
	usage, err := meter.Of(f.Manager.PID())
	if err != nil {
		return err
	}
	r.Add("memory (PSS)", "MiB", mib(usage.PSS), restBound(f.Size()))
	r.Add("goroutines", "", float64(memory.Goroutines))
	if spent.calls.Runtimes.Total() > 0 {
		r.Notes = append(r.Notes, "Calls to runtimes:\n"+spent.calls.Runtimes.Plain().String())
	}
	if hub.Total() > 0 {
		r.Notes = append(r.Notes, "Calls to the hub:\n"+hub.Plain().String())
	}
	return errors.Join(b.Done(r), b.profileRest(ctx, f))
}

// pause waits.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
