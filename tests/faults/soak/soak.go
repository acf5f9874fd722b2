// Package soak answers one question: does anything grow, get stuck or go wrong when operations and faults follow each other for hours?
//
// One manager process lives through random operations, each under a random fault or none, drawn by a seed. Its memory is looked at
// after each; what counts is the slope, not the height.
//
// What it refuses to do: faults that end the manager are left out, since memory that starts anew has no slope.
package soak

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/faults/matrix"
	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/record"
	"github.com/kyma-project/lifecycle-manager/tests/faults/trial"
)

// Sample is the memory of the manager after so many operations.
type Sample struct {
	At         time.Duration
	Operations int
	Bytes      int64
}

// Report is how a soak went.
type Report struct {
	Points  []record.Point
	Samples []Sample
}

// Run goes on until the duration is over or the context ends; each is told every trial as it ends.
func Run(ctx context.Context, lab *trial.Lab, seed uint64, duration time.Duration, each func(record.Point, Sample)) (Report, error) {
	var report Report
	dice := rand.New(rand.NewPCG(seed, 1))
	operations := operation.All()
	var cells []matrix.Cell
	for _, cell := range matrix.Forms(operations) {
		if survives(cell) {
			cells = append(cells, cell)
		}
	}
	began := time.Now()
	for n := 1; time.Since(began) < duration && ctx.Err() == nil; n++ {
		b, o := trial.Break{Fault: "none", Begin: calm}, operations[dice.IntN(len(operations))]
		if dice.IntN(3) > 0 {
			cell := cells[dice.IntN(len(cells))]
			b, o = cell.Break(), cell.Operation
		}
		b.Name = fmt.Sprintf("%06d/%s/%s", n, o.Name, b.Fault)
		point := lab.Run(ctx, "soak", o, b)
		point.Seed = seed
		bytes, _, err := lab.Rig.Manager.Memory()
		if err != nil {
			return report, fmt.Errorf("the manager did not live through %s: %w", b.Name, err)
		}
		sample := Sample{At: time.Since(began), Operations: n, Bytes: bytes}
		report.Points, report.Samples = append(report.Points, point), append(report.Samples, sample)
		each(point, sample)
	}
	return report, nil
}

func calm(context.Context, *operation.Scene) (func(context.Context) error, error) {
	return func(context.Context) error { return nil }, nil
}

// survives says that a fault neither ends the manager nor lasts longer than the operation is worth.
func survives(cell matrix.Cell) bool {
	switch cell.Fault.Name {
	case "hub is away", "hub lags", "hub's definition is older", "hub is slow", "runtime is slow":
		return false
	}
	return cell.Fault.Group != "process"
}

// Slope is the growth in bytes per hour, by least squares over the second half of the samples: the first fills caches.
func (r Report) Slope() float64 {
	samples := r.Samples[len(r.Samples)/2:]
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
