package fleet

import (
	"context"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Track says which kinds a Manifest wants to know about, replacing what it said before: kinds that it no longer names and nobody else
// tracks are forgotten. New kinds are listed in the background, and the owner is enqueued once when all of its kinds are known; nothing
// is called and nobody is enqueued when nothing is new. Only owners that track a runtime are ever enqueued by its events.
// Track before applying: what is applied then is learned, and wakes nobody.
func (r *Runtime) Track(owner types.NamespacedName, kinds []Interest) {
	wanted := wishes(kinds)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return
	}
	if t := r.owners[owner]; t != nil && maps.EqualFunc(t.wishes, wanted, wish.equal) {
		return
	}
	t := &tracker{wishes: wanted}
	r.owners[owner] = t
	r.adjust()
	t.announced = r.settledFor(t)
	if r.audit == nil {
		r.audit = time.AfterFunc(r.auditAfter(), r.auditAll)
	}
}

// Untrack forgets an owner, and the kinds that nobody else tracks.
func (r *Runtime) Untrack(owner types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.owners, owner)
	r.conn.forget(owner)
	if r.ctx.Err() != nil {
		return // closed: nothing is known of any kind any more
	}
	r.adjust()
	if len(r.owners) == 0 && r.audit != nil {
		r.audit.Stop()
		r.audit = nil
	}
}

// concerned lists the owners that track the runtime.
func (r *Runtime) concerned() []types.NamespacedName {
	r.mu.RLock()
	defer r.mu.RUnlock()
	owners := make([]types.NamespacedName, 0, len(r.owners))
	for owner := range r.owners {
		owners = append(owners, owner)
	}
	return owners
}

// adjust makes the kinds what the owners wish. The caller holds the lock.
func (r *Runtime) adjust() {
	wanted := make(map[schema.GroupKind]wish, len(r.kinds))
	for _, t := range r.owners {
		for gk, w := range t.wishes {
			wanted[gk] = wanted[gk].and(w)
		}
	}
	for gk, k := range r.kinds {
		if _, ok := wanted[gk]; !ok {
			r.stop(k)
			delete(r.kinds, gk)
		}
	}
	for gk, w := range wanted {
		k := r.kinds[gk]
		if k == nil {
			k = &kind{gk: gk, wish: w, objects: make(map[place]*object), poke: make(chan struct{}, 1), life: life{due: true}}
			r.kinds[gk] = k
			continue
		}
		r.widen(k, w)
	}
	r.assign()
}

// widen gives a kind another wish. One that is read more narrowly than it must be is listed anew; one that is read more widely stays as
// it is, because the next owner may want that again.
func (r *Runtime) widen(k *kind, w wish) {
	k.wish.versions = w.versions
	if all := k.wish.needs.and(w.needs); all != k.wish.needs || k.wish.only != w.only {
		k.wish.needs, k.wish.only = all, w.only
		k.synced, k.settled = false, false
		k.ask()
		if k.cut != nil {
			k.cut()
		}
		k.stir()
	}
}

// assign gives the streams to the kinds that deserve them, and starts the kinds that have something to do. The caller holds the lock.
func (r *Runtime) assign() {
	ranks := make([]rank, 0, len(r.kinds))
	for gk, k := range r.kinds {
		ranks = append(ranks, rank{
			gk: gk, needs: k.wish.needs, count: len(k.objects), settled: k.settled, watched: k.watched,
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
			r.start(k)
		}
	}
}

// start runs the goroutine of a kind, which ends by itself when the kind is known and not watched. The caller holds the lock.
func (r *Runtime) start(k *kind) {
	ctx, end := context.WithCancel(r.ctx)
	k.end = end
	r.conn.spawn(func() { r.follow(ctx, k) })
}

// stop ends whatever goes on for a kind. The caller holds the lock.
func (r *Runtime) stop(k *kind) {
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

// retire ends a kind's goroutine when there is nothing for it to do. That is decided and noted at once, so that assign starts a new
// one when things change right after.
func (r *Runtime) retire(k *kind) bool {
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

// settledFor says whether an owner has nothing to wait for. The caller holds the lock.
func (r *Runtime) settledFor(t *tracker) bool {
	for gk := range t.wishes {
		if k := r.kinds[gk]; k == nil || !k.settled {
			return false
		}
	}
	return true
}

// announce lists the owners whose kinds have all become known just now. The caller holds the lock.
func (r *Runtime) announce() []types.NamespacedName {
	var ready []types.NamespacedName
	for owner, t := range r.owners {
		if !t.announced && r.settledFor(t) {
			t.announced = true
			ready = append(ready, owner)
		}
	}
	if len(ready) > 0 {
		r.conn.hurry.Store(false) // what is read from now on is read for its own sake
	}
	return ready
}

// auditAfter is the time until the next audit, spread over a fifth of the interval.
func (r *Runtime) auditAfter() time.Duration {
	return time.Duration((0.9 + 0.2*jitter()) * float64(r.cfg.AuditInterval))
}

// auditAll lists every kind: those that are watched as well, since a stream can fail to tell something.
func (r *Runtime) auditAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil || r.audit == nil {
		return
	}
	for _, k := range r.kinds {
		r.relist(k)
	}
	r.surface.doubt()
	r.audit.Reset(r.auditAfter())
}

// relist lists a kind once more, now; its stream goes on from there. The caller holds the lock.
func (r *Runtime) relist(k *kind) {
	k.ask()
	if k.end == nil {
		r.start(k)
		return
	}
	if k.cut != nil {
		k.cut()
	}
	k.stir()
}

// stir cuts a back-off short.
func (k *kind) stir() {
	select {
	case k.poke <- struct{}{}:
	default:
	}
}
