package installer

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// renderDesired makes objects of everything that is declared, and makes them this installation's own: namespaces, transforms, labels, owner
// mark.
func (c *call) renderDesired(ctx context.Context) error {
	if err := c.validateContent(); err != nil {
		return err
	}
	c.parts = []engine.Part{{Name: "CRDs", Steps: [][]*unstructured.Unstructured{c.inst.CRDs}}}
	for i := range c.inst.Sources {
		rendered, err := c.render(ctx, &c.inst.Sources[i])
		if err != nil {
			return fmt.Errorf("source %s: %w", c.inst.Sources[i].Name, err)
		}
		c.parts = append(c.parts, rendered)
	}
	declares := slices.ContainsFunc(c.parts, func(part engine.Part) bool { return len(slices.Concat(part.Steps...)) > 0 })
	if !declares && len(c.record.entries) > 0 {
		return invalidContent("the content declares no object, which would remove everything: call Uninstall for that, or publish content")
	}
	if err := c.declareKept(ctx); err != nil {
		return err
	}
	if err := c.place(ctx); err != nil {
		return err
	}
	return c.refuseUnknownValues(ctx)
}

// render fetches one Source and makes objects of it.
func (c *call) render(ctx context.Context, source *Source) (engine.Part, error) {
	resolved, err := c.resolve(ctx, source)
	if err != nil {
		return engine.Part{}, err
	}
	tree, err := source.Content.Fetch(ctx, resolved)
	if err != nil {
		return engine.Part{}, err
	}
	renderer := source.Renderer
	if renderer == nil {
		renderer = render.Raw{}
	}
	rendered := engine.Part{Name: source.Name, Namespace: source.Namespace}
	input := render.Input{Name: source.ReleaseName, Namespace: source.Namespace, Values: source.Values, Hooks: true}
	if input.Name == "" {
		input.Name = c.inst.Name
	}
	if input.Namespace == "" {
		input.Namespace, rendered.Namespace = c.inst.Namespace, c.inst.Namespace
	}
	if _, independent := renderer.(render.ClusterIndependent); !independent {
		if input.KubeVersion, input.APIVersions, err = c.cluster.served.capabilities(); err != nil {
			return engine.Part{}, called("ask", inventory.ID{Kind: "APIGroup", Name: "list"}, err)
		}
	}
	made, err := c.renderFor(ctx, source, resolved.Digest, input, func(input render.Input) (render.Rendered, error) {
		return renderer.Render(ctx, tree, input)
	})
	rendered.Steps, rendered.Hooks = made.Steps, made.Hooks
	return rendered, err
}

// resolve finds out which content a Source stands for, unless the caller has said so.
func (c *call) resolve(ctx context.Context, source *Source) (content.Resolved, error) {
	told := Resolved{Source: source.Name, Reference: source.Content.Reference()}
	found := false
	for _, pinned := range c.inst.Pinned {
		if pinned.Source == told.Source && pinned.Reference == told.Reference && pinned.Digest != "" {
			told, found = pinned, true
		}
	}
	if !found {
		resolved, err := source.Content.Resolve(ctx)
		if err != nil {
			return content.Resolved{}, err
		}
		told.Resolved = resolved
	}
	c.resolved = append(c.resolved, told)
	return told.Resolved, nil
}

// place brings the objects of all parts into their namespaces, and notes in which order they are applied.
//
// Whether objects live in a namespace is unknown while their kind is not served, which an earlier part may change.
func (c *call) place(ctx context.Context) error {
	var all []*unstructured.Unstructured
	for _, part := range c.parts {
		all = slices.Concat(all, slices.Concat(part.Steps...), part.Hooks)
	}
	scope := render.FirstKnown(render.Scopes(all).Scope, c.cluster.served.namespaced)
	order, err := engine.Arrange(c.parts, engine.Placing{
		Own: func(objects []*unstructured.Unstructured, namespace string) ([]*unstructured.Unstructured, error) {
			return c.own(objects, namespace, scope)
		},
		Served: func(gvk schema.GroupVersionKind) bool {
			_, served := scope(gvk)
			return served
		},
	})
	if err != nil {
		return err
	}
	c.order, c.desired, c.unplaced = order, order.Objects, order.Unplaced
	if err := c.placeCustom(scope); err != nil {
		return err
	}
	c.declared = map[inventory.ID]*unstructured.Unstructured{}
	for _, object := range slices.Concat(c.desired, c.custom) {
		c.declared[inventory.IDOf(object)] = object
	}
	for _, hook := range slices.Concat(order.Hooks...) {
		if _, served := scope(hook.GroupVersionKind()); !served {
			c.unserved[inventory.IDOf(hook)] = true
		}
	}
	return c.beginReleases(ctx)
}

func (c *call) placeCustom(scope render.Scope) error {
	custom, err := c.own(c.inst.CustomResources, c.inst.Namespace, scope)
	if err != nil {
		return fmt.Errorf("CustomResources: %w", err)
	}
	c.custom, c.unserved = custom, map[inventory.ID]bool{}
	for _, object := range custom {
		id := inventory.IDOf(object)
		if c.order.Declares(id) {
			return invalidContent("%s is among CustomResources and declared by %s: keep one of them", id, c.order.PartOf(id))
		}
		if _, served := scope(object.GroupVersionKind()); !served {
			c.unserved[id] = true
		}
	}
	return nil
}

// own returns objects their namespace, transforms them, and marks them.
func (c *call) own(objects []*unstructured.Unstructured, namespace string, scope render.Scope) ([]*unstructured.Unstructured, error) {
	placed, err := render.Normalise(objects, namespace, scope)
	if err != nil {
		return nil, err
	}
	if len(c.inst.Transforms) > 0 {
		placed = render.Mark(placed, render.Marks{}) // copies
		for _, object := range placed {
			if inventory.IDOf(object) == c.keptID() {
				continue // it is read again where it is
			}
			if err := c.transform(object); err != nil {
				return nil, err
			}
		}
		if placed, err = render.Normalise(placed, namespace, scope); err != nil { // they may have been moved or renamed
			return nil, err
		}
	}
	return render.Mark(placed, render.Marks{Labels: c.inst.Labels, Annotations: map[string]string{c.inst.OwnerKey: c.owner()}}), nil
}

func (c *call) transform(object *unstructured.Unstructured) error {
	id := inventory.IDOf(object)
	for i, transform := range c.inst.Transforms {
		if err := transform(object); err != nil {
			return invalid("transform %d of %s: %w", i+1, id, err)
		}
		if after := inventory.IDOf(object); after.Kind == "" || after.Name == "" {
			return invalid("transform %d of %s left it without kind or name", i+1, id)
		}
	}
	return nil
}
