package setup

import (
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/hubwatch"
)

// leaseName is upstream's name, so that the old and the new manager never work at the same time. Of replicas that share the work, one holds
// the lease for all.
const leaseName = "893110f7.kyma-project.io"

// shutdown is how long reconciles may continue after a shutdown was requested.
const shutdown = 20 * time.Second

func newManager(hub *rest.Config, c Config, log logr.Logger) (ctrl.Manager, error) {
	patience, consistent := shutdown, true
	pprof := ""
	if c.PprofEnabled {
		pprof = c.PprofAddress
	}
	options, err := cacheOptions(c)
	if err != nil {
		return nil, err
	}
	return ctrl.NewManager(hub, ctrl.Options{
		Scheme:         Scheme(),
		Cache:          options,
		MapperProvider: newMapper,
		Client: client.Options{
			FieldOwner: v1beta2.FieldManagerHub,
			// A reconcile sees its own earlier write: otherwise it would write again.
			Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &consistent},
		},
		Logger:                  log,
		Metrics:                 metricsserver.Options{BindAddress: c.MetricsAddress},
		HealthProbeBindAddress:  c.ProbeAddress,
		PprofBindAddress:        pprof,
		GracefulShutdownTimeout: &patience,
	})
}

// cacheOptions returns options that keep the cache small: it holds only Secrets with access to runtimes, and no managedFields, which are
// never read.
func cacheOptions(c Config) (cache.Options, error) {
	access, err := labels.NewRequirement(v1beta2.LabelKymaName, selection.Exists, nil)
	if err != nil {
		return cache.Options{}, err
	}
	options := cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		NewInformer:      hubwatch.NewInformer,
		ByObject:         map[client.Object]cache.ByObject{&corev1.Secret{}: {Label: labels.NewSelector().Add(*access)}},
	}
	if c.Namespace != "" {
		options.DefaultNamespaces = map[string]cache.Config{c.Namespace: {}}
	}
	return options, nil
}

func rateLimiter(c *Config) workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedMaxOfRateLimiter(
		workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](c.FailureBaseDelay, c.FailureMaxDelay),
		&workqueue.TypedBucketRateLimiter[reconcile.Request]{Limiter: rate.NewLimiter(rate.Limit(c.RateFrequency), c.RateBurst)},
	)
}

// registererOf returns the registry that the manager serves; several managers of one test process each have their own.
func registererOf(hooks Hooks) prometheus.Registerer {
	if hooks.Metrics != nil {
		return hooks.Metrics
	}
	if hooks.AllowManyManagers {
		return prometheus.NewRegistry()
	}
	return metrics.Registry
}
