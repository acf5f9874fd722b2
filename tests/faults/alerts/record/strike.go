package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/faults/alerts"
	"github.com/kyma-project/lifecycle-manager/tests/faults/matrix"
	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
)

const (
	// before is how many samples are taken before the fault.
	before = 2
	// held is how many are taken while it is on, and hold how long that is: longer than its alert may take to ring.
	held = int(alerts.RingsWithin/alerts.Interval) + 1
	hold = time.Duration(held) * alerts.Interval
	// after is how many are taken after it: the rules look two minutes back.
	after = 12
	// recovers is how long the operation may take after the fault.
	recovers = time.Duration(after) * alerts.Interval
)

// everyday are the operations of the run without a fault: those that people do, and that end well.
var everyday = []string{"install", "upgrade", "channel", "disable", "unmanage", "delete", "rotate", "rollout", "approve"}

// fault records a fault of the matrix.
func (s *session) fault(ctx context.Context, expected alerts.Expectation, recording *alerts.Recording) (err error) {
	form, err := formOf(expected)
	if err != nil {
		return err
	}
	picked, err := operation.Named(expected.Operation)
	if err != nil {
		return err
	}
	if expected.Fault == "clock" { // its manager takes minutes to build
		if _, err := s.rig.Shifted(ctx, time.Hour); err != nil {
			return err
		}
	}
	scene, err := operation.NewScene(ctx, s.rig, operation.NewID())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scene.Close(ctx)) }()
	if err := errors.Join(picked[0].Prepare(ctx, scene), s.rig.Quiet(ctx)); err != nil {
		return err
	}
	churn := operation.NewChurn(scene)
	run := func(ctx context.Context) error { return picked[0].Run(ctx, scene, hold+recovers) }
	if !expected.Churn {
		return s.strike(ctx, scene, form, recording, run, nil)
	}
	return s.strike(ctx, scene, form, recording, run, churn)
}

// formOf finds the form of the matrix.
func formOf(expected alerts.Expectation) (matrix.Form, error) {
	for _, fault := range matrix.Faults() {
		for _, form := range fault.Forms {
			if fault.Name == expected.Fault && form.Name == expected.Form {
				return form, nil
			}
		}
	}
	return matrix.Form{}, fmt.Errorf("the matrix has no fault %s in the form %q", expected.Fault, expected.Form)
}

// strike brings the fault about, and takes samples before, during and after it.
func (s *session) strike(
	ctx context.Context, scene *operation.Scenario, form matrix.Form, recording *alerts.Recording,
	run func(context.Context) error, churn *operation.Churn,
) error {
	scraper, stop := s.scrape(ctx)
	defer stop()
	if err := scraper.Await(ctx, before-1); err != nil {
		return err
	}
	recording.Began = scraper.Last()
	mend, err := form.Begin(ctx, scene)
	if err != nil {
		return fmt.Errorf("cannot break it: %w", err)
	}
	recording.Struck = scraper.Last()
	done := make(chan error, 1)
	go func() { done <- run(ctx) }()
	calm := begin(ctx, churn)
	err = errors.Join(scraper.Await(ctx, recording.Struck+held), calm(), mend(ctx))
	recording.Mended = scraper.Last()
	if !s.rig.Manager.Running() {
		err = errors.Join(err, s.rig.Manager.Start())
	}
	if churn != nil {
		err = errors.Join(err, churn.Unchurn(ctx))
	}
	err = errors.Join(err, <-done, scraper.Await(ctx, recording.Mended+after))
	stop()
	scraper.Fill(recording)
	return err
}

// begin starts a churn, if there is one; calm ends it.
func begin(ctx context.Context, churn *operation.Churn) (calm func() error) {
	if churn == nil {
		return func() error { return nil }
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- churn.Run(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// clean records what a manager publishes while people do this and that, and nothing is wrong.
func (s *session) clean(ctx context.Context, _ alerts.Expectation, recording *alerts.Recording) error {
	operations, err := operation.Named(everyday...)
	if err != nil {
		return err
	}
	recording.Operation = "everyday operations, one after the other"
	scraper, stop := s.scrape(ctx)
	defer stop()
	for n := 0; time.Duration(scraper.Last())*alerts.Interval < s.options.clean; n++ {
		if err := s.everyday(ctx, operations[n%len(operations)]); err != nil {
			return err
		}
	}
	stop()
	scraper.Fill(recording)
	return nil
}

// everyday carries out one operation, and cleans up.
func (s *session) everyday(ctx context.Context, o operation.Operation) (err error) {
	scene, err := operation.NewScene(ctx, s.rig, operation.NewID())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scene.Close(ctx)) }()
	if err := o.Prepare(ctx, scene); err != nil {
		return err
	}
	return o.Run(ctx, scene, recovers)
}
