package installer

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// notCreated returns the custom resources whose creation is not recorded as done.
func (c *call) notCreated() []*unstructured.Unstructured {
	return slices.DeleteFunc(slices.Clone(c.custom), func(object *unstructured.Unstructured) bool {
		at := indexOf(c.record.created, inventory.IDOf(object))
		return at >= 0 && c.record.created[at].Hash != ""
	})
}

func indexOf(entries []inventory.Entry, id inventory.ID) int {
	return slices.IndexFunc(entries, func(entry inventory.Entry) bool { return entry.ID == id })
}

// planCustom notes that custom resources are about to be created.
func (c *call) planCustom() {
	for _, object := range c.notCreated() {
		if id := inventory.IDOf(object); indexOf(c.record.created, id) < 0 && !c.unserved[id] {
			c.record.created = append(c.record.created, inventory.Entry{ID: id, Version: object.GroupVersionKind().Version})
		}
	}
}

// createCustom creates custom resources, once, when everything else is ready. One that exists already is left as it is; unless an earlier
// call has made it, it is not ours, and not deleted later.
func (c *call) createCustom(ctx context.Context, objects []*unstructured.Unstructured) (*waiting, error) {
	if len(objects) == 0 {
		return nil, nil
	}
	if left := c.awaitEarlierParts(c.order.Parts()); left != nil {
		return left, nil
	}
	for _, object := range objects {
		if err := c.createOne(ctx, object); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

func (c *call) createOne(ctx context.Context, object *unstructured.Unstructured) error {
	id := inventory.IDOf(object)
	resource, err := c.cluster.served.resource(ctx, object.GroupVersionKind())
	if err == nil && c.unserved[id] {
		err = &apply.Error{Class: apply.ClassKindUnknown, Message: "the cluster has only just begun to serve its kind; call again"}
	}
	if err != nil {
		return called("create", id, err, object)
	}
	action, note := apply.Created, ""
	c.touched[id] = true
	client := c.cluster.in(resource, id.Namespace)
	opts := metav1.CreateOptions{FieldManager: c.inst.FieldManager, FieldValidation: metav1.FieldValidationStrict}
	live, err := apply.Create(ctx, client, resource, object, opts)
	if apierrors.IsAlreadyExists(err) {
		live, err = client.Get(ctx, id.Name, metav1.GetOptions{})
		switch {
		case err != nil:
		case live.GetDeletionTimestamp() != nil:
			err = apply.Terminating(live) // it is recreated when it is gone
		default:
			action = apply.Unchanged
		}
	}
	if err != nil {
		told := apply.Explain("create", id, err, object)
		c.did(id, apply.Failed, told.Message)
		return written(told)
	}
	c.learn(live)
	entry := inventory.Entry{ID: id, Version: object.GroupVersionKind().Version, Hash: createdOnce, UID: live.GetUID()}
	if live.GetAnnotations()[c.inst.OwnerKey] != c.owner() {
		entry.UID, note = "", "it existed already, so it is not changed, and not deleted later"
	}
	c.record.created[indexOf(c.record.created, id)] = entry
	c.did(id, action, note)
	return nil
}

// deleteCustom deletes the custom resources that were created, and returns what of them is still there. One counts as ours by its UID, for
// users who change it may well drop our mark.
func (c *call) deleteCustom(ctx context.Context) (*waiting, error) {
	var ours []inventory.Entry
	for _, entry := range c.record.created {
		live, err := c.read(ctx, entry.GroupKind().WithVersion(entry.Version), entry.ID)
		if err != nil {
			return nil, err
		}
		switch {
		case live == nil:
			c.did(entry.ID, apply.Gone, "")
			c.forgetCustom(entry.ID)
			continue
		case live.GetAnnotations()[c.inst.OwnerKey] == c.owner(), entry.UID != "" && live.GetUID() == entry.UID:
			ours = append(ours, entry)
		default:
			c.did(entry.ID, apply.Kept, "it does not carry our owner mark")
			c.forgetCustom(entry.ID)
		}
	}
	options := c.options()
	options.Kept = func(id inventory.ID) bool {
		live, _ := c.lookedUp(id)
		return live != nil && live.GetAnnotations()[apply.AnnotationKeep] == "true"
	}
	remove := c.remover(removing{options: options, live: c.customLive(ctx, ours), forget: c.forgetCustom})
	return remaining(engine.DeleteWave(ctx, ours, remove))
}

// customLive reads a custom resource and says that it is ours, which its UID has told.
func (c *call) customLive(ctx context.Context, ours []inventory.Entry) func(inventory.ID) inventory.Live {
	return func(id inventory.ID) inventory.Live {
		entry := ours[indexOf(ours, id)]
		if _, err := c.read(ctx, entry.GroupKind().WithVersion(entry.Version), id); err != nil {
			return inventory.Live{} // the delete meets the same error
		}
		live := c.live(id)
		if live.UID == entry.UID {
			live.Owner = c.owner()
		}
		return live
	}
}

func (c *call) forgetCustom(id inventory.ID) {
	c.record.created = slices.DeleteFunc(slices.Clone(c.record.created), func(entry inventory.Entry) bool { return entry.ID == id })
}
