package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/bench/fit"
	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

const (
	// memorySteps is in how many steps a fleet grows, and memoryObjects how many objects its module has.
	memorySteps, memoryObjects = 2, 16
	// memoryRest is longer than the manager takes to notice that it has nothing to do, and to give memory back.
	memoryRest = 70 * time.Second
	// perRuntime is the goal in KiB, for 8 watched kinds.
	perRuntime = 200
)

// memoryKinds are how many kinds are watched in each runtime, beside its Kyma.
var memoryKinds = []int{3, 8}

// memory lets a fleet grow step by step and tells by how much the manager's memory grows with every runtime.
func memory(ctx context.Context, b *Bench) error {
	var problems []error
	for _, kinds := range memoryKinds {
		problems = append(problems, b.memoryOf(ctx, kinds, slices.Max(b.Kymas)))
	}
	return errors.Join(problems...)
}

func (b *Bench) memoryOf(ctx context.Context, kinds, k int) (err error) {
	k = max(k/memorySteps, 1) * memorySteps
	w, err := b.open(ctx, testbench.Options{Runtimes: k, Simulated: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	r := b.Result("memory", fmt.Sprintf("K=%d, %d kinds watched", k, kinds))
	module := testbench.Module{Name: "kinds", Version: version1, Objects: memoryObjects, Kinds: kinds}
	if err := w.Offer(ctx, module, v1beta2.DefaultChannel); err != nil {
		return err
	}
	if _, err := w.StartManager(ctx, b.managerOptions()); err != nil {
		return err
	}
	var pss, live []fit.Point
	for step := 0; step <= memorySteps; step++ {
		if step > 0 {
			if err := b.grow(ctx, w, (step-1)*k/memorySteps, k/memorySteps, module.Name); err != nil {
				return err
			}
		}
		if err := pause(ctx, memoryRest); err != nil {
			return err
		}
		usage, err := meter.Of(w.Manager.PID())
		if err != nil {
			return err
		}
		l, err := meter.Live(ctx, w.Manager.Profiles)
		if err != nil {
			return err
		}
		x := float64(step * k / memorySteps)
		pss = append(pss, fit.Point{X: x, Y: kib(usage.PSS)})
		live = append(live, fit.Point{X: x, Y: kib(l.Live + l.Stacks)})
		b.Logf("memory: %d kinds, K=%.0f: PSS %.0f KiB, live %.0f KiB", kinds, x, kib(usage.PSS), kib(l.Live+l.Stacks))
	}
	goal := report.Bound{}
	if kinds == slices.Max(memoryKinds) {
		goal = report.AtMost(perRuntime)
	}
	r.Add("memory (PSS) for each runtime", "KiB", fit.Straight(pss).Slope, goal)
	r.Add("live heap and stacks for each runtime", "KiB", fit.Straight(live).Slope)
	r.Add("memory (PSS) at the end", "MiB", pss[len(pss)-1].Y/1024)
	return b.Done(r)
}

// grow brings Kymas in and waits until nothing moves.
func (b *Bench) grow(ctx context.Context, w *testbench.Bench, first, count int, modules ...string) error {
	if err := w.GiveAccess(ctx, first, count); err != nil {
		return err
	}
	batch, err := w.CreateKymas(ctx, first, count, modules...)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, b.patience(count))
	defer cancel()
	if _, err := w.Kymas.When(batch.Names, testbench.Ready).Done(bounded); err != nil {
		return fmt.Errorf("%w\nthe manager's log ends with:\n%s", err, w.Manager.Log())
	}
	_, err = w.Settle(ctx, quiet)
	return err
}
