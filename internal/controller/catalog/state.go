package catalog

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// states is what is known of every Kyma's catalog.
type states struct {
	mutex sync.RWMutex
	kymas map[types.NamespacedName]*state
}

type state struct {
	runtime Runtime
	lacking time.Time // since when something is missing, on this connection
	said
}

// said is what there is to say of a catalog.
type said struct {
	synced          bool
	reason, message string
}

// State is what a Kyma's status has to say of the catalog: whether the runtime holds it, and else a reason of the API and what a person can
// know. known is false while nothing was found out since the start of this program: what the status says by then stays true.
func (r *Reconciler) State(kyma types.NamespacedName) (known, synced bool, reason, message string) {
	r.states.mutex.RLock()
	defer r.states.mutex.RUnlock()
	held := r.states.kymas[kyma]
	if held == nil || held.said == (said{}) {
		return false, false, "", ""
	}
	return true, held.synced, held.reason, held.message
}

// Source enqueues the Kymas whose State changed.
func (r *Reconciler) Source() source.Source { return r.notices.source() }

// Wake has a Kyma looked at now: for who knows that something which was missing in its runtime is there by now.
func (r *Reconciler) Wake(kyma types.NamespacedName) { r.woken.ring(kyma) }

// say keeps what there is to say, and wakes the Kyma when that is news.
func (r *Reconciler) say(kyma types.NamespacedName, now said) {
	r.states.mutex.Lock()
	known := r.states.of(kyma)
	news := known.said != now
	known.said = now
	if now.synced {
		known.lacking = time.Time{}
	}
	r.states.mutex.Unlock()
	if news {
		r.notices.ring(kyma)
	}
}

// attach keeps the connection, and drops what was remembered of the one before, its pauses too.
func (r *Reconciler) attach(kyma types.NamespacedName, runtime Runtime) {
	r.states.mutex.Lock()
	known := r.states.of(kyma)
	before := known.runtime
	known.runtime = runtime
	if before != runtime {
		known.lacking = time.Time{}
	}
	r.states.mutex.Unlock()
	if before != nil && before != runtime {
		r.Mirror.Forget(before)
		r.Backoff.DeleteEntry(kyma.String())
	}
}

// lacks says for how long something has been missing in a runtime.
func (r *Reconciler) lacks(kyma types.NamespacedName) time.Duration {
	r.states.mutex.Lock()
	defer r.states.mutex.Unlock()
	known, now := r.states.of(kyma), r.Backoff.Clock.Now()
	if known.lacking.IsZero() {
		known.lacking = now
	}
	return now.Sub(known.lacking)
}

// known are the Kymas of which something is known.
func (s *states) known() []types.NamespacedName {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	return slices.Collect(maps.Keys(s.kymas))
}

// of is called with the lock held.
func (s *states) of(kyma types.NamespacedName) *state {
	if s.kymas == nil {
		s.kymas = map[types.NamespacedName]*state{}
	}
	if s.kymas[kyma] == nil {
		s.kymas[kyma] = &state{}
	}
	return s.kymas[kyma]
}

// forget drops everything about a Kyma, and what is watched for it.
func (r *Reconciler) forget(kyma types.NamespacedName) {
	r.states.mutex.Lock()
	known := r.states.kymas[kyma]
	delete(r.states.kymas, kyma)
	r.states.mutex.Unlock()
	r.Backoff.DeleteEntry(kyma.String())
	if known != nil && known.runtime != nil {
		known.runtime.Untrack(kyma)
		r.Mirror.Forget(known.runtime)
	}
}
