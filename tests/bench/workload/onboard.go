package workload

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/bench/bare"
	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

const (
	version1, version2 = "1.0.0", "2.0.0"
	// extraObjects is what each of the modules has that no one has at first.
	extraObjects = 2
	// fewestSpare and mostSpare runtimes are for each run of a bare loop: enough for its rate to be steady.
	fewestSpare, mostSpare = 16, 100
	// bareUnits and bareWorkers are how many Manifests, and how many writes of each, the manager works on at once by default.
	bareUnits, bareWorkers = 16, 8
	// quiet is how long nothing must have been said for a fleet to count as settled.
	quiet = 5 * time.Second
)

// bulk is B2: onboard has measured it.
func bulk(context.Context, *Bench, *Setup) error { return nil }

// patience bounds the waiting for k Kymas.
func (b *Bench) patience(k int) time.Duration {
	manifests := k * b.Modules
	return 3*time.Minute + time.Duration(manifests)*100*time.Millisecond + time.Duration(manifests*b.Objects)*20*time.Millisecond
}

// onboard opens a world with k simulated runtimes, and spare ones for the bare loops, and brings k Kymas in.
func (b *Bench) onboard(ctx context.Context, k int) (*Setup, error) {
	spare := min(max(k, fewestSpare), mostSpare)
	b.Logf("B2: opening a world of %d simulated runtimes", k)
	w, err := b.open(ctx, testbench.Options{Runtimes: k + shares*spare, Simulated: true})
	if err != nil {
		return nil, err
	}
	return b.race(ctx, &Setup{Bench: w, spare: spare, k: k, rolled: 1})
}

// race takes the bare loop's time before and after on the spare runtimes of a fleet, and brings its Kymas in meanwhile. The loop of the
// necessary writes comes before there is a manager, which would act on what that loop leaves on the hub.
func (b *Bench) race(ctx context.Context, f *Setup) (_ *Setup, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	f.Extra, f.Late = "extra", []string{"late-one", "late-two"}
	if err := b.offer(ctx, f); err != nil {
		return nil, err
	}
	r := b.Result("B2", b.Case(f.k))
	before, err := f.bare(ctx, b, shareBefore, version1)
	if err != nil {
		return nil, err
	}
	b.Logf("B2: the bare loop applies %.0f objects/s", before.Rate())
	if f.Necessary, err = f.necessary(ctx, b); err != nil {
		return nil, err
	}
	b.Logf("B2: with the necessary writes on the hub it applies %.0f objects/s", f.Necessary.install.Rate())
	if err := b.bringIn(ctx, f, r); err != nil {
		return nil, err
	}
	after, err := f.bare(ctx, b, shareAfter, version1)
	if err != nil {
		return nil, err
	}
	f.Bare = bare.Outcome{Calls: before.Calls + after.Calls, Took: before.Took + after.Took, CPU: before.CPU + after.CPU}
	rate, _ := r.Value(objectRate)
	took, _ := r.Value(allReady)
	r.Add("bare loop, before and after", "objects/s", f.Bare.Rate())
	r.Add("bare loop's CPU for each object", "ms", f.Bare.CPUPerCall())
	r.Add("share of the bare loop's rate", "", rate/f.Bare.Rate())
	f.Necessary.tellInstall(r, f.k, seconds(took))
	return f, b.Done(r)
}

// offer publishes the modules of a fleet.
func (b *Bench) offer(ctx context.Context, f *Setup) error {
	for i := range b.Modules {
		m := testbench.Module{Name: moduleName(i), Version: version1, Objects: b.Objects}
		if err := f.Offer(ctx, m, v1beta2.DefaultChannel); err != nil {
			return err
		}
		f.Modules = append(f.Modules, m.Name)
	}
	for _, name := range append([]string{f.Extra}, f.Late...) {
		if err := f.Offer(ctx, testbench.Module{Name: name, Version: version1, Objects: extraObjects}, v1beta2.DefaultChannel); err != nil {
			return err
		}
	}
	return offerOurs(ctx, f)
}

// moduleName has three letters behind the dash, the fewest that names of modules may have.
func moduleName(i int) string { return fmt.Sprintf("module-%c%c%c", 'a'+i/676, 'a'+i/26%26, 'a'+i%26) }

// Figures of B2 that others are made of.
const (
	objectRate = "objects applied"
	allReady   = "all Ready after"
)

// bringIn creates the Kymas and waits until all are Ready and nothing moves any more.
func (b *Bench) bringIn(ctx context.Context, f *Setup, r *report.Result) error {
	if err := f.GiveAccess(ctx, 0, f.k); err != nil {
		return err
	}
	m, err := f.StartManager(ctx, b.managerOptions())
	if err != nil {
		return err
	}
	cost, err := begin(ctx, f.Bench)
	if err != nil {
		return err
	}
	names := make([]string, f.k)
	for i := range names {
		names[i] = testbench.KymaName(i)
	}
	wait := f.Kymas.When(names, testbench.Ready)
	track, profile := meter.Follow(ctx, m.PID(), time.Second), b.profile(ctx, f.Bench, fmt.Sprintf("B2-%d", f.k))
	batch, err := f.CreateKymas(ctx, 0, f.k, f.Modules...)
	if err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, b.patience(f.k))
	defer cancel()
	ready, err := wait.Done(bounded)
	if err != nil {
		return fmt.Errorf("%w\nthe manager's log ends with:\n%s", err, m.Log())
	}
	f.Names = names
	if err := profile(); err != nil {
		return err
	}
	seen, err := track.Stop()
	if err != nil {
		return err
	}
	return b.tellBulk(ctx, f, r, batch, ready, cost, meter.Peak(seen))
}

// tellBulk makes the result of B2.
func (b *Bench) tellBulk(ctx context.Context, f *Setup, r *report.Result, batch *testbench.Batch, ready map[string]time.Time,
	cost *cost, peak meter.Usage,
) error {
	var latencies meter.Latencies
	last := batch.First
	for name, at := range ready {
		latencies.Add(at.Sub(batch.Begun[name]))
		if at.After(last) {
			last = at
		}
	}
	took := last.Sub(batch.First)
	spent, err := cost.end(ctx)
	if err != nil {
		return err
	}
	objects := float64(f.k * b.Modules * b.Objects)
	k := float64(f.k)
	r.Add(allReady, "s", took.Seconds())
	r.Add(objectRate, "objects/s", objects/took.Seconds())
	r.Add("create to Ready, p50", "s", latencies.Quantile(0.5).Seconds())
	r.Add("create to Ready, p99", "s", latencies.Quantile(0.99).Seconds())
	r.Add("manager's CPU for each object", "ms", spent.usage.CPU.Seconds()*1000/objects, processorBound(f.k))
	r.Add("manager's peak memory (RSS)", "MiB", mib(peak.RSS), peakBound(f.k))
	settled, err := f.Settle(ctx, quiet)
	if err != nil {
		return err
	}
	all := settled.Since(cost.calls)
	r.Add("writes to the runtime, for each Kyma", "writes", float64(all.Runtimes.Writes().Total())/k)
	r.Add("of these for modules, for each module", "writes", moduleWrites(all.Runtimes)/k/float64(b.Modules),
		report.AtMost(1.05*float64(b.Objects)+3))
	// 2 for each module, and 3 for a Kyma that is new: its finalizer, what is being installed, and Ready. Every second one may tell more
	// meanwhile, as those do that take long on a slow machine.
	r.Add("writes to the hub, for each Kyma", "writes", float64(all.Hub.Writes().Total())/k, report.AtMost(float64(2*b.Modules)+3.5))
	r.Add("events on the hub, for each Kyma", "events", float64(events(all.Hub).Total())/k) // not among the writes
	r.Add("reads of the runtime, for each Kyma", "calls", float64(reads(all.Runtimes).Total())/k)
	r.Add("reads of the hub, for each Kyma", "calls", float64(reads(all.Hub).Total())/k)
	if spent, err = cost.end(ctx); err != nil {
		return err
	}
	spent.tell(r, k, ", for each Kyma")
	return nil
}
