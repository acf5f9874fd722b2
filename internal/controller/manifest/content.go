package manifest

import (
	"context"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// name finds out what the spec installs from, without a call.
func (r *Reconciler) name(w *work) error {
	sources, err := r.Content.Sources(w.manifest)
	w.sources = sources
	return err
}

// want fetches the content and makes it this Manifest's own: namespaces, order, and what dress adds.
func (r *Reconciler) want(ctx context.Context, w *work) error {
	parts, err := r.Content.Parts(ctx, w.manifest, w.capabilities)
	if err != nil {
		return err
	}
	if err := w.discover(ctx, parts); err != nil {
		return err
	}
	desired, err := w.place(parts)
	if err != nil {
		return err
	}
	if len(desired) == 0 && len(w.recorded) > 0 {
		return invalidContent("the content declares no object, which would remove everything: delete the Manifest for that, or publish content")
	}
	if w.desired, err = r.dress(ctx, w, desired); err != nil {
		return err
	}
	w.resolved = make([]v1beta2.ResolvedSource, 0, len(parts))
	for _, part := range parts {
		w.resolved = append(w.resolved, part.Source)
	}
	return nil
}

// pin tells in the status which content is being installed, once nothing refused it: what was refused is not what a source stands for. What
// is known of a reference that moved stays.
func (r *Reconciler) pin(w *work) {
	for i := range w.resolved {
		source := &w.resolved[i]
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

// capabilities asks the cluster, and tells in the status's words why it does not answer.
func (w *work) capabilities(ctx context.Context) (Capabilities, error) {
	known, err := w.runtime.Capabilities(ctx)
	return known, w.clusterProblem(inventory.ID{Kind: "APIGroup", Name: "list"}, err)
}

// discover asks the cluster for the kinds of objects that name no namespace, where neither the content nor what is known of the cluster
// says whether they live in one: placed without it they would be refused. Kinds that are not served yet stay unknown.
func (w *work) discover(ctx context.Context, parts []Part) error {
	scope := w.scope(parts)
	asked := map[schema.GroupVersionKind]bool{}
	w.discovered = map[schema.GroupVersionKind]bool{}
	for _, part := range parts {
		for _, object := range slices.Concat(part.Steps...) {
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

// scope says of a kind whether it lives in namespaces: by the definitions of the content, else by what is known of the cluster, else by
// what discover found.
func (w *work) scope(parts []Part) render.Scope {
	var all []*unstructured.Unstructured
	for _, part := range parts {
		all = append(all, slices.Concat(part.Steps...)...)
	}
	asked := func(gvk schema.GroupVersionKind) (namespaced, known bool) {
		namespaced, known = w.discovered[gvk]
		return namespaced, known
	}
	return render.FirstKnown(render.Scopes(all).Scope, w.runtime.Namespaced, asked)
}

// place brings the objects of all parts into their namespaces, and notes in which order they are applied. What two parts declare alike
// counts once, where it comes first; what they declare differently is refused.
func (w *work) place(parts []Part) ([]*unstructured.Unstructured, error) {
	scope := w.scope(parts)
	w.order = order{at: map[inventory.ID]inventory.Stage{}}
	known := map[inventory.ID]*unstructured.Unstructured{}
	var desired []*unstructured.Unstructured
	for i, part := range parts {
		namespace := part.Namespace
		if namespace == "" {
			namespace = w.manifest.Spec.TargetNamespace
		}
		if part.CreateNamespace && namespace != "" {
			w.order.namespaces = append(w.order.namespaces, namespace)
		}
		for j, step := range part.Steps {
			placed, err := render.Normalise(step, namespace, scope)
			if err != nil {
				return nil, invalidContent(part.Source.Name + ": " + err.Error())
			}
			for _, object := range placed {
				id := inventory.IDOf(object)
				if first, twice := known[id]; twice {
					if !reflect.DeepEqual(first.Object, object.Object) {
						return nil, invalidContent(id.String() + " is declared differently by " + parts[w.order.at[id].Part].Source.Name +
							" and " + part.Source.Name + ": keep one of them")
					}
					continue
				}
				known[id], w.order.at[id] = object, inventory.Stage{Part: i, Step: j}
				desired = append(desired, object)
			}
		}
	}
	return desired, nil
}

func invalidContent(message string) *Problem {
	return &Problem{Reason: v1beta2.ReasonContentInvalid, Message: message}
}
