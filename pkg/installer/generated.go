package installer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/generated"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

var secretKind = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

// keptValues are what the charts of an installation have generated and looked up.
type keptValues struct {
	store generated.Store
	// absent: the cluster keeps nothing so far.
	absent bool
	// fresh are the parts with new values that are in their objects.
	fresh map[string]bool
}

// keptID returns where they are: in a Secret beside the record.
func (c *call) keptID() inventory.ID {
	name := c.inst.GeneratedSecret
	if name == "" {
		name = c.inst.Name + ".generated"
	}
	return inventory.ID{Kind: secretKind.Kind, Namespace: c.inst.Namespace, Name: name}
}

// hasKept reports whether the Secret was applied.
func (c *call) hasKept() bool {
	at := indexOf(c.record.entries, c.keptID())
	return at >= 0 && wasApplied(c.record.entries[at])
}

func wasApplied(entry inventory.Entry) bool { return entry.UID != "" || entry.Hash != "" }

// readKept reads them, once in a call. Values that were applied and are gone are not made anew: what the content has encrypted or
// stored with them would be lost. A Secret without data asks for new ones, which is a user's word.
func (c *call) readKept(ctx context.Context) (*keptValues, error) {
	if c.kept != nil {
		return c.kept, nil
	}
	live, err := c.read(ctx, secretKind, c.keptID())
	found := &keptValues{absent: live == nil, fresh: map[string]bool{}}
	switch {
	case err != nil:
		return nil, err
	case live == nil && c.hasKept():
		return nil, c.keptLost("is gone")
	case live != nil:
		if found.store, err = generated.Read(live); err != nil {
			return nil, c.keptLost("cannot be read: " + err.Error())
		}
		owner := live.GetAnnotations()[c.inst.OwnerKey]
		if owner != "" && owner != c.owner() && !found.store.Empty() {
			return nil, c.keptLost("belongs to " + owner)
		}
	}
	c.kept = found
	return found, nil
}

func (c *call) keptLost(what string) error {
	return content.Errorf(content.ReasonGeneratedValuesLost, "%s, which has the passwords and keys that the charts of the installation %s "+
		"have generated, %s: restore it; or, to have all of them made anew, create it without data and with the annotation %s: %s",
		c.keptID(), c.owner(), what, c.inst.OwnerKey, c.owner())
}

// renderFor renders a Source for this installation: with the values that its chart has generated before, and with what its release has
// looked up. Content that does neither is rendered once.
func (c *call) renderFor(
	ctx context.Context, source *Source, digest string, input render.Input, made func(render.Input) (render.Rendered, error),
) (render.Rendered, error) {
	input.Generated = &render.Generated{}
	looked, err := made(input)
	blind, _ := errors.AsType[*render.NeedsLookups](err)
	if err != nil && blind == nil || !engine.DependsOnInstallation(looked, blind) {
		return looked, err
	}
	known, err := c.readKept(ctx)
	if err != nil {
		return render.Rendered{}, err
	}
	rendering := engine.Rendering{
		Installation: c.owner(), Source: source.Name, Store: known.store, Inputs: render.ReleaseInputs(digest, input), Lookup: c.lookup,
		Render: func(_ context.Context, with *render.Generated) (render.Rendered, error) {
			input.Generated = with
			return made(input)
		},
	}
	if source.NoLookups {
		rendering.Lookup = nil
	}
	if slices.ContainsFunc(c.record.entries, wasApplied) {
		rendering.Before = generated.OtherContent // the record does not say which
	}
	rendered, err := rendering.Run(ctx, looked, blind)
	if err != nil {
		return render.Rendered{}, err
	}
	known.store = known.store.With(source.Name, rendered.Generated)
	known.fresh[source.Name] = generated.HasResults(rendered.Generated) && !rendered.GeneratedUnused
	return rendered, nil
}

// lookup answers what a template looks up.
func (c *call) lookup(ctx context.Context, query render.Lookup) (json.RawMessage, error) {
	found, err := engine.Lookup(ctx, c.engine, query)
	if _, tooMuch := errors.AsType[*content.Error](err); err == nil || tooMuch {
		return found, err
	}
	gvk := schema.FromAPIVersionAndKind(query.APIVersion, query.Kind)
	return nil, called("look up", inventory.ID{Group: gvk.Group, Kind: gvk.Kind, Namespace: query.Namespace, Name: query.Name}, err)
}

// declareKept puts the Secret in front of everything that is declared: it is applied before anything that has a value of it. What was
// kept stays, also while no chart uses it: an earlier version may come back.
func (c *call) declareKept(ctx context.Context) error {
	if c.kept == nil && !c.hasKept() {
		return nil
	}
	known, err := c.readKept(ctx)
	if err != nil {
		return err
	}
	if known.absent && known.store.Empty() {
		return nil
	}
	id := c.keptID()
	secret, err := known.store.Secret(id.Namespace, id.Name)
	if err != nil {
		return &content.Error{Reason: content.ReasonContentTooLarge, Err: err}
	}
	first := &c.parts[0]
	first.Steps = append([][]*unstructured.Unstructured{{secret}}, first.Steps...)
	return nil
}

// refuseUnknownValues refuses to take over what was installed with generated values that are not known: new ones would replace them.
func (c *call) refuseUnknownValues(ctx context.Context) error {
	if c.kept == nil || !c.kept.absent || c.inst.Ownership == apply.Prevent {
		return nil
	}
	for i, part := range c.parts {
		if !c.kept.fresh[part.Name] || c.declaredBefore(i) {
			continue
		}
		found, err := c.order.TakesOver(ctx, i, c.adoptable)
		if err != nil {
			return err
		}
		if found {
			return fmt.Errorf("source %s: %w", part.Name, c.keptLost(
				"does not exist, although it is installed: what is to be taken over has values that are not known"))
		}
	}
	return nil
}
