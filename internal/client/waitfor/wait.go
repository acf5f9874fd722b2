package waitfor

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Options describe what to wait for.
type Options struct {
	// Kyma to follow.
	Kyma client.ObjectKey
	// Generation of its spec that must be observed: that of the edit. 0 means the generation of the first observation.
	Generation int64
	// Modules that count. None means the Kyma as a whole, with all of its modules.
	Modules []Expectation
	// Gone waits until the Kyma itself is gone, and ignores Modules.
	Gone bool
	// Timeout ends the wait with the current state; 0 means never.
	Timeout time.Duration
	// Patience is how long a Warning or an Error that may pass by itself must remain unchanged to become the outcome. 0 means ten seconds for
	// a Warning, and until the timeout for an Error.
	Patience time.Duration
	// Again means that the user only requested another attempt. A refusal may then stem from the previous one, so it is the outcome only after
	// it is unchanged for Patience, or ten seconds.
	Again bool
}

// Expectation is the expected result for one module.
type Expectation struct {
	Module string
	// Version that must run; empty means any that the spec leads to.
	Version string
	// Gone waits until the module is gone.
	Gone bool
	// Unmanaged waits until the operator no longer manages the module, Managed until it does again.
	Unmanaged, Managed bool
}

// Progress is the state of one module or Kyma.
type Progress struct {
	// Key is the module's name, or the Kyma's.
	Key string
	// State is one word; Text gives the reason and may be empty.
	State v1beta2.State
	Text  string
}

// The final states besides those of the API.
const (
	// StateGone is a module or Kyma that is gone as requested.
	StateGone v1beta2.State = "Gone"
)

// Outcome is the final state of everything in the request.
type Outcome struct {
	// State is the worst of the lines; Ready means that the whole request is fulfilled.
	State v1beta2.State
	// TimedOut reports whether the timeout ended the waiting.
	TimedOut bool
	// Lines in the order of the request.
	Lines []Progress
}

// ErrNotFound means that the Kyma does not exist, and was not to be deleted.
var ErrNotFound = errors.New("the Kyma is not there")

// settled is how long a Warning must last to become the outcome.
const settled = 10 * time.Second

// Wait watches a Kyma until the change is carried out, a user must act, or the timeout expires. It returns when every line is one of these:
//
//  1. Ready, Unmanaged or Gone
//  2. a refusal that only users can lift
//  3. a Warning that lasts
//
// report is called with every new or changed line, and never concurrently. The error is that of the context or of the API server; a problem
// of a module is an Outcome.
func Wait(ctx context.Context, c client.WithWatch, ask Options, report func(Progress)) (Outcome, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var timeout <-chan time.Time
	if ask.Timeout > 0 {
		timer := time.NewTimer(ask.Timeout)
		defer timer.Stop()
		timeout = timer.C
	}
	events := make(chan event)
	go watchKyma(ctx, c, ask.Kyma, events)
	go watchManifests(ctx, c, ask.Kyma, events)
	run := &follower{ask: ask, report: report, told: map[string]Progress{}, patience: newPatience(ask.Patience)}
	defer run.patience.stop()
	for {
		select {
		case <-ctx.Done():
			return run.outcome(false), ctx.Err()
		case <-timeout:
			return run.outcome(true), nil
		case <-run.patience.over():
			if run.look(true) {
				return run.outcome(false), nil
			}
		case e := <-events:
			if e.err != nil {
				return run.outcome(false), e.err
			}
			e.apply(&run.seen)
			if run.look(false) {
				return run.outcome(false), nil
			}
		}
	}
}
