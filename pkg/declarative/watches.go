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

// patience bounds the time for the first list of a kind.
const patience = 10 * time.Second

// kinds of objects, with the version in which they are read.
type kinds map[schema.GroupVersionKind]bool

// watches follow the installed objects of one cluster: one stream per kind, of the metadata of labelled objects, as long as a request needs
// it.
type watches struct {
	objects cache.Cache
	tell    func(owner string)
	problem atomic.Pointer[error] // the last error of a stream

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

// follow watches kinds for a request: the given ones, and, unless they are complete, those that it had before. It returns when the streams
// have begun, and reports whether one of them is new to the request.
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

// release ends the streams that only this request needed.
func (w *watches) release(request reconcile.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.needs, request)
	w.endUnusedLocked()
}

// start begins a stream unless it runs already, and waits for its first list. A kind that is not served is not watched: its definition is
// yet to be created, or is deleted already, which another stream shows.
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
		_ = w.objects.RemoveInformer(ctx, metadata(kind)) // it only fails for an invalid kind
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

// why returns the error of a stream since the last one was started.
func (w *watches) why() error {
	if problem := w.problem.Load(); problem != nil {
		return *problem
	}
	return nil
}

// endUnusedLocked ends the streams that no request needs. The caller holds the lock.
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

// changed handles both states: a changed owner mark also concerns the request that lost the object. The cache resyncs every few hours,
// which is not a change.
func (w *watches) changed(before, after any) {
	last, ok := before.(*metav1.PartialObjectMetadata)
	if next, also := after.(*metav1.PartialObjectMetadata); ok && also && last.ResourceVersion == next.ResourceVersion {
		return
	}
	w.see(before)
	w.see(after)
}

// see reports a change to the request that installs the object.
func (w *watches) see(object any) {
	if last, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = last.Obj
	}
	if seen, ok := object.(*metav1.PartialObjectMetadata); ok {
		w.tell(seen.Annotations[installer.DefaultOwnerKey])
	}
}

// broken records why a stream ended. The stream restarts by itself.
func (w *watches) broken(ctx context.Context, reflector *toolscache.Reflector, err error) {
	w.problem.Store(&err)
	toolscache.DefaultWatchErrorHandler(ctx, reflector, err)
}

func metadata(kind schema.GroupVersionKind) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(kind)
	return object
}

// reduce keeps the parts of an object that an event needs.
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
