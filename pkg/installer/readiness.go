package installer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// awaitEarlierParts returns what a part still must wait for: the objects of earlier ones that are not ready; nil when all are.
func (c *call) awaitEarlierParts(part int) *waiting {
	left := &waiting{reason: ReasonWaitingForInstall}
	for _, object := range c.order.Sorted(c.desired) {
		if c.order.Stage(inventory.IDOf(object)).Part < part {
			c.unready(left, object, "")
		}
	}
	if len(left.on) == 0 {
		return nil
	}
	who := "CustomResources"
	if part < c.order.Parts() {
		who = c.order.PartName(part)
	}
	left.message = who + " waits for " + left.message
	return left
}

// unready adds an object to what is waited for, unless it is ready.
func (c *call) unready(left *waiting, object *unstructured.Unstructured, state string) {
	id := inventory.IDOf(object)
	live, _ := c.lookedUp(id)
	result := healthOf(live, state != "")
	told := ObjectReport{ID: id, Version: object.GroupVersionKind().Version, Action: c.told[id].Action, Health: result.Status}
	if result.Status != health.Ready {
		told.Message = result.Message
	}
	c.progress(told)
	if result.Status == health.Ready {
		return
	}
	if left.message == "" {
		left.message = id.String() + ": " + cmp.Or(result.Message, "is not there")
	}
	left.failed = left.failed || result.Status == health.Failed
	waits := wantedOf(object)
	waits.ok = func(live *unstructured.Unstructured) bool { return healthOf(live, state != "").Status == health.Ready }
	left.on = append(left.on, waits)
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

// readiness looks at everything that is installed, asks the probes, and then the caller; nil when all are content.
func (c *call) readiness(ctx context.Context) (*waiting, error) {
	left := &waiting{reason: ReasonNotReady}
	for _, object := range c.order.Sorted(c.desired) {
		c.unready(left, object, "")
	}
	if err := c.observe(ctx, c.custom); err != nil {
		return nil, err
	}
	for _, object := range c.custom {
		if live, _ := c.lookedUp(inventory.IDOf(object)); live != nil { // it was deleted on purpose
			c.unready(left, object, "state")
		}
	}
	if len(left.on) > 0 {
		return left, nil
	}
	for i := range c.probes {
		if left := c.probe(i); left != nil {
			return left, nil
		}
	}
	return c.check(ctx)
}

// probe asks one probe of all objects that it is for; nil when it is true of each.
func (c *call) probe(number int) *waiting {
	asked, probe := &c.inst.Probes[number], c.probes[number]
	left := &waiting{reason: ReasonWaitingForProbe}
	for _, object := range c.all() {
		id := inventory.IDOf(object)
		live, _ := c.lookedUp(id)
		if id.Group != asked.Group || id.Kind != asked.Kind || live == nil {
			continue
		}
		if ok, why := probe.Check(live); !ok {
			left.message = cmp.Or(left.message, fmt.Sprintf("%s: probe %s: %s", id, asked.Name, cmp.Or(asked.Message, why)))
			waits := wantedOf(object)
			waits.ok = func(live *unstructured.Unstructured) bool {
				ok, _ := probe.Check(live)
				return ok
			}
			left.on = append(left.on, waits)
		}
	}
	if len(left.on) == 0 {
		return nil
	}
	return left
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
