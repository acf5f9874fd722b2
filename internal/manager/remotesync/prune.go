package remotesync

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Prune deletes the objects of a kind in namespace kyma-system that carry the label of managed objects, are not in keep, and were written
// by the field manager. Each is read once, and deleted only if it is still the object that was read. What another client wrote is left
// alone, and not read again until it changes. While the kind is not listed nothing is deleted, and that is pending.
func (m *Syncer) Prune(
	ctx context.Context, runtime Runtime, gvk schema.GroupVersionKind, keep sets.Set[inventory.ID], manager string,
) (Outcome, error) {
	p := m.pass(runtime)
	gk := gvk.GroupKind()
	held, synced := runtime.Copies(gk)
	if !synced {
		p.fail(&apply.Error{
			ID: inventory.ID{Group: gk.Group, Kind: gk.Kind}, Class: apply.ClassConflict,
			Message: "the " + gk.Kind + "s of the runtime are being listed",
		})
		p.outcome.Unlisted = true
		return p.result(ctx)
	}
	there := sets.New(held...)
	p.memory.forget(gk, v1beta2.RuntimeNamespace, func(id inventory.ID) bool { return keep.Has(id) || there.Has(id) })
	held = slices.DeleteFunc(held, func(id inventory.ID) bool { return id.Namespace != v1beta2.RuntimeNamespace || keep.Has(id) })
	each(held, func(id inventory.ID) {
		if !p.settled(id) && !p.stopped() && !p.held(id, leaving) {
			p.remove(ctx, gvk, id, manager)
		}
	})
	return p.result(ctx)
}

// settled reports whether an object was seen to be none of ours, or being deleted, and has not changed since.
func (p *pass) settled(id inventory.ID) bool {
	stamp, known := p.runtime.ObjectVersion(id)
	return known && (stamp == "" || p.memory.has(id, foreign, stamp) || p.memory.has(id, leaving, stamp))
}

func (p *pass) remove(ctx context.Context, gvk schema.GroupVersionKind, id inventory.ID, manager string) {
	client, err := p.client(ctx, gvk, id)
	if err != nil {
		p.failed("find", id, err)
		return
	}
	live, err := get(ctx, client, id.Name)
	switch {
	case err != nil:
		p.failed("read", id, err)
		return
	case live == nil:
		return
	case live.GetDeletionTimestamp() != nil:
		p.memory.keep(id, leaving, live)
		return
	case !writtenBy(live, manager):
		p.memory.keep(id, foreign, live)
		return
	}
	uid := live.GetUID()
	err = client.Delete(ctx, id.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
	if err != nil && !apierrors.IsNotFound(err) {
		p.failed("delete", id, err)
		return
	}
	p.wrote()
	p.memory.wroteBack(id, leaving)
	p.memory.keep(id, leaving, live)
}

// writtenBy reports whether a field manager has, or had, a field of the object.
func writtenBy(live object, manager string) bool {
	return slices.ContainsFunc(live.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == manager })
}
