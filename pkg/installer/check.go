package installer

import (
	"context"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Check says, without a write and without waiting, whether everything is there, as declared, and runs. What is not is no error: the Report
// says it, with ReasonNotInstalled, ReasonOutdated, or what Install would wait for.
func Check(ctx context.Context, inst Installation) (Report, error) {
	c, err := begin(inst)
	if err == nil {
		err = c.load(ctx)
	}
	if err == nil {
		err = c.renderDesired(ctx)
	}
	if err == nil {
		err = c.observe(ctx, c.all())
	}
	if err != nil {
		return c.report(nil, err)
	}
	if left := c.outdated(); left != nil {
		return c.report(left, nil)
	}
	left, err := c.ready(ctx)
	if left == nil && err == nil {
		left, err = c.check(ctx)
	}
	return c.report(left, err)
}

// outdated returns what Install would write; nil when nothing.
func (c *call) outdated() *waiting {
	if !c.record.exists {
		return &waiting{reason: ReasonNotInstalled, message: fmt.Sprintf("%s is not installed", c.owner())}
	}
	left := &waiting{reason: ReasonOutdated}
	decision := inventory.Decide(c.record.entries, c.desired, c.live)
	c.releases.Spare(&decision)
	for _, step := range decision.Apply {
		left.outdated(c, step.Object, whys[step.Why])
	}
	for _, object := range c.unplaced {
		left.outdated(c, object, "is of a kind that the cluster does not serve")
	}
	for _, object := range c.notCreated() {
		left.outdated(c, object, "is not yet created")
	}
	for _, entry := range decision.Prune {
		c.expect([]inventory.Entry{entry})
		if entry.Hash != "" { // otherwise Install has tried already
			object := &unstructured.Unstructured{}
			object.SetGroupVersionKind(entry.GroupKind().WithVersion(entry.Version))
			object.SetNamespace(entry.Namespace)
			object.SetName(entry.Name)
			left.outdated(c, object, "is installed and no longer declared")
		}
	}
	for _, release := range c.releases {
		if release.Progress.Open() && left.message == "" {
			left.message = fmt.Sprintf("the hooks %s of %s have not completed", release.Progress.Event, release.Name)
		}
	}
	if left.message == "" {
		return nil
	}
	return left
}

var whys = map[inventory.Why]string{
	inventory.WhyNew:      "is not yet installed",
	inventory.WhyChanged:  "is declared differently than it was installed",
	inventory.WhyMissing:  "was deleted",
	inventory.WhyReplaced: "was deleted and recreated by another client",
	inventory.WhyDrifted:  "was changed by another client",
}

func (w *waiting) outdated(c *call, object *unstructured.Unstructured, why string) {
	at := wantedOf(object)
	w.on = append(w.on, at)
	c.did(at.id, "", why)
	if w.message == "" {
		w.message = at.id.String() + " " + why
	}
}

// Diff says, without a write, what Install would change: declared objects in the order in which they are applied, custom resources that are
// not yet created, and what would be pruned. The API server is asked by dry runs, so defaults and admission are in it.
func Diff(ctx context.Context, inst Installation) ([]apply.Difference, error) {
	c, err := begin(inst)
	if err == nil {
		err = c.load(ctx)
	}
	if err == nil {
		err = c.renderDesired(ctx)
	}
	if err == nil {
		err = c.observe(ctx, c.recorded(c.desired))
	}
	if err != nil {
		return nil, err
	}
	return c.differences(ctx)
}

func (c *call) differences(ctx context.Context) ([]apply.Difference, error) {
	decision := inventory.Decide(c.record.entries, c.desired, c.live)
	c.releases.Spare(&decision)
	steps, err := c.newNamespaces(ctx)
	if err != nil {
		return nil, err
	}
	for _, turn := range c.order.Batches(decision.Apply) {
		steps = append(steps, turn.Steps...)
	}
	for _, object := range c.unplaced {
		steps = append(steps, newStep(object))
	}
	custom := len(steps)
	for _, object := range c.notCreated() {
		steps = append(steps, newStep(object))
	}
	options := c.options()
	found := c.engine.Diff(ctx, steps, decision.Prune, options)
	for i, step := range steps {
		if i < custom {
			if err := c.checkDefinitions(ctx, []inventory.Step{step}, options); err != nil {
				found[i].Change, found[i].Fields, found[i].Err = apply.ChangeRefused, nil, err
			}
		} else if found[i].Err == nil && found[i].Change != apply.ChangeCreate {
			found[i] = apply.Difference{ID: found[i].ID, Change: apply.ChangeUnchanged, Note: "it exists already, so it is not changed"}
		}
	}
	return c.withUnchanged(found, custom), nil
}

// newNamespaces are steps for the namespaces that Install would make.
func (c *call) newNamespaces(ctx context.Context) ([]inventory.Step, error) {
	var steps []inventory.Step
	if !c.inst.CreateNamespace {
		return nil, nil
	}
	for _, namespace := range c.namespaces() {
		id := inventory.IDOf(namespace)
		if c.order.Declares(id) {
			continue
		}
		live, err := c.read(ctx, namespaceKind, id)
		if err != nil {
			return nil, err
		}
		if live == nil {
			steps = append(steps, newStep(namespace))
		}
	}
	return steps, nil
}

func newStep(object *unstructured.Unstructured) inventory.Step {
	return inventory.Step{Object: object, Why: inventory.WhyNew, Entry: inventory.Entry{
		ID: inventory.IDOf(object), Version: object.GroupVersionKind().Version, Hash: inventory.ContentHash(object),
	}}
}

// withUnchanged puts the declared objects that are in order to their places.
func (c *call) withUnchanged(found []apply.Difference, custom int) []apply.Difference {
	known := map[inventory.ID]apply.Difference{}
	var all []apply.Difference
	for _, difference := range found[:custom] {
		if !c.order.Declares(difference.ID) {
			all = append(all, difference)
		}
		known[difference.ID] = difference
	}
	for _, object := range c.order.Sorted(slices.Concat(c.desired, c.unplaced)) {
		id := inventory.IDOf(object)
		if difference, ok := known[id]; ok {
			all = append(all, difference)
		} else {
			all = append(all, apply.Difference{ID: id, Change: apply.ChangeUnchanged})
		}
	}
	return append(all, found[custom:]...)
}
