package engine

import (
	"context"
	"slices"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Writer writes the batches of one installation. W is what the caller reports while something is waited for.
type Writer[W any] interface {
	// Write applies one batch and records its outcomes, in their order.
	Write(ctx context.Context, steps []inventory.Step) ([]apply.Outcome, error)
	// AwaitStart returns what a part must still wait for: every earlier part is ready, and the hooks before its own objects have completed.
	AwaitStart(ctx context.Context, part int) (*W, error)
	// AwaitDefinitions waits a moment for definitions that were just applied, and returns what is still missing, nil when nothing is.
	AwaitDefinitions(ctx context.Context, steps []inventory.Step) *W
}

// ApplyBatches applies batches one after the other:
//
//  1. What adds content waits until its part may begin. What only restores what was there does not: what runs is
//     repaired meanwhile.
//  2. Later parts count on what failed, so a failure in a part, or failedIn, keeps later parts from adding content. The other batches of
//     the part are applied: one object that fails stops no other.
//  3. A cluster that does not answer, or refuses the credentials, ends it.
//  4. What follows definitions needs them: while one is not established, it ends.
//
// It returns the outcomes that failed, and what is waited for: nil when nothing is, or when the failures are the news.
func ApplyBatches[W any](
	ctx context.Context, batches []inventory.Batch, failedIn int, writer Writer[W],
) (failed []apply.Outcome, held *W, err error) {
	for _, batch := range batches {
		if batch.AddsContent() {
			if held == nil && batch.Part <= failedIn {
				if held, err = writer.AwaitStart(ctx, batch.Part); err != nil {
					return nil, nil, err
				}
			}
			if held != nil || batch.Part > failedIn {
				batch.Steps = batch.Restoring()
			}
		}
		if len(batch.Steps) == 0 {
			continue
		}
		outcomes, err := writer.Write(ctx, batch.Steps)
		if err != nil {
			return nil, nil, err
		}
		for _, outcome := range outcomes {
			if outcome.Err != nil {
				failed, failedIn = append(failed, outcome), min(failedIn, batch.Part)
			}
		}
		if slices.ContainsFunc(outcomes, Lost) {
			break
		}
		if missing := writer.AwaitDefinitions(ctx, batch.Steps); missing != nil {
			held = missing
			break
		}
	}
	if len(failed) > 0 {
		return failed, nil, nil
	}
	return nil, held, nil
}

// Lost reports whether an outcome shows that further calls are pointless: the cluster does not answer, refuses the credentials, or the
// caller has given up.
func Lost(outcome apply.Outcome) bool {
	switch outcome.Class {
	case apply.ClassUnreachable, apply.ClassUnauthorized, apply.ClassCanceled:
		return true
	default:
		return false
	}
}

// Applied returns the entries that record the outcomes of steps. One that failed is recorded as planned, so that the next pass tries again.
func Applied(steps []inventory.Step, outcomes []apply.Outcome) []inventory.Entry {
	done := make([]inventory.Entry, 0, len(outcomes))
	for i, outcome := range outcomes {
		entry := steps[i].Entry
		entry.Hash = ""
		if outcome.Err == nil {
			entry.Hash, entry.UID, entry.Fields = inventory.ContentHash(steps[i].Object), outcome.UID, outcome.Fields
			if outcome.Action == apply.Shared {
				entry = entry.Share(outcome.Owner)
			}
		}
		done = append(done, entry)
	}
	return done
}
