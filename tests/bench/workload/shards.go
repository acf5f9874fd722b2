package workload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

const (
	// mostShared Kymas are enough to see how work is shared out.
	mostShared = 300
	// sharers is how many replicas are compared with one.
	sharers = 3
)

// shared is what bringing fleets in cost.
type shared struct {
	runs    int
	took    time.Duration
	cpu     [sharers]time.Duration // of each replica
	largest time.Duration          // of any replica of a run
	peak    int64                  // memory of any replica of any run
}

func (s *shared) add(took time.Duration, spent []meter.Usage) {
	s.runs++
	s.took += took
	var largest time.Duration
	for i, replica := range spent {
		s.cpu[i] += replica.CPU
		largest, s.peak = max(largest, replica.CPU), max(s.peak, replica.Peak)
	}
	s.largest += largest
}

// each returns the mean of a time over all runs, in seconds.
func (s *shared) each(sum time.Duration) float64 { return sum.Seconds() / float64(s.runs) }

func (s *shared) total() (sum time.Duration) {
	for _, cpu := range s.cpu {
		sum += cpu
	}
	return sum
}

// shards brings the same Kymas in with one replica and with three. On a machine with a core for everyone the time of each replica's work
// is its processor time; so that is what is compared, for here all share two cores with hub, registry and runtimes. One comes first and
// last, because processor time depends on what else a machine does, and that changes while time goes by.
func shards(ctx context.Context, b *Bench) error {
	k := min(b.Kymas[0], mostShared)
	r := b.Result("shards", b.Case(k))
	costs := map[int]*shared{1: {}, sharers: {}}
	for _, replicas := range []int{1, sharers, sharers, 1} {
		took, spent, err := b.share(ctx, k, replicas)
		if err != nil {
			return err
		}
		costs[replicas].add(took, spent)
		b.Logf("shards: all Ready after %.0f s", took.Seconds())
	}
	one, several := costs[1], costs[sharers]
	r.Add("CPU of one replica alone", "s", one.each(one.total()))
	for i, cpu := range several.cpu {
		r.Add(fmt.Sprintf("CPU of replica %d of %d", i+1, sharers), "s", several.each(cpu))
	}
	gain := one.each(one.total()) / several.each(several.largest)
	r.Add(fmt.Sprintf("CPU of one / largest CPU of any of %d", sharers), "", gain, report.AtLeast(2.85))
	r.Add(fmt.Sprintf("CPU of all %d / CPU of one", sharers), "", several.each(several.total())/one.each(one.total()))
	r.Add("peak memory (RSS) of one alone", "MiB", mib(one.peak))
	r.Add(fmt.Sprintf("largest peak memory (RSS) of any of %d", sharers), "MiB", mib(several.peak))
	r.Add("all Ready after, with one", "s", one.each(one.took))
	r.Add(fmt.Sprintf("all Ready after, with %d", sharers), "s", several.each(several.took))
	return b.Done(r)
}

// share brings k Kymas in with so many replicas, in a world of its own. It returns how long that took, and what each has used:
// its CPU meanwhile, and its peak of memory.
func (b *Bench) share(ctx context.Context, k, replicas int) (took time.Duration, spent []meter.Usage, err error) {
	b.Logf("shards: %d replicas, %s", replicas, b.Case(k))
	w, err := b.open(ctx, testbench.Options{Runtimes: k, Simulated: true})
	if err != nil {
		return 0, nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	f := &Setup{Bench: w, Extra: "extra", Late: []string{"late-one"}, k: k}
	if err := b.offer(ctx, f); err != nil {
		return 0, nil, err
	}
	if err := w.GiveAccess(ctx, 0, k); err != nil {
		return 0, nil, err
	}
	managers, err := w.StartReplicas(ctx, replicas, b.managerOptions())
	if err != nil {
		return 0, nil, err
	}
	before, err := usages(managers)
	if err != nil {
		return 0, nil, err
	}
	profile := b.profile(ctx, w, fmt.Sprintf("shards-%d-of-%d", k, replicas))
	took, err = b.fill(ctx, f)
	if err = errors.Join(err, profile()); err != nil {
		return 0, nil, err
	}
	after, err := usages(managers)
	for i, usage := range after {
		usage.CPU -= before[i].CPU
		spent = append(spent, usage)
	}
	return took, spent, err
}

// fill creates the Kymas, and waits until all are Ready and nothing moves any more. It returns how long the first took.
func (b *Bench) fill(ctx context.Context, f *Setup) (time.Duration, error) {
	f.Names = make([]string, f.k)
	for i := range f.Names {
		f.Names[i] = testbench.KymaName(i)
	}
	wait := f.Kymas.When(f.Names, testbench.Ready)
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

// usages returns what processes have used.
func usages(managers []*testbench.Manager) ([]meter.Usage, error) {
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
