package hubsecret

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/internal/hubwatch"
)

// Watched are the Secrets of one selection, as they are now.
type Watched struct {
	cache cache.Cache

	mu    sync.Mutex
	hooks []func()
}

// Labelled watches the Secrets with a label, in a namespace or, when that is empty, in all. Manager mgr runs it.
func Labelled(mgr manager.Manager, namespace, label, value string) (*Watched, error) {
	return watch(mgr, namespace, cache.ByObject{Label: labels.SelectorFromSet(labels.Set{label: value})})
}

func watch(mgr manager.Manager, namespace string, selection cache.ByObject) (*Watched, error) {
	options := cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		ByObject:         map[client.Object]cache.ByObject{&corev1.Secret{}: selection},
		DefaultTransform: cache.TransformStripManagedFields(), NewInformer: hubwatch.NewInformer,
	}
	if namespace != "" {
		options.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	secrets, err := cache.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, fmt.Errorf("watch Secrets: %w", err)
	}
	w := &Watched{cache: secrets}
	informer, err := secrets.GetInformer(context.Background(), &corev1.Secret{}) // at once, since nothing runs yet
	if err != nil {
		return nil, fmt.Errorf("watch Secrets: %w", err)
	}
	_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { w.tell() }, UpdateFunc: func(any, any) { w.tell() }, DeleteFunc: func(any) { w.tell() },
	})
	if err != nil {
		return nil, fmt.Errorf("watch Secrets: %w", err)
	}
	return w, mgr.Add(w)
}

// Start runs the watch until the context ends.
func (w *Watched) Start(ctx context.Context) error { return w.cache.Start(ctx) }

// GetCache lets the manager start this with its caches: on every replica, and before any controller.
func (w *Watched) GetCache() cache.Cache { return w.cache }

// Get reads a Secret; nil when it is not there or not of the selection. It is shared: whoever changes it copies it first.
func (w *Watched) Get(ctx context.Context, key types.NamespacedName) *corev1.Secret {
	secret := &corev1.Secret{}
	if err := w.cache.Get(ctx, key, secret, client.UnsafeDisableDeepCopy); err != nil {
		return nil // it is not there; or the manager ends, and the answer does not count
	}
	return secret
}

// OnChange has hook called at every change, also for what is there at first. It may be called several times for one change, from several
// goroutines, and must be quick. It is for setup: what is added later misses what was.
func (w *Watched) OnChange(hook func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hooks = append(w.hooks, hook)
}

func (w *Watched) tell() {
	w.mu.Lock()
	hooks := w.hooks
	w.mu.Unlock()
	for _, hook := range hooks {
		hook()
	}
}

// Source makes a controller hear of every change by wake, after the hooks of OnChange were called.
func (w *Watched) Source(wake handler.EventHandler) source.Source {
	return source.Kind(w.cache, client.Object(&corev1.Secret{}), handler.EventHandler(ordered{w, wake}))
}

// ordered calls the hooks before it passes an event on.
type ordered struct {
	watched *Watched
	next    handler.EventHandler
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

func (o ordered) Create(ctx context.Context, e event.CreateEvent, q queue) {
	o.watched.tell()
	o.next.Create(ctx, e, q)
}

func (o ordered) Update(ctx context.Context, e event.UpdateEvent, q queue) {
	o.watched.tell()
	o.next.Update(ctx, e, q)
}

func (o ordered) Delete(ctx context.Context, e event.DeleteEvent, q queue) {
	o.watched.tell()
	o.next.Delete(ctx, e, q)
}

func (o ordered) Generic(ctx context.Context, e event.GenericEvent, q queue) {
	o.next.Generic(ctx, e, q)
}

// Named is one Secret.
type Named struct {
	*Watched
	key types.NamespacedName
}

// NewNamed watches one Secret, which need not exist. Manager mgr runs it.
func NewNamed(mgr manager.Manager, namespace, name string) (*Named, error) {
	w, err := watch(mgr, namespace, cache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", name)})
	return &Named{Watched: w, key: types.NamespacedName{Namespace: namespace, Name: name}}, err
}

// Key is its namespace and name.
func (n *Named) Key() types.NamespacedName { return n.key }

// Get reads it; nil when it is not there.
func (n *Named) Get(ctx context.Context) *corev1.Secret { return n.Watched.Get(ctx, n.key) }
