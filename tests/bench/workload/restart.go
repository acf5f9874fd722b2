package workload

import (
	"context"
	"fmt"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// restart is B8: the manager is killed, a Kyma is changed, and a new manager starts: once with the content that the old one fetched, and
// once without.
func restart(ctx context.Context, b *Bench, f *Setup) error {
	if err := b.restartOnce(ctx, f, b.Result("B8", b.Case(f.Size())), f.Late[0]); err != nil {
		return err
	}
	r := b.Result("B8", b.Case(f.Size())+", fetched content lost")
	return b.restartOnce(ctx, f, r, f.Late[1], f.ForgetContent)
}

// restartOnce enables a module in the first Kyma while there is no manager.
func (b *Bench) restartOnce(ctx context.Context, f *Setup, r *report.Result, module string, meanwhile ...func() error) error {
	if _, err := f.Settle(ctx, quiet); err != nil {
		return err
	}
	usual, err := f.enableCounted(ctx, f.Names[min(1, len(f.Names)-1)], module)
	if err != nil {
		return err
	}
	streams := f.Sim.Counts().Watches
	if err := f.Manager.Kill(); err != nil {
		return err
	}
	for _, do := range meanwhile {
		if err := do(); err != nil {
			return err
		}
	}
	before, err := f.Calls()
	if err != nil {
		return err
	}
	changed := f.Names[0]
	wait := f.Kymas.When([]string{changed}, has(module))
	if _, err := f.enable(ctx, changed, module); err != nil {
		return err
	}
	m, err := f.LaunchManager(ctx, b.managerOptions())
	if err != nil {
		return err
	}
	track := meter.Follow(ctx, m.PID(), 200*time.Millisecond)
	if err := m.AwaitReady(ctx); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, b.patience(f.Size()))
	defer cancel()
	at, err := wait.Done(bounded)
	if err != nil {
		return fmt.Errorf("%w\nthe manager's log ends with:\n%s", err, m.Log())
	}
	connected, err := f.awaitStreams(bounded, streams)
	if err != nil {
		return err
	}
	after, err := f.Settle(ctx, quiet)
	if err != nil {
		return err
	}
	seen, err := track.Stop()
	if err != nil {
		return err
	}
	spent := after.Since(before)
	tellStart(r, f.Size(), m, at[changed], connected)
	tellNeedless(r, spent, usual)
	top := meter.Peak(seen)
	r.Add("CPU until all is quiet", "s", top.CPU.Seconds())
	r.Add("peak memory (RSS)", "MiB", mib(top.RSS))
	return b.Done(r)
}

// tellStart says how long what is waited for after a start took.
func tellStart(r *report.Result, size int, m *testbench.Manager, served, connected time.Time) {
	r.Add("caches filled after", "s", m.Ready.Sub(m.Started).Seconds())
	r.Add("the changed Kyma is served after", "s", served.Sub(m.Started).Seconds(), restartBound(size))
	r.Add("all runtimes are watched again after", "s", connected.Sub(m.Started).Seconds())
}

// awaitStreams waits until as many watches are open as before, and returns when that was.
func (f *Setup) awaitStreams(ctx context.Context, streams int) (time.Time, error) {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		open := f.Sim.Counts().Watches
		if open >= streams {
			return time.Now(), nil
		}
		select {
		case <-ctx.Done():
			return time.Time{}, fmt.Errorf("%d of %d watches are open again: %w", open, streams, ctx.Err())
		case <-ticker.C:
		}
	}
}

// enableCounted enables a module in a Kyma and returns all calls that this caused: what it costs without a restart.
func (f *Setup) enableCounted(ctx context.Context, name, module string) (testbench.Calls, error) {
	before, err := f.Calls()
	if err != nil {
		return testbench.Calls{}, err
	}
	if _, err := f.Enable(ctx, name, module); err != nil {
		return testbench.Calls{}, err
	}
	after, err := f.Settle(ctx, quiet)
	return after.Since(before), err
}

// tellNeedless tells how many writes came on top of what the change costs without a restart.
func tellNeedless(r *report.Result, spent, usual testbench.Calls) {
	extra := func(of func(testbench.Calls) float64) float64 { return of(spent) - of(usual) }
	applies := func(c testbench.Calls) float64 { return moduleWrites(c.Runtimes) }
	others := func(c testbench.Calls) float64 { return float64(c.Runtimes.Writes().Total()) - applies(c) }
	hub := func(c testbench.Calls) float64 { return float64(c.Hub.Writes().Total()) }
	r.Add("needless writes of modules' objects", "writes", extra(applies), report.AtMost(0))
	// The status of the changed Kyma may say in between what its runtime, the component and the content are waiting for: a manager that has
	// just started knows none of them, and its runtime is told of what outlasts the connecting.
	r.Add("other needless writes to runtimes", "writes", extra(others), report.AtMost(1))
	r.Add("needless writes to the hub", "writes", extra(hub), report.AtMost(4))
	r.Add("reads of the hub", "calls", float64(reads(spent.Hub).Total()))
	r.Add("reads of runtimes", "calls", float64(reads(spent.Runtimes).Total()))
	r.Add("of these not beginnings of watches", "calls", float64(reads(spent.Runtimes).Where(func(c calls.Call) bool {
		return c.Verb != calls.Watch
	}).Total()))
	if extra(others)+extra(hub) > 0 {
		r.Notes = append(r.Notes, "Writes with a restart:\n"+spent.Hub.Writes().Plain().String()+"\n"+spent.Runtimes.Writes().Plain().String(),
			"Writes without one:\n"+usual.Hub.Writes().Plain().String()+"\n"+usual.Runtimes.Writes().Plain().String())
	}
}
