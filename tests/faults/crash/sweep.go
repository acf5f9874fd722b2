package crash

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/oracle"
	"github.com/kyma-project/lifecycle-manager/tests/faults/record"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
)

const (
	// Suite is the name of crash points in a record.Book.
	Suite = "crash"
	// cleanRuns list the calls: concurrent work may be done in different ways.
	cleanRuns = 2
	// tries is how often an operation is run until it makes the call of a point.
	tries = 3
	// within is how long the manager may take to reach the right end state, unless a user sets another time.
	within = time.Minute
	// notReached is the detail of a point whose call none of the tries made.
	notReached = "not reached"
)

// Options of a sweep.
type Options struct {
	// Dir holds the list of all points, so that slices and later runs have the same ones, and Book their results.
	Dir  string
	Book *record.Book
	// Operations; default all.
	Operations []operation.Operation
	// Choice picks points by their ID.
	Choice record.Choice
	// Within is how long the manager may take to reach the right end state; default a minute.
	Within time.Duration
	// Report receives every point that was run; may be nil.
	Report func(record.Point)
}

// Summary counts the chosen points.
type Summary struct {
	// All is the number of all points, and Chosen those of them that were chosen. Of the chosen ones, Passed passed now or in an earlier run,
	// Failed failed, and NotReached are those whose call was not made in several tries.
	All, Chosen, Passed, Failed, NotReached int
}

// String returns one line.
func (s Summary) String() string {
	return fmt.Sprintf("crash points: %d of %d chosen, %d passed, %d failed, %d not reached",
		s.Chosen, s.All, s.Passed, s.Failed, s.NotReached)
}

// job is a point with everything that is needed to run it.
type job struct {
	point Point
	op    operation.Operation
	want  oracle.State
}

// Sweep lists all points of the operations by clean runs, and runs the chosen ones that have not passed yet.
func Sweep(ctx context.Context, r *rig.Rig, watchdog *oracle.Watchdog, options Options) (Summary, error) {
	d := &Driver{Rig: r, Watchdog: watchdog, Within: cmp.Or(options.Within, within)}
	if len(options.Operations) == 0 {
		options.Operations = operation.All()
	}
	var all []job
	for _, op := range options.Operations {
		tasks, err := enumerate(ctx, d, op, options.Dir)
		if err != nil {
			return Summary{}, fmt.Errorf("clean run of %s: %w", op.Name, err)
		}
		all = append(all, tasks...)
	}
	chosen := record.Pick(options.Choice, all, func(t job) string { return t.point.ID() })
	summary := Summary{All: len(all), Chosen: len(chosen)}
	for _, t := range chosen {
		if ctx.Err() != nil {
			return summary, ctx.Err()
		}
		if options.Book.Done(Suite, t.point.ID()) {
			summary.Passed++
			continue
		}
		point := run(ctx, d, t, options.Choice.Seed)
		if ctx.Err() != nil {
			return summary, ctx.Err() // the interruption proves nothing about the manager
		}
		if err := options.Book.Write(point); err != nil {
			return summary, err
		}
		summary = summary.with(point)
		if options.Report != nil {
			options.Report(point)
		}
	}
	return summary, nil
}

func (s Summary) with(point record.Point) Summary {
	switch {
	case len(point.Problems) > 0:
		s.Failed++
	case point.Detail["outcome"] == notReached:
		s.NotReached++
	default:
		s.Passed++
	}
	return s
}

// run tries a point until the operation makes its call.
func run(ctx context.Context, d *Driver, t job, seed uint64) record.Point {
	began := time.Now()
	point := record.Point{
		Suite: Suite, Name: t.point.ID(), Operation: t.point.Operation,
		Fault: "kill -9 " + string(t.point.When) + " a write to " + t.point.Server,
		Seed:  seed, At: began.UTC().Truncate(time.Second),
	}
	var death Death
	for range tries {
		if death = d.Crash(ctx, t.op, t.want, t.point); death.Died || len(death.Problems) > 0 {
			break
		}
	}
	point.Problems, point.Took = death.Problems, seconds(time.Since(began))
	if death.Died {
		point.Converged = seconds(death.Recovered)
	} else {
		point.Detail = map[string]string{"outcome": notReached}
	}
	if len(death.Log) > 0 {
		point.Detail = map[string]string{"log": strings.Join(death.Log, "\n")}
	}
	return point
}

func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }

// enumerate returns the jobs of an operation, with the points that were listed before if there are any. Two clean runs must reach the same
// end state, because otherwise a crash would prove nothing.
func enumerate(ctx context.Context, d *Driver, op operation.Operation, dir string) ([]job, error) {
	file := filepath.Join(dir, Suite+"-points", op.Name+".json")
	points, err := load(file)
	if err != nil {
		return nil, err
	}
	var runs []Run
	var want oracle.State
	listed := len(points) > 0
	for range cleanRuns {
		run, end, err := d.Clean(ctx, op, want)
		if err != nil {
			return nil, err
		}
		want = end
		runs = append(runs, run)
		if listed {
			break
		}
	}
	if !listed {
		points = PointsOf(op.Name, runs...)
		if err := store(file, points); err != nil {
			return nil, err
		}
	}
	var tasks []job
	for _, point := range points {
		tasks = append(tasks, job{point: point, op: op, want: want})
	}
	return tasks, nil
}

func load(file string) ([]Point, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var points []Point
	if err := json.Unmarshal(data, &points); err != nil {
		return nil, fmt.Errorf("%s lists no points: %w", file, err)
	}
	return points, nil
}

func store(file string, points []Point) error {
	data, err := json.MarshalIndent(points, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o600)
}
