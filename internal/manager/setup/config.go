package setup

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/conversion"
	"github.com/kyma-project/lifecycle-manager/internal/manager/tracing/otlp"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// Config holds all settings of the manager.
type Config struct {
	// Namespace holds Kymas, templates, releases and access Secrets; empty means every namespace.
	Namespace string
	// OperatorNamespace is the namespace of the manager's own Leases and Secrets.
	OperatorNamespace string

	MetricsAddress, ProbeAddress, PprofAddress string
	PprofEnabled                               bool
	// PerKymaMetrics publishes series for each Kyma, module and runtime beside the counts of all.
	PerKymaMetrics bool
	// OTLPEndpoint is the URL of the collector that traces are sent to; empty: nothing is recorded.
	OTLPEndpoint string
	// LeaderElection shares the Kymas with other replicas.
	LeaderElection                            bool
	LeaseDuration, RenewDeadline, RetryPeriod time.Duration

	KymaWorkers, ManifestWorkers int
	CacheSyncTimeout             time.Duration
	RolloutDelay                 time.Duration
	FailureBaseDelay             time.Duration
	FailureMaxDelay              time.Duration
	RateBurst, RateFrequency     int

	HubQPS, RuntimeQPS     float64
	HubBurst, RuntimeBurst int
	StreamsPerRuntime      int
	AuditInterval          time.Duration
	// StandardStreams uses net/http for the watch streams of runtimes.
	StandardStreams bool

	// RegistryHost is the registry of the components: "host[:port]", with "http://" in front when it does not use TLS.
	RegistryHost string
	// RegistrySecret names a docker config Secret in OperatorNamespace with exactly one registry, in place of RegistryHost. It is watched.
	RegistrySecret string
	// PullSecret names a Secret in OperatorNamespace that is copied to runtimes, for workloads to pull their images with. It is watched.
	PullSecret string
	// NameMapping defines how component names map to repositories: urlPath (also when empty) or sha256-digest.
	NameMapping string
	// RegistrySubPath is the path between the registry's host and its components.
	RegistrySubPath string
	// ContentDir stores fetched content; ContentBytes bounds its size.
	ContentDir   string
	ContentBytes int64
	// RegistriesFile defines how to connect to registries and other hosts: CA, mirrors, no TLS. It is watched; empty means with TLS and the
	// system's certificate authorities.
	RegistriesFile string
	// SignaturesFile is the path of the signature policy. The file is watched; empty requires no signature.
	SignaturesFile string
	// ApprovalFile is the path of the policy that says which versions need consent. The file is watched; empty asks for none.
	ApprovalFile string
	// ContentAddress is the address that serves the content of Manifests by HTTPS; empty switches that off. ContentCertDir holds tls.crt and
	// tls.key; empty means a certificate that is created at start. ContentURL is the server's URL for users, as shown in status.resolved.
	ContentAddress, ContentCertDir, ContentURL string

	// Webhooks serves the conversion of v1alpha1 at WebhookAddress. The API server reaches it through the Service WebhookService
	// ("namespace/name") or, outside the cluster, at WebhookURL. WebhookLifetime is the lifetime of its certificate.
	Webhooks                                   bool
	WebhookAddress, WebhookService, WebhookURL string
	WebhookLifetime                            time.Duration

	// LocalAccount ("namespace/name") is the ServiceAccount that is impersonated to install into the hub itself.
	LocalAccount string
	// LocalNamespaces are those whose Kymas and Manifests may install into the hub itself; "*" means all of them, none means
	// OperatorNamespace alone.
	LocalNamespaces []string
	// WindowsFile is the maintenance policy; it is watched, and need not exist. WindowsSize is the part of a window that must be left.
	WindowsFile string
	WindowsSize time.Duration
	// RestrictedModules are only for the Kymas that their release selects.
	RestrictedModules []string
	// CatalogRate is the number of Kymas per second whose runtime's catalog is updated after a change of the hub's offers.
	CatalogRate float64

	// RuntimeVersions lets the users of a runtime pin exact versions of modules.
	RuntimeVersions bool

	LogLevel int
	// Ignored are the given flags that no longer have an effect, with what to do instead.
	Ignored []string
}

// Validate returns all problems of a Config at once.
func (c *Config) Validate() error {
	return errors.Join(slices.Concat(c.registryProblems(), c.limitProblems(), c.webhookProblems())...)
}

func (c *Config) registryProblems() []error {
	var problems []error
	switch {
	case c.RegistryHost == "" && c.RegistrySecret == "":
		problems = append(problems, errors.New("no registry: set --oci-registry-host to where the modules' components are "+
			"(http:// in front for a registry without TLS), or --oci-registry-cred-secret to a Secret with a login for it"))
	case c.RegistryHost != "" && c.RegistrySecret != "":
		problems = append(problems, errors.New(
			"--oci-registry-host and --oci-registry-cred-secret are exclusive: the Secret names its registry itself"))
	case c.RegistryHost != "" && !descriptor.IsAddress(c.RegistryHost):
		problems = append(problems, fmt.Errorf(
			"--oci-registry-host %q is no host: write host[:port], with http:// in front for a registry without TLS", c.RegistryHost))
	}
	if mapping := descriptor.Mapping(c.NameMapping); mapping != "" && mapping != descriptor.URLPath && mapping != descriptor.SHA256 {
		problems = append(problems, fmt.Errorf(
			"--component-name-mapping %q is unknown: write %s or %s", c.NameMapping, descriptor.URLPath, descriptor.SHA256))
	}
	if c.RegistrySubPath != strings.Trim(path.Clean("/"+c.RegistrySubPath), "/") {
		problems = append(problems, fmt.Errorf(
			"--modules-repository-subpath %q: write it without slashes at its ends and without dots", c.RegistrySubPath))
	}
	return problems
}

func (c *Config) limitProblems() []error {
	var problems []error
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			problems = append(problems, fmt.Errorf(format, args...))
		}
	}
	refuse(c.KymaWorkers < 1 || c.ManifestWorkers < 1, "--max-concurrent-*-reconciles must be at least 1")
	refuse(c.LeaderElection && (c.LeaseDuration <= c.RenewDeadline || c.RenewDeadline <= c.RetryPeriod),
		"leader election needs lease duration > renew deadline > retry period, not %s, %s, %s", c.LeaseDuration, c.RenewDeadline, c.RetryPeriod)
	refuse(c.FailureBaseDelay <= 0 || c.FailureMaxDelay < c.FailureBaseDelay,
		"--failure-base-delay must be positive and at most --failure-max-delay")
	refuse(c.RateBurst < 1 || c.RateFrequency < 1,
		"--rate-limiter-burst and --rate-limiter-frequency must be at least 1, or nothing is tried again after an error")
	refuse(c.RuntimeQPS <= 0 || c.RuntimeBurst < 1, "--k8s-skr-client-qps and --k8s-skr-client-burst must be positive")
	refuse(c.CacheSyncTimeout <= 0 || c.AuditInterval <= 0, "--cache-sync-timeout and --audit-interval must be positive")
	refuse(c.CatalogRate <= 0, "--catalog-sync-rate must be positive")
	refuse(c.WindowsSize < 0, "--min-maintenance-window-size must not be negative")
	refuse(c.StreamsPerRuntime < 1, "--max-streams-per-runtime must be at least 1")
	namespace, name, two := strings.Cut(c.LocalAccount, "/")
	refuse(!two || namespace == "" || name == "" || strings.Contains(name, "/"),
		"--local-service-account %q: write namespace/name", c.LocalAccount)
	for _, namespace := range c.LocalNamespaces {
		refuse(namespace != everyNamespace && len(validation.IsDNS1123Label(namespace)) > 0,
			"--local-namespaces: %q is no namespace: write names, separated by commas, or * for every namespace", namespace)
	}
	refuse(c.ContentURL != "" && !strings.HasPrefix(c.ContentURL, "https://"), "--content-url %q: write https://host[:port]", c.ContentURL)
	refuse(c.ContentURL != "" && c.ContentAddress == "", "--content-url needs --content-bind-address")
	if c.OTLPEndpoint != "" {
		err := otlp.Check(c.OTLPEndpoint)
		refuse(err != nil, "--otlp-endpoint: %w", err)
	}
	return problems
}

// everyNamespace stands for all namespaces in flags.
const everyNamespace = "*"

// installsLocally reports whether the Kymas and Manifests of a namespace may be installed into the hub itself, by an account that may do
// everything there.
func (c *Config) installsLocally(namespace string) bool {
	if len(c.LocalNamespaces) == 0 {
		return namespace == c.OperatorNamespace
	}
	return slices.Contains(c.LocalNamespaces, everyNamespace) || slices.Contains(c.LocalNamespaces, namespace)
}

// installsLocallyAs reports whether they may be installed there as a ServiceAccount of their namespace, whose rights they get; with an
// empty name, as the one that may do everything. To name that one gives no more than to name none.
func (c *Config) installsLocallyAs(namespace, account string) bool {
	own := account != "" && namespace+"/"+account != c.LocalAccount
	return own || c.installsLocally(namespace)
}

// trustsAuthors reports whether the authors of Manifests in a namespace may read everything that the operator may read. That is so where a
// flag names the namespace, and it holds the operator's own Secrets or the access to every runtime, or its users may change everything in
// the hub.
func (c *Config) trustsAuthors(namespace string) bool {
	return namespace == c.OperatorNamespace || namespace == c.Namespace || c.installsLocally(namespace)
}

// registry returns the host of RegistryHost and whether it uses plain HTTP.
func (c *Config) registry() (host string, plainHTTP bool) {
	host, plainHTTP = strings.CutPrefix(strings.ToLower(c.RegistryHost), "http://")
	return strings.TrimPrefix(host, "https://"), plainHTTP
}

// Defaults returns a Config with the value of every flag that is not given; a registry is still missing.
func Defaults() Config {
	return Config{
		Namespace: v1beta2.DefaultNamespace, OperatorNamespace: v1beta2.DefaultNamespace,
		MetricsAddress: ":8080", ProbeAddress: ":8081", PprofAddress: ":8084", PerKymaMetrics: true,
		LeaseDuration: 15 * time.Second, RenewDeadline: 10 * time.Second, RetryPeriod: 2 * time.Second,
		KymaWorkers: 8, ManifestWorkers: 16, CacheSyncTimeout: 2 * time.Minute,
		FailureBaseDelay: 100 * time.Millisecond, FailureMaxDelay: time.Minute, RateBurst: 2000, RateFrequency: 1000,
		HubQPS: 1000, HubBurst: 2000, RuntimeQPS: 200, RuntimeBurst: 400, CatalogRate: 20, StreamsPerRuntime: 24, AuditInterval: time.Hour,
		WebhookAddress: ":9443", WebhookLifetime: conversion.DefaultLifetime,
		WindowsFile: "/etc/maintenance-policy/policy.json", WindowsSize: 20 * time.Minute,
		ContentDir: "", ContentBytes: 1 << 30, LocalAccount: v1beta2.DefaultNamespace + "/klm-local-installer",
	}
}
