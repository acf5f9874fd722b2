package declarative

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// patience is how long the first list of a kind may take.
const patience = 10 * time.Second

// kinds of objects, with the version in which they are read.
type kinds map[schema.GroupVersionKind]bool

// watches follow what is installed in one cluster: one stream for each kind, of the metadata of labelled objects, as long as a request
// needs it.
type watches struct {
	objects cache.Cache
	tell    func(owner string)
	problem atomic.Pointer[error] // what a stream broke with last

	mu      sync.Mutex
	needs   map[reconcile.Request]kinds
	running kinds
}

// kindsOf returns the kinds that a report names.
func kindsOf(report installer.Report) kinds {
	named := kinds{}
	for _, object := range report.Objects {
		named[object.GroupKind().WithVersion(object.Version)] = true
	}
	return named
}

// follow has kinds watched for a request: these, and, unless they are complete, those that it had before. It returns when the streams
// have begun, and says whether one of them is new to the request.
func (w *watches) follow(ctx context.Context, request reconcile.Request, named kinds, complete bool) (begun bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before, now := w.needs[request], kinds{}
	for kind := range before {
		if named[kind] || !complete {
			now[kind] = true
		}
	}
	for kind := range named {
		if now[kind] {
			continue
		}
		started, err := w.start(ctx, kind)
		if err != nil {
			return begun, err
		}
		if started {
			begun, now[kind] = true, true
		}
	}
	w.needs[request] = now
	w.endUnusedLocked()
	return begun, nil
}

// release ends what only this request needed.
func (w *watches) release(request reconcile.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.needs, request)
	w.endUnusedLocked()
}

// start begins a stream that does not run yet, and waits for its first list. A kind that is not served is none to watch: its definition is
// still to come, or gone already, which another stream shows.
func (w *watches) start(ctx context.Context, kind schema.GroupVersionKind) (bool, error) {
	if w.running[kind] {
		return true, nil
	}
	w.problem.Store(nil)
	informer, err := w.objects.GetInformer(ctx, metadata(kind), cache.BlockUntilSynced(false))
	if meta.IsNoMatchError(err) {
		return false, nil
	}
	if err == nil {
		err = w.handle(ctx, informer)
	}
	if err != nil {
		_ = w.objects.RemoveInformer(ctx, metadata(kind)) // it only fails for what is no kind
		return false, fmt.Errorf("%s cannot be watched, so its changes would go unnoticed; "+
			"the operator needs get, list and watch on it in all namespaces: %w", kind.Kind, err)
	}
	w.running[kind] = true
	return true, nil
}

// handle forwards events, and waits for the first list, which it does not forward: the caller reads everything anyway.
func (w *watches) handle(ctx context.Context, informer cache.Informer) error {
	handled, err := informer.AddEventHandler(toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, first bool) {
			if !first {
				w.see(object)
			}
		},
		UpdateFunc: w.changed,
		DeleteFunc: w.see,
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	toolscache.WaitForCacheSync(ctx.Done(), func() bool { return handled.HasSynced() || apierrors.IsForbidden(w.why()) })
	switch why := w.why(); {
	case handled.HasSynced():
		return nil
	case why != nil:
		return why
	default:
		return ctx.Err()
	}
}

// why returns what a stream broke with since the last one was begun.
func (w *watches) why() error {
	if problem := w.problem.Load(); problem != nil {
		return *problem
	}
	return nil
}

// endUnusedLocked ends the streams without subscribers. The caller holds the lock.
func (w *watches) endUnusedLocked() {
	for kind := range w.running {
		needed := false
		for _, needs := range w.needs {
			needed = needed || needs[kind]
		}
		if !needed {
			delete(w.running, kind)
			_ = w.objects.RemoveInformer(context.Background(), metadata(kind))
		}
	}
}

// changed sees both states: a changed owner mark is the business of who lost the object, too. The cache repeats itself every few hours,
// which is none.
func (w *watches) changed(before, after any) {
	last, ok := before.(*metav1.PartialObjectMetadata)
	if next, also := after.(*metav1.PartialObjectMetadata); ok && also && last.ResourceVersion == next.ResourceVersion {
		return
	}
	w.see(before)
	w.see(after)
}

// see tells whose object something happened to.
func (w *watches) see(object any) {
	if last, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	if seen, ok := object.(*metav1.PartialObjectMetadata); ok {
		w.tell(seen.Annotations[installer.DefaultOwnerKey])
	}
}

// broken takes note of why a stream ended. It begins again by itself.
func (w *watches) broken(ctx context.Context, reflector *toolscache.Reflector, err error) {
	w.problem.Store(&err)
	toolscache.DefaultWatchErrorHandler(ctx, reflector, err)
}

func metadata(kind schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(kind)
	return object
}

// reduce keeps of an object what an event needs.
func reduce(object any) (any, error) {
	full, ok := object.(*metav1.PartialObjectMetadata)
	if !ok {
		return object, nil
	}
	least := &metav1.PartialObjectMetadata{TypeMeta: full.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Namespace: full.Namespace, Name: full.Name, ResourceVersion: full.ResourceVersion,
	}}
	if owner, ok := full.Annotations[installer.DefaultOwnerKey]; ok {
		least.Annotations = map[string]string{installer.DefaultOwnerKey: owner}
	}
	return least, nil
}
