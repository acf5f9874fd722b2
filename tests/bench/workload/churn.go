package workload

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

const (
	// churned is how many Kymas are changed, churnPace the time between two changes. For a fleet of 1,000 it is 48 % a minute, much more than
	// users do; fewer would take long until their times say something.
	churned   = 150
	churnPace = 125 * time.Millisecond
	// landing bounds the waiting for one change.
	landing = 2 * time.Minute
	// churnModule has extraObjects objects, and no Kyma has it at first.
	churnModule = "churn"

	enable, disable = "enable", "disable"
)

// offerOurs publishes the modules of churn and drift. It is done when a fleet is made, since every runtime's catalog tells of them.
func offerOurs(ctx context.Context, f *Setup) error {
	for _, m := range []testbench.Module{{Name: churnModule}, {Name: workerModule, Deployment: true}} {
		m.Version, m.Objects = version1, extraObjects
		if err := f.Offer(ctx, m, v1beta2.DefaultChannel); err != nil {
			return err
		}
	}
	return nil
}

// churn is B5: users enable a module in one Kyma after the other, and disable it again.
func churn(ctx context.Context, b *Bench, f *Setup) error {
	r := b.Result("B5", b.Case(f.Size()))
	if _, err := f.Settle(ctx, quiet); err != nil {
		return err
	}
	names := spread(f.Names, churned)
	for _, what := range []string{enable, disable} {
		cost, err := begin(ctx, f.Bench)
		if err != nil {
			return err
		}
		var took meter.Latencies
		if err := f.flipAll(ctx, names, what == enable, &took); err != nil {
			return err
		}
		if err := f.tellChurn(ctx, r, what, cost, &took); err != nil {
			return err
		}
	}
	r.Notes = append(r.Notes, fmt.Sprintf("%.0f changes a second, each to another Kyma; the module has %d objects.",
		1/churnPace.Seconds(), extraObjects))
	return b.Done(r)
}

func (f *Setup) tellChurn(ctx context.Context, r *report.Result, what string, cost *cost, took *meter.Latencies) error {
	if _, err := f.Settle(ctx, quiet); err != nil {
		return err
	}
	spent, err := cost.end(ctx)
	if err != nil {
		return err
	}
	sum := took.Summary()
	n := float64(sum.Count)
	r.Add("changes: "+what+" a module", "", n)
	r.Add(what+" to Ready, p50", "ms", meter.Milliseconds(sum.P50), report.AtMost(300))
	r.Add(what+" to Ready, p99", "ms", meter.Milliseconds(sum.P99), report.AtMost(1000))
	r.Add(what+": writes of the module's objects", "writes", moduleWrites(spent.calls.Runtimes)/n, report.AtMost(1.05*extraObjects+3))
	r.Add(what+": all writes to the runtime", "writes", float64(spent.calls.Runtimes.Writes().Total())/n)
	r.Add(what+": writes to the hub", "writes", float64(spent.calls.Hub.Writes().Total())/n, report.AtMost(5))
	r.Add(what+": manager's CPU", "ms", spent.usage.CPU.Seconds()*1000/n)
	return nil
}

// flipAll enables or disables the module of churn in Kymas, at a steady pace.
func (f *Setup) flipAll(ctx context.Context, names []string, on bool, took *meter.Latencies) error {
	return paced(ctx, churnPace, names, func(ctx context.Context, name string) error {
		t, err := f.flip(ctx, name, on)
		took.Add(t)
		return err
	})
}

// flip enables or disables the module of churn in a Kyma, and takes the time until that came about.
func (f *Setup) flip(ctx context.Context, name string, on bool) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, landing)
	defer cancel()
	wait := f.Kymas.When([]string{name}, stands(churnModule, on))
	_, sent, err := f.ChangeKyma(ctx, name, editModule(churnModule, on))
	if err != nil {
		wait.Forget()
		return 0, err
	}
	at, err := wait.Done(ctx)
	if err != nil {
		return 0, fmt.Errorf("%w\nthe manager's log ends with:\n%s", err, f.Manager.Log())
	}
	return at[name].Sub(sent), nil
}

// editModule puts a module into a Kyma's spec, or takes it out.
func editModule(module string, on bool) func(*v1beta2.Kyma) {
	return func(k *v1beta2.Kyma) {
		k.Spec.Modules = slices.DeleteFunc(k.Spec.Modules, func(m v1beta2.Module) bool { return m.Name == module })
		if on {
			k.Spec.Modules = append(k.Spec.Modules, v1beta2.Module{Name: module})
		}
	}
}

// stands says that a Kyma is Ready with a module that it asks for, or without one that it does not ask for.
func stands(module string, on bool) func(*v1beta2.Kyma) bool {
	return func(k *v1beta2.Kyma) bool {
		asked := slices.ContainsFunc(k.Spec.Modules, func(m v1beta2.Module) bool { return m.Name == module })
		told := slices.ContainsFunc(k.Status.Modules, func(m v1beta2.ModuleStatus) bool { return m.Name == module })
		return asked == on && told == on && testbench.Ready(k)
	}
}

// setModule enables or disables a module in Kymas, all at once, and waits until that came about.
func (f *Setup) setModule(ctx context.Context, names []string, module string, on bool) error {
	bounded, cancel := context.WithTimeout(ctx, landing+time.Duration(len(names))*100*time.Millisecond)
	defer cancel()
	wait := f.Kymas.When(names, stands(module, on))
	defer wait.Forget()
	for _, name := range names {
		if _, _, err := f.ChangeKyma(ctx, name, editModule(module, on)); err != nil {
			return err
		}
	}
	if _, err := wait.Done(bounded); err != nil {
		return fmt.Errorf("%w\nthe manager's log ends with:\n%s", err, f.Manager.Log())
	}
	return nil
}

// spread takes n names or fewer, evenly.
func spread(names []string, n int) []string {
	n = min(n, len(names))
	taken := make([]string, 0, n)
	for i := range n {
		taken = append(taken, names[i*len(names)/n])
	}
	return taken
}

// paced begins with one of the names after the other, whether the ones before are done or not, and returns when all are.
func paced(ctx context.Context, pace time.Duration, names []string, do func(ctx context.Context, name string) error) error {
	group, ctx := errgroup.WithContext(ctx)
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	for _, name := range names {
		group.Go(func() error { return do(ctx, name) })
		select {
		case <-ctx.Done():
			return group.Wait()
		case <-ticker.C:
		}
	}
	return group.Wait()
}
