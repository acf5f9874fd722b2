package installer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// awaitEarlierParts returns what a part still must wait for: the objects of earlier ones that are not ready; nil when all are.
func (c *call) awaitEarlierParts(part int) *waiting {
	left := c.waitFor(ReasonWaitingForInstall, c.order.AwaitEarlierParts(part, c.probes, c))
	if left == nil {
		return nil
	}
	waits := "CustomResources"
	if part < c.order.Parts() {
		waits = c.order.PartName(part)
	}
	left.message = waits + " waits for " + left.message
	return left
}

// waitFor returns what is waited for; nil when nothing is unready.
func (c *call) waitFor(reason string, unready []engine.Unready) *waiting {
	if len(unready) == 0 {
		return nil
	}
	left := &waiting{reason: reason, message: unready[0].String()}
	for _, object := range unready {
		left.failed = left.failed || object.Failed
		waits := wantedOf(c.declared[object.ID])
		waits.ok = func(live *unstructured.Unstructured) bool { return c.healthOf(object.ID, live).Status == health.Ready }
		if probe := object.Probe; probe != nil {
			waits.ok = func(live *unstructured.Unstructured) bool {
				met, _ := probe.Condition.Check(live)
				return met
			}
		}
		left.on = append(left.on, waits)
	}
	return left
}

// Health implements engine.Observer, by the last read or write, and tells Progress.
func (c *call) Health(id inventory.ID) (result health.Result, checked bool) {
	live, _ := c.lookedUp(id)
	result = c.healthOf(id, live)
	told := ObjectReport{ID: id, Version: c.declared[id].GroupVersionKind().Version, Action: c.told[id].Action, Health: result.Status}
	if result.Status != health.Ready {
		told.Message = result.Message
	}
	c.progress(told)
	return result, true
}

// Object implements engine.Observer.
func (c *call) Object(id inventory.ID) (object *unstructured.Unstructured, seen bool) {
	return c.lookedUp(id)
}

// healthOf returns the health of an object; of a custom resource also what it says of itself in Kyma's convention.
func (c *call) healthOf(id inventory.ID, live *unstructured.Unstructured) health.Result {
	custom := slices.ContainsFunc(c.custom, func(object *unstructured.Unstructured) bool { return inventory.IDOf(object) == id })
	return healthOf(live, custom)
}

// healthOf is health.Of; of custom resources also what they say of themselves in Kyma's convention.
func healthOf(live *unstructured.Unstructured, custom bool) health.Result {
	if live == nil {
		return health.Result{Status: health.Unknown, Message: "is not there"}
	}
	result := health.Of(live)
	if !custom || result.Status != health.Ready {
		return result
	}
	switch state, message := health.ModuleState(live); state {
	case "", "Ready", "Warning":
		return result
	case "Error":
		return health.Result{Status: health.Failed, Message: cmp.Or(message, "its state is Error")}
	default:
		return health.Result{Status: health.InProgress, Message: cmp.Or(message, "its state is "+state)}
	}
}

// ready looks at everything that is installed, and asks the probes; nil when all are content.
func (c *call) ready(ctx context.Context) (*waiting, error) {
	if err := c.observe(ctx, c.custom); err != nil {
		return nil, err
	}
	ids := idsOf(c.order.Sorted(c.desired))
	for _, id := range idsOf(c.custom) {
		if live, _ := c.lookedUp(id); live != nil { // otherwise it was deleted on purpose
			ids = append(ids, id)
		}
	}
	if left := c.waitFor(ReasonNotReady, engine.FindUnready(ids, c)); left != nil {
		return left, nil
	}
	return c.waitFor(ReasonWaitingForProbe, engine.FindUnmet(ids, c.probes, c)), nil
}

func idsOf(objects []*unstructured.Unstructured) []inventory.ID {
	ids := make([]inventory.ID, 0, len(objects))
	for _, object := range objects {
		ids = append(ids, inventory.IDOf(object))
	}
	return ids
}

// all returns the objects of the installation in the order in which they are applied.
func (c *call) all() []*unstructured.Unstructured {
	return append(c.order.Sorted(slices.Concat(c.desired, c.unplaced)), c.custom...)
}

// check asks the caller.
func (c *call) check(ctx context.Context) (*waiting, error) {
	if c.inst.Check == nil {
		return nil, nil
	}
	ready, message, err := c.inst.Check(ctx, *c.cluster)
	switch {
	case err != nil:
		return nil, &Error{Reason: ReasonCheckFailed, Err: errors.Join(fmt.Errorf("the Check of the installation %s: %w", c.owner(), err))}
	case ready:
		return nil, nil
	}
	return &waiting{reason: ReasonWaitingForCheck, message: cmp.Or(message, "the Check of the installation is not satisfied")}, nil
}
