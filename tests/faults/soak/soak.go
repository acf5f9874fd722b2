// Package soak checks whether anything grows, gets stuck or goes wrong when operations and faults follow each other for hours.
//
// One manager process runs through random operations, each under a random fault or none, drawn by a seed. In five of six cases, names and
// versions are reused, as in a fleet, because the data kept per version grows only with new ones. The memory of the process is measured
// after each operation, and its live heap after a garbage collection sixteen times, with a heap profile; what counts is the slope, not the
// height.
//
// Faults that end the manager are left out, since memory that starts again has no slope.
package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/bench/meter"
	"github.com/kyma-project/lifecycle-manager/tests/faults/matrix"
	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/record"
	"github.com/kyma-project/lifecycle-manager/tests/faults/trial"
)

// looks is how often the live heap is measured: each requests a collection, which the manager would not run by itself then.
const looks = 16

// scenes is how many names are reused.
const scenes = 24

// Options of a soak.
type Options struct {
	Seed     uint64
	Duration time.Duration
	// Profiles is the address of the manager's profiles, such as http://127.0.0.1:8084, and Dir the folder for those of its heap.
	Profiles, Dir string
	// Each receives every operation as it ends, and the memory of the process at that time.
	Each func(record.Point, Sample)
}

// Sample is the memory of the manager after so many operations, in bytes.
type Sample struct {
	At         time.Duration
	Operations int
	Bytes      int64
}

// Report is the result of a soak.
type Report struct {
	Points []record.Point
	// Held is the memory of the process after each operation; Live is that of its objects after a collection.
	Held, Live []Sample
}

// Run continues until the duration has ended or the context ends.
func Run(ctx context.Context, lab *trial.Lab, o Options) (Report, error) {
	var report Report
	defer func() { lab.Name = operation.NewID }()
	dice, operations := rand.New(rand.NewPCG(o.Seed, 1)), operation.All()
	cells, ring := survivable(operations), names()
	began := time.Now()
	for n := 1; time.Since(began) < o.Duration && ctx.Err() == nil; n++ {
		b, deed, fresh := trial.Break{Fault: "none", Begin: clearFaults}, operations[dice.IntN(len(operations))], false
		if dice.IntN(3) > 0 {
			cell := cells[dice.IntN(len(cells))]
			b, deed = cell.Break(), cell.Operation
			fresh = cell.Fault.Group == "artifact"
		}
		lab.Name = operation.NewID
		if !fresh { // a problem with a version shows only before it was fetched
			lab.Name = func() string { return ring[n%len(ring)] }
		}
		b.Name = fmt.Sprintf("%06d/%s/%s", n, deed.Name, b.Fault)
		point := lab.Run(ctx, "soak", deed, b)
		point.Seed = o.Seed
		if len(point.Problems) > 0 { // it may have left something under its name
			ring[n%len(ring)] = operation.NewID()
		}
		bytes, _, err := lab.Rig.Manager.Memory()
		if err != nil {
			return report, fmt.Errorf("the manager did not live through %s: %w", b.Name, err)
		}
		sample := Sample{At: time.Since(began), Operations: n, Bytes: bytes}
		report.Points, report.Held = append(report.Points, point), append(report.Held, sample)
		o.Each(point, sample)
		if sample.At >= time.Duration(len(report.Live)+1)*o.Duration/looks {
			if err := report.look(ctx, o, sample); err != nil {
				return report, err
			}
		}
	}
	return report, nil
}

// names returns the names of Scenarios that are reused.
func names() []string {
	ring := make([]string, scenes)
	for i := range ring {
		ring[i] = operation.NewID()
	}
	return ring
}

// look records the live heap, and saves a profile of it. The newest profile less an old one, by go tool pprof -diff_base, shows the growth.
func (r *Report) look(ctx context.Context, o Options, sample Sample) error {
	memory, err := meter.Live(ctx, o.Profiles)
	if err != nil {
		return fmt.Errorf("cannot tell what lives in the manager: %w", err)
	}
	sample.Bytes = memory.Live
	r.Live = append(r.Live, sample)
	return meter.SaveHeap(ctx, o.Profiles, filepath.Join(o.Dir, fmt.Sprintf("heap-%d.pb.gz", len(r.Live))))
}

func clearFaults(context.Context, *operation.Scenario) (func(context.Context) error, error) {
	return func(context.Context) error { return nil }, nil
}

func survivable(operations []operation.Operation) (cells []matrix.Cell) {
	for _, cell := range matrix.Forms(operations) {
		if survives(cell) {
			cells = append(cells, cell)
		}
	}
	return cells
}

// survives reports whether a fault neither ends the manager nor takes too long for a soak.
func survives(cell matrix.Cell) bool {
	switch cell.Fault.Name {
	case "hub is away", "hub lags", "hub's definition is older", "hub is slow", "runtime is slow":
		return false
	}
	return cell.Fault.Group != "process"
}

// Slope returns the growth in bytes per hour, by least squares over the second half of the samples: the first fills caches.
func Slope(samples []Sample) float64 {
	samples = samples[len(samples)/2:]
	var n, sx, sy, sxx, sxy float64
	for _, s := range samples {
		x, y := s.At.Hours(), float64(s.Bytes)
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	if d := n*sxx - sx*sx; d > 0 {
		return (n*sxy - sx*sy) / d
	}
	return 0
}
