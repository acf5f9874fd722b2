package installer

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Uninstall takes down what the record says, in an order in which operators can still finish their custom resources. Only Name, Namespace
// and Config or Cluster are required; OwnerKey and FieldManager must be as they were at Install. Report.Ready says that nothing is left.
//
// What is left behind and no longer recorded is Kept in the Report: objects that do not carry our mark, those with apply.AnnotationKeep,
// and Namespaces in which others have objects. A CustomResourceDefinition of which others have objects blocks: ReasonDeletionBlocked.
//
// Hooks of charts run around that, as they were declared at Install: see AnnotationSkipDeleteHooks.
func Uninstall(ctx context.Context, inst Installation) (Report, error) {
	c, err := begin(inst)
	if err == nil {
		err = c.load(ctx)
	}
	if err == nil {
		err = c.beginRemoval()
	}
	if err != nil {
		return c.removal(nil, err)
	}
	return c.removal(c.repeated(ctx, c.uninstall))
}

// uninstall goes as far as it can in one pass: custom resources, then everything else in waves, each gone before the next begins.
func (c *call) uninstall(ctx context.Context) (*waiting, error) {
	left, err := c.removeAll(ctx)
	if left == nil && err == nil {
		return nil, c.record.remove(ctx)
	}
	if c.record.exists { // what is gone by now is noted also when the caller has given up
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
		defer cancel()
		if saved := c.record.save(ctx); saved != nil && err == nil {
			err = saved
		}
	}
	return left, err
}

func (c *call) removeAll(ctx context.Context) (*waiting, error) {
	if c.record.exists && len(c.inst.RecordLabels)+len(c.inst.RecordAnnotations) > 0 {
		if err := c.record.save(ctx); err != nil { // after a crash the record shows that the removal has begun
			return nil, err
		}
	}
	if left, err := c.deleteCustom(ctx); left != nil || err != nil {
		return left, err
	}
	store := func(ctx context.Context) error {
		c.noteReleases()
		return c.record.save(ctx)
	}
	return engine.Remove(ctx, c.releases, engine.Removal[waiting]{Run: c.runHooks, Store: store, Delete: c.deleteRecorded})
}

// deleteRecorded deletes what is recorded and not spared, wave after wave.
func (c *call) deleteRecorded(ctx context.Context, spared func(inventory.ID) bool) (*waiting, error) {
	entries := slices.DeleteFunc(slices.Clone(c.record.entries), func(entry inventory.Entry) bool { return spared(entry.ID) })
	remove := c.remover(removing{options: c.options(), forget: c.forget})
	return remaining(engine.DeleteWaves(ctx, inventory.Teardown(entries, nil), false, remove))
}

// prune deletes what is recorded and no longer declared. It comes last, so that an upgrade never takes down what it could not replace.
// Definitions whose objects others made stay recorded: they go with a later call. What else is left is in c.pruning.
func (c *call) prune(ctx context.Context, entries []inventory.Entry) (err error) {
	remove := c.remover(removing{options: c.options(), forget: c.forget})
	c.pruning, err = remaining(engine.DeleteWaves(ctx, inventory.Teardown(entries, nil), true, remove))
	return err
}

func (c *call) forget(id inventory.ID) {
	c.record.entries = inventory.Merge(c.record.entries, nil, []inventory.ID{id})
}

// removing says how a wave is deleted.
type removing struct {
	options apply.Options
	live    func(inventory.ID) inventory.Live // nil: every object is read
	forget  func(inventory.ID)                // is told what is gone, or none of ours
	quiet   bool                              // the Report tells of it elsewhere
}

// remover returns what deletes a wave, and reports and records it.
func (c *call) remover(how removing) engine.Remover {
	return func(ctx context.Context, wave []inventory.Entry, _ bool) engine.Remains {
		if !how.quiet {
			c.expect(wave)
		}
		outcomes := c.engine.Delete(ctx, wave, how.live, how.options)
		for _, outcome := range outcomes {
			c.didOutcome(outcome)
		}
		left := engine.RemainsOf(wave, outcomes)
		for _, id := range left.Gone {
			how.forget(id)
		}
		c.leave(left.Still)
		return left
	}
}

// remaining returns what of a deletion is waited for; nil when nothing is left.
func remaining(left engine.Remains) (*waiting, error) {
	failed := slices.DeleteFunc(slices.Clone(left.Outcomes), func(o apply.Outcome) bool { return o.Err == nil })
	switch {
	case len(failed) > 0:
		return nil, refused(failed)
	case len(left.Still) == 0:
		return nil, nil
	}
	waits := &waiting{reason: ReasonWaitingForDeletion}
	for i, outcome := range left.Outcomes {
		if outcome.Action == apply.InUse {
			waits.reason, waits.unseen = ReasonDeletionBlocked, true
		}
		waits.add(left.Still[i], outcome)
	}
	return waits, nil
}

// add notes an object that is still there.
func (w *waiting) add(entry inventory.Entry, outcome apply.Outcome) {
	w.on = append(w.on, wanted{
		gvk: entry.GroupKind().WithVersion(entry.Version), id: entry.ID, ok: func(live *unstructured.Unstructured) bool { return live == nil },
	})
	note := entry.String() + " is being deleted"
	if outcome.Object != nil {
		if holds := apply.HeldBy(outcome.Object); holds != "" {
			note += ", held by " + holds
		}
	}
	if outcome.Note != "" {
		note = entry.String() + ": " + outcome.Note
	}
	if w.message == "" || outcome.Action == apply.InUse {
		w.message = note
	}
}

// leave takes over the marks of entries of which objects are still there.
func (c *call) leave(still []inventory.Entry) {
	marked := slices.Clone(c.record.entries)
	for i := range marked {
		if at := indexOf(still, marked[i].ID); at >= 0 {
			marked[i].Hash = still[at].Hash
		}
	}
	c.record.entries = marked
}

// removal returns the Report of an Uninstall.
func (c *call) removal(left *waiting, err error) (Report, error) {
	report := Report{State: StateDeleting}
	report.Objects = c.ranHooks()
	for _, entry := range c.gone {
		report.Objects = append(report.Objects, c.reported(entry.ID, entry.Version))
	}
	switch {
	case err != nil:
		report.State, report.Reason, report.Message = StateError, ReasonOf(err), err.Error()
	case left != nil:
		report.Reason = left.reason
		report.Message = left.message
		if more := len(c.record.entries) + len(c.record.created) - 1; more > 0 {
			report.Message += fmt.Sprintf(" (and %d more left)", more)
		}
	default:
		report.Ready, report.State, report.Reason, report.Message = true, StateGone, ReasonGone, "nothing is installed"
	}
	return report, err
}
