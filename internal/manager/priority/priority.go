package priority

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Level is the urgency of a request: a higher one goes first.
type Level int

// The levels.
const (
	// Now is for changes by a user or a runtime.
	Now Level = 0
	// Soon is for objects that were unfinished when the manager started, and for a runtime that went down or came back: when a network fails,
	// many do so at once.
	Soon Level = -10
	// Later is for changes that concern many objects at once: a version in a channel, a policy, a Secret that all use, an audit.
	Later Level = -50
	// Idle is for objects that most likely need no change, and are reconciled because the manager started or took them over.
	Idle Level = handler.LowPriority
	// AsBefore is as urgent as the last request for the object: the event that it waited for has occurred.
	AsBefore Level = -1 << 31
)

// Queue is the queue of a controller.
type Queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Add enqueues requests. It can raise the urgency of a waiting request, and never lowers it.
func Add(queue Queue, level Level, requests ...reconcile.Request) {
	AddAfter(queue, level, 0, requests...)
}

// AddAfter enqueues requests after a pause. A queue without priorities ignores the level.
func AddAfter(queue Queue, level Level, pause time.Duration, requests ...reconcile.Request) {
	ordered, ok := queue.(priorityqueue.PriorityQueue[reconcile.Request])
	for _, request := range requests {
		if !ok {
			queue.AddAfter(request, pause)
			continue
		}
		at := level
		if at == AsBefore {
			at = lastPriorityOf(queue, request)
		}
		ordered.AddWithOpts(priorityqueue.AddOpts{After: pause, Priority: new(int(at))}, request)
	}
}

// lastPriorityOf returns how urgent the last request was.
func lastPriorityOf(queue Queue, request reconcile.Request) Level {
	if known, ok := queue.(*recordingQueue); ok {
		return known.ledger.Of(request.NamespacedName)
	}
	return Now
}
