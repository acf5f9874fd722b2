package manifest

import (
	"cmp"
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/phases"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// readSources reads the sources of the spec, without a call.
func (r *Reconciler) readSources(w *scope) error {
	sources, err := r.Content.Sources(w.manifest)
	w.sources = sources
	return err
}

// renderDesired fetches the content and makes it this Manifest's own: namespaces, order, and what postRender adds.
func (r *Reconciler) renderDesired(ctx context.Context, w *scope) error {
	parts, err := r.Content.Parts(ctx, w.manifest, w.capabilities)
	if err != nil {
		return err
	}
	phases.Reach(ctx, phases.Fetch) // unless Content has said so before it looked at signatures
	declares := slices.ContainsFunc(parts, func(part Part) bool { return len(part.objects()) > 0 })
	if !declares && len(w.recorded) > 0 {
		return invalidContent("the content declares no object, which would remove everything: delete the Manifest for that, or publish content")
	}
	if parts, err = w.withGenerated(ctx, parts); err != nil {
		return err
	}
	if err := w.discover(ctx, parts); err != nil {
		return err
	}
	if err := w.arrange(parts); err != nil {
		return err
	}
	declared := slices.Concat(w.order.Objects, slices.Concat(w.order.Hooks...))
	if declared, err = r.postRender(ctx, w, declared); err != nil {
		return err
	}
	w.desired = declared[:len(w.order.Objects)]
	if err := r.findTakenOver(ctx, w, parts); err != nil {
		return err
	}
	w.beginReleases(parts, declared[len(w.order.Objects):])
	w.resolved = make([]v1beta2.ResolvedSource, 0, len(parts))
	for _, part := range parts {
		if part.Source.Name != generatedPart {
			w.resolved = append(w.resolved, part.Source)
		}
	}
	return nil
}

// recordResolved records in the status which content is being installed, once nothing refused it: refused content is not what a source
// resolves to. What is known of a reference that moved stays.
func (r *Reconciler) recordResolved(w *scope) {
	for i := range w.resolved {
		source := &w.resolved[i]
		source.Hooks = w.progressOf(source.Name)
		for _, known := range w.manifest.Status.Resolved {
			if sameSource(known, *source) && known.Digest == source.Digest {
				source.Moved = known.Moved
			}
		}
	}
	w.manifest.Status.Resolved = w.resolved
	w.manifest.Status.ImagePullSecret, w.manifest.Status.Injected = r.PullSecret, w.injected
	r.noteReferences(w)
}

// capabilities queries the cluster, and reports a failure as a cause that the status can name. What charts generate is kept there.
func (w *scope) capabilities(ctx context.Context) (runtimes.Capabilities, error) {
	w.asked = true
	known, err := w.runtime.Capabilities(ctx)
	known.Installation = &runtimes.Installation{Exists: w.hasApplied(), Kept: w.readGenerated, Lookup: w.lookup}
	return known, w.clusterProblem(inventory.ID{Kind: "APIGroup", Name: "list"}, err)
}

// discover queries the cluster for the kinds of objects without a namespace, where neither the content nor the known state of the cluster
// shows whether they are namespaced: placed without one they would be refused. Kinds that are not served yet stay unknown.
func (w *scope) discover(ctx context.Context, parts []Part) error {
	scope := w.scope(parts)
	asked := map[schema.GroupVersionKind]bool{}
	w.discovered = map[schema.GroupVersionKind]bool{}
	for _, part := range parts {
		for _, object := range part.objects() {
			gvk := object.GroupVersionKind()
			if _, known := scope(gvk); known || asked[gvk] || object.GetNamespace() != "" {
				continue
			}
			asked[gvk] = true
			resource, err := w.runtime.Cluster().Resource(ctx, gvk)
			switch {
			case err == nil:
				w.discovered[gvk] = resource.Namespaced
			case apply.Classify(err) != apply.ClassKindUnknown:
				return w.clusterProblem(inventory.IDOf(object), err)
			}
		}
	}
	return nil
}

// objects returns everything that the part declares.
func (p *Part) objects() []*unstructured.Unstructured {
	return slices.Concat(slices.Concat(p.Steps...), p.Hooks)
}

// scope returns whether a kind is namespaced: by the definitions of the content, else by the known state of the cluster, else by what
// discover found.
func (w *scope) scope(parts []Part) render.Scope {
	var all []*unstructured.Unstructured
	for _, part := range parts {
		all = append(all, part.objects()...)
	}
	asked := func(gvk schema.GroupVersionKind) (namespaced, known bool) {
		namespaced, known = w.discovered[gvk]
		return namespaced, known
	}
	if w.runtime == nil {
		return render.FirstKnown(render.Scopes(all).Scope, render.BuiltinScope)
	}
	return render.FirstKnown(render.Scopes(all).Scope, w.runtime.Namespaced, asked)
}

// arrange puts the objects of all parts into their namespaces, and records in which order they are applied.
func (w *scope) arrange(parts []Part) error {
	scope := w.scope(parts)
	w.namespaces = nil
	arranged := make([]engine.Part, 0, len(parts))
	for _, part := range parts {
		namespace := cmp.Or(part.Namespace, w.manifest.Spec.TargetNamespace)
		if part.CreateNamespace && namespace != "" {
			w.namespaces = append(w.namespaces, namespace)
		}
		arranged = append(arranged, engine.Part{Name: part.Source.Name, Namespace: namespace, Steps: part.Steps, Hooks: part.Hooks})
	}
	order, err := engine.Arrange(arranged, engine.Placing{
		Own: func(objects []*unstructured.Unstructured, namespace string) ([]*unstructured.Unstructured, error) {
			return render.Normalise(objects, namespace, scope)
		},
	})
	if err != nil {
		return invalidContent(err.Error())
	}
	w.order = order
	return nil
}

func invalidContent(message string) *runtimes.Problem {
	return &runtimes.Problem{Reason: v1beta2.ReasonContentInvalid, Message: message}
}
