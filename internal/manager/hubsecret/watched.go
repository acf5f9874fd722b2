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

	"github.com/kyma-project/lifecycle-manager/internal/manager/hubwatch"
)

// Watched holds the current Secrets of one selection.
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
		AddFunc: func(any) { w.runHooks() }, UpdateFunc: func(any, any) { w.runHooks() }, DeleteFunc: func(any) { w.runHooks() },
	})
	if err != nil {
		return nil, fmt.Errorf("watch Secrets: %w", err)
	}
	return w, mgr.Add(w)
}

// Start runs the watch until the context ends.
func (w *Watched) Start(ctx context.Context) error { return w.cache.Start(ctx) }

// GetCache lets the manager start Watched with its caches: on every replica, and before any controller.
func (w *Watched) GetCache() cache.Cache { return w.cache }

// Get returns a Secret, or nil when it does not exist or is not selected. It is shared: a caller must copy it before changing it.
func (w *Watched) Get(ctx context.Context, key types.NamespacedName) *corev1.Secret {
	secret := &corev1.Secret{}
	if err := w.cache.Get(ctx, key, secret, client.UnsafeDisableDeepCopy); err != nil {
		return nil // it does not exist, or the manager is shutting down and the answer does not matter
	}
	return secret
}

// OnChange adds a hook that is called at every change, including for the initial Secrets. It may be called several times for one change,
// from several goroutines, and must be quick. Call it during setup: a hook that is added later misses earlier changes.
func (w *Watched) OnChange(hook func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hooks = append(w.hooks, hook)
}

func (w *Watched) runHooks() {
	w.mu.Lock()
	hooks := w.hooks
	w.mu.Unlock()
	for _, hook := range hooks {
		hook()
	}
}

// Source makes a controller handle every change with wake, after the hooks of OnChange were called.
func (w *Watched) Source(wake handler.EventHandler) source.Source {
	return source.Kind(w.cache, client.Object(&corev1.Secret{}), handler.EventHandler(hooksFirst{w, wake}))
}

// hooksFirst calls the hooks before it passes an event on.
type hooksFirst struct {
	watched *Watched
	next    handler.EventHandler
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

func (o hooksFirst) Create(ctx context.Context, e event.CreateEvent, q queue) {
	o.watched.runHooks()
	o.next.Create(ctx, e, q)
}

func (o hooksFirst) Update(ctx context.Context, e event.UpdateEvent, q queue) {
	o.watched.runHooks()
	o.next.Update(ctx, e, q)
}

func (o hooksFirst) Delete(ctx context.Context, e event.DeleteEvent, q queue) {
	o.watched.runHooks()
	o.next.Delete(ctx, e, q)
}

func (o hooksFirst) Generic(ctx context.Context, e event.GenericEvent, q queue) {
	o.next.Generic(ctx, e, q)
}

// Named watches one Secret.
type Named struct {
	*Watched
	key types.NamespacedName
}

// NewNamed watches one Secret, which need not exist. Manager mgr runs the watch.
func NewNamed(mgr manager.Manager, namespace, name string) (*Named, error) {
	w, err := watch(mgr, namespace, cache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", name)})
	return &Named{Watched: w, key: types.NamespacedName{Namespace: namespace, Name: name}}, err
}

// Key returns the Secret's namespace and name.
func (n *Named) Key() types.NamespacedName { return n.key }

// Get returns the Secret; nil when it does not exist.
func (n *Named) Get(ctx context.Context) *corev1.Secret { return n.Watched.Get(ctx, n.key) }
