package replicas

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/oracle"
	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
	"github.com/kyma-project/lifecycle-manager/tests/faults/record"
	"github.com/kyma-project/lifecycle-manager/tests/faults/trial"
)

// SuiteName is the suite of its points.
const SuiteName = "replicas"

// Suite runs Cells on a Lab, one after another. While it is open its replicas have the work, and the Lab's own manager does not run.
type Suite struct {
	lab        *trial.Lab
	operations []operation.Operation
	clean      map[string]*trial.Clean
	fleet      *replicaSet
}

// Open makes the clean runs of operations with the Lab's manager alone, and then ends that manager.
func Open(ctx context.Context, lab *trial.Lab, operations []operation.Operation) (*Suite, error) {
	s := &Suite{lab: lab, operations: operations, clean: map[string]*trial.Clean{}}
	for _, o := range operations {
		clean, err := lab.Clean(ctx, o)
		if err != nil {
			return nil, err
		}
		s.clean[o.Name] = clean
	}
	return s, lab.Rig.Manager.Stop()
}

// Cells returns the trials of all operations: for each operation a few that the seed picks, or one for every write. Those with the Terms of
// a deployed manager come last, because they need other replicas.
func (s *Suite) Cells(seed uint64, all bool) []Cell {
	var cells []Cell
	for _, o := range s.operations {
		if all {
			cells = append(cells, Forms(o, s.clean[o.Name])...)
		} else {
			cells = append(cells, Cells(seed, o, s.clean[o.Name])...)
		}
	}
	slices.SortStableFunc(cells, func(a, b Cell) int { return cmp.Compare(a.Terms.Lease, b.Terms.Lease) })
	return cells
}

// longer scales a time with the patience of a Lab, relative to the usual patience.
func (s *Suite) longer(usual time.Duration) time.Duration { return longer(usual, s.lab.Converges) }

func longer(usual, converges time.Duration) time.Duration {
	return time.Duration(usual.Seconds() / trial.Converges.Seconds() * float64(converges))
}

// Close ends the replicas. The Lab starts its own manager when it needs it.
func (s *Suite) Close() error {
	if s.fleet == nil {
		return nil
	}
	err := s.fleet.end()
	s.fleet = nil
	return err
}

// with makes the replicas share the work by these Terms.
func (s *Suite) with(ctx context.Context, terms Terms) (*replicaSet, error) {
	if s.fleet != nil && s.fleet.terms == terms {
		return s.fleet, nil
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	var err error
	s.fleet, err = newFleet(ctx, s.lab.Rig, terms, s.longer(settles))
	return s.fleet, err
}

// Run runs one trial.
func (s *Suite) Run(ctx context.Context, cell Cell) record.Point {
	began := time.Now()
	t := &attempt{Cell: cell, suite: s, point: record.Point{
		Suite: SuiteName, Name: cell.Name(), Operation: cell.Operation.Name, Fault: string(cell.Kind), At: began.UTC().Truncate(time.Second),
		Detail: map[string]string{},
	}}
	s.lab.Rig.ClearFaults()
	t.fail(t.run(ctx))
	if len(t.point.Problems) > 0 && s.fleet != nil {
		t.point.Detail["log"] = s.fleet.tails(40)
	}
	t.point.Took = time.Since(began).Seconds()
	return t.point
}

// attempt is the trial of a Cell.
type attempt struct {
	Cell

	suite *Suite
	fleet *replicaSet
	scene *operation.Scenario
	point record.Point

	gate   *callBarrier
	victim *replica
	call   proxy.Call                      // the write that was held
	before map[*replica]map[string]float64 // writes that were refused until then
}

func (t *attempt) fail(err error) {
	if err != nil {
		t.blame(err.Error())
	}
}

func (t *attempt) blame(problems ...string) { t.point.Problems = append(t.point.Problems, problems...) }

func (t *attempt) notef(key, format string, values ...any) {
	t.point.Detail[key] = fmt.Sprintf(format, values...)
}

// run prepares the Scenario with all replicas at work, and judges it when the operation has ended.
func (t *attempt) run(ctx context.Context) (err error) {
	if t.fleet, err = t.suite.with(ctx, t.Terms); err != nil {
		return err
	}
	count := full
	if t.Kind == Comes {
		count--
	}
	if err := t.fleet.scale(ctx, count); err != nil {
		return fmt.Errorf("the replicas do not share the work: %w", err)
	}
	if t.scene, err = operation.NewScene(ctx, t.suite.lab.Rig, operation.NewID()); err != nil {
		return err
	}
	judge := t.suite.lab.Watchdog.Begin(t.scene)
	defer func() { err = errors.Join(err, t.scene.Close(ctx)) }()
	if err := t.Operation.Prepare(ctx, t.scene); err != nil {
		return fmt.Errorf("prepare %s: %w", t.Operation.Name, err)
	}
	if t.before, err = t.fleet.fenced(ctx); err != nil {
		return err
	}
	if err := t.during(ctx); err != nil {
		return err
	}
	_, problems := judge.End(ctx, t.suite.clean[t.Operation.Name].State, t.suite.lab.Converges, oracle.Usual())
	t.blame(problems...)
	t.blame(t.refused(ctx)...)
	return nil
}
