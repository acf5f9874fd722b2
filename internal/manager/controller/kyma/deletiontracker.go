package kyma

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// deletionTracker records what was deleted in a runtime for a Kyma that is being deleted, so that an object recreated under the same name
// is told apart. One of two recreated it:
//
//  1. A Kyma that takes the runtime over. Its status says so, and the runtime is its own from then on (inherited).
//  2. Any other client, such as a pass of ours that was under way. The object is deleted again, but only after the other Kyma had time to
//     say so: else two Kymas would create and delete it forever.
//
// It is kept in memory: after a restart each name is deleted again at most once.
type deletionTracker struct {
	kyma    types.UID
	deleted map[inventory.ID]types.UID
	found   map[inventory.ID]recreatedObject
}

// recreatedObject is a recreated object, and when it was first seen.
type recreatedObject struct {
	uid types.UID
	at  time.Time
}

// trackerOf returns the tracker of a Kyma, without the records of an earlier Kyma of that name.
func (r *Reconciler) trackerOf(kyma *v1beta2.Kyma) *deletionTracker {
	key := client.ObjectKeyFromObject(kyma)
	known, _ := r.deletions.Load(key)
	if u, ok := known.(*deletionTracker); ok && u.kyma == kyma.UID {
		return u
	}
	u := &deletionTracker{kyma: kyma.UID, deleted: map[inventory.ID]types.UID{}, found: map[inventory.ID]recreatedObject{}}
	r.deletions.Store(key, u)
	return u
}

// again reports whether an object is not the one of its name that was deleted.
func (u *deletionTracker) isRecreated(id inventory.ID, live inventory.Live) bool {
	before, deleted := u.deleted[id]
	return deleted && live.Presence == inventory.Present && live.UID != before
}

// anyRecreated reports whether something was recreated in a runtime.
func (u *deletionTracker) anyRecreated(live func(inventory.ID) inventory.Live) bool {
	for id := range u.deleted {
		if u.isRecreated(id, live(id)) {
			return true
		}
	}
	return false
}

// inGracePeriod reports whether an object was recreated so recently that its creator may not have identified itself yet.
func (u *deletionTracker) inGracePeriod(id inventory.ID, live inventory.Live, now time.Time) bool {
	if !u.isRecreated(id, live) {
		return false
	}
	if u.found[id].uid != live.UID {
		u.found[id] = recreatedObject{uid: live.UID, at: now}
	}
	return now.Before(u.found[id].at.Add(retryStaying))
}

// isTakenOver reports whether another Kyma has the runtime now, according to its status. It is called only where something was recreated,
// for it reads all Kymas.
func (r *Reconciler) isTakenOver(ctx context.Context, s *remoteScope) bool {
	return s.deletions.anyRecreated(s.runtime.Live) && r.hasSuccessor(ctx, s)
}

// hasSuccessor reports whether another Kyma is bound to the runtime.
func (r *Reconciler) hasSuccessor(ctx context.Context, s *remoteScope) bool {
	kymas := &v1beta2.KymaList{}
	if err := r.Client.List(ctx, kymas, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency); err != nil {
		logf.FromContext(ctx).Error(err, "Cannot list the Kymas")
		return false
	}
	for i := range kymas.Items {
		if other := &kymas.Items[i]; other.UID != s.hub.UID && claimsRuntime(other, s.runtime.ID()) {
			return true
		}
	}
	return false
}

// claimsRuntime reports whether a Kyma that is not being deleted claims a runtime as its own.
func claimsRuntime(kyma *v1beta2.Kyma, runtime string) bool {
	return kyma.DeletionTimestamp == nil && runtime != "" && kyma.Status.RuntimeID == runtime && module.Synced(kyma) && !isOwnCopy(kyma)
}
