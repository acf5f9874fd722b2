// Package trial runs an operation while something is broken, and checks the result after it is fixed.
//
// A trial prepares a Scenario, breaks something, runs the operation, watches the Kyma's status meanwhile, fixes the fault, waits until
// everything is as it would have been, and consults the oracle.
//
// The package does not define faults (packages views and matrix do), and never retries a failed trial.
package trial

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/oracle"
	"github.com/kyma-project/lifecycle-manager/tests/faults/proxy"
	"github.com/kyma-project/lifecycle-manager/tests/faults/record"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
)

const (
	// shortest is the minimum duration of a fault, and patience how long after that its cause may take to be reported.
	shortest = 1500 * time.Millisecond
	// A call to a server that does not respond is given up after half a minute.
	patience = 45 * time.Second
	// Converges is how long everything may take to recover, unless a Lab has another value.
	Converges = 60 * time.Second
	// look is the polling interval for a status.
	look = 50 * time.Millisecond
)

// Break is the fault of one trial.
type Break struct {
	// Fault and Name of the trial; the Name is unique in its suite.
	Fault, Name string
	// Begin breaks it, before the operation, and returns a function that fixes it.
	Begin func(context.Context, *operation.Scenario) (mend func(context.Context) error, err error)
	// Cause are words of which the Kyma's status must contain one while it is broken. None means that no report is required, for instance
	// because the status cannot be written, or nothing is blocked.
	Cause []string
	// Lasts is the minimum duration of the fault.
	Lasts time.Duration
	// Bounds replace the usual ones.
	Bounds oracle.Bounds
}

// Lab runs trials on a rig, one after another.
type Lab struct {
	Rig      *rig.Rig
	Watchdog *oracle.Watchdog
	// Converges is how long everything may take to recover.
	Converges time.Duration
	// Name returns the ID of the next Scenario; by default a new one.
	Name func() string

	clean map[string]*Clean
}

// Clean is the result of an operation without a fault.
type Clean struct {
	// State at the end.
	State oracle.State
	// Events is how many events the manager received, by server and resource: "hub manifests".
	Events map[string]int
	// Writes is how many calls it made that change something, by server.
	Writes map[string]int
}

// New starts a rig and its manager.
func New(ctx context.Context, options rig.Options) (*Lab, error) {
	r, err := rig.Start(ctx, options)
	if err != nil {
		return nil, err
	}
	watchdog, err := oracle.Guard(r)
	if err != nil {
		return nil, errors.Join(err, r.Stop())
	}
	return &Lab{Rig: r, Watchdog: watchdog, Converges: Converges, Name: operation.NewID, clean: map[string]*Clean{}}, nil
}

// Clean runs an operation without a fault once.
func (l *Lab) Clean(ctx context.Context, o operation.Operation) (*Clean, error) {
	if known := l.clean[o.Name]; known != nil {
		return known, nil
	}
	s, judge, err := l.begin(ctx, o)
	if err != nil {
		return nil, err
	}
	// Echoes of the preparation do not belong to the operation.
	if err := l.Rig.Quiet(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("the clean run of %s: %w", o.Name, err), s.Close(ctx))
	}
	clean := &Clean{Events: map[string]int{}, Writes: map[string]int{}}
	stop := l.count(clean)
	marks := map[string]uint64{}
	for _, server := range l.Rig.Servers() {
		marks[server.Proxy.Name()] = server.Proxy.Last()
	}
	err = o.Run(ctx, s, l.Converges)
	if err == nil {
		err = l.Rig.Quiet(ctx) // later work of the manager belongs to the operation too
	}
	if err != nil {
		stop()
		return nil, errors.Join(fmt.Errorf("the clean run of %s: %w", o.Name, err), s.Close(ctx))
	}
	state, problems := judge.End(ctx, nil, l.Converges, oracle.Usual())
	stop()
	for _, server := range l.Rig.Servers() {
		for _, call := range server.Proxy.Since(marks[server.Proxy.Name()]) {
			if call.Mutating && !call.Heartbeat() {
				clean.Writes[call.Server]++
			}
		}
	}
	if err := s.Close(ctx); err != nil {
		return nil, fmt.Errorf("the clean run of %s: %w", o.Name, err)
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("the clean run of %s: %s", o.Name, strings.Join(problems, "; "))
	}
	clean.State = state
	l.clean[o.Name] = clean
	return clean, nil
}

// count counts the events until it is stopped.
func (l *Lab) count(clean *Clean) (stop func()) {
	var mutex sync.Mutex
	var removes []func()
	for _, server := range l.Rig.Servers() {
		removes = append(removes, server.Proxy.Events(func(call proxy.Call, event proxy.Event) proxy.Fate {
			mutex.Lock()
			defer mutex.Unlock()
			if event.Type != "BOOKMARK" && !call.Heartbeat() {
				clean.Events[call.Server+" "+call.Resource]++
			}
			return proxy.Fate{}
		}))
	}
	return func() {
		for _, remove := range removes {
			remove()
		}
	}
}

// begin creates a Scenario, brings it to the start of the operation, and starts the oracle on it.
func (l *Lab) begin(ctx context.Context, o operation.Operation) (*operation.Scenario, *oracle.Oracle, error) {
	l.Rig.ClearFaults()
	if !l.Rig.Manager.Running() {
		if err := l.Rig.Manager.Start(); err != nil {
			return nil, nil, err
		}
	}
	s, err := operation.NewScene(ctx, l.Rig, l.Name())
	if err != nil {
		return nil, nil, err
	}
	judge := l.Watchdog.Begin(s)
	if err := o.Prepare(ctx, s); err != nil {
		return nil, nil, errors.Join(fmt.Errorf("prepare %s: %w", o.Name, err), s.Close(ctx))
	}
	return s, judge, nil
}

// Run runs one trial.
func (l *Lab) Run(ctx context.Context, suite string, o operation.Operation, b Break) record.Point {
	began := time.Now()
	point := record.Point{Suite: suite, Name: b.Name, Operation: o.Name, Fault: b.Fault, At: began.UTC().Truncate(time.Second)}
	fail := func(err error) {
		if err != nil {
			point.Problems = append(point.Problems, err.Error())
		}
	}
	clean, err := l.Clean(ctx, o)
	if err != nil {
		fail(err)
		return point
	}
	s, judge, err := l.begin(ctx, o)
	if err != nil {
		fail(err)
		return point
	}
	mended := l.during(ctx, s, o, b, fail)
	bounds := b.Bounds
	if bounds == (oracle.Bounds{}) {
		bounds = oracle.Usual()
	}
	_, problems := judge.End(ctx, clean.State, max(time.Second, l.Converges-time.Since(mended)), bounds)
	point.Converged = time.Since(mended).Seconds()
	point.Problems = append(point.Problems, problems...)
	if len(point.Problems) > 0 {
		point.Detail = map[string]string{"log": strings.Join(l.Rig.Manager.Log.Tail(40), "\n")}
	}
	if err := s.Close(ctx); err != nil {
		fail(fmt.Errorf("afterwards: %w", err))
	}
	point.Took = time.Since(began).Seconds()
	return point
}

// during breaks, operates, watches, fixes, and waits until the operation is settled. It returns the time of the fix.
func (l *Lab) during(ctx context.Context, s *operation.Scenario, o operation.Operation, b Break, fail func(error)) time.Time {
	lasts := max(shortest, b.Lasts)
	mend, err := b.Begin(ctx, s)
	if err != nil {
		fail(fmt.Errorf("cannot break it: %w", err))
		l.Rig.ClearFaults()
		return time.Now()
	}
	done := make(chan error, 1)
	go func() { done <- o.Run(ctx, s, lasts+patience+l.Converges) }()
	fail(l.watch(ctx, s, b, lasts))
	if err := mend(ctx); err != nil {
		fail(fmt.Errorf("cannot mend it: %w", err))
	}
	mended := time.Now()
	if !l.Rig.Manager.Running() {
		fail(l.Rig.Manager.Start())
	}
	if err := <-done; err != nil {
		fail(err)
	}
	if took := time.Since(mended); took > l.Converges {
		fail(fmt.Errorf("it took %s after the fault was over, more than %s", took.Round(time.Second), l.Converges))
	}
	return mended
}

// watch reads the Kyma's status for as long as something is broken, until it names the cause.
func (l *Lab) watch(ctx context.Context, s *operation.Scenario, b Break, lasts time.Duration) error {
	began, told := time.Now(), len(b.Cause) == 0
	last := ""
	for {
		if !told {
			last = statusOf(ctx, s)
			for _, word := range b.Cause {
				told = told || strings.Contains(last, word)
			}
		}
		took := time.Since(began)
		switch {
		case told && took >= lasts:
			return nil
		case took >= lasts+patience:
			return fmt.Errorf("for %s the Kyma's status had none of %v: %s", took.Round(time.Second), b.Cause, last)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(look):
		}
	}
}
