package urgency

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Ledger knows how urgent the last look at every object was. Its zero value is ready, and the queue that Keep is put around fills it in.
type Ledger struct {
	mu sync.Mutex
	// levels holds what is not Now, which is what most objects are most of the time.
	levels map[types.NamespacedName]Level
}

// Of is how urgent the last look at an object was; Now when there was none.
func (l *Ledger) Of(key types.NamespacedName) Level {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.levels[key]
}

// Forget drops an object that is gone.
func (l *Ledger) Forget(key types.NamespacedName) { l.note(key, Now) }

func (l *Ledger) note(key types.NamespacedName, level Level) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if level >= Now {
		delete(l.levels, key)
		return
	}
	if l.levels == nil {
		l.levels = map[types.NamespacedName]Level{}
	}
	l.levels[key] = level
}

// Keep is put around a priority queue, so that the ledger knows how urgent it was what that hands out.
func (l *Ledger) Keep(queue priorityqueue.PriorityQueue[reconcile.Request]) Queue {
	return &kept{ledger: l, PriorityQueue: queue}
}

// kept is a priority queue with a ledger.
type kept struct {
	priorityqueue.PriorityQueue[reconcile.Request]
	ledger *Ledger
}

// GetWithPriority hands out what is most urgent.
func (k *kept) GetWithPriority() (reconcile.Request, int, bool) {
	request, level, shutdown := k.PriorityQueue.GetWithPriority()
	if !shutdown {
		k.ledger.note(request.NamespacedName, Level(level))
	}
	return request, level, shutdown
}

// Get is GetWithPriority for who does not ask how urgent it is.
func (k *kept) Get() (reconcile.Request, bool) {
	request, _, shutdown := k.GetWithPriority()
	return request, shutdown
}
