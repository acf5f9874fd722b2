package manifest

import (
	"context"
	"errors"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/phases"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// retryTransient is the first pause after something that may recover by itself; the back-off doubles it.
const retryTransient = 2 * time.Second

const (
	// retryRefused is the pause after something that only a user or another controller can change, and for which no event comes.
	retryRefused = 45 * time.Second
	// retryIncompatible is the pause after a definition that only other content can fix; that content enqueues its Manifest itself.
	retryIncompatible = 5 * time.Minute
)

// applying is the message while objects are being written.
const applying = "objects are being applied"

// install installs as much as possible in one pass.
//
//  1. Sources, probes, connection, inventory: what cannot be read is reported, and what runs is kept.
//  2. Nothing differs from what was applied: only the health is checked.
//  3. The content of all installations is fetched, verified and compared with inventory and cluster.
//  4. Where a ServiceAccount installs, it must have every right for that, and for the removal. Where the only work is to put back what was
//     put back a moment ago, it waits.
//  5. A Manifest that went back keeps the newer definitions, where they serve its content. A definition whose change would break its
//     users is refused, before anything is written.
//  6. The planned inventory is written before the first object, so that nothing leaks when this process dies. For a first installation it
//     mostly came with the Manifest, see Planner; an upgrade that creates nothing mostly needs none, see isUpgradeTold.
//  7. Installations in their order, each behind the hooks that come before its objects, and in phases; prune after a complete success; the
//     default CR once.
//  8. Health, and then the probes. Of a chart with hooks, those that come after its objects run when these are ready.
func (r *Reconciler) install(ctx context.Context, w *scope) (passResult, error) {
	if err := errors.Join(r.readSources(w), r.compile(w)); err != nil {
		return r.failure(err)
	}
	if err := r.connect(ctx, w); err != nil {
		return r.failure(err)
	}
	narrow := r.trackRecorded(w)
	if w.settled() && r.isPostRendered(ctx, w) {
		narrow()
		r.noteReferences(w)
		return r.healthy(w), nil
	}
	return r.converge(ctx, w)
}

func (r *Reconciler) converge(ctx context.Context, w *scope) (passResult, error) {
	if err := r.applyDesired(ctx, w); err != nil {
		return r.failure(err)
	}
	phases.Reach(ctx, phases.Apply)
	if w.lostCR { // recorded before it is recreated, so that the new one is not taken for the old one
		if err := r.reportApplying(ctx, w, false); err != nil {
			return r.failure(err)
		}
	}
	if err := r.createModuleCR(ctx, w); err != nil {
		return r.failure(err)
	}
	if err := r.completeReleases(ctx, w); err != nil {
		return r.failure(err)
	}
	return r.putBackWebhooks(ctx, w, r.healthy(w))
}

// applyDesired applies the content to the cluster.
func (r *Reconciler) applyDesired(ctx context.Context, w *scope) error {
	if err := r.renderDesired(ctx, w); err != nil {
		return err
	}
	decision := inventory.Decide(w.recorded, w.desired, w.runtime.Live)
	w.releases.Spare(&decision)
	if err := r.checkInstall(ctx, w, decision.Prune); err != nil {
		return err
	}
	r.track(w)
	w.expect(decision.Apply)
	if err := w.keepDefinitions(ctx, &decision); err != nil {
		return err
	}
	w.postponeWebhooks(&decision)
	if len(decision.Apply)+len(decision.Prune) == 0 && w.releases.Settled(w.recorded) {
		r.recordResolved(w)
		w.compared = true
		return nil
	}
	if pause := r.conflictBackoff(w.key, decision); pause != nil {
		return pause
	}
	options := r.options(ctx, w)
	if err := w.checkCRDs(ctx, decision.Apply, options); err != nil {
		return err
	}
	r.recordResolved(w)
	phases.Reach(ctx, phases.Verify)
	if err := r.plan(ctx, w, decision.Apply); err != nil {
		return err
	}
	return r.act(ctx, w, decision, options)
}

// failure returns the finding of a cause that has a name; anything else is an error of this pass.
func (r *Reconciler) failure(err error) (passResult, error) {
	if problem := problemOf(err); problem != nil {
		return failed(problem), nil
	}
	if result := resultOf(err); result != nil {
		return *result, nil //nolint:nilerr // the error is the result
	}
	return passResult{}, err
}

// plan records what is about to be applied before the first write, where that must be known after an interruption.
func (r *Reconciler) plan(ctx context.Context, w *scope, steps []inventory.Step) error {
	planned, store := inventory.PlannedFor(w.recorded, w.desired, steps)
	brings := len(planned) > len(w.recorded)
	w.recorded, w.compared = planned, true
	if !store || !brings && w.isUpgradeTold() {
		return nil
	}
	return r.reportApplying(ctx, w, true)
}

// reportApplying writes the status in the middle of a pass: what comes next must not be lost with this process. brings means that other
// content is applied, or more.
func (r *Reconciler) reportApplying(ctx context.Context, w *scope, brings bool) error {
	found := passResult{state: v1beta2.StateProcessing, reason: v1beta2.ReasonApplying, message: applying, parsed: true, brings: brings}
	if !w.manifest.DeletionTimestamp.IsZero() {
		found.state = v1beta2.StateDeleting
	}
	return r.reportNow(ctx, w, found)
}

// reportNow writes the status in the middle of a pass, and ends the pass where the spec changed meanwhile.
func (r *Reconciler) reportNow(ctx context.Context, w *scope, found passResult) error {
	w.report(found)
	if err := r.flush(ctx, w); err != nil {
		return err
	}
	if w.manifest.Generation != w.generation {
		return &passResult{gone: true} // the spec moved on meanwhile, and its event starts again
	}
	return nil
}
