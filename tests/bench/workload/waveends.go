package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/tests/bench/fit"
	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/simruntime"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

const (
	// crossingSlots at a time are under way, and a pod takes crossingReady until it runs, so that a fleet is not through when the first fails.
	crossingSlots = 20 // of the Kymas is one slot
	crossingReady = time.Second
	// stuckEvery tells which Kymas' pods never run: one of so many.
	stuckEvery = 5
	// stageReady is how long a pod takes in the stages, which are shares of the Kymas in percent.
	stageReady = 2 * time.Second
	// kubeFleet is the p90 that is public of a rollout to 100 real clusters in stages of 20, 30 and 50.
	kubeFleet = 96
	// lostShare of the runtimes are dead when a release begins.
	lostShare = 0.2
	stage     = "bench.example.com/stage"
)

var stages = []struct {
	name    string
	percent int
}{{"first", 20}, {"second", 30}, {"third", 50}}

// crossing releases a version that never runs in one of five runtimes. What counts is how long after the failure that is one too many a
// Kyma still began.
func (b *Bench) crossing(ctx context.Context, f *Setup, names []string) error {
	r := b.Result("B11", fmt.Sprintf("K=%d, one of %d never runs", len(names), stuckEvery))
	var stuck []string
	for i, name := range names {
		if f.runtimeOf(name).ReadyAfter(crossingReady); i%stuckEvery == 0 {
			f.runtimeOf(name).ReadyAfter(-1)
			stuck = append(stuck, name)
		}
	}
	slots := max(2, len(names)/crossingSlots)
	err := f.Plan(ctx, waveModule, v1beta2.ModuleRolloutSpec{
		Waves: []v1beta2.RolloutWave{{Name: "all", MaxConcurrent: int32(slots)}}, ProgressDeadline: duration(shortDeadline),
	})
	if err != nil {
		return err
	}
	starts, err := f.halt(ctx, b, version2)
	if err != nil {
		return err
	}
	began := starts.Of(version2)
	var failures []time.Time
	for _, name := range stuck {
		if at, ok := began[name]; ok {
			failures = append(failures, at.Add(shortDeadline))
		}
	}
	if len(failures) == 0 {
		return fmt.Errorf("the rollout halted although none of %v began", stuck)
	}
	crossed := slices.MinFunc(failures, time.Time.Compare)
	late := max(0, starts.Last(version2).Sub(crossed))
	after := 0
	for _, at := range began {
		if at.Sub(crossed) > time.Second {
			after++
		}
	}
	r.Add("under way at most", "Kymas", float64(slots))
	r.Add("began before it halted", "Kymas", float64(len(began)), report.AtMost(float64(len(names)-1)))
	r.Add("threshold crossed to last admission", "ms", meter.Milliseconds(late), report.AtMost(1000))
	r.Add("began more than a second after the threshold was crossed", "admissions", float64(after), report.Exactly(0))
	if err := b.Done(r); err != nil {
		return err
	}
	for _, name := range names {
		f.runtimeOf(name).ReadyAfter(0)
	}
	return b.replace(ctx, f, names, version3)
}

// version3 is better than what halted.
const version3 = "3.0.0"

// halt lets the channel move to a version and returns how it went until the rollout had halted, and a while longer.
func (f *Setup) halt(ctx context.Context, b *Bench, version string) (*testbench.Starts, error) {
	ctx, cancel := context.WithTimeout(ctx, b.patience(f.Size()))
	defer cancel()
	if err := f.Offer(ctx, releasedAt(waveModule, version)); err != nil {
		return nil, err
	}
	starts, err := f.FollowStarts(ctx, waveModule)
	if err != nil {
		return nil, err
	}
	if err := f.Point(ctx, waveModule, version, v1beta2.DefaultChannel); err != nil {
		return nil, err
	}
	if _, err := f.AwaitRollout(ctx, waveModule, testbench.InPhase(version, v1beta2.RolloutHalted, v1beta2.RolloutRolledBack)); err != nil {
		return nil, err
	}
	if err := pause(ctx, quiet); err != nil {
		return nil, err
	}
	return starts, starts.Stop()
}

// replace releases a version to all of the Kymas in one wave, and removes the plan.
func (b *Bench) replace(ctx context.Context, f *Setup, names []string, version string) error {
	ctx, cancel := context.WithTimeout(ctx, b.patience(f.Size()))
	defer cancel()
	if err := f.Offer(ctx, releasedAt(waveModule, version)); err != nil {
		return err
	}
	if err := f.Plan(ctx, waveModule, oneWave(0)); err != nil {
		return err
	}
	if _, err := f.move(ctx, names, waveModule, version); err != nil {
		return err
	}
	if _, err := f.AwaitRollout(ctx, waveModule, testbench.InPhase(version, v1beta2.RolloutCompleted)); err != nil {
		return err
	}
	return f.Unplan(ctx, waveModule)
}

// stages releases a version in three stages, half of each at a time, as a benchmark of another project does with real clusters.
func (b *Bench) stages(ctx context.Context, f *Setup, names []string) error {
	r := b.Result("B11", fmt.Sprintf("K=%d, stages of 20, 30 and 50 %%, half of each at a time", len(names)))
	spec := v1beta2.ModuleRolloutSpec{ProgressDeadline: duration(10 * time.Minute)}
	first := 0
	for _, s := range stages {
		count := max(1, s.percent*len(names)/100)
		for _, name := range names[first:min(first+count, len(names))] {
			f.runtimeOf(name).ReadyAfter(stageReady)
			if _, _, err := f.ChangeKyma(ctx, name, func(k *v1beta2.Kyma) { k.Labels = map[string]string{stage: s.name} }); err != nil {
				return err
			}
		}
		first += count
		spec.Waves = append(spec.Waves, v1beta2.RolloutWave{
			Name: s.name, MaxConcurrent: int32(max(1, count/2)),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{stage: s.name}},
		})
	}
	version := number(4)
	ctx, cancel := context.WithTimeout(ctx, b.patience(f.Size()))
	defer cancel()
	if err := f.Offer(ctx, releasedAt(waveModule, version)); err != nil {
		return err
	}
	if err := f.Plan(ctx, waveModule, spec); err != nil {
		return err
	}
	if _, err := f.Settle(ctx, quiet); err != nil {
		return err
	}
	took, err := f.move(ctx, names, waveModule, version)
	if err != nil {
		return err
	}
	q := fit.Quantiles(took, 0.5, 0.9, 1)
	r.Add("moved to Ready, p50", "s", q[0].Seconds())
	r.Add("moved to Ready, p90", "s", q[1].Seconds(), report.AtMost(kubeFleet))
	r.Add("all Ready after", "s", q[2].Seconds())
	r.Add("public p90 of KubeFleet with such stages", "s", kubeFleet)
	r.Notes = append(r.Notes, fmt.Sprintf("KubeFleet's figure is of real clusters, these are simulated ones whose pods run after %s: "+
		"it stands beside ours for its size alone.", stageReady))
	if _, err := f.AwaitRollout(ctx, waveModule, testbench.InPhase(version, v1beta2.RolloutCompleted)); err != nil {
		return err
	}
	for _, name := range names {
		f.runtimeOf(name).ReadyAfter(0)
	}
	return errors.Join(b.Done(r), f.Unplan(ctx, waveModule))
}

// lost releases a version while a fifth of the runtimes is dead, which the manager knows: the rollout must complete without them, and they
// get the version when they are back.
func (b *Bench) lost(ctx context.Context, f *Setup, names []string) error {
	r := b.Result("B11", fmt.Sprintf("K=%d, %.0f %% dead", len(names), lostShare*100))
	dead := spread(names, int(lostShare*float64(len(names))))
	alive := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(dead, name) })
	if err := f.strikeDead(ctx, dead); err != nil {
		return err
	}
	version := number(5)
	ctx, cancel := context.WithTimeout(ctx, b.patience(f.Size())+recovery)
	defer cancel()
	if err := f.Offer(ctx, releasedAt(waveModule, version)); err != nil {
		return err
	}
	err := f.Plan(ctx, waveModule, v1beta2.ModuleRolloutSpec{
		Waves:            []v1beta2.RolloutWave{{Name: "half", Share: "50%", MaxConcurrent: 10}, {Name: "rest", MaxConcurrent: 10}},
		ProgressDeadline: duration(5 * time.Minute),
	})
	if err != nil {
		return err
	}
	sent := time.Now()
	took, err := f.move(ctx, alive, waveModule, version)
	if err != nil {
		return err
	}
	end, err := f.AwaitRollout(ctx, waveModule, testbench.InPhase(version, v1beta2.RolloutCompleted))
	if err != nil {
		return err
	}
	r.Add("the healthy are Ready after", "s", fit.Quantile(took, 1).Seconds())
	r.Add("completed after", "s", time.Since(sent).Seconds())
	r.Add("skipped", "Kymas", float64(skipped(end)), report.Exactly(float64(len(dead))))
	healed := time.Now()
	for _, name := range dead {
		f.runtimeOf(name).Set(simruntime.Knobs{})
	}
	if _, err := f.Kymas.When(dead, testbench.ReadyAt(waveModule, version)).Done(ctx); err != nil {
		return fmt.Errorf("the skipped did not get the version when they were back: %w", err)
	}
	r.Add("the skipped are Ready after they are back", "s", time.Since(healed).Seconds())
	return errors.Join(b.Done(r), f.Unplan(ctx, waveModule), f.setModule(ctx, dead, churnModule, false))
}

// strikeDead makes runtimes fall silent, and waits until their Kymas say so.
func (f *Setup) strikeDead(ctx context.Context, names []string) error {
	for _, name := range names {
		f.runtimeOf(name).Set(simruntime.Knobs{Down: simruntime.BlackHole})
		if _, _, err := f.ChangeKyma(ctx, name, editModule(churnModule, true)); err != nil {
			return err
		}
	}
	bounded, cancel := context.WithTimeout(ctx, recovery)
	defer cancel()
	_, err := f.Kymas.When(names, func(k *v1beta2.Kyma) bool {
		ready := conditions.Find(k.Status.Conditions, v1beta2.ConditionReady)
		return ready != nil && ready.Reason == v1beta2.ReasonRuntimeUnreachable
	}).Done(bounded)
	return err
}

func skipped(r *v1beta2.ModuleRollout) (count int32) {
	for _, channel := range r.Status.Channels {
		for _, wave := range channel.Waves {
			count += wave.Skipped
		}
	}
	return count
}
