package operations

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/go-logr/logr"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// launch carries out a plan in the background.
func (e *Engine) launch(l *activeOperation, p *plan) {
	ctx, cancel := context.WithCancelCause(e.base)
	l.mutex.Lock()
	l.cancel = cancel
	l.mutex.Unlock()
	e.runs.Go(func() {
		defer cancel(nil)
		kept := make(chan struct{})
		keeping, enough := context.WithCancel(ctx)
		go func() {
			defer close(kept)
			e.keep(keeping, l)
		}()
		err := l.carry(ctx, p, e.options.Log)
		enough()
		<-kept
		e.finish(ctx, l, p, err)
	})
}

// carry carries out one step after the other.
func (l *activeOperation) carry(ctx context.Context, p *plan, log logr.Logger) (err error) {
	defer func() {
		if crash := recover(); crash != nil { // content of modules is untrusted: one that panics must not break the others
			err = fmt.Errorf("the dashboard failed to carry out the operation: %v", crash)
			log.Error(err, "an operation panicked", "id", l.op.ID, "stack", string(debug.Stack()))
		}
	}()
	for i := range p.steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		l.change(func(op *Operation) { op.Steps[i].State = StepRunning })
		if err := p.steps[i].do(ctx, &reporter{live: l, step: i}); err != nil {
			l.change(func(op *Operation) { op.Steps[i].State = StepFailed })
			return err
		}
		l.change(func(op *Operation) { op.Steps[i].State = StepDone })
	}
	return nil
}

// keep writes the record after every change, and from time to time, until the context ends. If another server holds the record, it stops
// the operation, which then belongs to that server.
func (e *Engine) keep(ctx context.Context, l *activeOperation) {
	renew := time.NewTicker(e.renewal)
	defer renew.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-renew.C:
		case <-l.touched:
			timer := time.NewTimer(collected)
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-timer.C:
			}
		}
		if err := e.write(ctx, l); errors.Is(err, errTaken) {
			l.cancel(errTaken)
			return
		}
	}
}

// finish records how the operation ended:
//
//  1. as it was requested
//  2. taken over: another server has it, and nothing is written
//  3. cancelled by a user
//  4. interrupted, by the end of this server or of the user's login
//  5. failed
func (e *Engine) finish(ctx context.Context, l *activeOperation, p *plan, failed error) {
	state, message := Succeeded, ""
	switch cause := context.Cause(ctx); {
	case failed == nil && len(p.steps) == 0:
		message = p.why
	case failed == nil:
	case errors.Is(cause, errTaken):
		e.drop(l, nil)
		close(l.done)
		e.notify()
		return
	case errors.Is(cause, errCancelled):
		state, message = Cancelled, "what was done until then stays"
	case errors.Is(cause, errStopping):
		state, message = Interrupted, errStopping.Error()
	case apply.Classify(failed) == apply.ClassUnauthorized:
		state, message = Interrupted, fmt.Sprintf("the cluster no longer accepts the login of %s: another user can resume it", l.user)
	default:
		state, message = Failed, errorText(failed)
	}
	now := e.now().UTC().Truncate(time.Millisecond)
	l.change(func(op *Operation) {
		op.State, op.Message, op.Finished = state, message, &now
		for i := range op.Steps {
			if op.Steps[i].State == StepRunning {
				op.Steps[i].State = StepFailed
			}
			if op.Steps[i].State == StepFailed && op.Steps[i].Message == "" {
				op.Steps[i].Message = message
			}
		}
	})
	if state == Failed {
		e.options.Log.Info("an operation failed", "id", l.op.ID, "title", l.op.Title, "user", l.user, "message", message)
	}
	last, done := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer done()
	err := e.write(last, l)
	for tries := 0; errors.Is(err, errAgain) && tries < 5; tries++ {
		err = e.write(last, l)
	}
	if err != nil {
		e.options.Log.Info("the end of an operation is not recorded", "id", l.op.ID, "error", err.Error())
	}
	close(l.done)
	e.forget(last)
	e.notify()
}

// mostMessage bounds the length of an error text.
const mostMessage = 4 << 10

func errorText(err error) string {
	text := err.Error()
	if len(text) > mostMessage {
		text = text[:mostMessage] + " ..."
	}
	return text
}
