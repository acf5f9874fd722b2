package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

const (
	// allowedShare is maxFailed of the plan, and allowedSlots how many Kymas are under way at a time.
	allowedShare, allowedSlots = "1%", 10
	// haltedFor is how long a halted rollout is watched: none of the other Kymas may begin.
	haltedFor = 15 * time.Second
)

// allowance releases two versions with 1 % of allowed failures. The first never runs in as many runtimes as may fail, and completes. The
// second never runs anywhere: it must halt with those that were under way, take itself back there, and touch no other Kyma.
func (b *Bench) allowance(ctx context.Context, f *Setup, names []string) error {
	r := b.Result("B11", fmt.Sprintf("K=%d, %s may fail", len(names), allowedShare))
	plan := v1beta2.ModuleRolloutSpec{
		Waves: []v1beta2.RolloutWave{{
			Name: "all", MaxConcurrent: allowedSlots, MaxFailed: allowedShare,
		}},
		ProgressDeadline: duration(shortDeadline), OnFailure: v1beta2.RolloutRollback,
	}
	if err := f.Plan(ctx, waveModule, plan); err != nil {
		return err
	}
	stuck := spread(names, len(names)/100)
	if err := b.completeWithFailures(ctx, f, names, stuck, r); err != nil {
		return err
	}
	for _, name := range names {
		f.runtimeOf(name).NeverRun(releasedAt(waveModule, number(8)).Image())
	}
	starts, err := f.halt(ctx, b, number(8))
	if err != nil {
		return err
	}
	if err := b.awaitTakenBack(ctx, f, starts.Of(number(8)), stuck, r); err != nil {
		return err
	}
	return errors.Join(b.Done(r), b.replace(ctx, f, names, number(9)))
}

// completeWithFailures releases a version that never runs in as many runtimes as may fail.
func (b *Bench) completeWithFailures(ctx context.Context, f *Setup, names, stuck []string, r *report.Result) error {
	for _, name := range names {
		if f.runtimeOf(name).ReadyAfter(0); slices.Contains(stuck, name) {
			f.runtimeOf(name).NeverRun(releasedAt(waveModule, number(7)).Image())
		}
	}
	ctx, cancel := context.WithTimeout(ctx, b.patience(f.Size()))
	defer cancel()
	if err := f.Offer(ctx, releasedAt(waveModule, number(7))); err != nil {
		return err
	}
	if err := f.Point(ctx, waveModule, number(7), v1beta2.DefaultChannel); err != nil {
		return err
	}
	end, err := f.AwaitRollout(ctx, waveModule, testbench.InPhase(number(7), v1beta2.RolloutCompleted))
	if err != nil {
		return err
	}
	r.Add("failed in the rollout that completed", "Kymas", float64(failedOf(end)), report.Exactly(float64(len(stuck))))
	return nil
}

func failedOf(rollout *v1beta2.ModuleRollout) (count int32) {
	for _, channel := range rollout.Status.Channels {
		for _, wave := range channel.Waves {
			count += wave.Failed
		}
	}
	return count
}

// awaitTakenBack waits until those that began are back on the version before, which runs but in the stuck ones, and watches the others.
func (b *Bench) awaitTakenBack(
	ctx context.Context, f *Setup, began map[string]time.Time, stuck []string, r *report.Result,
) error {
	bounded, cancel := context.WithTimeout(ctx, b.patience(f.Size()))
	defer cancel()
	var left []string
	for name := range began {
		if !slices.Contains(stuck, name) {
			left = append(left, name)
		}
	}
	back := f.Kymas.When(left, testbench.ReadyAt(waveModule, number(7)))
	if _, err := back.Done(bounded); err != nil {
		return fmt.Errorf("those that began are not taken back: %w", err)
	}
	again, err := f.FollowStarts(ctx, waveModule)
	if err != nil {
		return err
	}
	if err := pause(ctx, haltedFor); err != nil {
		return err
	}
	r.Add("began with a version that never runs, before it halted", "Kymas", float64(len(began)), report.AtMost(allowedSlots))
	r.Add(fmt.Sprintf("began in %s after that", haltedFor), "admissions", float64(len(again.Of(number(8)))), report.Exactly(0))
	return again.Stop()
}
