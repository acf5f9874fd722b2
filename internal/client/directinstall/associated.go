package directinstall

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/pager"

	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// resources returns the objects that block the deletion of a module, by the rule of module.Blocks.
func (c *removing) resources(ctx context.Context) ([]Resource, error) {
	kinds, err := c.kinds(ctx)
	if err != nil {
		return nil, err
	}
	var looks []module.Look
	var unseen error
	read := map[inventory.ID]Resource{}
	for _, kind := range kinds {
		look, err := c.look(ctx, kind, read)
		if apierrors.IsForbidden(err) {
			unseen = errors.Join(unseen, refuse(ReasonForbidden,
				"module %s is not deleted, since it cannot be seen whether there are objects of kind %s, which it manages: %w",
				c.module, kind.Kind, err))
			continue
		}
		if err != nil {
			return nil, err
		}
		looks = append(looks, look)
	}
	var going []types.UID
	for _, entry := range c.record.Entries {
		if c.inst.Successor(entry.ID) == "" {
			going = append(going, entry.UID)
		}
	}
	var found []Resource
	for _, kind := range module.Blocks(looks, going).Kinds {
		for i := range kind.Objects {
			found = append(found, read[kind.Objects[i].ID])
		}
	}
	return found, unseen
}

// kinds returns the kinds that the module declares, that of its custom resource, and those whose definitions it installed. A definition
// that another module takes over deletes no objects. Kinds of associated resources come first, then the module's own.
func (c *removing) kinds(ctx context.Context) ([]schema.GroupVersionKind, error) {
	var kinds []schema.GroupVersionKind
	own := schema.GroupVersionKind{}
	if ref := c.note.Resource; ref != nil {
		own = schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	}
	for _, entry := range c.record.Entries {
		isDefinition := entry.GroupKind() == inventory.CRDKind
		if !isDefinition || c.inst.Successor(entry.ID) != "" {
			continue
		}
		gvk, err := c.defined(ctx, entry)
		if err != nil {
			return nil, err
		}
		kinds = append(kinds, gvk)
	}
	return module.BlockingKinds(c.note.Associated, kinds, own), nil
}

// defined returns the kind of a definition that this module owns; empty when it is gone, or has another owner by now.
func (c *removing) defined(ctx context.Context, entry inventory.Entry) (schema.GroupVersionKind, error) {
	live, err := c.cluster.Dynamic.Resource(inventory.CRDResource).Get(ctx, entry.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && live.GetAnnotations()[installer.DefaultOwnerKey] != owner(c.module) {
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

// mapped finds the resource of a kind, in its version or another one that is served; nil when there is none.
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

// look lists the objects of a kind.
func (c *removing) look(ctx context.Context, gvk schema.GroupVersionKind, read map[inventory.ID]Resource) (module.Look, error) {
	look := module.Look{Kind: gvk}
	mapping, err := c.mapped(gvk)
	if err != nil || mapping == nil {
		return look, err
	}
	lists := pager.New(pager.SimplePageFunc(func(opts metav1.ListOptions) (runtimeObject, error) {
		return c.cluster.Dynamic.Resource(mapping.Resource).List(ctx, opts)
	}))
	err = lists.EachListItem(ctx, metav1.ListOptions{}, func(item runtimeObject) error {
		object, ok := item.(*unstructured.Unstructured)
		if !ok {
			return nil
		}
		resource := Resource{
			ID: inventory.IDOf(object), Version: mapping.GroupVersionKind.Version, UID: string(object.GetUID()),
			Deleting: object.GetDeletionTimestamp() != nil, Finalizers: object.GetFinalizers(),
		}
		seen := module.Object{ID: resource.ID, UID: object.GetUID(), Content: c.brought(object)}
		for _, reference := range object.GetOwnerReferences() {
			seen.Owners = append(seen.Owners, reference.UID)
		}
		read[resource.ID] = resource
		look.Objects = append(look.Objects, seen)
		return nil
	})
	if apierrors.IsNotFound(err) { // the kind was deleted meanwhile
		return module.Look{Kind: gvk}, nil
	}
	return look, err
}

// brought reports whether an object belongs to the module itself and is deleted with it.
func (c *removing) brought(object *unstructured.Unstructured) bool {
	id := inventory.IDOf(object)
	marked := object.GetAnnotations()[installer.DefaultOwnerKey] == owner(c.module)
	for _, entry := range c.record.Created {
		if entry.ID == id && (marked || entry.UID != "" && entry.UID == object.GetUID()) {
			return true
		}
	}
	return marked && slices.ContainsFunc(c.record.Entries, func(entry inventory.Entry) bool { return entry.ID == id })
}
