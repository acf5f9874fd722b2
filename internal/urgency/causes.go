package urgency

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Causes are the ledgers of the two controllers that work hand in hand: a Kyma writes Manifests, whose status the Kyma tells.
type Causes struct {
	// Kymas and Manifests tell how urgent the last look at one was.
	Kymas, Manifests Ledger
}

// Wake enqueues the requests that an object stands for: how urgent they are says level, which gets nil for an object that is new. What is
// there when the manager starts is Idle where it is settled, and Soon where it is not.
func Wake(
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
				at = Idle // the cache shows everything again now and then
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

// NameOnly lets nothing pass: the kind that a controller is for gives its log lines their names, and Wake enqueues.
var NameOnly = predicate.NewPredicateFuncs(func(client.Object) bool { return false })

// Always makes everything equally urgent.
func Always(level Level) func(before, now client.Object) Level {
	return func(client.Object, client.Object) Level { return level }
}

// Itself is the request for the object of an event.
func Itself(_ context.Context, o client.Object) []reconcile.Request {
	return []reconcile.Request{{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}}}
}
