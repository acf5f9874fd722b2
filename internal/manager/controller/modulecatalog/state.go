package modulecatalog

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// states is the known state of every Kyma's catalog.
type states struct {
	mutex sync.RWMutex
	kymas map[types.NamespacedName]*state
}

type state struct {
	runtime Runtime
	lacking time.Time // since when something is missing, on this connection
	reportedState
}

// reportedState is the reported state of a catalog.
type reportedState struct {
	synced          bool
	reason, message string
}

// State returns what a Kyma's status reports of the catalog: whether the runtime holds it, and else a reason of the API and a message for
// users. known is false before the first result since the start of this program: what the status reports until then stays true.
func (r *Reconciler) State(kyma types.NamespacedName) (known, synced bool, reason, message string) {
	r.states.mutex.RLock()
	defer r.states.mutex.RUnlock()
	held := r.states.kymas[kyma]
	if held == nil || held.reportedState == (reportedState{}) {
		return false, false, "", ""
	}
	return true, held.synced, held.reason, held.message
}

// Source enqueues the Kymas whose State changed.
func (r *Reconciler) Source() source.Source { return r.notices.source() }

// Wake requests a reconcile of a Kyma now: something that was missing in its runtime exists.
func (r *Reconciler) Wake(kyma types.NamespacedName) { r.woken.notify(kyma) }

// setState records the state, and enqueues the Kyma when it changed.
func (r *Reconciler) setState(kyma types.NamespacedName, now reportedState) {
	r.states.mutex.Lock()
	known := r.states.stateLocked(kyma)
	news := known.reportedState != now
	known.reportedState = now
	if now.synced {
		known.lacking = time.Time{}
	}
	r.states.mutex.Unlock()
	if news {
		r.notices.notify(kyma)
	}
}

// attach records the connection, and drops what was remembered of the one before, its pauses too.
func (r *Reconciler) attach(kyma types.NamespacedName, runtime Runtime) {
	r.states.mutex.Lock()
	known := r.states.stateLocked(kyma)
	before := known.runtime
	known.runtime = runtime
	if before != runtime {
		known.lacking = time.Time{}
	}
	r.states.mutex.Unlock()
	if before != nil && before != runtime {
		r.Syncer.Forget(before)
		r.Backoff.DeleteEntry(kyma.String())
	}
}

// lacks returns for how long something has been missing in a runtime.
func (r *Reconciler) lacks(kyma types.NamespacedName) time.Duration {
	r.states.mutex.Lock()
	defer r.states.mutex.Unlock()
	known, now := r.states.stateLocked(kyma), r.Backoff.Clock.Now()
	if known.lacking.IsZero() {
		known.lacking = now
	}
	return now.Sub(known.lacking)
}

// known returns the Kymas of which something is known.
func (s *states) known() []types.NamespacedName {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	return slices.Collect(maps.Keys(s.kymas))
}

// stateLocked returns the state of a Kyma. The caller holds the lock.
func (s *states) stateLocked(kyma types.NamespacedName) *state {
	if s.kymas == nil {
		s.kymas = map[types.NamespacedName]*state{}
	}
	if s.kymas[kyma] == nil {
		s.kymas[kyma] = &state{}
	}
	return s.kymas[kyma]
}

// forget drops everything about a Kyma, and its watches.
func (r *Reconciler) forget(kyma types.NamespacedName) {
	r.states.mutex.Lock()
	known := r.states.kymas[kyma]
	delete(r.states.kymas, kyma)
	r.states.mutex.Unlock()
	r.Backoff.DeleteEntry(kyma.String())
	if known != nil && known.runtime != nil {
		known.runtime.Untrack(kyma)
		r.Syncer.Forget(known.runtime)
	}
}
