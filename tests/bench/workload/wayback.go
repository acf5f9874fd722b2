package workload

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/bench/fit"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

// wayBackBound is how long after the deadline the version before must run again.
const wayBackBound = 10 * time.Second

// wayBack is B12: versions that never run come to Kymas whose module goes back by itself. Each must be left once, and never come again.
func wayBack(ctx context.Context, b *Bench, f *Setup) error {
	names := f.released()
	r := b.Result("B12", fmt.Sprintf("K=%d", len(names)))
	if err := f.offerReleased(ctx, backModule); err != nil {
		return err
	}
	if err := f.goBackByItself(ctx, names); err != nil {
		return err
	}
	starts, err := f.FollowStarts(ctx, backModule)
	if err != nil {
		return err
	}
	var took []time.Duration
	var failing []string
	for end := time.Now().Add(2 * b.Idle); len(failing) == 0 || !b.Brief && time.Now().Before(end); {
		version := number(len(failing) + 2)
		failing = append(failing, version)
		times, err := b.fail(ctx, f, starts, names, version)
		if err != nil {
			return err
		}
		took = append(took, times...)
	}
	if err := b.stayBack(ctx, f, r); err != nil {
		return err
	}
	if err := starts.Stop(); err != nil {
		return err
	}
	loops := 0
	for _, version := range failing {
		loops += starts.Repeats(version)
	}
	q := fit.Quantiles(took, 0.5, 0.99)
	r.Add("failing versions", "", float64(len(failing)))
	r.Add("began to the version before Ready, p50", "s", q[0].Seconds())
	r.Add("began to the version before Ready, p99", "s", q[1].Seconds(), report.AtMost((shortDeadline + wayBackBound).Seconds()))
	r.Add("failing versions that came again", "loops", float64(loops), report.Exactly(0))
	r.Notes = append(r.Notes, fmt.Sprintf("progressDeadline is %s, the shortest.", shortDeadline))
	if err := b.Done(r); err != nil {
		return err
	}
	return f.setModule(ctx, names, backModule, false)
}

// goBackByItself enables the module that goes back by itself, and waits until it runs.
func (f *Setup) goBackByItself(ctx context.Context, names []string) error {
	bounded, cancel := context.WithTimeout(ctx, landing)
	defer cancel()
	wait := f.Kymas.When(names, testbench.ReadyAt(backModule, version1))
	defer wait.Forget()
	deadline := duration(shortDeadline)
	for _, name := range names {
		_, _, err := f.ChangeKyma(ctx, name, func(k *v1beta2.Kyma) {
			k.Spec.Modules = append(k.Spec.Modules, v1beta2.Module{
				Name: backModule, OnFailedUpgrade: v1beta2.FailedUpgradeRollback, ProgressDeadline: &deadline,
			})
		})
		if err != nil {
			return err
		}
	}
	_, err := wait.Done(bounded)
	return err
}

// fail lets the channel move to a version whose pods never run, and returns how long each Kyma took from its beginning until the version
// before ran again.
func (b *Bench) fail(
	ctx context.Context, f *Setup, starts *testbench.Starts, names []string, version string,
) ([]time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, b.patience(len(names)))
	defer cancel()
	if err := f.Offer(ctx, releasedAt(backModule, version)); err != nil {
		return nil, err
	}
	for _, name := range names {
		f.runtimeOf(name).NeverRun(releasedAt(backModule, version).Image())
	}
	if err := f.Point(ctx, backModule, version, v1beta2.DefaultChannel); err != nil {
		return nil, err
	}
	if err := starts.Await(ctx, version, len(names)); err != nil {
		return nil, err
	}
	at, err := f.Kymas.When(names, wentBack(version)).Done(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w\nthe manager's log ends with:\n%s", err, f.Manager.Log())
	}
	var took []time.Duration
	for name, began := range starts.Of(version) {
		took = append(took, at[name].Sub(began))
	}
	return took, nil
}

// wentBack says that the first version runs again because another one failed.
func wentBack(failed string) func(*v1beta2.Kyma) bool {
	return func(k *v1beta2.Kyma) bool {
		return slices.ContainsFunc(k.Status.Modules, func(m v1beta2.ModuleStatus) bool {
			return m.Name == backModule && m.Version == version1 && m.State == v1beta2.StateReady && strings.HasPrefix(m.Avoid, failed+"@")
		})
	}
}

// stayBack watches Kymas that went back: nothing may be said, although the channel names what failed.
func (b *Bench) stayBack(ctx context.Context, f *Setup, r *report.Result) error {
	before, err := f.Settle(ctx, quiet)
	if err != nil {
		return err
	}
	if err := pause(ctx, b.Idle); err != nil {
		return err
	}
	after, err := f.Calls()
	if err != nil {
		return err
	}
	said := after.Since(before)
	r.Add(fmt.Sprintf("writes in %s after the last way back", b.Idle), "writes",
		float64(said.Hub.Writes().Total()+said.Runtimes.Writes().Total()), report.Exactly(0))
	return nil
}
