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

// undone is what was deleted in a runtime for a Kyma that goes, so that what is made anew under the same name is told apart. Who made it is
// one of two:
//
//  1. A Kyma that takes the runtime over. It says so in its status, and the runtime is its own from then on (inherited).
//  2. Anybody else, as a pass of ours that was under way. It is deleted again, but only after the other had time to say so: else two Kymas
//     would make and delete it for ever.
//
// It is kept in memory: after a restart each name is deleted once more at most.
type undone struct {
	kyma    types.UID
	deleted map[inventory.ID]types.UID
	found   map[inventory.ID]finding
}

// finding is what was made anew, and when that was seen first.
type finding struct {
	uid types.UID
	at  time.Time
}

// undoneOf is that of a Kyma; an earlier one of its name has no part in it.
func (r *Reconciler) undoneOf(kyma *v1beta2.Kyma) *undone {
	key := client.ObjectKeyFromObject(kyma)
	known, _ := r.undone.Load(key)
	if u, ok := known.(*undone); ok && u.kyma == kyma.UID {
		return u
	}
	u := &undone{kyma: kyma.UID, deleted: map[inventory.ID]types.UID{}, found: map[inventory.ID]finding{}}
	r.undone.Store(key, u)
	return u
}

// anew says that an object is not the one of its name that was deleted.
func (u *undone) anew(id inventory.ID, live inventory.Live) bool {
	before, deleted := u.deleted[id]
	return deleted && live.Presence == inventory.Present && live.UID != before
}

// any says that something was made anew in a runtime.
func (u *undone) any(live func(inventory.ID) inventory.Live) bool {
	for id := range u.deleted {
		if u.anew(id, live(id)) {
			return true
		}
	}
	return false
}

// spared says that an object was made anew so shortly ago that whoever made it may not have told who it is.
func (u *undone) spared(id inventory.ID, live inventory.Live, now time.Time) bool {
	if !u.anew(id, live) {
		return false
	}
	if u.found[id].uid != live.UID {
		u.found[id] = finding{uid: live.UID, at: now}
	}
	return now.Before(u.found[id].at.Add(retryStaying))
}

// inherited says that another Kyma has the runtime now, as its status tells. It is asked only where something was made anew, for it looks
// at all Kymas.
func (r *Reconciler) inherited(ctx context.Context, s *side) bool {
	if !s.undone.any(s.runtime.Live) {
		return false
	}
	kymas := &v1beta2.KymaList{}
	if err := r.Client.List(ctx, kymas, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency); err != nil {
		logf.FromContext(ctx).Error(err, "Cannot list the Kymas")
		return false
	}
	for i := range kymas.Items {
		if other := &kymas.Items[i]; other.UID != s.hub.UID && has(other, s.runtime.ID()) {
			return true
		}
	}
	return false
}

// has says that a Kyma that stays tells a runtime to be its own.
func has(kyma *v1beta2.Kyma, runtime string) bool {
	return kyma.DeletionTimestamp == nil && runtime != "" && kyma.Status.RuntimeID == runtime && module.Synced(kyma) && !isCopy(kyma)
}
