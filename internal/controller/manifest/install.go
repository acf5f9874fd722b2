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

// install goes as far as it can in one pass.
//
//  1. Source, connection, inventory: what cannot be read is told, and what runs is kept.
//  2. Nothing differs from what was applied: only the health is looked at.
//  3. The content, verified; what it asks for is compared with inventory and cluster.
//  4. The planned inventory is written before the first object, so that nothing leaks when this process dies.
//  5. Objects in phases, prune after a complete success, the default CR once.
//  6. Health.
func (r *Reconciler) install(ctx context.Context, w *work) (finding, error) {
	source, problem := sourceOf(w.manifest.Spec)
	if problem != nil {
		return failed(problem), nil
	}
	w.source = source
	if err := r.connect(ctx, w); err != nil {
		return r.failure(err)
	}
	r.track(w)
	if w.settled() {
		return w.healthy(), nil
	}
	return r.converge(ctx, w)
}

func (r *Reconciler) converge(ctx context.Context, w *work) (finding, error) {
	if err := r.want(ctx, w); err != nil {
		return r.failure(err)
	}
	r.track(w)
	decision := inventory.Decide(w.recorded, w.desired, w.runtime.Live)
	w.resolved()
	if len(decision.Apply)+len(decision.Prune) > 0 {
		if err := r.plan(ctx, w); err != nil {
			return finding{}, err
		}
		if err := r.act(ctx, w, decision); err != nil {
			return r.failure(err)
		}
	}
	if err := r.createModuleCR(ctx, w); err != nil {
		return r.failure(err)
	}
	return w.healthy(), nil
}

// failure tells a cause that has a name; anything else is an error of this pass.
func (r *Reconciler) failure(err error) (finding, error) {
	if problem := problemOf(err); problem != nil {
		return failed(problem), nil
	}
	var stop *stopped
	if errors.As(err, &stop) {
		return finding(*stop), nil
	}
	return finding{}, err
}

// want fetches the content and makes it this Manifest's own: namespaces, labels, owner mark.
func (r *Reconciler) want(ctx context.Context, w *work) error {
	objects, err := r.Content.Objects(ctx, w.manifest, w.source)
	if err != nil {
		return err
	}
	scope := render.FirstKnown(render.Scopes(objects).Scope, w.runtime.Namespaced)
	placed, err := render.Normalise(objects, w.manifest.Spec.TargetNamespace, scope)
	if err != nil {
		return &Problem{Reason: v1beta2.ReasonContentInvalid, Message: err.Error()}
	}
	w.desired = render.Mark(placed, w.marks())
	return nil
}

func (w *work) marks() render.Marks {
	return render.Marks{
		Labels: map[string]string{
			v1beta2.LabelManagedBy: v1beta2.ManagedByKyma,
			v1beta2.LabelComponent: w.manifest.Name,
			v1beta2.LabelPartOf:    v1beta2.PartOfKyma,
		},
		Annotations: map[string]string{
			v1beta2.AnnotationOwnedBy:    w.owner(),
			v1beta2.AnnotationDisclaimer: v1beta2.DisclaimerText,
		},
	}
}

// resolved records which content this status speaks of.
func (w *work) resolved() {
	w.manifest.Status.Resolved = []v1beta2.ResolvedSource{{
		Name:      w.manifest.Spec.Install.Name,
		Reference: w.source.Repo + "/" + w.source.Name + "@" + w.source.Ref,
		Digest:    w.source.Ref,
		MediaType: string(w.source.Type),
	}}
}

// plan writes the planned inventory, if it names an object that the recorded one does not.
func (r *Reconciler) plan(ctx context.Context, w *work) error {
	planned := inventory.Planned(w.recorded, w.desired)
	if len(planned) == len(w.recorded) {
		return nil // the same objects: a crash from here on leaks nothing
	}
	w.recorded = planned
	w.report(finding{state: v1beta2.StateProcessing, reason: v1beta2.ReasonApplying, message: "objects are being applied", parsed: true})
	return r.flush(ctx, w)
}
