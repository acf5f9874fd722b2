package workload

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/bench/bare"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

// Workload is one of them.
type Workload struct {
	// Name is "B0" to "B12" or another short word; Title says what it does.
	Name, Title string
	// Run is for those with a world of their own, On for those of a fleet, once for every size. Each has one of the two.
	Run func(ctx context.Context, b *Bench) error
	On  func(ctx context.Context, b *Bench, f *Setup) error
}

// All returns the workloads in the order in which they run: in a fleet, those that damage it come after those that need it whole.
func All() []Workload {
	return []Workload{
		{Name: "B0", Title: "the bare loop, on a real API server and on simulated runtimes", Run: bareLoop},
		{Name: "B1", Title: "one module into a real API server", Run: single},
		{Name: "real", Title: "B2 and B4 with real API servers for runtimes", Run: genuine},
		{Name: "B2", Title: "many Kymas at once", On: bulk},
		{Name: "B3", Title: "rest", On: rest},
		{Name: "B4", Title: "a new version of a module that all use", On: rollout},
		{Name: "B8", Title: "restart", On: restart},
		{Name: "B11", Title: "releases in waves", On: waves},
		{Name: "B12", Title: "the way back", On: wayBack},
		{Name: "B5", Title: "people who change their minds", On: churn},
		{Name: "B6", Title: "changes in runtimes", On: drift},
		{Name: "B7", Title: "runtimes that are dead or slow", On: dead},
		{Name: "B9", Title: "deletion", On: removals},
		{Name: "B10", Title: "large modules", Run: large},
		{Name: "memory", Title: "memory for each connected runtime", Run: memory},
		{Name: "curves", Title: "growth with Kymas, modules and objects", Run: curves},
		{Name: "shards", Title: "the same fleet brought in by one replica and by three", Run: shards},
		{Name: "owner", Title: "the owner of a rollout is killed", Run: owner},
	}
}

// Play runs workloads: those with a world of their own first, and then, for every size of a fleet, the others in one fleet.
func (b *Bench) Play(ctx context.Context, chosen []Workload) error {
	fleets := false
	for _, w := range chosen {
		fleets = fleets || w.On != nil
		if w.Run == nil {
			continue
		}
		b.Logf("%s: %s", w.Name, w.Title)
		if err := w.Run(ctx, b); err != nil {
			return fmt.Errorf("%s: %w", w.Name, err)
		}
	}
	for _, k := range b.Kymas {
		if !fleets {
			break
		}
		if err := b.playFleet(ctx, chosen, k); err != nil {
			return errors.Join(fmt.Errorf("fleet of %d: %w", k, err), b.Close())
		}
	}
	return b.Close()
}

func (b *Bench) playFleet(ctx context.Context, chosen []Workload, k int) error {
	for _, w := range chosen {
		if w.On == nil {
			continue
		}
		fleet, err := b.Prepare(ctx, k)
		if err != nil {
			return err
		}
		b.Logf("%s: %s, %s", w.Name, w.Title, b.Case(k))
		if err := w.On(ctx, b, fleet); err != nil {
			return fmt.Errorf("%s: %w", w.Name, err)
		}
	}
	return nil
}

// Settings say how large workloads are.
type Settings struct {
	// Kymas are the sizes of a fleet that are gone through.
	Kymas []int
	// Modules each Kyma has, Objects each module.
	Modules, Objects int
	// Idle is how long rest is watched.
	Idle time.Duration
	// Curve says through which sizes curves go.
	Curve Curve
	// Singles are the sizes of the modules that are installed one by one, in objects.
	Singles []int
	// NoWorkloads leaves out what needs pods.
	NoWorkloads bool
	// Pairs is how often a release with a plan is compared with one without; Brief leaves out of releases what takes minutes.
	Pairs int
	Brief bool
	// Runs is how often a single installation is repeated.
	Runs int
	// Processors is GOMAXPROCS of the manager, 0 leaves it alone; Flags are further flags of the manager, and Env are variables of its
	// environment, which win over those of config/manager.
	Processors int
	Flags, Env []string
	// Command is how a run with these settings is repeated.
	Command string
}

// Bench is what a workload is given.
type Bench struct {
	Settings
	// Dir is a folder for everything; Manager the manager's program.
	Dir, Manager string
	// Logs is a folder that keeps the manager's logs; empty for no one who wants them.
	Logs string
	// Profiles is a folder that gets processor profiles of the manager and the hub while they work, and of the manager at rest; empty
	// for none.
	Profiles string
	// Logf tells how far it is.
	Logf func(format string, args ...any)
	// Keep is handed every result and curve as soon as there is one.
	Keep func(report.Set) error
	// Machine stands in every result.
	Machine report.Machine

	fleet *Setup
	// tier is what cases say of their runtimes when these are no simulated ones.
	tier string
}

// managerOptions returns how the manager of a workload runs.
func (b *Bench) managerOptions() testbench.ManagerOptions {
	return testbench.ManagerOptions{Flags: b.Flags, Processors: b.Processors, Env: b.Env}
}

// Result begins a result.
func (b *Bench) Result(bench, which string) *report.Result {
	return &report.Result{Bench: bench, Case: which, Command: b.Command, At: time.Now().UTC(), Machine: b.Machine}
}

// Done keeps a result.
func (b *Bench) Done(r *report.Result) error {
	r.Took = time.Since(r.At).Round(time.Second)
	return b.Keep(report.Set{Results: []report.Result{*r}})
}

// open opens a world with the folders and programs of this bench.
func (b *Bench) open(ctx context.Context, o testbench.Options) (*testbench.Bench, error) {
	o.Dir, o.Manager, o.Logs, o.Logf = b.Dir, b.Manager, b.Logs, b.Logf
	return testbench.Open(ctx, o)
}

// Close ends the fleet that workloads shared.
func (b *Bench) Close() error {
	if b.fleet == nil {
		return nil
	}
	fleet := b.fleet
	b.fleet = nil
	return fleet.Close()
}

// Setup is a test bed of simulated runtimes in which every Kyma is Ready and nothing changes any more.
type Setup struct {
	*testbench.Bench
	// Names are the Kymas; the one at i has the runtime i. Spare runtimes come behind them.
	Names []string
	// Modules that every Kyma has, in version 1.0.0. Extra and Late are modules that none has, for workloads that enable one. All are in
	// channel regular.
	Modules []string
	Extra   string
	Late    []string
	// Bare is what the bare loop made of the same objects, in the same world.
	Bare bare.Outcome
	// Necessary is what the bare loop made of them that also writes to the hub what no operator can do without.
	Necessary Necessary

	k, spare int
	// rolled is how many of Modules get a new version in B4.
	rolled int
}

// Size is K.
func (f *Setup) Size() int { return len(f.Names) }

// Case returns how results are called that were taken in this fleet.
func (b *Bench) Case(k int) string {
	return fmt.Sprintf("K=%d m=%d R=%d%s", k, b.Modules, b.Objects, b.tier)
}

// Prepare returns a Setup with k Kymas. The one of the workload before is handed on when it has as many; otherwise a new one is brought in,
// which is B2 and kept as its result.
func (b *Bench) Prepare(ctx context.Context, k int) (*Setup, error) {
	if b.fleet != nil && b.fleet.Size() == k {
		return b.fleet, nil
	}
	if err := b.Close(); err != nil {
		return nil, err
	}
	fleet, err := b.onboard(ctx, k)
	if err != nil {
		return nil, err
	}
	b.fleet = fleet
	return fleet, nil
}

// Damaged says that the fleet must not be handed on.
func (b *Bench) Damaged() error { return b.Close() }

// Choose returns the workloads of the names, separated by commas; all for "".
func Choose(names string) ([]Workload, error) {
	if names == "" {
		return All(), nil
	}
	var chosen []Workload
	var unknown []error
	for name := range strings.SplitSeq(names, ",") {
		found := false
		for _, w := range All() {
			if strings.EqualFold(w.Name, strings.TrimSpace(name)) {
				chosen, found = append(chosen, w), true
			}
		}
		if !found {
			unknown = append(unknown, fmt.Errorf("there is no workload %q", name))
		}
	}
	return chosen, errors.Join(unknown...)
}
