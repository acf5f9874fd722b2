package manifest

import (
	"context"
	"encoding/json"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

const (
	// maxFound is how many bytes the answer to one lookup may have: answers are kept beside generated values, in one Secret.
	maxFound = 128 << 10
	// maxListed is how many objects a lookup without a name may find.
	maxListed = 100
)

// hasApplied reports whether an object of the installation was applied.
func (w *scope) hasApplied() bool { return slices.ContainsFunc(w.recorded, wasApplied) }

func wasApplied(entry inventory.Entry) bool { return entry.UID != "" || entry.Hash != "" }

// lookup reads what a template looks up in the runtime. In the hub itself nothing is found: the operator can read there what the author of
// a Manifest must not see.
func (w *scope) lookup(ctx context.Context, query render.Lookup) (json.RawMessage, error) {
	found := json.RawMessage("null")
	if w.target.Local {
		return found, nil
	}
	gvk := schema.FromAPIVersionAndKind(query.APIVersion, query.Kind)
	id := inventory.ID{Group: gvk.Group, Kind: gvk.Kind, Namespace: query.Namespace, Name: query.Name}
	read, err := w.readLookedUp(ctx, gvk, query)
	switch {
	case apierrors.IsNotFound(err), err != nil && apply.Classify(err) == apply.ClassKindUnknown:
		return found, nil
	case err != nil:
		return nil, w.clusterProblem(id, err)
	}
	if found, err = json.Marshal(read); err != nil {
		return nil, err
	}
	if len(found) > maxFound {
		return nil, content.Errorf(content.ReasonContentTooLarge,
			"the chart looks up %s, which has more than %d KiB: let it look up less, or give it what it needs as values", query, maxFound>>10)
	}
	return found, nil
}

// readLookedUp reads one object, or a list of them.
func (w *scope) readLookedUp(ctx context.Context, gvk schema.GroupVersionKind, query render.Lookup) (map[string]any, error) {
	resource, err := w.runtime.Cluster().Resource(ctx, gvk)
	if err != nil {
		return nil, err
	}
	var objects dynamic.ResourceInterface = w.runtime.Cluster().Dynamic.Resource(resource.GroupVersionResource)
	if resource.Namespaced && query.Namespace != "" {
		objects = w.runtime.Cluster().Dynamic.Resource(resource.GroupVersionResource).Namespace(query.Namespace)
	}
	if query.Name != "" {
		object, err := objects.Get(ctx, query.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		object.SetManagedFields(nil)
		return object.Object, nil
	}
	list, err := objects.List(ctx, metav1.ListOptions{Limit: maxListed})
	if err != nil {
		return nil, err
	}
	if list.GetContinue() != "" {
		return nil, content.Errorf(content.ReasonContentTooLarge,
			"the chart looks up %s, and there are more than %d: let it look up one by its name", query, maxListed)
	}
	for i := range list.Items {
		list.Items[i].SetManagedFields(nil)
	}
	list.SetResourceVersion("")
	return list.UnstructuredContent(), nil
}
