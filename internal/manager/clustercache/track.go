package clustercache

import (
	"context"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

// Track sets the kinds that an owner, such as a Manifest, needs, replacing the kinds of its previous call: kinds that no owner
// tracks any more are forgotten. New kinds are listed in the background, and the owner is enqueued once when all of its kinds are known;
// without changes it makes no calls and enqueues no owner. Only owners that track a runtime are ever enqueued by its events.
// Call Track before applying: results of writes are stored then, and enqueue no owner.
func (r *Runtime) Track(owner types.NamespacedName, kinds []runtimes.Interest) {
	wanted := groupInterests(kinds)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return
	}
	if t := r.owners[owner]; t != nil && maps.EqualFunc(t.specs, wanted, trackSpec.equal) {
		return
	}
	t := &tracker{specs: wanted}
	r.owners[owner] = t
	r.adjustKindsLocked()
	t.announced = r.isSettledForLocked(t)
	if r.audit == nil {
		r.audit = time.AfterFunc(r.auditAfter(), r.auditAll)
	}
}

// Untrack forgets an owner, and the kinds that no other owner tracks.
func (r *Runtime) Untrack(owner types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.owners, owner)
	delete(r.versioned, owner)
	r.conn.forget(owner)
	if r.ctx.Err() != nil {
		return // closed: nothing is known of any kind any more
	}
	r.adjustKindsLocked()
	if len(r.owners) == 0 && r.audit != nil {
		r.audit.Stop()
		r.audit = nil
	}
}

// allOwners returns the owners that track the runtime.
func (r *Runtime) allOwners() []types.NamespacedName {
	r.mu.RLock()
	defer r.mu.RUnlock()
	owners := make([]types.NamespacedName, 0, len(r.owners))
	for owner := range r.owners {
		owners = append(owners, owner)
	}
	return owners
}

// adjustKindsLocked updates the kinds to what the owners track. The caller holds the lock.
func (r *Runtime) adjustKindsLocked() {
	wanted := make(map[schema.GroupKind]trackSpec, len(r.kinds))
	for _, t := range r.owners {
		for gk, w := range t.specs {
			wanted[gk] = wanted[gk].and(w)
		}
	}
	for gk, k := range r.kinds {
		if _, ok := wanted[gk]; !ok {
			r.stopKindLocked(k)
			delete(r.kinds, gk)
		}
	}
	for gk, w := range wanted {
		k := r.kinds[gk]
		if k == nil {
			k = &kind{gk: gk, spec: w, objects: make(map[objectKey]*object), poke: make(chan struct{}, 1), life: life{due: true}}
			r.kinds[gk] = k
			continue
		}
		r.updateSpec(k, w)
	}
	r.assignStreamsLocked()
}

// updateSpec gives a kind a new trackSpec. A kind that is read with too little is listed again; one that is read with more than needed
// stays unchanged, because the next owner may need that again.
func (r *Runtime) updateSpec(k *kind, w trackSpec) {
	k.spec.versions = w.versions
	if all := k.spec.needs.and(w.needs); all != k.spec.needs || k.spec.only != w.only {
		k.spec.needs, k.spec.only = all, w.only
		k.synced, k.settled = false, false
		k.requestList()
		if k.cut != nil {
			k.cut()
		}
		k.interruptBackoff()
	}
}

// assignStreamsLocked assigns the streams to kinds by priority, and starts the kinds that have something to do. The caller holds
// the lock.
func (r *Runtime) assignStreamsLocked() {
	ranks := make([]watchPriority, 0, len(r.kinds))
	for gk, k := range r.kinds {
		ranks = append(ranks, watchPriority{
			gk: gk, needs: k.spec.needs, count: len(k.objects), settled: k.settled, watched: k.watched,
			useless: k.absent || k.problem != nil,
		})
	}
	chosen := choose(ranks, r.cfg.MaxStreams)
	for gk, k := range r.kinds {
		k.watched = chosen[gk]
		if !k.watched && k.cut != nil {
			k.cut()
		}
		if k.end == nil && (k.watched || k.due) {
			r.startKindLocked(k)
		}
	}
}

// startKindLocked runs the goroutine of a kind, which ends by itself when the kind is known and not watched. The caller holds the lock.
func (r *Runtime) startKindLocked(k *kind) {
	ctx, end := context.WithCancel(r.ctx)
	k.end = end
	r.conn.spawn(func() { r.listAndWatch(ctx, k) })
}

// stopKindLocked ends all background work for a kind. The caller holds the lock.
func (r *Runtime) stopKindLocked(k *kind) {
	if k.end != nil {
		k.end()
	}
	if k.cut != nil {
		k.cut()
	}
	if k.recheck != nil {
		k.recheck.Stop()
	}
}

// stopIfIdle ends a kind's goroutine when it has nothing to do. The check and the update are atomic, so that assignStreamsLocked starts a
// new one when something changes right after.
func (r *Runtime) stopIfIdle(k *kind) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if k.watched || k.due {
		return false
	}
	if k.end != nil {
		k.end()
		k.end = nil
	}
	return true
}

// isSettledForLocked reports whether an owner waits for none of its kinds. The caller holds the lock.
func (r *Runtime) isSettledForLocked(t *tracker) bool {
	for gk := range t.specs {
		if k := r.kinds[gk]; k == nil || !k.settled {
			return false
		}
	}
	return true
}

// settledOwnersLocked returns the owners whose kinds have all become known just now. The caller holds the lock.
func (r *Runtime) settledOwnersLocked() []types.NamespacedName {
	var ready []types.NamespacedName
	for owner, t := range r.owners {
		if !t.announced && r.isSettledForLocked(t) {
			t.announced = true
			ready = append(ready, owner)
		}
	}
	if len(ready) > 0 {
		r.conn.hurry.Store(false) // what is read from now on is read for its own sake
	}
	return ready
}

// auditAfter returns the time until the next audit, spread over a fifth of the interval.
func (r *Runtime) auditAfter() time.Duration {
	return time.Duration((0.9 + 0.2*jitter()) * float64(r.cfg.AuditInterval))
}

// auditAll lists every kind, including watched ones, because a stream can miss an event.
func (r *Runtime) auditAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil || r.audit == nil {
		return
	}
	for _, k := range r.kinds {
		r.relistKindLocked(k)
	}
	r.discoveryCache.invalidate()
	r.checkVersionLocked()
	r.audit.Reset(r.auditAfter())
}

// relistKindLocked lists a kind again, now; its stream continues from there. The caller holds the lock.
func (r *Runtime) relistKindLocked(k *kind) {
	k.requestList()
	if k.end == nil {
		r.startKindLocked(k)
		return
	}
	if k.cut != nil {
		k.cut()
	}
	k.interruptBackoff()
}

// interruptBackoff interrupts a back-off.
func (k *kind) interruptBackoff() {
	select {
	case k.poke <- struct{}{}:
	default:
	}
}
