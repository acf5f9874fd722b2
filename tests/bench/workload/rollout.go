package workload

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

// foreignEvery is the pause between two changes by another user while a version is rolled out.
const foreignEvery = 500 * time.Millisecond

// rollout is B4: a channel of a module that every Kyma has moves to a new version, or those of several modules. Meanwhile a user
// enables a module in one Kyma after the other, from the last to the first, and each time is told how long that takes.
func rollout(ctx context.Context, b *Bench, f *Setup) error {
	modules := f.Modules[:f.rolled]
	for _, module := range modules {
		if err := f.Offer(ctx, testbench.Module{Name: module, Version: version2, Objects: b.Objects}); err != nil {
			return err
		}
	}
	if _, err := f.Settle(ctx, quiet); err != nil {
		return err
	}
	r := b.Result("B4", b.Case(f.Size()))
	cost, err := begin(ctx, f.Bench)
	if err != nil {
		return err
	}
	wait := f.Kymas.When(f.Names, allAt(modules, version2))
	rates, profile := f.sample(ctx), b.profile(ctx, f.Bench, fmt.Sprintf("B4-%d", f.k))
	bounded, cancel := context.WithTimeout(ctx, b.patience(f.Size()))
	defer cancel()
	sent := time.Now()
	for _, module := range modules {
		if err := f.Point(ctx, module, version2, v1beta2.DefaultChannel); err != nil {
			return err
		}
	}
	foreign := f.disturb(bounded, wait)
	at, err := wait.Done(bounded)
	if err != nil {
		return fmt.Errorf("%w\nthe manager's log ends with:\n%s", err, f.Manager.Log())
	}
	if err := profile(); err != nil {
		return err
	}
	latencies, err := foreign()
	if err != nil {
		return err
	}
	peak, err := rates()
	if err != nil {
		return err
	}
	return b.tellRollout(ctx, f, r, cost, sent, at, latencies, peak)
}

// allAt says that a Kyma is Ready with every one of the modules in a version.
func allAt(modules []string, version string) func(*v1beta2.Kyma) bool {
	return func(kyma *v1beta2.Kyma) bool {
		return !slices.ContainsFunc(modules, func(module string) bool { return !testbench.ReadyAt(module, version)(kyma) })
	}
}

func (b *Bench) tellRollout(ctx context.Context, f *Setup, r *report.Result, cost *cost, sent time.Time, at map[string]time.Time,
	foreign *meter.Latencies, peak float64,
) error {
	spent, err := cost.end(ctx)
	if err != nil {
		return err
	}
	var reached meter.Latencies
	for _, t := range at {
		reached.Add(t.Sub(sent))
	}
	all := reached.Quantile(1)
	objects := float64(f.Size() * b.Objects * f.rolled)
	// What the bare loop needs to change the same objects, which are there already, is no bound: it writes nothing to the hub.
	change, err := f.bare(ctx, b, shareBefore, version2)
	if err != nil {
		return err
	}
	bare := objects / change.Rate()
	r.Add("half of the Kymas Ready after", "s", reached.Quantile(0.5).Seconds())
	r.Add("99 % after", "s", reached.Quantile(0.99).Seconds())
	r.Add("all after", "s", all.Seconds())
	r.Add("the bare loop would need", "s", bare)
	r.Add("ratio of the two", "", all.Seconds()/bare)
	f.Necessary.tellBump(r, f.Size(), all)
	r.Add("most calls to the hub in a second", "calls/s", peak, report.AtMost(1000))
	r.Add("manager's CPU for each Kyma", "ms", spent.usage.CPU.Seconds()*1000/float64(f.Size()))
	sum := foreign.Summary()
	r.Add("concurrent changes by another user", "", float64(sum.Count))
	r.Add("these land after, p50", "ms", meter.Milliseconds(sum.P50))
	r.Add("these land after, p99", "ms", meter.Milliseconds(sum.P99), b.landingBound())
	if _, err := f.Settle(ctx, quiet); err != nil {
		return err
	}
	return b.Done(r)
}

// disturb enables the extra module in one Kyma after the other, until no one is waited for any more, at least once. The function that it
// returns waits for the last of them.
func (f *Setup) disturb(ctx context.Context, until *testbench.Wait) func() (*meter.Latencies, error) {
	latencies, done := &meter.Latencies{}, make(chan error, 1)
	go func() { done <- f.disturbing(ctx, until, latencies) }()
	return func() (*meter.Latencies, error) { return latencies, <-done }
}

func (f *Setup) disturbing(ctx context.Context, until *testbench.Wait, latencies *meter.Latencies) error {
	ticker := time.NewTicker(foreignEvery)
	defer ticker.Stop()
	for _, name := range slices.Backward(f.Names) {
		took, err := f.Enable(ctx, name, f.Extra)
		if err != nil {
			return err
		}
		latencies.Add(took)
		if until.Missing() == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
	return nil
}

// Enable enables a module in a Kyma and takes the time until it runs there; the Kyma's others may still be on their way.
func (f *Setup) Enable(ctx context.Context, name, module string) (time.Duration, error) {
	wait := f.Kymas.When([]string{name}, has(module))
	sent, err := f.enable(ctx, name, module)
	if err != nil {
		return 0, err
	}
	at, err := wait.Done(ctx)
	return at[name].Sub(sent), err
}

// enable only asks for it, and returns when.
func (f *Setup) enable(ctx context.Context, name, module string) (time.Time, error) {
	_, sent, err := f.ChangeKyma(ctx, name, func(kyma *v1beta2.Kyma) {
		kyma.Spec.Modules = append(kyma.Spec.Modules, v1beta2.Module{Name: module})
	})
	return sent, err
}

// has says that a module runs.
func has(module string) func(*v1beta2.Kyma) bool {
	return func(kyma *v1beta2.Kyma) bool {
		return slices.ContainsFunc(kyma.Status.Modules, func(m v1beta2.ModuleStatus) bool {
			return m.Name == module && m.State == v1beta2.StateReady
		})
	}
}

// sample looks at the calls to the hub every second. The function that it returns ends that and gives the most of a second.
func (f *Setup) sample(ctx context.Context) func() (float64, error) {
	ctx, cancel := context.WithCancel(ctx)
	top, done := 0.0, make(chan error, 1)
	go func() {
		done <- f.sampling(ctx, func(rate float64) { top = max(top, rate) })
	}()
	return func() (float64, error) {
		cancel()
		err := <-done
		return top, err
	}
}

func (f *Setup) sampling(ctx context.Context, tell func(float64)) error {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	before, err := f.Calls()
	for last := time.Now(); err == nil; {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		var now testbench.Calls
		if now, err = f.Calls(); err == nil {
			tell(float64(now.Hub.Diff(before.Hub).Total()) / time.Since(last).Seconds())
			before, last = now, time.Now()
		}
	}
	return err
}
