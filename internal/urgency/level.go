package urgency

import (
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Level says how urgent something is: what has the higher one is looked at first.
type Level int

// The levels.
const (
	// Now is what a person or a runtime did.
	Now Level = 0
	// Soon is what was left unfinished when the manager started, and a runtime that went or came back: many do at a time when a network
	// fails.
	Soon Level = -10
	// Later is what concerns many at once: a version in a channel, a policy, a Secret that all use, an audit.
	Later Level = -50
	// Idle is what is most likely in order, and is looked at because the manager started or took it over.
	Idle Level = handler.LowPriority
	// AsBefore is as urgent as the last look was: what was waited for is there.
	AsBefore Level = -1 << 31
)

// Queue is what a controller works through.
type Queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Add enqueues requests. What waits already becomes more urgent by it, and never less.
func Add(queue Queue, level Level, requests ...reconcile.Request) {
	AddAfter(queue, level, 0, requests...)
}

// AddAfter enqueues requests for when a pause is over. A queue without an order takes them as they come.
func AddAfter(queue Queue, level Level, pause time.Duration, requests ...reconcile.Request) {
	ordered, ok := queue.(priorityqueue.PriorityQueue[reconcile.Request])
	for _, request := range requests {
		if !ok {
			queue.AddAfter(request, pause)
			continue
		}
		at := level
		if at == AsBefore {
			at = before(queue, request)
		}
		ordered.AddWithOpts(priorityqueue.AddOpts{After: pause, Priority: new(int(at))}, request)
	}
}

// before is how urgent the last look was.
func before(queue Queue, request reconcile.Request) Level {
	if known, ok := queue.(*kept); ok {
		return known.ledger.Of(request.NamespacedName)
	}
	return Now
}
