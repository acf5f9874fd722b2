package workload

import (
	"context"
	"fmt"
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/bench/fit"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

const (
	// waveModule and backModule have a Deployment, and no Kyma has them at first. At most mostReleased Kymas get them.
	waveModule, backModule = "wave", "back"
	mostReleased           = 100
	// shortDeadline is the shortest progressDeadline that there can be.
	shortDeadline = 10 * time.Second
	// longSoak outlasts what is watched of it.
	longSoak = time.Hour
	// batches is how many writes of its own a rollout may make in a second: events of many Kymas are one batch. A few more are for its
	// beginning and its end.
	batches, batchesAside = 5, 4
)

// waves is B11: releases with a ModuleRollout. What a plan costs is the difference to the same release without one; the others are about
// what a plan is for.
func waves(ctx context.Context, b *Bench, f *Setup) error {
	if err := b.planCost(ctx, f); err != nil {
		return err
	}
	if err := f.offerReleased(ctx, waveModule); err != nil {
		return err
	}
	names := f.released()
	if err := f.setModule(ctx, names, waveModule, true); err != nil {
		return err
	}
	parts := []func(context.Context, *Setup, []string) error{b.crossing}
	if !b.Brief {
		parts = append(parts, b.stages, b.lost, b.allowance)
	}
	for _, part := range parts {
		if err := part(ctx, f, names); err != nil {
			return err
		}
	}
	return f.setModule(ctx, names, waveModule, false)
}

// released are the Kymas that get the modules of releases.
func (f *Setup) released() []string { return f.Names[:min(mostReleased, f.Size())] }

// offerReleased publishes the first version of a module with a Deployment.
func (f *Setup) offerReleased(ctx context.Context, module string) error {
	return f.Offer(ctx, releasedAt(module, version1), v1beta2.DefaultChannel)
}

func releasedAt(module, version string) testbench.Module {
	return testbench.Module{Name: module, Version: version, Objects: extraObjects, Deployment: true, RollbackTo: ">=" + version1}
}

// number returns a version that no other workload uses.
func number(n int) string { return fmt.Sprintf("%d.0.0", n) }

// duration is a time as a plan has it.
func duration(d time.Duration) metav1.Duration { return metav1.Duration{Duration: d} }

// oneWave is a plan with a wave for all, without a limit.
func oneWave(soak time.Duration) v1beta2.ModuleRolloutSpec {
	return v1beta2.ModuleRolloutSpec{
		Channels: []string{v1beta2.DefaultChannel},
		Waves:    []v1beta2.RolloutWave{{Name: "all", Soak: duration(soak)}}, ProgressDeadline: duration(30 * time.Minute),
	}
}

// bump is what a release cost.
type bump struct {
	took time.Duration
	// hub are the writes to the hub but for those of the ModuleRollout, which are own.
	hub, own float64
	text     string
}

// planCost releases versions of a module that all have, in turn without a plan and with one wave for all. Then the wave soaks, and nothing
// may be said.
func (b *Bench) planCost(ctx context.Context, f *Setup) error {
	r := b.Result("B11", b.Case(f.Size())+", one wave for all")
	module := f.Modules[len(f.Modules)-1]
	var plain, planned []bump
	for i := range b.Pairs {
		one, err := b.release(ctx, f, module, number(3+2*i))
		if err != nil {
			return err
		}
		if err := f.Plan(ctx, module, oneWave(longSoak)); err != nil {
			return err
		}
		other, err := b.release(ctx, f, module, number(4+2*i))
		if err != nil {
			return err
		}
		plain, planned = append(plain, one), append(planned, other)
		if i == b.Pairs-1 {
			if err := b.soaking(ctx, f, r); err != nil {
				return err
			}
		}
		if err := f.complete(ctx, module, number(4+2*i)); err != nil {
			return err
		}
		b.Logf("B11: %d of %d: all Ready after %.2f s, with a plan %.2f s", i+1, b.Pairs, one.took.Seconds(), other.took.Seconds())
	}
	b.tellPlanCost(r, plain, planned)
	return b.Done(r)
}

// complete ends the soak of a rollout, so that every Kyma may have the version, and removes the plan.
func (f *Setup) complete(ctx context.Context, module, version string) error {
	if err := f.Plan(ctx, module, oneWave(0)); err != nil {
		return err
	}
	if _, err := f.AwaitRollout(ctx, module, testbench.InPhase(version, v1beta2.RolloutCompleted)); err != nil {
		return err
	}
	return f.Unplan(ctx, module)
}

// release publishes a version, lets the channel move to it, and waits until all have it and nothing is said any more.
func (b *Bench) release(ctx context.Context, f *Setup, module, version string) (bump, error) {
	ctx, cancel := context.WithTimeout(ctx, b.patience(f.Size()))
	defer cancel()
	if err := f.Offer(ctx, testbench.Module{Name: module, Version: version, Objects: b.Objects}); err != nil {
		return bump{}, err
	}
	before, err := f.Settle(ctx, quiet)
	if err != nil {
		return bump{}, err
	}
	took, err := f.move(ctx, f.Names, module, version)
	if err != nil {
		return bump{}, err
	}
	after, err := f.Settle(ctx, quiet)
	writes := after.Since(before).Hub.Writes()
	own := writes.Where(isRollout)
	return bump{
		took: fit.Quantile(took, 1), own: float64(own.Total()), hub: float64(writes.Total() - own.Total()), text: writes.Plain().String(),
	}, err
}

func isRollout(c calls.Call) bool {
	return c.Resource == "modulerollouts.operator.kyma-project.io" || c.Resource == "modulerollouts.operator.kyma-project.io/status"
}

// move lets the channel of a module offer a version, and returns how long each of the Kymas took until it was Ready with it.
func (f *Setup) move(ctx context.Context, names []string, module, version string) ([]time.Duration, error) {
	wait := f.Kymas.When(names, testbench.ReadyAt(module, version))
	defer wait.Forget()
	sent := time.Now()
	if err := f.Point(ctx, module, version, v1beta2.DefaultChannel); err != nil {
		return nil, err
	}
	at, err := wait.Done(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w\nthe manager's log ends with:\n%s", err, f.Manager.Log())
	}
	took := make([]time.Duration, 0, len(at))
	for _, t := range at {
		took = append(took, t.Sub(sent))
	}
	return took, nil
}

// soaking watches a wave that soaks.
func (b *Bench) soaking(ctx context.Context, f *Setup, r *report.Result) error {
	before, err := f.Calls()
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
	r.Add(fmt.Sprintf("calls to the hub in %s of a soak", b.Idle), "calls", float64(said.Hub.Total()), report.Exactly(0))
	r.Add(fmt.Sprintf("calls to runtimes in %s of a soak", b.Idle), "calls", float64(said.Runtimes.Total()), report.Exactly(0))
	if said.Total() > 0 {
		r.Notes = append(r.Notes, "Calls in a soak:\n"+said.Hub.Plain().String()+"\n"+said.Runtimes.Plain().String())
	}
	return nil
}

func (b *Bench) tellPlanCost(r *report.Result, plain, planned []bump) {
	var most, with bump
	var ratios, took []float64
	for i := range plain {
		took = append(took, plain[i].took.Seconds())
		most.hub = max(most.hub, plain[i].hub)
		if planned[i].hub >= with.hub {
			with.hub, with.text = planned[i].hub, planned[i].text
		}
		with.own = max(with.own, planned[i].own)
		with.took = max(with.took, planned[i].took)
		ratios = append(ratios, planned[i].took.Seconds()/plain[i].took.Seconds())
	}
	r.Add("writes to the hub without a plan", "writes", most.hub)
	r.Add("writes to the hub with one, but for the rollout's own", "writes", with.hub, report.AtMost(most.hub))
	r.Add("writes of the rollout's own", "writes", with.own, report.AtMost(math.Ceil(batchesAside+batches*with.took.Seconds())))
	r.Add("all Ready after, without a plan", "s", fit.Median(took))
	r.Add("ratio of the time with a plan, median of the pairs", "", fit.Median(ratios), report.AtMost(1.1))
	if with.hub > most.hub {
		r.Notes = append(r.Notes, "Writes to the hub with a plan:\n"+with.text, "Without one:\n"+plain[0].text)
	}
}
