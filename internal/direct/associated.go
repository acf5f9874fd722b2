package direct

import (
	"cmp"
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/pager"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/manifest"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// resources are the objects of the kinds of a module that the module itself did not bring: people made them.
func (c *removing) resources(ctx context.Context) ([]Resource, error) {
	kinds, err := c.kinds(ctx)
	if err != nil {
		return nil, err
	}
	var found []Resource
	var unseen error
	for _, gvk := range kinds {
		objects, err := c.objects(ctx, gvk)
		if apierrors.IsForbidden(err) {
			unseen = errors.Join(unseen, refuse(ReasonForbidden,
				"module %s is not deleted, since it cannot be seen whether there are objects of kind %s, which it looks after: %w",
				c.module, gvk.Kind, err))
			continue
		}
		if err != nil {
			return nil, err
		}
		found = append(found, objects...)
	}
	return found, unseen
}

// kinds are those that the module declares, that of its custom resource, and those whose definitions it brought. A definition that goes on
// living with another module takes nothing away from anybody. Kinds of associated resources come first, then the module's own.
func (c *removing) kinds(ctx context.Context) ([]schema.GroupVersionKind, error) {
	var kinds []schema.GroupVersionKind
	own := schema.GroupVersionKind{}
	if ref := c.note.Resource; ref != nil {
		own = schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	}
	for _, gvk := range c.note.Associated {
		kinds = append(kinds, schema.GroupVersionKind(gvk))
	}
	for _, entry := range c.record.Entries {
		if entry.GroupKind() != (schema.GroupKind{Group: definitions.Group, Kind: "CustomResourceDefinition"}) || c.inst.Heirs(entry.ID) != "" {
			continue
		}
		gvk, err := c.defined(ctx, entry)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, gvk)
	}
	kinds = append(kinds, own)
	known := map[schema.GroupKind]bool{{}: true}
	kinds = slices.DeleteFunc(kinds, func(gvk schema.GroupVersionKind) bool {
		seen := known[gvk.GroupKind()]
		known[gvk.GroupKind()] = true
		return seen
	})
	slices.SortStableFunc(kinds, func(a, b schema.GroupVersionKind) int {
		return cmp.Compare(rank(a, own), rank(b, own))
	})
	return kinds, nil
}

func rank(gvk, own schema.GroupVersionKind) int {
	if gvk.GroupKind() == own.GroupKind() {
		return 1
	}
	return 0
}

// defined is the kind of a definition that is ours; none when it is gone, or somebody else's by now.
func (c *removing) defined(ctx context.Context, entry inventory.Entry) (schema.GroupVersionKind, error) {
	live, err := c.cluster.Dynamic.Resource(definitions).Get(ctx, entry.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && live.GetAnnotations()[manifest.DefaultOwnerKey] != owner(c.module) {
		return schema.GroupVersionKind{}, nil
	}
	if apierrors.IsForbidden(err) {
		return schema.GroupVersionKind{}, refuse(ReasonForbidden, "module %s is not deleted, since its definition %s cannot be read: %w",
			c.module, entry.Name, err)
	}
	if err != nil {
		return schema.GroupVersionKind{}, err
	}
	group, _, _ := unstructured.NestedString(live.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(live.Object, "spec", "names", "kind")
	return schema.GroupVersionKind{Group: group, Kind: kind}, nil
}

// mapped finds the resource of a kind, in its version or another that is served; nil when none is.
func (c *removing) mapped(gvk schema.GroupVersionKind) (*meta.RESTMapping, error) {
	mapper := c.cluster.Client.RESTMapper()
	if gvk.Version != "" {
		if mapping, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version); err == nil {
			return mapping, nil
		}
	}
	mapping, err := mapper.RESTMapping(gvk.GroupKind())
	if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
		return nil, nil
	}
	return mapping, err
}

// objects are those of a kind that people made.
func (c *removing) objects(ctx context.Context, gvk schema.GroupVersionKind) ([]Resource, error) {
	mapping, err := c.mapped(gvk)
	if err != nil || mapping == nil {
		return nil, err
	}
	var found []Resource
	lists := pager.New(pager.SimplePageFunc(func(opts metav1.ListOptions) (runtimeObject, error) {
		return c.cluster.Dynamic.Resource(mapping.Resource).List(ctx, opts)
	}))
	err = lists.EachListItem(ctx, metav1.ListOptions{}, func(item runtimeObject) error {
		if object, ok := item.(*unstructured.Unstructured); ok && !c.brought(object) {
			found = append(found, Resource{
				ID: inventory.IDOf(object), Version: mapping.GroupVersionKind.Version, UID: string(object.GetUID()),
				Deleting: object.GetDeletionTimestamp() != nil, Finalizers: object.GetFinalizers(),
			})
		}
		return nil
	})
	if apierrors.IsNotFound(err) { // the kind went meanwhile
		return nil, nil
	}
	return found, err
}

// brought tells what belongs to the module itself and goes with it.
func (c *removing) brought(object *unstructured.Unstructured) bool {
	id := inventory.IDOf(object)
	marked := object.GetAnnotations()[manifest.DefaultOwnerKey] == owner(c.module)
	for _, entry := range c.record.Created {
		if entry.ID == id && (marked || entry.UID != "" && entry.UID == object.GetUID()) {
			return true
		}
	}
	return marked && slices.ContainsFunc(c.record.Entries, func(entry inventory.Entry) bool { return entry.ID == id })
}
