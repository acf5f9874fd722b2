package priority

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// LastPriorities holds the records of both controllers: a Kyma writes Manifests, and its status reports theirs.
type LastPriorities struct {
	// Kymas and Manifests record how urgent the last request for each object was.
	Kymas, Manifests LastPriority
}

// Enqueue returns a handler that enqueues the requests for an object with the priority that level returns; before is nil for a new object.
// Objects that exist when the manager starts are Idle if settled, and Soon otherwise.
func Enqueue(
	requests func(context.Context, client.Object) []reconcile.Request, level func(before, now client.Object) Level,
	settled func(client.Object) bool,
) handler.EventHandler {
	return handler.Funcs{
		CreateFunc: func(ctx context.Context, e event.CreateEvent, q Queue) {
			at := level(nil, e.Object)
			switch {
			case e.IsInInitialList && settled(e.Object):
				at = Idle
			case e.IsInInitialList:
				at = Soon
			}
			Add(q, at, requests(ctx, e.Object)...)
		},
		UpdateFunc: func(ctx context.Context, e event.UpdateEvent, q Queue) {
			at := level(e.ObjectOld, e.ObjectNew)
			if e.ObjectOld.GetResourceVersion() == e.ObjectNew.GetResourceVersion() {
				at = Idle // the cache resyncs all objects now and then
			}
			Add(q, at, requests(ctx, e.ObjectOld)...)
			Add(q, at, requests(ctx, e.ObjectNew)...)
		},
		DeleteFunc: func(ctx context.Context, e event.DeleteEvent, q Queue) {
			Add(q, level(e.Object, e.Object), requests(ctx, e.Object)...)
		},
		GenericFunc: func(ctx context.Context, e event.GenericEvent, q Queue) {
			Add(q, level(e.Object, e.Object), requests(ctx, e.Object)...)
		},
	}
}

// NameOnly drops all events: a controller needs its kind only for its log lines, and Enqueue enqueues the requests.
var NameOnly = predicate.NewPredicateFuncs(func(client.Object) bool { return false })

// Always returns the same level for all objects.
func Always(level Level) func(before, now client.Object) Level {
	return func(client.Object, client.Object) Level { return level }
}

// RequestFor returns the request for the object of an event.
func RequestFor(_ context.Context, o client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}}}
}
