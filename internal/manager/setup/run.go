package setup

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/metrics"
)

// longestReconcile ends a reconcile that hangs; 10,000 objects at the default rate of 50 calls a second take less.
const longestReconcile = 5 * time.Minute

// longestPause bounds every back-off: when a cause is fixed without an event, the system recovers within a minute.
const longestPause = 45 * time.Second

// Hooks give tests access to the running manager. The zero value changes nothing.
type Hooks struct {
	// WrapHub and WrapRuntime wrap the transports to the hub and to every runtime, to count calls.
	WrapHub, WrapRuntime func(http.RoundTripper) http.RoundTripper
	// ContentListening is called with the address of the content server.
	ContentListening func(net.Addr)
	// WebhookListening is called with the address of the webhooks.
	WebhookListening func(net.Addr)
	// AllowManyManagers lets several managers of one process use the same controller names.
	AllowManyManagers bool
	// Metrics is the registry for the manager's own metrics; nil means the one that it serves.
	Metrics prometheus.Registerer
}

// Run builds the manager and runs it until the context ends.
func Run(ctx context.Context, hub *rest.Config, c Config, log logr.Logger, hooks Hooks) error {
	hub = rest.CopyConfig(hub)
	hub.QPS, hub.Burst, hub.UserAgent = float32(c.HubQPS), c.HubBurst, "lifecycle-manager"
	// The finalizer names are upstream's; the API server would warn about one of them at every Manifest.
	hub.WarningHandlerWithContext = rest.NoWarnings{}
	plain, registry := rest.CopyConfig(hub), registererOf(hooks)
	calls, err := metrics.NewAPICalls(registry)
	if err != nil {
		return fmt.Errorf("set up the manager: %w", err)
	}
	hub.Wrap(calls.To(metrics.Hub))
	traces, stop, err := startTraces(ctx, c.OTLPEndpoint, log.WithName("traces"), registry)
	if err != nil {
		return fmt.Errorf("set up the manager: %w", err)
	}
	defer stop()
	if traces != nil {
		hub.Wrap(traces.Transport(metrics.Hub))
	}
	shares, err := newSharing(rest.CopyConfig(hub), &c, log.WithName("shards"), hooks, registry)
	if err != nil {
		return fmt.Errorf("set up the manager: %w", err)
	}
	if hooks.WrapHub != nil {
		hub.Wrap(hooks.WrapHub)
	}
	if fence := shares.fence(); fence != nil {
		hub.Wrap(fence)
	}
	for _, notice := range c.Ignored {
		log.Info("Flag has no effect: " + notice)
	}
	mgr, err := newManager(hub, c, log)
	if err != nil {
		return fmt.Errorf("set up the manager: %w", err)
	}
	shares.view = view{cached: mgr.GetClient(), live: mgr.GetAPIReader(), namespace: c.Namespace}
	parts := &assembly{
		mgr: mgr, hub: plain, config: &c, log: log, hooks: hooks, registry: registry, calls: calls, sharing: shares, lasts: newLasting(),
		traces: traces,
	}
	if err := parts.assemble(ctx); err != nil {
		return fmt.Errorf("set up the manager: %w", err)
	}
	return shares.around(ctx, endingLast{mgr, parts.lasts}, parts.runtimes)
}

// Scheme returns a scheme with every kind that the manager reads or writes on the hub.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1beta2.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err) // two types with the same name: a bug that would show at the first start
		}
	}
	return scheme
}

func (c *Config) controller(workers int, hooks Hooks) controller.Options {
	skip := hooks.AllowManyManagers
	return controller.Options{
		MaxConcurrentReconciles: workers,
		CacheSyncTimeout:        c.CacheSyncTimeout,
		SkipNameValidation:      &skip,
		RateLimiter:             rateLimiter(c),
		ReconciliationTimeout:   longestReconcile,
	}
}

// cachesSynced makes /readyz succeed once everything was listed for the first time.
func cachesSynced(mgr ctrl.Manager) healthz.Checker {
	return func(req *http.Request) error {
		ctx, cancel := context.WithTimeout(req.Context(), time.Second)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the hub's objects are still being listed")
		}
		return nil
	}
}
