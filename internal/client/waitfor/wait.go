package waitfor

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Options is what is waited for.
type Options struct {
	// Kyma to follow.
	Kyma client.ObjectKey
	// Generation of its spec that must be observed: that of the edit. 0 means the one that the first look finds.
	Generation int64
	// Modules that count. None means the Kyma as a whole, with all of its modules.
	Modules []Expectation
	// Gone waits until the Kyma itself is gone. Modules does not count then.
	Gone bool
	// Timeout ends the waiting with what there is; 0 means never.
	Timeout time.Duration
	// Patience is how long a Warning or an Error that may pass by itself must stand unchanged to be an outcome. 0 means ten seconds for
	// a Warning; an Error then is waited for until the timeout.
	Patience time.Duration
	// Again reports that the user only requested another attempt: a refusal may be the previous one, and is an outcome when it is unchanged
	// for Patience, or ten seconds.
	Again bool
}

// Expectation is what is waited for of one module.
type Expectation struct {
	Module string
	// Version that must run; empty means whatever the spec leads to.
	Version string
	// Gone waits until the module is gone.
	Gone bool
	// Unmanaged waits until the operator has let go of the module, Managed until it looks after it again.
	Unmanaged, Managed bool
}

// Progress is how one thing stands.
type Progress struct {
	// Key is the module's name, or the Kyma's.
	Key string
	// State is one word, Text says why and may be empty.
	State v1beta2.State
	Text  string
}

// The ends of waiting beside those that are states of the API.
const (
	// StateGone is a module or Kyma that went, as was asked.
	StateGone v1beta2.State = "Gone"
)

// Outcome is how everything that was asked about stands at the end.
type Outcome struct {
	// State is the worst of the lines: Ready when all is as it was requested.
	State v1beta2.State
	// TimedOut reports whether the timeout ended the waiting.
	TimedOut bool
	// Lines, in the order in which they were requested.
	Lines []Progress
}

// ErrNotFound is a Kyma that is not there and was not waited to go.
var ErrNotFound = errors.New("the Kyma is not there")

// settled is how long a Warning stands before it is an outcome.
const settled = 10 * time.Second

// Wait watches a Kyma until the change is carried out, or needs a user's action, or the timeout expires:
//
//  1. all lines are Ready, Unmanaged or Gone: done
//  2. every other line is a refusal that only users can lift: done
//  3. every other line is that, or a Warning that stands: done
//
// report is called with every line that is new or changed, never at the same time as itself. The error is that of the context or of the
// API server; trouble of modules is an Outcome.
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
