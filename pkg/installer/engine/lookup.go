package engine

import (
	"context"
	"encoding/json"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

const (
	// MaxFound is how many bytes the answer to one lookup may have: answers are kept beside generated values, in one Secret.
	MaxFound = 128 << 10
	// MaxListed is how many objects a lookup without a name may find.
	MaxListed = 100
)

// Lookup reads what a template looks up, as JSON: an object without its managed fields, a list of them, or null for what is not there. A
// *content.Error says that there is more than is kept; other errors are those of the API server.
func Lookup(ctx context.Context, cluster *apply.Cluster, query render.Lookup) (json.RawMessage, error) {
	read, err := readLookedUp(ctx, cluster, query)
	switch {
	case apierrors.IsNotFound(err), err != nil && apply.Classify(err) == apply.ClassKindUnknown:
		return json.RawMessage("null"), nil
	case err != nil:
		return nil, err
	}
	found, err := json.Marshal(read)
	if err == nil && len(found) > MaxFound {
		return nil, content.Errorf(content.ReasonContentTooLarge,
			"the chart looks up %s, which has more than %d KiB: let it look up less, or give it what it needs as values", query, MaxFound>>10)
	}
	return found, err
}

// readLookedUp reads one object, or a list of them.
func readLookedUp(ctx context.Context, cluster *apply.Cluster, query render.Lookup) (map[string]any, error) {
	resource, err := cluster.Resource(ctx, schema.FromAPIVersionAndKind(query.APIVersion, query.Kind))
	if err != nil {
		return nil, err
	}
	var objects dynamic.ResourceInterface = cluster.Dynamic.Resource(resource.GroupVersionResource)
	if resource.Namespaced && query.Namespace != "" {
		objects = cluster.Dynamic.Resource(resource.GroupVersionResource).Namespace(query.Namespace)
	}
	if query.Name != "" {
		object, err := objects.Get(ctx, query.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		object.SetManagedFields(nil)
		return object.Object, nil
	}
	list, err := objects.List(ctx, metav1.ListOptions{Limit: MaxListed})
	if err != nil {
		return nil, err
	}
	if list.GetContinue() != "" {
		return nil, content.Errorf(content.ReasonContentTooLarge,
			"the chart looks up %s, and there are more than %d: let it look up one by its name", query, MaxListed)
	}
	for i := range list.Items {
		list.Items[i].SetManagedFields(nil)
	}
	list.SetResourceVersion("")
	return list.UnstructuredContent(), nil
}
