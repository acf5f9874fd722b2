package manifest

import (
	"context"
	"errors"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// retryTransient is the first pause after something that may heal by itself; the back-off doubles it.
const retryTransient = 2 * time.Second

const (
	// retryRefused is the pause after something that only a person or another controller can change, and that nothing tells us of.
	retryRefused = 45 * time.Second
	// retryIncompatible is the pause after a definition that only other content can mend; that content wakes its Manifest itself.
	retryIncompatible = 5 * time.Minute
)

// applying is what people read while objects are being written.
const applying = "objects are being applied"

// install goes as far as it can in one pass.
//
//  1. Sources, probes, connection, inventory: what cannot be read is told, and what runs is kept.
//  2. Nothing differs from what was applied: only the health is looked at.
//  3. The content of all installations, verified; what it asks for is compared with inventory and cluster.
//  4. Where there is nothing to do but to put back what was put back a moment ago, it waits.
//  5. A definition whose change would break somebody is refused, before anything is written.
//  6. The planned inventory is written before the first object, so that nothing leaks when this process dies.
//  7. Installations in their order, each in phases; prune after a complete success; the default CR once.
//  8. Health, and then the probes.
func (r *Reconciler) install(ctx context.Context, w *work) (finding, error) {
	if err := errors.Join(r.name(w), r.compile(w)); err != nil {
		return r.failure(err)
	}
	if err := r.connect(ctx, w); err != nil {
		return r.failure(err)
	}
	r.track(w)
	if w.settled() && r.dressed(ctx, w) {
		r.noteReferences(w)
		return r.healthy(w), nil
	}
	return r.converge(ctx, w)
}

func (r *Reconciler) converge(ctx context.Context, w *work) (finding, error) {
	if err := r.bring(ctx, w); err != nil {
		return r.failure(err)
	}
	if w.lostCR { // told before it is there again, so that nobody takes the next one for the one before
		if err := r.tellApplying(ctx, w, false); err != nil {
			return r.failure(err)
		}
	}
	if err := r.createModuleCR(ctx, w); err != nil {
		return r.failure(err)
	}
	return r.healthy(w), nil
}

// bring makes the cluster hold what the content asks for.
func (r *Reconciler) bring(ctx context.Context, w *work) error {
	if err := r.want(ctx, w); err != nil {
		return err
	}
	r.track(w)
	decision := inventory.Decide(w.recorded, w.desired, w.runtime.Live)
	w.expect(decision.Apply)
	if len(decision.Apply)+len(decision.Prune) == 0 {
		r.pin(w)
		return nil
	}
	if pause := r.fighting(w.key, decision); pause != nil {
		return pause
	}
	if err := r.checkCRDs(ctx, w, decision.Apply); err != nil {
		return err
	}
	r.pin(w)
	if err := r.plan(ctx, w, decision.Apply); err != nil {
		return err
	}
	return r.act(ctx, w, decision)
}

// failure tells a cause that has a name; anything else is an error of this pass.
func (r *Reconciler) failure(err error) (finding, error) {
	if problem := problemOf(err); problem != nil {
		return failed(problem), nil
	}
	if stop, ok := errors.AsType[*stopped](err); ok {
		return finding(*stop), nil
	}
	return finding{}, err
}

func (w *work) marks() render.Marks {
	return render.Marks{
		Labels: map[string]string{
			v1beta2.LabelManagedBy: v1beta2.ManagedByKyma, // the streams select by it
		},
		Defaults: map[string]string{ // operators and monitors of the content may select by their own
			v1beta2.LabelComponent: w.manifest.Name,
			v1beta2.LabelPartOf:    v1beta2.PartOfKyma,
		},
		Annotations: map[string]string{
			v1beta2.AnnotationOwnedBy:    w.owner(),
			v1beta2.AnnotationDisclaimer: v1beta2.DisclaimerText,
		},
	}
}

// plan marks what is to be applied as not yet applied, so that a pass that does not come that far is not taken for one that did. It
// writes that when an object is new, since an interrupted pass would leak it, and when content changed, since drift does not show which
// of two contents an object has. What is only put back is noticed again.
func (r *Reconciler) plan(ctx context.Context, w *work, steps []inventory.Step) error {
	planned := inventory.Planned(w.recorded, w.desired)
	tell := len(planned) != len(w.recorded)
	open := make(map[inventory.ID]bool, len(steps))
	for _, step := range steps {
		open[step.Entry.ID] = true
		tell = tell || step.Why == inventory.WhyChanged
	}
	for i := range planned {
		if open[planned[i].ID] {
			planned[i].Hash = ""
		}
	}
	w.recorded = planned
	if !tell {
		return nil
	}
	return r.tellApplying(ctx, w, true)
}

// tellApplying writes the status in the middle of a pass: what comes next must not be lost with this process. brings
// says that it is other content, or more.
func (r *Reconciler) tellApplying(ctx context.Context, w *work, brings bool) error {
	found := finding{state: v1beta2.StateProcessing, reason: v1beta2.ReasonApplying, message: applying, parsed: true, brings: brings}
	if !w.manifest.DeletionTimestamp.IsZero() {
		found.state = v1beta2.StateDeleting
	}
	return r.tellNow(ctx, w, found)
}

// tellNow writes the status in the middle of a pass, and ends the pass where the spec moved on.
func (r *Reconciler) tellNow(ctx context.Context, w *work, found finding) error {
	w.report(found)
	if err := r.flush(ctx, w); err != nil {
		return err
	}
	if w.manifest.Generation != w.generation {
		return &stopped{gone: true} // the spec moved on meanwhile, and its event starts anew
	}
	return nil
}
