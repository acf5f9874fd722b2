package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

const (
	// ownerSlots Kymas are under way at a time, each for ownerReady at least, so that a rollout lasts longer than a takeover.
	ownerSlots = 5
	ownerReady = 3 * time.Second
	// takeover is how long a rollout may stand still when its owner is killed.
	takeover = 20 * time.Second
)

// owner is about the replica that owns a rollout: it is killed in the middle, and another one must continue, without letting more Kymas
// begin than may be under way.
func owner(ctx context.Context, b *Bench) (err error) {
	k := min(b.Kymas[0], mostReleased)
	r := b.Result("owner", fmt.Sprintf("K=%d, %d replicas", k, sharers))
	w, err := b.open(ctx, testbench.Options{Runtimes: k, Simulated: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	f := &Setup{Bench: w, Modules: []string{waveModule}, k: k}
	if err := f.offerReleased(ctx, waveModule); err != nil {
		return err
	}
	if err := w.GiveAccess(ctx, 0, k); err != nil {
		return err
	}
	managers, err := w.StartReplicas(ctx, sharers, b.managerOptions())
	if err != nil {
		return err
	}
	if _, err := b.fill(ctx, f); err != nil {
		return err
	}
	if err := b.killOwner(ctx, f, managers, r); err != nil {
		return err
	}
	return b.Done(r)
}

// killOwner releases a version, and kills the owner of the rollout when a fifth of the Kymas has begun.
func (b *Bench) killOwner(ctx context.Context, f *Setup, managers []*testbench.Manager, r *report.Result) error {
	ctx, cancel := context.WithTimeout(ctx, b.patience(f.Size())+5*time.Minute)
	defer cancel()
	for _, name := range f.Names {
		f.runtimeOf(name).ReadyAfter(ownerReady)
	}
	err := f.Plan(ctx, waveModule, v1beta2.ModuleRolloutSpec{
		Waves: []v1beta2.RolloutWave{{Name: "all", MaxConcurrent: ownerSlots}}, ProgressDeadline: duration(5 * time.Minute),
	})
	if err != nil {
		return err
	}
	if err := f.Offer(ctx, releasedAt(waveModule, version2)); err != nil {
		return err
	}
	starts, err := f.FollowStarts(ctx, waveModule)
	if err != nil {
		return err
	}
	ready := f.Kymas.When(f.Names, testbench.ReadyAt(waveModule, version2))
	if err := f.Point(ctx, waveModule, version2, v1beta2.DefaultChannel); err != nil {
		return err
	}
	if err := starts.Await(ctx, version2, f.Size()/5); err != nil {
		return err
	}
	victim, err := ownerOf(ctx, managers)
	if err != nil {
		return err
	}
	killed := time.Now()
	if err := victim.Kill(); err != nil {
		return err
	}
	if _, err := ready.Done(ctx); err != nil {
		return err
	}
	if err := pause(ctx, quiet); err != nil { // the other watches may be behind
		return err
	}
	began := starts.Of(version2)
	r.Add("owner killed to the next admission", "s", gapAfter(began, killed).Seconds(), report.AtMost(takeover.Seconds()))
	r.Add("under way at most", "Kymas", float64(mostAtOnce(starts.Revisions(version2), starts.Succeeded(version2))), report.AtMost(ownerSlots))
	return starts.Stop()
}

// ownerOf returns the replica that owns the rollout: the only one that publishes how far it is.
func ownerOf(ctx context.Context, managers []*testbench.Manager) (*testbench.Manager, error) {
	for _, m := range managers {
		said, err := meter.Scrape(ctx, m.Metrics+"/metrics")
		if err != nil {
			return nil, err
		}
		if said.Sum("lifecycle_mgr_rollout_kymas") > 0 {
			return m, nil
		}
	}
	return nil, errors.New("no replica publishes figures of the rollout")
}

// gapAfter returns the longest pause between admissions that ends after a point in time, which counts as one.
func gapAfter(began map[string]time.Time, since time.Time) time.Duration {
	times := []time.Time{since}
	for _, at := range began {
		if at.After(since) {
			times = append(times, at)
		}
	}
	slices.SortFunc(times, time.Time.Compare)
	var longest time.Duration
	for i := 1; i < len(times); i++ {
		longest = max(longest, times[i].Sub(times[i-1]))
	}
	return longest
}

// mostAtOnce returns how many had begun and were not ready at the same time, by the revisions of both.
func mostAtOnce(began, ready map[string]uint64) int {
	type change struct {
		at uint64
		by int
	}
	var changes []change
	for name, at := range began {
		changes = append(changes, change{at, 1})
		if end, ended := ready[name]; ended {
			changes = append(changes, change{end, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	now, most := 0, 0
	for _, c := range changes {
		now += c.by
		most = max(most, now)
	}
	return most
}
