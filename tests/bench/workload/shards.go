package workload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/world"
)

const (
	// mostShared Kymas are enough to see how work is shared out.
	mostShared = 1000
	// sharers is how many replicas are compared with one.
	sharers = 3
)

// shared is what bringing a fleet in cost.
type shared struct {
	took time.Duration
	cpu  []time.Duration // of each replica
}

func (s shared) total() (sum time.Duration) {
	for _, cpu := range s.cpu {
		sum += cpu
	}
	return sum
}

func (s shared) largest() (top time.Duration) {
	for _, cpu := range s.cpu {
		top = max(top, cpu)
	}
	return top
}

// shards brings the same Kymas in with one replica and with three. On a machine with a core for everybody the time of each replica's work
// is its processor time; so that is what is compared, for here all share two cores with hub, registry and runtimes.
func shards(ctx context.Context, b *Bench) error {
	k := min(b.Kymas[0], mostShared)
	r := b.Result("shards", b.Case(k))
	one, err := b.share(ctx, k, 1)
	if err != nil {
		return err
	}
	several, err := b.share(ctx, k, sharers)
	if err != nil {
		return err
	}
	r.Add("CPU of one replica alone", "s", one.total().Seconds())
	for i, cpu := range several.cpu {
		r.Add(fmt.Sprintf("CPU of replica %d of %d", i+1, sharers), "s", cpu.Seconds())
	}
	r.Add(fmt.Sprintf("CPU of one / largest CPU of any of %d", sharers), "", one.total().Seconds()/several.largest().Seconds(), report.AtLeast(2.5))
	r.Add(fmt.Sprintf("CPU of all %d / CPU of one", sharers), "", several.total().Seconds()/one.total().Seconds())
	r.Add("all Ready after, with one", "s", one.took.Seconds())
	r.Add(fmt.Sprintf("all Ready after, with %d", sharers), "s", several.took.Seconds())
	return b.Done(r)
}

// share brings k Kymas in with so many replicas, in a world of its own.
func (b *Bench) share(ctx context.Context, k, replicas int) (cost shared, err error) {
	b.Logf("shards: %d replicas, %s", replicas, b.Case(k))
	w, err := b.open(ctx, world.Options{Runtimes: k, Simulated: true})
	if err != nil {
		return cost, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	f := &Fleet{World: w, Extra: "extra", Late: []string{"late-one"}, k: k}
	if err := b.offer(ctx, f); err != nil {
		return cost, err
	}
	if err := w.GiveAccess(ctx, 0, k); err != nil {
		return cost, err
	}
	managers, err := w.StartReplicas(ctx, replicas, world.ManagerOptions{Flags: b.Flags, Processors: b.Processors})
	if err != nil {
		return cost, err
	}
	before, err := usages(managers)
	if err != nil {
		return cost, err
	}
	if cost.took, err = b.fill(ctx, f); err != nil {
		return cost, err
	}
	after, err := usages(managers)
	for i := range after {
		cost.cpu = append(cost.cpu, after[i].Since(before[i]).CPU)
	}
	return cost, err
}

// fill creates the Kymas, and waits until all are Ready and nothing moves any more. It returns how long the first took.
func (b *Bench) fill(ctx context.Context, f *Fleet) (time.Duration, error) {
	f.Names = make([]string, f.k)
	for i := range f.Names {
		f.Names[i] = world.KymaName(i)
	}
	wait := f.Kymas.When(f.Names, world.Ready)
	batch, err := f.CreateKymas(ctx, 0, f.k, f.Modules...)
	if err != nil {
		return 0, err
	}
	bounded, cancel := context.WithTimeout(ctx, b.patience(f.k))
	defer cancel()
	ready, err := wait.Done(bounded)
	if err != nil {
		return 0, fmt.Errorf("%w\nthe log of all managers ends with:\n%s", err, f.Manager.Log())
	}
	last := batch.First
	for _, at := range ready {
		if at.After(last) {
			last = at
		}
	}
	_, err = f.Settle(ctx, quiet)
	return last.Sub(batch.First), err
}

// usages are what processes have used.
func usages(managers []*world.Manager) ([]meter.Usage, error) {
	var all []meter.Usage
	for _, m := range managers {
		usage, err := meter.Of(m.PID())
		if err != nil {
			return nil, err
		}
		all = append(all, usage)
	}
	return all, nil
}
