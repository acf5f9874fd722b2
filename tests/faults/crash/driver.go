package crash

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/oracle"
	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
)

// Driver runs operations on a rig, and kills the manager in the middle of them.
type Driver struct {
	Rig *rig.Rig
	// Watchdog of the rig.
	Watchdog *oracle.Watchdog
	// Within is how long the manager may take to reach the right end state after its death.
	Within time.Duration
}

// Clean runs an operation without deaths. It returns the calls, and the end state, which it compares with want if that is given.
func (d *Driver) Clean(ctx context.Context, op operation.Operation, want oracle.State) (run Run, end oracle.State, err error) {
	s, judge, err := d.begin(ctx, op)
	if err != nil {
		return run, nil, err
	}
	defer func() { err = errors.Join(err, s.Close(ctx)) }()
	since := d.Rig.Marks()
	if err = op.Run(ctx, s, d.Within); err == nil {
		err = d.Rig.Quiet(ctx)
	}
	run.ID = s.ID
	for i, server := range d.Rig.Servers() {
		run.Calls = append(run.Calls, server.Proxy.Since(since[i])...)
	}
	end, problems := judge.End(ctx, want, d.Within, oracle.Usual())
	for _, problem := range problems {
		err = errors.Join(err, errors.New(problem))
	}
	return run, end, err
}

// begin creates a Scenario and brings it to the start of the operation, with a manager that is at rest.
func (d *Driver) begin(ctx context.Context, op operation.Operation) (*operation.Scenario, *oracle.Oracle, error) {
	d.Rig.ClearFaults()
	if !d.Rig.Manager.Running() {
		if err := d.Rig.Manager.Start(); err != nil {
			return nil, nil, err
		}
	}
	s, err := operation.NewScene(ctx, d.Rig, operation.NewID())
	if err != nil {
		return nil, nil, err
	}
	judge := d.Watchdog.Begin(s)
	if err = op.Prepare(ctx, s); err == nil {
		err = d.Rig.Quiet(ctx)
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("prepare %s: %w", op.Name, err), s.Close(ctx))
	}
	return s, judge, nil
}

// Death describes how a manager died and recovered.
type Death struct {
	// Died is false when the operation ended without the call.
	Died bool
	// Recovered is the time from its restart to the right end state.
	Recovered time.Duration
	// Problems are those in the end state and on the way, and Log the end of the manager's log when there were any.
	Problems []string
	Log      []string
}

// Crash runs an operation until a point, lets the manager die there, starts it again, and judges the end.
func (d *Driver) Crash(ctx context.Context, op operation.Operation, want oracle.State, point Point) Death {
	s, judge, err := d.begin(ctx, op)
	if err != nil {
		return Death{Problems: []string{err.Error()}}
	}
	death := d.die(ctx, op, s, point)
	_, problems := judge.End(ctx, want, d.Within, oracle.Usual())
	death.Problems = append(death.Problems, problems...)
	if len(death.Problems) > 0 {
		death.Log = d.Rig.Manager.Log.Tail(logLines)
	}
	if !d.Rig.Manager.Running() {
		err = d.Rig.Manager.Start()
	}
	if err = errors.Join(err, s.Close(ctx)); err != nil {
		death.Problems = append(death.Problems, "afterwards: "+err.Error())
	}
	return death
}

// logLines of the manager's log are kept for a point that failed.
const logLines = 40

// die runs the operation, with the manager's death and restart in the middle.
func (d *Driver) die(ctx context.Context, op operation.Operation, s *operation.Scenario, point Point) (death Death) {
	trigger := NewTrigger(point, s.ID, d.Rig.Manager.Kill)
	disarm := trigger.Arm(d.proxies()...)
	defer disarm()
	done := make(chan error, 1)
	go func() { done <- op.Run(ctx, s, d.Within) }()
	var err error
	select {
	case <-trigger.Fired():
	case err = <-done:
		// The requested state is reached; later work of the manager belongs to the operation too.
		err = errors.Join(err, d.Rig.Quiet(ctx))
		done <- nil
	}
	select {
	case <-trigger.Fired():
		began := time.Now()
		err = errors.Join(err, d.revive(ctx, trigger), <-done, d.Rig.Quiet(ctx))
		death.Died, death.Recovered = true, time.Since(began)
	default:
	}
	if err != nil {
		death.Problems = append(death.Problems, err.Error())
	}
	return death
}

func (d *Driver) proxies() []*proxy.Proxy {
	var all []*proxy.Proxy
	for _, server := range d.Rig.Servers() {
		all = append(all, server.Proxy)
	}
	return all
}

// revive starts the manager again and waits until it works.
func (d *Driver) revive(ctx context.Context, trigger *Trigger) error {
	if err := trigger.Err(); err != nil {
		return err
	}
	since := d.Rig.Hub.Proxy.Last()
	if err := d.Rig.Manager.Start(); err != nil {
		return err
	}
	return awake(ctx, d.Rig, since)
}
