package engine

import (
	"context"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// firstLook and lastLook bound the pauses after which a deletion is looked after: most objects are gone at once.
const (
	firstLook = 20 * time.Millisecond
	lastLook  = 500 * time.Millisecond
)

// Remains is what a deletion has left.
type Remains struct {
	// Gone are the objects that do not exist any more, and those that were left behind: neither is recorded any longer.
	Gone []inventory.ID
	// Still are the entries of the objects that exist. One that is being deleted is marked as planned, so that it is applied again should it
	// be declared again; a definition that is in use is not being deleted, and not marked.
	Still []inventory.Entry
	// Outcomes of Still, in their order.
	Outcomes []apply.Outcome
}

// RemainsOf sorts the outcomes of a deletion of entries.
func RemainsOf(entries []inventory.Entry, outcomes []apply.Outcome) (left Remains) {
	for i, outcome := range outcomes {
		if outcome.Action == apply.Gone || outcome.Action == apply.Kept {
			left.Gone = append(left.Gone, outcome.ID)
			continue
		}
		entry := entries[i]
		if outcome.Action != apply.InUse {
			entry.Hash = ""
		}
		left.Still, left.Outcomes = append(left.Still, entry), append(left.Outcomes, outcome)
	}
	return left
}

// transient reports whether everything that is left is being deleted without an obstacle.
func (r Remains) transient() bool {
	obstacle := func(o apply.Outcome) bool { return o.Err != nil || o.Action == apply.InUse }
	return len(r.Outcomes) > 0 && !slices.ContainsFunc(r.Outcomes, obstacle)
}

// Remover deletes entries and records the result; again means that they were deleted before, so that what was observed of them is out of
// date.
type Remover func(ctx context.Context, wave []inventory.Entry, again bool) Remains

// DeleteWave deletes a wave, looks after it for a moment, and returns what still exists.
func DeleteWave(ctx context.Context, wave []inventory.Entry, remove Remover) Remains {
	left := remove(ctx, wave, false)
	for pause := firstLook; left.transient() && pause < lastLook; pause *= 3 {
		select {
		case <-ctx.Done():
			return left
		case <-time.After(pause):
		}
		left = remove(ctx, left.Still, true)
	}
	return left
}

// DeleteWaves deletes wave after wave, and returns what is left of the first that is not gone: an operator that goes with its custom
// resources must finish those first. With passUsed, definitions that others use do not end it, and are not returned: they stay recorded.
func DeleteWaves(ctx context.Context, waves [][]inventory.Entry, passUsed bool, remove Remover) Remains {
	for _, wave := range waves {
		left := DeleteWave(ctx, wave, remove)
		if passUsed {
			left = left.withoutUsed()
		}
		if len(left.Still) > 0 {
			return left
		}
	}
	return Remains{}
}

func (r Remains) withoutUsed() (left Remains) {
	for i, outcome := range r.Outcomes {
		if outcome.Action != apply.InUse {
			left.Still, left.Outcomes = append(left.Still, r.Still[i]), append(left.Outcomes, outcome)
		}
	}
	return left
}
