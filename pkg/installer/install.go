package installer

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Install makes the cluster hold what is declared. A second call with the same content writes nothing.
//
// It returns an error when something stands in the way; see ReasonOf. That something is not ready yet is none: the Report says so, and
// the next call continues from there.
func Install(ctx context.Context, inst Installation) (Report, error) {
	c, err := begin(inst)
	if err == nil {
		err = c.load(ctx)
	}
	if err == nil {
		err = c.renderDesired(ctx)
	}
	if err != nil {
		return c.report(nil, err)
	}
	return c.report(c.repeated(ctx, c.install))
}

// install goes as far as it can in one pass:
//
//  1. What is declared is compared with the record and the cluster. Unsafe changes of definitions are refused before anything is written.
//  2. The planned record is written before the first object, so that nothing leaks when this process dies.
//  3. Objects in turns, those of a Source behind the hooks that come before them, and prune after a complete success.
//  4. Custom resources, once, when everything is ready. The record.
//  5. Health and probes, the hooks that come after the objects, and the caller's check. What of a prune is left comes last: finalizers
//     hold it, and the next pass continues from there.
func (c *call) install(ctx context.Context) (*waiting, error) {
	c.pruning = nil
	if len(c.unplaced)+len(c.unserved) > 0 { // their kinds may be served by now
		if err := c.place(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.observe(ctx, c.recorded(c.desired)); err != nil {
		return nil, err
	}
	decision := inventory.Decide(c.record.entries, c.desired, c.live)
	c.releases.Spare(&decision)
	c.didNothing(decision)
	if err := c.checkDefinitions(ctx, decision.Apply, c.options()); err != nil {
		return nil, err
	}
	custom := c.notCreated()
	if len(decision.Apply)+len(custom) > 0 || c.releases.Open() {
		if err := c.ensureNamespaces(ctx); err != nil {
			return nil, err
		}
		if err := c.plan(ctx, decision.Apply); err != nil {
			return nil, err
		}
	}
	left, err := c.act(ctx, decision)
	if left == nil && err == nil {
		left, err = c.createCustom(ctx, custom)
	}
	if saved := c.save(ctx); saved != nil && (err == nil || ReasonOf(saved) == ReasonRecordConflict) {
		err = saved
	}
	if left != nil || err != nil {
		return left, err
	}
	return c.complete(ctx)
}

// complete makes sure that everything runs, and does what comes last.
func (c *call) complete(ctx context.Context) (*waiting, error) {
	if left, err := c.ready(ctx); left != nil || err != nil {
		return left, err
	}
	if left, err := c.completeReleases(ctx); left != nil || err != nil {
		return left, err
	}
	if left, err := c.check(ctx); left != nil || err != nil {
		return left, err
	}
	if c.pruning != nil {
		return c.pruning, nil
	}
	c.record.marks.add(nil, c.inst.RecordWhenReady)
	return nil, c.save(ctx)
}

// checkDefinitions refuses changes of CustomResourceDefinitions that break their users, all of them at once.
func (c *call) checkDefinitions(ctx context.Context, steps []inventory.Step, options apply.Options) error {
	broken, err := engine.CheckDefinitions(ctx, c.engine, steps, c.inst.AllowCRDChanges, options)
	if err != nil || len(broken) == 0 {
		return written(err)
	}
	return &Error{Reason: ReasonCRDChangeRefused, Err: errors.New(crdsafety.Message(broken))}
}

// written returns an error of pkg/apply with its class as the reason.
func written(err error) error {
	if told, ok := errors.AsType[*apply.Error](err); ok {
		return &Error{Reason: string(told.Class), Err: told}
	}
	return err
}

// plan records what is about to be written before the first write, where that must be known after an interruption.
func (c *call) plan(ctx context.Context, steps []inventory.Step) error {
	var store bool
	c.record.entries, store = inventory.PlannedFor(c.record.entries, c.desired, steps)
	created := len(c.record.created)
	if c.planCustom(); !store && len(c.record.created) == created && c.record.generated.equal(c.record.stored.Generated) {
		return nil
	}
	return c.record.save(ctx)
}

// act applies batch by batch, and prunes after a complete success. What was done is in the record in any case. See engine.ApplyBatches for
// what waits and what a failure stops.
func (c *call) act(ctx context.Context, decision inventory.Decision) (*waiting, error) {
	writer := &batchWriter{call: c, options: c.options()}
	failed, left, err := engine.ApplyBatches(ctx, c.order.Batches(decision.Apply), c.order.FirstUnplaced(), writer)
	switch {
	case err != nil:
		return nil, err
	case left != nil && left.err != nil:
		return nil, left.err
	case left != nil:
		return left, nil
	case len(failed) > 0:
		return nil, refused(failed)
	case len(c.unplaced) > 0:
		return c.unknownKind(ctx)
	}
	if left, err := engine.RunBeforePrune(ctx, c.releases, c.awaitStart); left != nil || err != nil {
		return left, err
	}
	if len(decision.Prune) > 0 && c.inst.PruneWhenReady {
		if left := c.awaitEarlierParts(c.order.Parts()); left != nil {
			return left, nil
		}
	}
	return nil, c.prune(ctx, decision.Prune)
}

// batchWriter is the engine.Writer of a call.
type batchWriter struct {
	call    *call
	options apply.Options
}

// Write implements engine.Writer.
func (b *batchWriter) Write(ctx context.Context, steps []inventory.Step) ([]apply.Outcome, error) {
	outcomes := b.call.engine.Apply(ctx, steps, b.options)
	b.call.recordOutcomes(steps, outcomes)
	return outcomes, b.call.observe(ctx, shared(steps, outcomes))
}

// AwaitStart implements engine.Writer. Why a hook cannot be run is told like what is waited for: what runs is put back meanwhile.
func (b *batchWriter) AwaitStart(ctx context.Context, part int) (*waiting, error) {
	left, err := b.call.awaitStart(ctx, part)
	if err == nil || ReasonOf(err) == ReasonRecordConflict {
		return left, err
	}
	return &waiting{err: err}, nil
}

// AwaitDefinitions implements engine.Writer.
func (b *batchWriter) AwaitDefinitions(ctx context.Context, steps []inventory.Step) *waiting {
	return b.call.awaitDefinitions(ctx, steps)
}

// unknownKind tells of objects whose kind is not served. What is in front of them may yet bring it.
func (c *call) unknownKind(ctx context.Context) (*waiting, error) {
	if left := c.awaitEarlierParts(c.order.FirstUnplaced()); left != nil {
		return left, nil
	}
	var bad []apply.Outcome
	for _, object := range c.unplaced {
		_, err := c.cluster.objects(ctx, object.GroupVersionKind(), "")
		if err == nil {
			err = &apply.Error{Class: apply.ClassKindUnknown, Message: "the cluster has only just begun to serve its kind; call again"}
		}
		told := apply.Explain("apply", inventory.IDOf(object), err, object)
		bad = append(bad, apply.Outcome{ID: told.ID, Action: apply.Failed, Err: told, Class: told.Class})
		c.didOutcome(bad[len(bad)-1])
	}
	return nil, refused(bad)
}

// recordOutcomes records what an apply did. A failed object is marked as planned, so that the next pass tries again.
func (c *call) recordOutcomes(steps []inventory.Step, outcomes []apply.Outcome) {
	for _, outcome := range outcomes {
		c.didOutcome(outcome)
		c.touched[outcome.ID] = true
	}
	c.record.entries = inventory.Merge(c.record.entries, engine.Applied(steps, outcomes), nil)
}

// shared returns the objects that were left to a sibling: no write has told how they are.
func shared(steps []inventory.Step, outcomes []apply.Outcome) []*unstructured.Unstructured {
	var found []*unstructured.Unstructured
	for i, outcome := range outcomes {
		if outcome.Action == apply.Shared {
			found = append(found, steps[i].Object)
		}
	}
	return found
}

// recorded returns those objects that are in the record: what is new needs no look ahead.
func (c *call) recorded(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	known := map[inventory.ID]bool{}
	for _, entry := range c.record.entries {
		known[entry.ID] = entry.Hash != ""
	}
	return slices.DeleteFunc(slices.Clone(objects), func(o *unstructured.Unstructured) bool { return !known[inventory.IDOf(o)] })
}
