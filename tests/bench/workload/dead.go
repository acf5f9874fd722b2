package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/bench/fit"
	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/simruntime"
)

const (
	// slowShare of the runtimes answer slowLatency late as soon as any are dead.
	slowShare   = 0.05
	slowLatency = 2 * time.Second
	// deadRounds is how often each change is made while nothing falls ill. The medians of the rounds' p50 and p99 count: a moment in which
	// the machine is busy with something else is in the p99 of one round only.
	deadRounds = 9
	// known is how long after an outage its wave has ended: every dead runtime was found silent, told so, and waits for its next dial.
	known = 30 * time.Second
	// dialWindow is how long dials of dead runtimes are counted, dialPer the time that they are told for.
	dialWindow = 2 * time.Minute
	dialPer    = 30 * time.Second
)

// deadShares are gone through one after the other.
var deadShares = []float64{0, 0.1, 0.2, 0.5}

// dead is B7: more and more runtimes fall silent, and some get slow, while users want something of all of them. What counts is how long
// changes of the healthy ones take meanwhile, compared with the same changes before: in the wave after an outage, and when it has ended.
func dead(ctx context.Context, b *Bench, f *Setup) error {
	r := b.Result("B7", b.Case(f.Size()))
	if _, err := f.Settle(ctx, quiet); err != nil {
		return err
	}
	s := newSickness(f)
	var base rounds
	for _, share := range deadShares {
		wave, took, err := s.stage(ctx, b, share)
		if err != nil {
			return err
		}
		b.Logf("B7: %.0f %% of the runtimes are dead, a change of a healthy one takes %s (p99 %s, %s in the wave)", share*100,
			took.p50(), took.p99(), wave.P99)
		if share == 0 {
			base = took
		}
		tellHealthy(r, share, took, base)
		if share > 0 {
			r.Add(fmt.Sprintf("%.0f %% dead: the same while they are being found to be, p99", share*100), "ms", meter.Milliseconds(wave.P99))
		}
	}
	if err := s.dials(ctx, r); err != nil {
		return err
	}
	if err := s.heal(ctx, r); err != nil {
		return err
	}
	if err := s.again(ctx, r, base); err != nil {
		return err
	}
	return b.Done(r)
}

// again measures when all are healthy again: what differs then is not the doing of dead runtimes.
func (s *sickness) again(ctx context.Context, r *report.Result, base rounds) error {
	if _, err := s.fleet.Settle(ctx, quiet); err != nil {
		return err
	}
	later, err := s.measure(ctx, deadRounds)
	if err != nil {
		return err
	}
	r.Add("all healed: the same again, p50, ratio to before", "", float64(later.p50())/float64(base.p50()))
	r.Add("all healed: the same again, p99, ratio to before", "", float64(later.p99())/float64(base.p99()))
	return nil
}

// stage makes runtimes ill until a share of them is dead, and measures in the wave that follows and when it has ended.
func (s *sickness) stage(ctx context.Context, b *Bench, share float64) (wave meter.Summary, took rounds, err error) {
	if err := s.spread(ctx, share); err != nil {
		return wave, nil, err
	}
	if share > 0 {
		first, err := s.measure(ctx, 1)
		if err = errors.Join(err, pause(ctx, known-time.Since(s.begun))); err != nil {
			return wave, nil, err
		}
		wave = first[0]
	}
	profile := b.profile(ctx, s.fleet.Bench, fmt.Sprintf("B7-%.0f-%d", share*100, s.fleet.k))
	took, err = s.measure(ctx, deadRounds)
	return wave, took, errors.Join(err, profile())
}

func tellHealthy(r *report.Result, share float64, took, base rounds) {
	which := fmt.Sprintf("%.0f %% dead: a change of a healthy one", share*100)
	r.Add(which+", p50", "ms", meter.Milliseconds(took.p50()))
	r.Add(which+", p99", "ms", meter.Milliseconds(took.p99()))
	r.Add(which+", p99 of the worst round", "ms", meter.Milliseconds(took.worst()))
	if share > 0 {
		r.Add(which+", p50, ratio to before", "", float64(took.p50())/float64(base.p50()))
		r.Add(which+", p99, ratio to before", "", float64(took.p99())/float64(base.p99()), report.AtMost(1.05))
	}
}

// rounds are the times of the same changes, recreated and again.
type rounds []meter.Summary

func (r rounds) p50() time.Duration { return fit.Median(r.each(p50Of)) }

func (r rounds) p99() time.Duration { return fit.Median(r.each(p99Of)) }

func (r rounds) worst() time.Duration { return slices.Max(r.each(p99Of)) }

func p50Of(s meter.Summary) time.Duration { return s.P50 }

func p99Of(s meter.Summary) time.Duration { return s.P99 }

func (r rounds) each(of func(meter.Summary) time.Duration) []time.Duration {
	times := make([]time.Duration, len(r))
	for i, one := range r {
		times[i] = of(one)
	}
	return times
}

// sickness says which runtimes are dead, slow and healthy. Who is dead stays dead until all are healed.
type sickness struct {
	fleet *Setup
	// order of the Kymas: the first die first, the last get slow, and those in the middle that never fall ill are measured.
	order []string
	ill   int
	slow  int
	// begun is when the last ones fell ill.
	begun time.Time
}

func newSickness(f *Setup) *sickness {
	s := &sickness{fleet: f}
	// Neighbours fall ill at different times, so that neither names nor ages tell sick and healthy apart.
	for _, odd := range []int{0, 1} {
		for i := odd; i < f.Size(); i += 2 {
			s.order = append(s.order, f.Names[i])
		}
	}
	return s
}

func (s *sickness) runtime(name string) *simruntime.Runtime {
	return s.fleet.runtimeOf(name)
}

// runtimeOf returns the simulated runtime of a Kyma.
func (f *Setup) runtimeOf(name string) *simruntime.Runtime {
	return f.Runtimes[slices.Index(f.Names, name)].Sim
}

// spread makes runtimes ill until a share of them is dead, and has a user want something of those that fell ill.
func (s *sickness) spread(ctx context.Context, share float64) error {
	if share == 0 {
		return nil
	}
	var fresh []string
	if s.slow == 0 {
		s.slow = max(1, int(slowShare*float64(len(s.order))))
		for _, name := range s.slowOnes() {
			s.runtime(name).Set(simruntime.Knobs{Latency: slowLatency})
			fresh = append(fresh, name)
		}
	}
	until := min(int(share*float64(len(s.order))), len(s.order)-s.slow-1)
	for ; s.ill < until; s.ill++ {
		s.runtime(s.order[s.ill]).Set(simruntime.Knobs{Down: simruntime.BlackHole})
		fresh = append(fresh, s.order[s.ill])
	}
	s.begun = time.Now()
	for _, name := range fresh {
		if _, _, err := s.fleet.ChangeKyma(ctx, name, editModule(churnModule, true)); err != nil {
			return err
		}
	}
	return nil
}

func (s *sickness) slowOnes() []string { return s.order[len(s.order)-s.slow:] }

// measure changes Kymas whose runtimes stay healthy to the end, some rounds there and back, and takes the times of each round.
func (s *sickness) measure(ctx context.Context, count int) (took rounds, err error) {
	last := int(deadShares[len(deadShares)-1] * float64(len(s.order)))
	slow := max(1, int(slowShare*float64(len(s.order))))
	names := spread(s.order[last:len(s.order)-slow], churned)
	for range count {
		var round meter.Latencies
		for _, on := range []bool{true, false} {
			if err := s.fleet.flipAll(ctx, names, on, &round); err != nil {
				return nil, err
			}
		}
		took = append(took, round.Summary())
	}
	return took, nil
}

// dials counts the dials of dead runtimes for a while, and since they died.
func (s *sickness) dials(ctx context.Context, r *report.Result) error {
	before := s.dialled()
	if err := pause(ctx, dialWindow); err != nil {
		return err
	}
	sum, top := 0, 0
	for i, n := range s.dialled() {
		sum, top = sum+n-before[i], max(top, n-before[i])
	}
	per := float64(dialWindow / dialPer)
	r.Add("dials of a dead runtime in 30 s", "dials", float64(sum)/float64(len(before))/per, report.AtMost(1))
	r.Add("dials of the one that is dialled most", "dials", float64(top)/per)
	return nil
}

func (s *sickness) dialled() []int {
	var counts []int
	for _, name := range s.order[:s.ill] {
		counts = append(counts, s.runtime(name).Dials())
	}
	return counts
}

// heal makes all healthy, and takes the time until what was asked of the sick came about there.
func (s *sickness) heal(ctx context.Context, r *report.Result) error {
	sick := append(slices.Clone(s.order[:s.ill]), s.slowOnes()...)
	for _, name := range sick {
		s.runtime(name).Set(simruntime.Knobs{})
	}
	begin := time.Now()
	bounded, cancel := context.WithTimeout(ctx, recovery)
	defer cancel()
	at, err := s.fleet.Kymas.When(sick, stands(churnModule, true)).Done(bounded)
	if err != nil {
		return fmt.Errorf("not all runtimes recovered: %w\nthe manager's log ends with:\n%s", err, s.fleet.Manager.Log())
	}
	var took meter.Latencies
	for _, t := range at {
		took.Add(max(0, t.Sub(begin)))
	}
	r.Add("healed: half of the sick are as asked after", "s", took.Quantile(0.5).Seconds())
	r.Add("healed: all are", "s", took.Quantile(1).Seconds())
	return s.fleet.setModule(ctx, sick, churnModule, false)
}

// recovery bounds the time from the end of an outage until everything came about: the longest back-off and the work that has piled up.
const recovery = 5 * time.Minute
