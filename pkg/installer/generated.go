package installer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/generated"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// keptPart is the part with the Secret that keeps what charts have generated. It comes before all others.
const keptPart = "generated values"

var secretKind = schema.GroupVersionKind{Version: "v1", Kind: "Secret"}

// generatedSecret is what the record says of the Secret with what charts have generated.
type generatedSecret struct {
	Name string `json:"name"`
	// Hash of its content makes each change of it a change of the record, so that of two calls that generate at once one is told.
	Hash string `json:"hash"`
}

func (g *generatedSecret) equal(other *generatedSecret) bool {
	return g == other || g != nil && other != nil && *g == *other
}

func (g *generatedSecret) name() string {
	if g == nil {
		return ""
	}
	return g.Name
}

// keptValues are what the charts of an installation have generated and looked up.
type keptValues struct {
	store generated.Store
	// absent: there is no Secret so far. One without values is a user's word for new ones.
	absent, empty bool
	// anew are the sources with new values in their objects, of which none was kept before.
	anew map[string]bool
}

// keptID returns where they are: in a Secret beside the record.
func (c *call) keptID() inventory.ID {
	id := inventory.ID{Kind: secretKind.Kind, Namespace: c.inst.Namespace, Name: c.inst.Name + ".generated"}
	switch {
	case c.record.generated != nil:
		id.Name = c.record.generated.Name
	case c.inst.GeneratedSecret != "":
		id.Name = c.inst.GeneratedSecret
	}
	return id
}

// hasKept reports whether the Secret was applied.
func (c *call) hasKept() bool {
	at := indexOf(c.record.entries, c.keptID())
	return at >= 0 && wasApplied(c.record.entries[at])
}

func wasApplied(entry inventory.Entry) bool { return entry.UID != "" || entry.Hash != "" }

// readKept reads them, once in a call. Values that were applied and are gone are not made anew: what the content has encrypted or stored
// with them would be lost. A Secret without data asks for new ones, which is a user's word.
func (c *call) readKept(ctx context.Context) (*keptValues, error) {
	if c.kept != nil {
		return c.kept, nil
	}
	live, err := c.read(ctx, secretKind, c.keptID())
	found := &keptValues{absent: live == nil, anew: map[string]bool{}}
	switch {
	case err != nil:
		return nil, err
	case live == nil && c.hasKept():
		return nil, c.keptLost("is gone")
	case live != nil:
		if found.store, err = generated.Read(live); err != nil {
			return nil, c.keptLost("cannot be read: " + err.Error())
		}
		if owner := live.GetAnnotations()[c.inst.OwnerKey]; owner != "" && owner != c.owner() {
			return nil, c.keptLost("belongs to " + owner)
		}
		found.empty = found.store.Empty()
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
	inputs, err := render.ReleaseInputs(digest, input)
	if err != nil {
		return render.Rendered{}, err
	}
	rendering := engine.Rendering{
		Installation: c.owner(), Source: source.Name, Store: known.store, Inputs: inputs, Before: c.before(looked), Lookup: c.lookup,
		Render: func(_ context.Context, with *render.Generated) (render.Rendered, error) {
			input.Generated = with
			return made(input)
		},
	}
	if source.NoLookups {
		rendering.Lookup = nil
	}
	rendered, err := rendering.Run(ctx, looked, blind)
	if err != nil {
		return render.Rendered{}, err
	}
	known.store = known.store.With(source.Name, rendered.Generated)
	known.anew[source.Name] = rendered.GeneratedAnew
	return rendered, nil
}

// before tells what the installation had of a source that kept no release, by what it declares for any installation: one that was added to
// others is new. The record does not say which content was installed.
func (c *call) before(looked render.Rendered) generated.Before {
	names := map[inventory.ID]bool{}
	for _, object := range looked.Objects() {
		id := inventory.IDOf(object)
		id.Namespace = ""
		names[id] = true
	}
	for _, entry := range c.record.entries {
		id := entry.ID
		id.Namespace = ""
		if wasApplied(entry) && entry.ID != c.keptID() && entry.GroupKind() != inventory.CRDKind && (names[id] || len(names) == 0) {
			return generated.OtherContent
		}
	}
	return generated.Nothing
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

// declareKept puts the Secret in front of everything that is declared: it is applied before anything that has a value of it. What was kept
// stays, also while no chart uses it: an earlier version may come back.
func (c *call) declareKept(ctx context.Context) error {
	if c.kept == nil && indexOf(c.record.entries, c.keptID()) < 0 {
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
	c.record.generated = &generatedSecret{Name: id.Name, Hash: inventory.ContentHash(secret)}
	first := engine.Part{Name: keptPart, Steps: [][]*unstructured.Unstructured{{secret}}}
	c.parts = append([]engine.Part{first}, c.parts...)
	return nil
}

// refuseUnknownValues refuses to put new values in the place of those that something has which is there already: a password that nothing
// but an object of the cluster knows would be gone. What another installation owns is refused now, before new values are kept for it.
func (c *call) refuseUnknownValues(ctx context.Context) error {
	if c.kept == nil || c.kept.empty {
		return nil
	}
	for i, part := range c.parts {
		if !c.kept.anew[part.Name] || c.appliedBefore(i) {
			continue
		}
		found, err := c.order.TakesOver(ctx, i, c.isThere)
		if err != nil {
			return err
		}
		if found {
			return fmt.Errorf("source %s: %w", part.Name, c.keptLost(
				"does not have those of what is there already: what is to be taken over has values that are not known"))
		}
	}
	return nil
}

// appliedBefore reports whether this installation has applied objects that a part declares, whatever has become of them.
func (c *call) appliedBefore(part int) bool {
	return slices.ContainsFunc(c.record.entries, func(entry inventory.Entry) bool {
		return wasApplied(entry) && !entry.IsHook() && c.order.Declares(entry.ID) && c.order.Stage(entry.ID).Part == part
	})
}

// isThere reports whether an object exists that this installation would change. One that it must not change is an error.
func (c *call) isThere(ctx context.Context, object *unstructured.Unstructured) (bool, error) {
	live, err := c.read(ctx, object.GroupVersionKind(), inventory.IDOf(object))
	if err != nil || live == nil {
		return false, err
	}
	if live.GetAnnotations()[c.inst.OwnerKey] == c.owner() { // the record is lost
		return true, nil
	}
	adopts, err := c.options().Adopts(live)
	return adopts, written(err)
}
