package setup

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/artifact"
	"github.com/kyma-project/lifecycle-manager/internal/controller/kyma"
	"github.com/kyma-project/lifecycle-manager/internal/controller/manifest"
	"github.com/kyma-project/lifecycle-manager/internal/fleet"
	"github.com/kyma-project/lifecycle-manager/internal/metrics"
	"github.com/kyma-project/lifecycle-manager/internal/mirror"
	"github.com/kyma-project/lifecycle-manager/internal/policy"
	"github.com/kyma-project/lifecycle-manager/internal/shard"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// longestReconcile ends what hangs; 10,000 objects at the default rate of 50 calls a second take less.
const longestReconcile = 5 * time.Minute

// Hooks let a test look into the running manager. The zero value changes nothing.
type Hooks struct {
	// WrapHub and WrapRuntime are put around the transports to the hub and to every runtime, to count calls.
	WrapHub, WrapRuntime func(http.RoundTripper) http.RoundTripper
	// ContentListening is told where the content server listens.
	ContentListening func(net.Addr)
	// WebhookListening is told where the webhooks listen.
	WebhookListening func(net.Addr)
	// AllowManyManagers lets several managers of one process use the same controller names.
	AllowManyManagers bool
	// Metrics is where the manager's own metrics go; nil means the registry that it serves.
	Metrics prometheus.Registerer
}

// Run builds the manager and runs it until the context ends.
func Run(ctx context.Context, hub *rest.Config, c Config, log logr.Logger, hooks Hooks) error {
	hub = rest.CopyConfig(hub)
	hub.QPS, hub.Burst, hub.UserAgent = float32(c.HubQPS), c.HubBurst, "lifecycle-manager"
	// The finalizer names are upstream's; the API server would warn about one of them at every Manifest.
	hub.WarningHandlerWithContext = rest.NoWarnings{}
	plain := rest.CopyConfig(hub)
	if hooks.WrapHub != nil {
		hub.Wrap(hooks.WrapHub)
	}
	for _, notice := range c.Ignored {
		log.Info("Flag has no effect: " + notice)
	}
	mgr, err := newManager(hub, c, log)
	if err != nil {
		return fmt.Errorf("set up the manager: %w", err)
	}
	if err := assemble(ctx, mgr, plain, &c, log, hooks); err != nil {
		return fmt.Errorf("set up the manager: %w", err)
	}
	return mgr.Start(ctx)
}

// assemble is the one list of what the manager has.
func assemble(ctx context.Context, mgr ctrl.Manager, hub *rest.Config, c *Config, log logr.Logger, hooks Hooks) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, &corev1.Secret{}, fleet.SecretIndex, fleet.IndexSecret); err != nil {
		return err
	}
	registry := registererOf(hooks)
	states, err := metrics.New(registry)
	if err != nil {
		return err
	}
	requeues, err := metrics.NewRequeues(registry)
	if err != nil {
		return err
	}
	runtimes := fleet.New(fleet.Config{
		Hub: hub, Secrets: mgr.GetClient(), SecretIndexed: true,
		QPS: float32(c.RuntimeQPS), Burst: c.RuntimeBurst,
		MaxStreams: c.StreamsPerRuntime, AuditInterval: c.AuditInterval,
		Pinned:        pins{reader: mgr.GetClient()}.of,
		WrapTransport: hooks.WrapRuntime, Log: log.WithName("fleet"),
	})
	file, err := policy.Registries(c.RegistriesFile, log.WithName("registries"))
	if err != nil {
		return err
	}
	registries := &registries{config: c, file: file, log: log.WithName("registries")}
	if err := registries.start(ctx, mgr.GetAPIReader()); err != nil {
		return err
	}
	watched, err := watchSecrets(mgr, c)
	if err != nil {
		return err
	}
	windows, err := newWindows(c, registry, log)
	if err != nil {
		return err
	}
	store := &content.Store{Dir: c.ContentDir, MaxBytes: c.ContentBytes}
	contents := artifact.NewContents(&content.OCI{Store: store, Registries: registries.content()}, mgr.GetAPIReader())
	contents.Policy = file.Host
	signatures, err := policy.Signatures(c.SignaturesFile, log.WithName("signatures"))
	if err != nil {
		return err
	}
	components := newComponents(func() *artifact.Components {
		return newVerified(registries.components(), signatures, log.WithName("signatures"))
	})
	registries.follow(watched.login, components, contents)
	kymas := &kyma.Reconciler{
		Client: mgr.GetClient(), Reader: mgr.GetAPIReader(),
		Components: components,
		Fleet:      kymaFleet{runtimes}, Mirror: &mirror.Mirror{}, RuntimeVersions: c.RuntimeVersions,
		Windows: windows,
		Shard:   shard.All{}, Events: mgr.GetEventRecorder("lifecycle-manager"),
		Restricted: c.RestrictedModules, Metrics: states, Now: metav1.Now,
	}
	manifests := &manifest.Reconciler{
		Client: mgr.GetClient(), Reader: mgr.GetAPIReader(),
		Fleet:   &fleetPort{fleet: runtimes, account: c.LocalAccount},
		Content: &contentPort{contents: contents, url: strings.TrimSuffix(c.ContentURL, "/")},
		Shard:   shard.All{}, Events: mgr.GetEventRecorder("lifecycle-manager"),
		Backoff: flowcontrol.NewBackOff(time.Second, 5*time.Minute), Now: metav1.Now,
		Requeues: requeues, PullSecret: c.PullSecret, HubSecrets: watched.deployer,
	}
	holdToSignatures(signatures, components, contents, log.WithName("signatures"), kymas, manifests)
	catalogs := newCatalogs(mgr, c, runtimes)
	kymas.Catalog = catalogs
	if watched.login != nil {
		manifests.Login = watched.login
	}
	if watched.pull != nil {
		kymas.PullSecret = &everyKyma{secret: watched.pull, kymas: mgr.GetClient(), remote: true}
	}
	return errors.Join(
		mgr.Add(runtimes),
		mgr.Add(file),
		mgr.Add(windows),
		mgr.Add(signatures),
		mgr.Add(manifests.AuditReferences(c.AuditInterval)),
		serveContent(mgr, hub, c, contents, hooks),
		serveWebhooks(mgr, hub, c, hooks),
		mgr.Add(&janitor{store: store, log: log.WithName("content")}),
		kymas.Setup(mgr, c.controller(c.KymaWorkers, hooks), c.RolloutDelay),
		manifests.Setup(mgr, c.controller(c.ManifestWorkers, hooks)),
		newReleases(mgr, states).Setup(mgr, c.controller(releaseWorkers, hooks)),
		catalogs.Setup(mgr, c.controller(catalogWorkers, hooks)),
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("caches", cachesSynced(mgr)),
	)
}

// Scheme knows every kind that the manager reads or writes on the hub.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1beta2.AddToScheme} {
		if err := add(scheme); err != nil {
			panic(err) // two types under one name: a mistake of this program, seen at its first start
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

// cachesSynced makes /readyz say yes once the first list of everything is in.
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
