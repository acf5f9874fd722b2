package engine

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/hooks"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// HookRunner is what runs the hooks of one source of an installation. W is what the caller reports while something is waited for.
type HookRunner[W any] interface {
	// Recorded returns the inventory, and Record replaces entries in it.
	Recorded() []inventory.Entry
	Record(done []inventory.Entry)
	// Store stores the inventory and the progress, and Stored returns the progress that is stored, nil when there is none.
	Store(ctx context.Context, progress hooks.Progress) error
	Stored() *hooks.Progress
	// Look returns the object of a hook, nil when there is none; ours means that it carries the owner mark.
	Look(ctx context.Context, hook hooks.Hook) (live *unstructured.Unstructured, ours bool, err error)
	// Write creates the object of a hook, or applies one that does not run to completion, and returns it as it is then.
	Write(ctx context.Context, hook hooks.Hook, object *unstructured.Unstructured) (*unstructured.Unstructured, error)
	// Delete deletes the objects of hooks, and drops those that are gone from the inventory.
	Delete(ctx context.Context, entries []inventory.Entry) error
	// Waits returns what the caller reports of a hook that did not complete.
	Waits(hook hooks.Hook, event hooks.Event, verdict hooks.Verdict, why string) *W
}

// RunHooks runs the hooks of the event that a release has come to, one after the other, and returns how far it got and what is waited for:
// nil when the event is over.
//
//  1. That the event has begun, and what it writes, is stored before the first write.
//  2. A hook is written at most once for each event of a release: what a pass before this one began is recognised by its ticket.
//  3. That the event is over is stored before anything that counts on it, and before what the policies drop is deleted.
func RunHooks[W any](
	ctx context.Context, set hooks.Set, progress hooks.Progress, runner HookRunner[W],
) (reached hooks.Progress, held *W, err error) {
	for event := progress.Event; progress.Event == event; {
		hook, more := set.Next(progress)
		if !more {
			break
		}
		if planned, news := set.Plan(progress, runner.Recorded()); news || !isStored(progress, runner) {
			runner.Record(planned)
			if err := runner.Store(ctx, progress); err != nil {
				return progress, nil, err
			}
		}
		if held, err := runHook(ctx, hook, progress, runner); held != nil || err != nil {
			return progress, held, err
		}
		progress = set.Advance(progress)
	}
	if stored := runner.Stored(); stored == nil || *stored != progress {
		if err := runner.Store(ctx, progress); err != nil {
			return progress, nil, err
		}
	}
	if left := set.Leftover(progress, runner.Recorded()); len(left) > 0 {
		err = runner.Delete(ctx, left)
	}
	return progress, nil, err
}

// isStored reports whether the event is on record: a hook that was written for another one must not be taken for one of this.
func isStored[W any](progress hooks.Progress, runner HookRunner[W]) bool {
	stored := runner.Stored()
	return stored != nil && stored.Ticket() == progress.Ticket()
}

// runHook brings one hook as far as it goes now. Neither a report nor an error means that it has completed.
func runHook[W any](ctx context.Context, hook hooks.Hook, progress hooks.Progress, runner HookRunner[W]) (*W, error) {
	ticket := progress.Ticket()
	verdict, why, live, err := look(ctx, hook, ticket, runner)
	if verdict == hooks.Replace && err == nil {
		if err := runner.Delete(ctx, []inventory.Entry{hooks.EntryOf(live, "", inventory.Entry{})}); err != nil {
			return nil, err
		}
		runner.Record([]inventory.Entry{hooks.EntryOf(live, "", inventory.Entry{})}) // as it was planned: it is written next
		verdict, why, live, err = look(ctx, hook, ticket, runner)
	}
	if err != nil {
		return nil, err
	}
	switch verdict {
	case hooks.Write:
		if live, err = runner.Write(ctx, hook, hook.WithTicket(ticket)); err != nil {
			return nil, err
		}
		if hook.RunsToCompletion() {
			verdict, why = hooks.Wait, "it was created"
		} else {
			verdict = hooks.Completed
		}
	case hooks.Wait, hooks.Failed, hooks.Completed:
	case hooks.Replace, hooks.Foreign:
		return runner.Waits(hook, progress.Event, verdict, why), nil
	}
	if live.GetAnnotations()[hooks.AnnotationTicket] == ticket {
		runner.Record([]inventory.Entry{hooks.EntryOf(live, ticket, inventory.Entry{})})
	}
	if verdict == hooks.Completed {
		return nil, nil
	}
	return runner.Waits(hook, progress.Event, verdict, why), nil
}

func look[W any](
	ctx context.Context, hook hooks.Hook, ticket string, runner HookRunner[W],
) (verdict hooks.Verdict, why string, live *unstructured.Unstructured, err error) {
	live, ours, err := runner.Look(ctx, hook)
	if err != nil {
		return hooks.Wait, "", nil, err
	}
	verdict, why = hook.Judge(ticket, live, ours)
	return verdict, why, live, nil
}
