package server

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// watchStore holds the objects of one watch stream. All readers share them, so they are never changed: an event puts another object in
// place of the old one.
type watchStore struct {
	stop    context.CancelFunc
	owner   *User
	changed func()

	mutex   sync.RWMutex
	objects map[client.ObjectKey]client.Object
	// per counts the objects of each namespace.
	per map[string]int
	// listed reports whether a list has succeeded.
	listed bool
	err    error
	// since is when the trouble began.
	since time.Time
	// synced is closed after the first list, or when it fails.
	synced chan struct{}
	once   sync.Once
}

// place is what one stream watches.
type place struct {
	schema.GroupVersionKind
	namespace, labels string
	// names reports whether the metadata suffices.
	names bool
}

// final reports whether an error invalidates what was read before: it may not be read, or the kind is gone.
func final(err error) bool {
	return refusal(err) || meta.IsNoMatchError(err) || apierrors.IsNotFound(err)
}

// hold starts a watch stream with a user's client. It is restarted after every failure until its context ends.
func hold(ctx context.Context, owner *User, from client.WithWatch, at place, changed func()) *watchStore {
	ctx, stop := context.WithCancel(ctx)
	h := &watchStore{stop: stop, owner: owner, changed: changed, synced: make(chan struct{})}
	h.reset(0)
	lw := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list, err := at.list()
			if err == nil {
				err = from.List(ctx, list, at.options(options))
			}
			h.note(err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			list, err := at.list()
			if err != nil {
				return nil, err
			}
			stream, err := from.Watch(ctx, list, at.options(options))
			if options.SendInitialEvents == nil { // otherwise a list follows, which reports the error
				h.note(err)
			}
			return stream, err
		},
	}
	reflector := cache.NewReflectorWithOptions(lw, nil, h, cache.ReflectorOptions{Name: at.Kind, TypeDescription: at.String()})
	// A failure is kept and shown to readers; a log line for every retry would not help.
	go reflector.RunWithContext(klog.NewContext(ctx, klog.Logger{}))
	return h
}

func (p place) options(options metav1.ListOptions) *client.ListOptions {
	options.LabelSelector = p.labels
	return &client.ListOptions{Namespace: p.namespace, Raw: &options}
}

// list returns an empty list of the kind, typed if the scheme has the type.
func (p place) list() (client.ObjectList, error) {
	kind := p.GroupVersion().WithKind(p.Kind + "List")
	if p.names {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		return list, nil
	}
	if made, err := scheme().New(kind); err == nil {
		list, is := made.(client.ObjectList)
		if !is {
			return nil, errors.New(kind.String() + " is no list")
		}
		return list, nil
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind)
	return list, nil
}

// note records the result of the last call. An error after the first list leaves the objects in place, but is reported.
func (h *watchStore) note(err error) {
	if errors.Is(err, context.Canceled) {
		return
	}
	h.mutex.Lock()
	turned := (h.err == nil) != (err == nil)
	if turned {
		h.since = time.Now()
	}
	h.err = err
	h.mutex.Unlock()
	if err != nil {
		h.once.Do(func() { close(h.synced) })
	}
	if turned {
		h.changed()
	}
}

// trouble returns why no new events arrive, and since when; nil if they do.
func (h *watchStore) trouble() (time.Time, error) {
	h.mutex.RLock()
	defer h.mutex.RUnlock()
	return h.since, h.err
}

func (h *watchStore) put(object any) {
	made, is := object.(client.Object)
	if !is {
		return
	}
	made.SetManagedFields(nil)
	key := client.ObjectKeyFromObject(made)
	if h.objects[key] == nil {
		h.per[key.Namespace]++
	}
	h.objects[key] = made
}

func (h *watchStore) reset(size int) {
	h.objects, h.per = make(map[client.ObjectKey]client.Object, size), map[string]int{}
}

// Add implements cache.ReflectorStore.
func (h *watchStore) Add(object any) error {
	h.mutex.Lock()
	h.put(object)
	h.mutex.Unlock()
	h.changed()
	return nil
}

// Update implements cache.ReflectorStore.
func (h *watchStore) Update(object any) error { return h.Add(object) }

// Delete implements cache.ReflectorStore.
func (h *watchStore) Delete(object any) error {
	at, err := meta.Accessor(object)
	if err != nil {
		return err
	}
	key := client.ObjectKey{Namespace: at.GetNamespace(), Name: at.GetName()}
	h.mutex.Lock()
	if h.objects[key] != nil {
		delete(h.objects, key)
		if h.per[key.Namespace]--; h.per[key.Namespace] == 0 {
			delete(h.per, key.Namespace)
		}
	}
	h.mutex.Unlock()
	h.changed()
	return nil
}

// Replace implements cache.ReflectorStore.
func (h *watchStore) Replace(objects []any, _ string) error {
	h.mutex.Lock()
	h.reset(len(objects))
	for _, object := range objects {
		h.put(object)
	}
	h.err, h.listed = nil, true
	h.mutex.Unlock()
	h.once.Do(func() { close(h.synced) })
	h.changed()
	return nil
}

// Resync implements cache.ReflectorStore; there is nothing to do.
func (h *watchStore) Resync() error { return nil }

// all waits for the first list and returns the objects. An error counts if nothing was ever read, or if the cluster refuses: then the
// user may no longer see what was read before.
func (h *watchStore) all(ctx context.Context) ([]client.Object, error) {
	if err := h.wait(ctx); err != nil {
		return nil, err
	}
	h.mutex.RLock()
	defer h.mutex.RUnlock()
	objects := make([]client.Object, 0, len(h.objects))
	for _, object := range h.objects {
		objects = append(objects, object)
	}
	return objects, nil
}

// namespaces returns the namespaces that have an object.
func (h *watchStore) namespaces(ctx context.Context) ([]string, error) {
	if err := h.wait(ctx); err != nil {
		return nil, err
	}
	h.mutex.RLock()
	defer h.mutex.RUnlock()
	return slices.Collect(maps.Keys(h.per)), nil
}

// wait waits for the first list, and returns why there is none.
func (h *watchStore) wait(ctx context.Context) error {
	select {
	case <-h.synced:
	case <-ctx.Done():
		return ctx.Err()
	}
	h.mutex.RLock()
	defer h.mutex.RUnlock()
	if h.err != nil && (!h.listed || final(h.err)) {
		return h.err
	}
	return nil
}
