package workload

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/bench/bare"
	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
	"github.com/kyma-project/lifecycle-manager/tests/bench/testbench"
)

const (
	// singlePatience bounds the installation or the removal of one Kyma or module, and singleQuiet is how long nothing must have been said
	// between two.
	singlePatience, singleQuiet = 2 * time.Minute, 400 * time.Millisecond
	// singleName is the Kyma that comes and goes, goalSize the R that the goals speak of.
	singleName, goalSize = "kyma-single", 20
)

// single is B1: one module after the other, into a real API server.
//
//  1. A new Kyma of which only modules go into the runtime, until it is Ready.
//  2. The same with a Deployment, which runs as soon as kwok says so.
//  3. A module that is enabled in a Kyma that is Ready.
//  4. The same where the module brings a kind of its own and an object of it.
//  5. A new Kyma in a runtime that has nothing yet: definitions, copies and catalog come before it is Ready.
func single(ctx context.Context, b *Bench) error {
	return errors.Join(b.singles(ctx, false), b.singles(ctx, true))
}

func (b *Bench) singles(ctx context.Context, workload bool) (err error) {
	if workload && b.NoWorkloads {
		return nil
	}
	w, err := b.open(ctx, testbench.Options{Runtimes: 1, Workloads: workload})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if _, err := w.StartManager(ctx, b.managerOptions()); err != nil {
		return err
	}
	if err := w.GiveAccessTo(ctx, singleName, w.Runtimes[0]); err != nil {
		return err
	}
	for _, size := range b.Singles {
		if err := b.singlesOf(ctx, w, size, workload); err != nil {
			return err
		}
	}
	return nil
}

func (b *Bench) singlesOf(ctx context.Context, w *testbench.Bench, size int, workload bool) error {
	m := testbench.Module{Name: "single-" + moduleName(size), Version: version1, Objects: size, Deployment: workload}
	if err := w.Offer(ctx, m, v1beta2.DefaultChannel); err != nil {
		return err
	}
	s := &series{bench: b, world: w, module: m}
	what := fmt.Sprintf("R=%d, a new Kyma", size)
	if workload { // its steps towards being available are told as well
		return s.tell(ctx, what+" with a Deployment", b.Runs/3, s.created(true), 0)
	}
	if err := s.tell(ctx, what, b.Runs, s.created(true), 6); err != nil || size != goalSize {
		return err
	}
	if err := s.tell(ctx, fmt.Sprintf("R=%d, into a Ready Kyma", size), b.Runs, s.enabled(), 5); err != nil {
		return err
	}
	if err := b.ownKind(ctx, w, size); err != nil {
		return err
	}
	return s.tell(ctx, what+", into an empty runtime", b.Runs/10, s.created(false), 0)
}

// ownKind enables a module that brings a kind: its definition has to be established before an object of it can be written. Where its status
// changes once more while all is being judged, the Manifest and the Kyma say so, by two writes more than another module's.
func (b *Bench) ownKind(ctx context.Context, w *testbench.Bench, size int) error {
	m := testbench.Module{Name: "single-own-kind", Version: version1, Objects: size, Defines: true}
	if err := w.Offer(ctx, m, v1beta2.DefaultChannel); err != nil {
		return err
	}
	s := &series{bench: b, world: w, module: m}
	return s.tell(ctx, fmt.Sprintf("R=%d with a kind of its own, into a Ready Kyma", size), b.Runs, s.enabled(), 7)
}

// series are installations of the same module, one after the other.
type series struct {
	bench  *Bench
	world  *testbench.Bench
	module testbench.Module
}

// run is one of them: do installs, and undo removes what was installed.
type run struct {
	do   func(ctx context.Context) (time.Duration, error)
	undo func(ctx context.Context) error
	// end removes what is left after the last.
	end func(ctx context.Context) error
}

// created makes a Kyma that is new each time. An unsynced one gets nothing but modules.
func (s *series) created(unsynced bool) run {
	return run{
		do: func(ctx context.Context) (time.Duration, error) {
			kyma := testbench.NewKyma(singleName, s.module.Name)
			if unsynced {
				metav1.SetMetaDataLabel(&kyma.ObjectMeta, v1beta2.LabelSync, "false")
			}
			ready := s.world.Kymas.When([]string{singleName}, testbench.Ready)
			sent, err := s.world.CreateKyma(ctx, kyma)
			if err != nil {
				return 0, err
			}
			at, err := ready.Done(ctx)
			return at[singleName].Sub(sent), err
		},
		undo: s.remove,
	}
}

// enabled enables the module in a Kyma that is Ready, and disables it again.
func (s *series) enabled() run {
	create := s.created(true)
	made := false
	return run{
		do: func(ctx context.Context) (time.Duration, error) {
			if !made {
				made = true
				if _, err := create.do(ctx); err != nil {
					return 0, err
				}
				return 0, nil // the first run is not counted
			}
			return (&Setup{Bench: s.world}).Enable(ctx, singleName, s.module.Name)
		},
		undo: s.disable,
		end:  s.remove,
	}
}

// disable takes the module out of the Kyma and waits until it is gone.
func (s *series) disable(ctx context.Context) error {
	gone := s.world.Kymas.When([]string{singleName}, func(kyma *v1beta2.Kyma) bool {
		return kyma.Status.ObservedGeneration == kyma.Generation && len(kyma.Spec.Modules)+len(kyma.Status.Modules) == 0
	})
	_, _, err := s.world.ChangeKyma(ctx, singleName, func(kyma *v1beta2.Kyma) { kyma.Spec.Modules = nil })
	if err != nil {
		return err
	}
	_, err = gone.Done(ctx)
	return err
}

func (s *series) remove(ctx context.Context) error { return remove(ctx, s.world, singleName) }

// remove deletes a Kyma and waits until it is gone.
func remove(ctx context.Context, w *testbench.Bench, name string) error {
	if err := w.Hub.Client.Delete(ctx, testbench.NewKyma(name)); client.IgnoreNotFound(err) != nil {
		return err
	}
	err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, singlePatience, true, func(context.Context) (bool, error) {
		return w.Kymas.Get(name) == nil, nil
	})
	if err != nil {
		return fmt.Errorf("the Kyma is not gone: %w", err)
	}
	return nil
}

// tell runs one kind of installation and keeps its result. The first run is not counted: it fetches the content.
func (s *series) tell(ctx context.Context, which string, runs int, r run, hubWrites float64) error {
	result := s.bench.Result("B1", which)
	var times meter.Latencies
	var hub, runtime []int
	var last testbench.Calls
	for i := range max(1, runs) + 1 {
		took, calls, err := s.once(ctx, r)
		if err != nil {
			return fmt.Errorf("%s: %w\nthe manager's log ends with:\n%s", which, err, s.world.Manager.Log())
		}
		if i == 0 {
			continue
		}
		times.Add(took)
		hub, runtime, last = append(hub, calls.Hub.Writes().Total()), append(runtime, calls.Runtimes.Writes().Total()), calls
	}
	if r.end != nil {
		if err := r.end(ctx); err != nil {
			return err
		}
	}
	size := float64(s.module.Objects)
	sum := times.Summary()
	p50, p99, ours, theirs := report.AtMost(300), report.Bound{}, report.Bound{}, report.AtMost(hubWrites) // own time of a Deployment included
	if s.module.Defines {
		p50 = report.AtMost(600)
	}
	if !s.module.Deployment {
		p99, ours = report.AtMost(1000), report.AtMost(1.05*size+3)
	}
	if hubWrites == 0 {
		ours, theirs = report.Bound{}, report.Bound{}
		result.Notes = append(result.Notes, "The last run's calls to the hub:\n"+last.Hub.Plain().String(),
			"The last run's calls to the runtime:\n"+last.Runtimes.Plain().String())
	}
	result.Add("until Ready, p50", "ms", meter.Milliseconds(sum.P50), p50)
	result.Add("until Ready, p99", "ms", meter.Milliseconds(sum.P99), p99)
	result.Add("runs", "", float64(sum.Count))
	result.Add("writes to the runtime, most", "writes", float64(slices.Max(runtime)), ours)
	result.Add("writes to the hub, most", "writes", float64(slices.Max(hub)), theirs)
	if err := s.compare(ctx, result); err != nil {
		return err
	}
	return s.bench.Done(result)
}

// once installs, counts until nothing is said any more, and removes.
func (s *series) once(ctx context.Context, r run) (time.Duration, testbench.Calls, error) {
	ctx, cancel := context.WithTimeout(ctx, singlePatience)
	defer cancel()
	before, err := s.world.Settle(ctx, singleQuiet)
	if err != nil {
		return 0, testbench.Calls{}, err
	}
	took, err := r.do(ctx)
	if err != nil {
		return 0, testbench.Calls{}, err
	}
	after, err := s.world.Settle(ctx, singleQuiet)
	if err != nil {
		return 0, testbench.Calls{}, err
	}
	return took, after.Since(before), r.undo(ctx)
}

// compare returns what the bare loop needs for as many objects, without a Deployment, whose pods would be others, and without a kind, which
// the loop does not wait for.
func (s *series) compare(ctx context.Context, r *report.Result) error {
	if s.module.Deployment || s.module.Defines {
		return nil
	}
	m := s.module
	m.Name = "bare-" + m.Name
	spec := bareSpec(s.world.Runtimes)
	spec.Modules = [][]byte{m.YAML()}
	outcome, err := bare.Run(ctx, spec)
	if err != nil {
		return err
	}
	r.Add("the bare loop applies the same objects in", "ms", meter.Milliseconds(outcome.Took))
	return nil
}
