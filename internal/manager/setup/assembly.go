package setup

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"github.com/kyma-project/lifecycle-manager/internal/manager/clustercache"
	"github.com/kyma-project/lifecycle-manager/internal/manager/controller/kyma"
	"github.com/kyma-project/lifecycle-manager/internal/manager/controller/manifest"
	"github.com/kyma-project/lifecycle-manager/internal/manager/hubvalues"
	"github.com/kyma-project/lifecycle-manager/internal/manager/metrics"
	"github.com/kyma-project/lifecycle-manager/internal/manager/modulecontent"
	"github.com/kyma-project/lifecycle-manager/internal/manager/phases"
	"github.com/kyma-project/lifecycle-manager/internal/manager/priority"
	"github.com/kyma-project/lifecycle-manager/internal/manager/progress"
	"github.com/kyma-project/lifecycle-manager/internal/manager/remotesync"
	"github.com/kyma-project/lifecycle-manager/internal/manager/tracing"
	"github.com/kyma-project/lifecycle-manager/internal/manager/workerslot"
	"github.com/kyma-project/lifecycle-manager/internal/policy"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// assembly holds the parts of the manager while it is assembled.
type assembly struct {
	mgr    ctrl.Manager
	hub    *rest.Config
	config *Config
	log    logr.Logger
	hooks  Hooks

	registry   prometheus.Registerer
	calls      *metrics.APICalls
	repairs    *metrics.Repairs
	phases     *phases.Tracker
	traces     *tracing.Traces
	states     *metrics.States
	requeues   *metrics.Requeues
	verdicts   *metrics.Signatures
	file       *policy.RegistryFile
	signatures *policy.SignatureFile
	windows    *policy.WindowFile
	approvals  *policy.ApprovalFile
	watched    secrets
	values     *hubvalues.Watched
	runtimes   *clustercache.Clusters
	registries *registries
	store      *content.Store
	contents   *modulecontent.Contents
	components *componentsPort
	causes     priority.LastPriorities
	progress   progress.Registry
	sharing    *sharing
	lasts      *lasting
	// hubID is the identity of this hub; empty: it claims no runtimes.
	hubID string
	// rollouts is true when the hub has ModuleRollouts, and the manager may read them.
	rollouts bool
	// kymaReleases is true when the hub has KymaReleases, and the manager may read them.
	kymaReleases bool
}

// assemble creates all parts of the manager, in one place, and adds them to it.
func (a *assembly) assemble(ctx context.Context) error {
	mgr, hub, c, log, hooks := a.mgr, a.hub, a.config, a.log, a.hooks
	for _, step := range []func(context.Context) error{
		a.index, a.measure, a.readPolicies, a.watchValues, a.reachRegistries, a.lookForRollouts, a.lookForKymaReleases, a.identifyHub,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	a.runtimes = a.newFleet()
	rights, err := a.newRights()
	if err != nil {
		return err
	}
	kymas, manifests, catalogs := a.newKymas(), a.newManifests(), a.newCatalogs()
	kymas.Approvals, kymas.Rights = a.approvals, rights
	kymas.Catalog = catalogs
	kymas.Slots, manifests.Slots, catalogs.Slots = &workerslot.Pool{}, &workerslot.Pool{}, &workerslot.Pool{}
	holdToSignatures(a.signatures, a.components, a.contents, log.WithName("signatures"), kymas, manifests)
	return errors.Join(
		mgr.Add(a.lasts.of(a.runtimes)),
		mgr.Add(a.file),
		mgr.Add(a.windows),
		mgr.Add(a.signatures),
		mgr.Add(a.approvals),
		mgr.Add(rights),
		mgr.Add(manifests.AuditReferences(c.AuditInterval)),
		serveContent(mgr, hub, c, a.contents, hooks),
		a.serveWebhooks(),
		mgr.Add(&contentGC{store: a.store, log: log.WithName("content")}),
		mgr.Add(&idleMemory{heap: &goHeap{}}),
		kymas.Setup(mgr, c.controller(c.KymaWorkers, hooks), c.RolloutDelay),
		manifests.Setup(mgr, c.controller(c.ManifestWorkers, hooks)),
		a.newReleases().Setup(mgr, c.controller(releaseWorkers, hooks)),
		catalogs.Setup(mgr, c.controller(catalogWorkers, hooks)),
		a.carryOutRollouts(),
		a.reportKymaReleases(),
		metrics.WatchYielded(a.registry, "kyma", kymas.Slots.Yielded),
		metrics.WatchYielded(a.registry, "manifest", manifests.Slots.Yielded),
		metrics.WatchYielded(a.registry, "catalog", catalogs.Slots.Yielded),
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("caches", cachesSynced(mgr)),
	)
}

func (a *assembly) index(ctx context.Context) error {
	return a.mgr.GetFieldIndexer().IndexField(ctx, &corev1.Secret{}, clustercache.SecretIndex, clustercache.IndexSecret)
}

func (a *assembly) measure(context.Context) (err error) {
	if !a.config.PerKymaMetrics {
		countRuntimesTogether(a.hub.Host)
	}
	if a.states, err = metrics.New(a.registry, a.config.PerKymaMetrics); err != nil {
		return err
	}
	if a.verdicts, err = metrics.NewSignatures(a.registry); err != nil {
		return err
	}
	if a.repairs, err = metrics.NewRepairs(a.registry); err != nil {
		return err
	}
	if a.phases, err = trackPhases(a.registry, a.traces); err != nil {
		return err
	}
	if a.requeues, err = metrics.NewRequeues(a.registry); err != nil {
		return err
	}
	return metrics.WatchClock(a.registry, time.Now)
}

// readPolicies reads the watched files and Secrets that the flags name.
func (a *assembly) readPolicies(context.Context) (err error) {
	if a.file, err = policy.Registries(a.config.RegistriesFile, a.log.WithName("registries")); err != nil {
		return err
	}
	if a.signatures, err = policy.Signatures(a.config.SignaturesFile, a.log.WithName("signatures")); err != nil {
		return err
	}
	if a.windows, err = newWindows(a.config, a.registry, a.log); err != nil {
		return err
	}
	if a.approvals, err = a.newApprovals(); err != nil {
		return err
	}
	a.watched, err = watchSecrets(a.mgr, a.config)
	return err
}

// watchValues watches the objects of the hub that entries of Kymas take values from.
func (a *assembly) watchValues(ctx context.Context) (err error) {
	a.values, err = hubvalues.Watch(ctx, a.mgr, a.config.Namespace)
	if err == nil && !a.values.ConfigMaps() {
		a.log.Info("Entries of Kymas take no values from ConfigMaps, since the manager may not list them: " +
			"apply config/rbac/role.yaml and restart the manager")
	}
	return err
}

// reachRegistries creates the readers of components and content.
func (a *assembly) reachRegistries(ctx context.Context) error {
	a.registries = &registries{config: a.config, file: a.file, log: a.log.WithName("registries")}
	if err := a.registries.start(ctx, a.mgr.GetAPIReader()); err != nil {
		return err
	}
	a.store = &content.Store{Dir: a.config.ContentDir, MaxBytes: a.config.ContentBytes}
	a.contents = modulecontent.NewContents(&content.OCI{Store: a.store, Registries: a.registries.content()}, a.mgr.GetAPIReader())
	a.contents.Policy, a.contents.HubValues = a.file.Host, a.values
	a.contents.OperatorLogin = (&loginGuard{config: a.config, kymas: a.mgr.GetClient(), host: a.registries.where}).of
	a.components = newComponents(func() *modulecontent.Components {
		return newVerified(a.registries.components(), a.signatures, a.log.WithName("signatures"))
	})
	a.registries.follow(a.watched.login, a.components, a.contents)
	return nil
}

func (a *assembly) newFleet() *clustercache.Clusters {
	bound := pins{reader: a.mgr.GetClient()}
	config := clustercache.Config{
		Hub: a.hub, Secrets: a.mgr.GetClient(), SecretIndexed: true,
		QPS: float32(a.config.RuntimeQPS), Burst: a.config.RuntimeBurst,
		MaxStreams: a.config.StreamsPerRuntime, AuditInterval: a.config.AuditInterval, StandardStreams: a.config.StandardStreams,
		Pinned: bound.of, HubID: a.hubID,
		WrapTransport: a.wrapRuntime, Fence: a.sharing.fence(), Log: a.log.WithName("fleet"),
	}
	if a.hubID != "" {
		config.Claims = bound.claimRule
	}
	return clustercache.New(config)
}

// wrapRuntime counts and records the calls to a runtime, and lets tests see them.
func (a *assembly) wrapRuntime(next http.RoundTripper) http.RoundTripper {
	counted := a.calls.To(metrics.Runtime)(next)
	if a.traces != nil {
		counted = a.traces.Transport(metrics.Runtime)(counted)
	}
	if a.hooks.WrapRuntime != nil {
		return a.hooks.WrapRuntime(counted)
	}
	return counted
}

func (a *assembly) newKymas() *kyma.Reconciler {
	kymas := &kyma.Reconciler{
		Client: a.mgr.GetClient(), Reader: a.mgr.GetAPIReader(),
		Components: a.components, Windows: a.windows,
		Clusters: kymaFleet{a.runtimes, a.config.LocalAccount, &a.causes}, Syncer: &remotesync.Syncer{},
		RuntimeVersions: a.config.RuntimeVersions, HubID: a.hubID,
		Shard: a.sharing.owner(), Moves: a.sharing.moves(), Events: a.mgr.GetEventRecorder("lifecycle-manager"),
		Restricted: a.config.RestrictedModules, Metrics: a.states, Requeues: a.requeues, Now: metav1.Now, Priorities: &a.causes,
		InstallsLocally: a.config.installsLocallyAs, Rollouts: a.rollouts, Releases: a.kymaReleases, Progress: &a.progress,
		Phases: a.phases, Traces: a.traces,
		Plans: manifest.NewPlanner(&contentPort{contents: a.contents}), HubValues: a.values,
	}
	if a.watched.pull != nil {
		kymas.PullSecret = &everyKyma{secret: a.watched.pull, kymas: a.mgr.GetClient(), remote: true}
	}
	if a.watched.login != nil {
		kymas.Login = (&everyKyma{secret: a.watched.login, kymas: a.mgr.GetClient()}).Source()
	}
	return kymas
}

func (a *assembly) newManifests() *manifest.Reconciler {
	manifests := &manifest.Reconciler{
		Client: a.mgr.GetClient(), Reader: a.mgr.GetAPIReader(),
		Clusters: &fleetPort{fleet: a.runtimes, account: a.config.LocalAccount, causes: &a.causes},
		Content:  &contentPort{contents: a.contents, url: strings.TrimSuffix(a.config.ContentURL, "/")},
		Shard:    a.sharing.owner(), Moves: a.sharing.moves(), Events: a.mgr.GetEventRecorder("lifecycle-manager"),
		Backoff: flowcontrol.NewBackOff(time.Second, longestPause), Now: metav1.Now,
		InstallsLocally: a.config.installsLocallyAs, Requeues: a.requeues, Verdicts: a.verdicts, PullSecret: a.config.PullSecret,
		HubSecrets: a.watched.deployer, Priorities: &a.causes, Adoptions: manifest.NewAdoptions(),
		Progress: &a.progress, Phases: a.phases, Traces: a.traces, Repairs: a.repairs,
	}
	if a.watched.login != nil {
		manifests.Login = a.watched.login
	}
	return manifests
}
