package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/faults/crash"
	"github.com/kyma-project/lifecycle-manager/tests/faults/matrix"
	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/record"
	"github.com/kyma-project/lifecycle-manager/tests/faults/replicas"
	"github.com/kyma-project/lifecycle-manager/tests/faults/soak"
	"github.com/kyma-project/lifecycle-manager/tests/faults/trial"
	"github.com/kyma-project/lifecycle-manager/tests/faults/views"
)

// session is one run of the program.
type session struct {
	book    *record.Book
	options options
	lab     *trial.Lab
	done    int
	failed  []string
}

func newSession(book *record.Book, o options) *session { return &session{book: book, options: o} }

func (s *session) run(ctx context.Context) error {
	fmt.Fprintf(s.options.out, "faults: suites %v, seed %d, results in %s\n", s.options.suites, s.options.choice.Seed, s.options.dir)
	lab, err := trial.New(ctx, s.options.rigOptions())
	if err != nil {
		return err
	}
	s.lab = lab
	for _, suite := range s.options.suites {
		if err == nil && ctx.Err() == nil {
			err = map[string]func(context.Context) error{
				"crash": s.crash, "views": s.views, "matrix": s.matrix, "replicas": s.replicas, "soak": s.soak,
			}[suite](ctx)
		}
	}
	err = errors.Join(err, lab.Rig.Stop())
	fmt.Fprintf(s.options.out, "faults: %d points run, %d failed\n", s.done, len(s.failed))
	if len(s.failed) > 0 {
		err = errors.Join(err, fmt.Errorf("%d points failed: %s", len(s.failed), strings.Join(s.failed, ", ")))
	}
	return err
}

// each runs one point, unless it passed before, and records it.
func (s *session) each(ctx context.Context, suite, name string, try func() record.Point) error {
	if ctx.Err() != nil || !s.options.again && s.book.Done(suite, name) {
		return ctx.Err()
	}
	point := try()
	if ctx.Err() != nil {
		return ctx.Err() // the result of an interrupted point means nothing
	}
	point.Seed = s.options.choice.Seed
	return s.keep(point)
}

func (s *session) keep(point record.Point) error {
	s.report(point)
	return s.book.Write(point)
}

// report prints how a point ended, and counts it.
func (s *session) report(point record.Point) {
	s.done++
	verdict := "ok    "
	if len(point.Problems) > 0 {
		verdict = "FAILED"
		s.failed = append(s.failed, point.Suite+" "+point.Name)
	}
	fmt.Fprintf(s.options.out, "%s %s %s (%.1f s, whole %.1f s after)\n", verdict, point.Suite, point.Name, point.Took, point.Converged)
	for _, problem := range point.Problems {
		fmt.Fprintln(s.options.out, "       "+strings.ReplaceAll(problem, "\n", "\n       "))
	}
}

func (s *session) matrix(ctx context.Context) error {
	cells := matrix.Cells(s.options.choice.Seed, s.options.operations)
	if s.options.forms {
		cells = matrix.Forms(s.options.operations)
	}
	for _, cell := range record.Pick(s.options.choice, cells, matrix.Cell.Name) {
		err := s.each(ctx, "matrix", cell.Name(), func() record.Point { return s.lab.Run(ctx, "matrix", cell.Operation, cell.Break()) })
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *session) views(ctx context.Context) error {
	var points []views.Point
	for _, o := range s.options.operations {
		clean, err := s.lab.Clean(ctx, o)
		if err != nil {
			return err
		}
		points = append(points, views.Points(o, clean)...)
	}
	fmt.Fprintf(s.options.out, "faults: %d moments at which a view can be disturbed\n", len(points))
	for _, point := range record.Pick(s.options.choice, points, views.Point.Name) {
		err := s.each(ctx, "views", point.Name(), func() record.Point { return s.lab.Run(ctx, "views", point.Operation, point.Break()) })
		if err != nil {
			return err
		}
	}
	return nil
}

// replicas runs its default operations, unless others were requested.
func (s *session) replicas(ctx context.Context) (err error) {
	picked := s.options.operations
	if len(picked) == len(operation.All()) {
		if picked, err = operation.Named(replicas.Operations...); err != nil {
			return err
		}
	}
	suite, err := replicas.Open(ctx, s.lab, picked)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, suite.Close()) }()
	for _, cell := range record.Pick(s.options.choice, suite.Cells(s.options.choice.Seed, s.options.forms), replicas.Cell.Name) {
		err := s.each(ctx, replicas.SuiteName, cell.Name(), func() record.Point { return suite.Run(ctx, cell) })
		if err != nil {
			return err
		}
	}
	return nil
}

// crash has one operation more than the other suites where the version before is known.
func (s *session) crash(ctx context.Context) error {
	picked := s.options.operations
	if len(picked) == len(operation.All()) && s.lab.Rig.Earlier != nil {
		picked = append(picked, operation.ManagerUpgrade())
	}
	summary, err := crash.Sweep(ctx, s.lab.Rig, s.lab.Watchdog, crash.Options{
		Dir: s.options.dir, Book: s.book, Operations: picked, Choice: s.options.choice,
		Report: s.report,
	})
	fmt.Fprintln(s.options.out, "faults:", summary)
	return err
}

func (s *session) soak(ctx context.Context) error {
	var writing error
	report, err := soak.Run(ctx, s.lab, soak.Options{
		Seed: s.options.choice.Seed, Duration: s.options.soak, Profiles: "http://" + s.options.profiles, Dir: s.options.dir,
		Each: func(point record.Point, sample soak.Sample) {
			fmt.Fprintf(s.options.out, "%8s %4d MiB ", sample.At.Round(time.Second), sample.Bytes>>20)
			writing = errors.Join(writing, s.keep(point))
		},
	})
	for _, sample := range report.Live {
		fmt.Fprintf(s.options.out, "soak: %8s, %4d operations: %d KiB live\n", sample.At.Round(time.Second), sample.Operations, sample.Bytes>>10)
	}
	if len(report.Points) > 0 {
		fmt.Fprintf(s.options.out, "soak: %d operations, %d of them with a problem; in the second half the process grows by %.0f KiB an hour, "+
			"what lives in it by %.0f\n", len(report.Points), len(s.failed), soak.Slope(report.Held)/1024, soak.Slope(report.Live)/1024)
	}
	return errors.Join(err, writing)
}
