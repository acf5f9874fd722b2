package hubvalues

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/hubwatch"
)

// Watched holds the current objects.
type Watched struct {
	cache cache.Cache
	// configMaps is true where ConfigMaps are watched, too.
	configMaps bool
}

// Watch watches the objects of a namespace or, when that is empty, of all. Manager mgr runs it.
func Watch(ctx context.Context, mgr manager.Manager, namespace string) (*Watched, error) {
	configMaps, err := mayWatchConfigMaps(ctx, mgr.GetAPIReader(), namespace)
	if err != nil {
		return nil, err
	}
	selection := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{v1beta2.LabelValues: v1beta2.EnabledValue})}
	options := cache.Options{
		HTTPClient: mgr.GetHTTPClient(), Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(),
		ByObject:         map[client.Object]cache.ByObject{&corev1.Secret{}: selection, &corev1.ConfigMap{}: selection},
		DefaultTransform: cache.TransformStripManagedFields(), NewInformer: hubwatch.NewInformer,
	}
	if namespace != "" {
		options.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	objects, err := cache.New(mgr.GetConfig(), options)
	if err != nil {
		return nil, fmt.Errorf("watch values in objects of the hub: %w", err)
	}
	w := &Watched{cache: objects, configMaps: configMaps}
	for _, kind := range w.kinds() {
		if _, err := objects.GetInformer(context.Background(), kind); err != nil { // at once, since nothing runs yet
			return nil, fmt.Errorf("watch values in objects of the hub: %w", err)
		}
	}
	return w, mgr.Add(w)
}

// mayWatchConfigMaps finds out with one read whether the manager may list ConfigMaps: one that gets a new image and no new rights must
// start nevertheless.
func mayWatchConfigMaps(ctx context.Context, live client.Reader, namespace string) (bool, error) {
	err := live.List(ctx, &corev1.ConfigMapList{}, client.InNamespace(namespace), client.Limit(1),
		client.MatchingLabels{v1beta2.LabelValues: v1beta2.EnabledValue})
	if apierrors.IsForbidden(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("list the ConfigMaps of the hub with values: %w", err)
	}
	return true, nil
}

func (w *Watched) kinds() []client.Object {
	if !w.configMaps {
		return []client.Object{&corev1.Secret{}}
	}
	return []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}}
}

// ConfigMaps reports whether ConfigMaps are watched.
func (w *Watched) ConfigMaps() bool { return w.configMaps }

// Start runs the watches until the context ends.
func (w *Watched) Start(ctx context.Context) error { return w.cache.Start(ctx) }

// GetCache lets the manager start Watched with its caches: on every replica, and before any controller.
func (w *Watched) GetCache() cache.Cache { return w.cache }

// Text returns the values that a reference names, or the reason why there are none. It makes no call.
func (w *Watched) Text(ctx context.Context, namespace string, reference v1beta2.ValuesReference) (text []byte, problem string) {
	at := types.NamespacedName{Namespace: namespace, Name: reference.Name}
	text, there, err := w.read(ctx, reference.Kind, at, reference.DataKey())
	switch {
	case err != nil:
		return nil, fmt.Sprintf("%s %s: %s", reference.Kind, at, err)
	case !there:
		return nil, fmt.Sprintf("%s %s has no key %s", reference.Kind, at, reference.DataKey())
	}
	return text, ""
}

// read returns the value of a key of an object. It is shared: a caller must not change it.
func (w *Watched) read(
	ctx context.Context, kind v1beta2.ValuesKind, at types.NamespacedName, key string,
) (text []byte, there bool, err error) {
	switch {
	case kind == v1beta2.ValuesSecret:
		found := &corev1.Secret{}
		err = w.cache.Get(ctx, at, found, client.UnsafeDisableDeepCopy)
		text, there = found.Data[key]
	case kind != v1beta2.ValuesConfigMap:
		err = errors.New("values are in Secrets and ConfigMaps only")
	case !w.configMaps:
		err = errors.New("the manager may not watch ConfigMaps: apply config/rbac/role.yaml and restart it")
	default:
		found := &corev1.ConfigMap{}
		err = w.cache.Get(ctx, at, found, client.UnsafeDisableDeepCopy)
		if text, there = found.BinaryData[key]; !there {
			var written string
			written, there = found.Data[key]
			text = []byte(written)
		}
	}
	return text, there, absent(err)
}

// absent says what is the matter with an object that the cache does not have; any other error stays.
func absent(err error) error {
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("there is none with the label %s: %q", v1beta2.LabelValues, v1beta2.EnabledValue)
	}
	return err
}

// Source makes a controller handle every change with wake.
func (w *Watched) Source(wake handler.EventHandler) source.Source {
	return source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
		var errs []error
		for _, kind := range w.kinds() {
			errs = append(errs, source.Kind(w.cache, kind, wake).Start(ctx, queue))
		}
		return errors.Join(errs...)
	})
}
