package remotesync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// maxTold bounds how many objects an error names.
const maxTold = 5

// Outcome is the result of a pass.
type Outcome struct {
	// Written counts the objects that were written or deleted.
	Written int
	// Pending is the first obstacle that passes by itself or by another of our controllers: a kind that is not served yet, a namespace that is
	// being deleted, an object that another client writes at this moment. Nil when there is none.
	Pending *apply.Error
	// Unlisted means that Pending is a kind of which the runtime's objects are not listed yet: nothing is known of them.
	Unlisted bool
	// RetryAfter is when to check again without an event; zero when that is not known.
	RetryAfter time.Duration
}

// Synced reports whether the runtime is known to hold everything. It applies to passes without an error.
func (o Outcome) Synced() bool { return o.Pending == nil }

// Passing reports whether an error of a class passes by itself, or by another of our controllers.
func Passing(class apply.Class) bool {
	switch class {
	case apply.ClassKindUnknown, apply.ClassNamespaceTerminating, apply.ClassNamespaceMissing, apply.ClassConflict:
		return true
	default:
		return false
	}
}

// pass is one call of Ensure or Prune.
type pass struct {
	*apply.Cluster
	runtime Runtime
	memory  *memory

	mutex    sync.Mutex
	outcome  Outcome
	failures []*apply.Error
	halted   bool
	skipped  int
}

func (m *Syncer) pass(runtime Runtime) *pass {
	return &pass{Cluster: runtime.Cluster(), runtime: runtime, memory: m.of(runtime)}
}

func (p *pass) wrote() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.outcome.Written++
}

// fail records an error. One that every other object would meet too ends the pass.
func (p *pass) fail(err *apply.Error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.outcome.RetryAfter = max(p.outcome.RetryAfter, err.RetryAfter)
	switch err.Class {
	case apply.ClassUnreachable, apply.ClassUnauthorized, apply.ClassThrottled, apply.ClassCanceled:
		p.halted = true
	default:
	}
	if !Passing(err.Class) {
		p.failures = append(p.failures, err)
		return
	}
	if p.outcome.Pending == nil || err.ID.Compare(p.outcome.Pending.ID) < 0 {
		p.outcome.Pending = err
	}
}

// noteRetry records when to check again.
func (p *pass) noteRetry(wait time.Duration) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.outcome.RetryAfter = max(p.outcome.RetryAfter, wait)
}

// stopped reports whether there is no point in continuing.
func (p *pass) stopped() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.halted
}

// skip counts an object that was left out because there was no point in continuing.
func (p *pass) skip() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.skipped++
}

// failed explains the error of a call, reports it to the connection and records it.
func (p *pass) failed(verb string, id inventory.ID, err error, quotable ...object) {
	p.runtime.Report(err)
	p.fail(apply.Explain(verb, id, err, quotable...))
}

// result returns the outcome, and an error that names the first objects that could not be written.
func (p *pass) result(ctx context.Context) (Outcome, error) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if len(p.failures) == 0 {
		return p.outcome, nil
	}
	if ctx.Err() != nil {
		return p.outcome, ctx.Err()
	}
	slices.SortFunc(p.failures, func(a, b *apply.Error) int { return a.ID.Compare(b.ID) })
	told := make([]error, 0, maxTold+1)
	for _, failure := range p.failures[:min(maxTold, len(p.failures))] {
		told = append(told, failure)
	}
	if more := len(p.failures) - len(told) + p.skipped; more > 0 {
		told = append(told, fmt.Errorf("and %d more", more))
	}
	return p.outcome, errors.Join(told...)
}
