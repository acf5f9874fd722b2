package priority

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// LastPriority records how urgent the last request for every object was. Its zero value is ready for use, and the queue that Keep returns
// fills it.
type LastPriority struct {
	mu sync.Mutex
	// levels holds the levels other than Now, which is the level of most objects most of the time.
	levels map[types.NamespacedName]Level
}

// Of returns how urgent the last request for an object was; Now when there was none.
func (l *LastPriority) Of(key types.NamespacedName) Level {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.levels[key]
}

// Forget drops a deleted object.
func (l *LastPriority) Forget(key types.NamespacedName) { l.note(key, Now) }

func (l *LastPriority) note(key types.NamespacedName, level Level) {
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

// Keep wraps a priority queue, so that l records the priority of every request that the queue hands out.
func (l *LastPriority) Keep(queue priorityqueue.PriorityQueue[reconcile.Request]) Queue {
	return &recordingQueue{ledger: l, PriorityQueue: queue}
}

// recordingQueue is a priority queue that records its priorities.
type recordingQueue struct {
	priorityqueue.PriorityQueue[reconcile.Request]
	ledger *LastPriority
}

// GetWithPriority hands out the most urgent request.
func (k *recordingQueue) GetWithPriority() (reconcile.Request, int, bool) {
	request, level, shutdown := k.PriorityQueue.GetWithPriority()
	if !shutdown {
		k.ledger.note(request.NamespacedName, Level(level))
	}
	return request, level, shutdown
}

// Get is GetWithPriority without the priority.
func (k *recordingQueue) Get() (reconcile.Request, bool) {
	request, _, shutdown := k.GetWithPriority()
	return request, shutdown
}
