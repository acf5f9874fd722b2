package setup

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// ParseFlags reads the manager's flags. Every flag of upstream is accepted, so that a deployment can swap the image: flags without an
// effect here are listed in Config.Ignored. flag.ErrHelp means that help was requested and printed.
func ParseFlags(args []string, out io.Writer) (Config, error) {
	c := Defaults()
	set := flag.NewFlagSet("lifecycle-manager", flag.ContinueOnError)
	set.SetOutput(out)
	bindServers(set, &c)
	bindControllers(set, &c)
	bindClients(set, &c)
	bindModules(set, &c)
	bindWebhooks(set, &c)
	ignored := bindIgnored(set)
	if err := set.Parse(args); err != nil {
		return c, err
	}
	if rest := set.Args(); len(rest) > 0 {
		return c, fmt.Errorf("unexpected argument %q: everything is set by flags, see --help", rest[0])
	}
	set.Visit(func(f *flag.Flag) {
		if reason, ok := ignored[f.Name]; ok {
			c.Ignored = append(c.Ignored, "--"+f.Name+": "+reason)
		}
	})
	if c.ContentDir == "" {
		c.ContentDir = filepath.Join(os.TempDir(), "lifecycle-manager-content")
	}
	return c, c.Validate()
}

// IsHelp reports whether help was requested.
func IsHelp(err error) bool { return errors.Is(err, flag.ErrHelp) }

func bindServers(set *flag.FlagSet, c *Config) {
	set.StringVar(&c.MetricsAddress, "metrics-bind-address", c.MetricsAddress, "address of the Prometheus metrics; 0 switches them off")
	set.BoolVar(&c.PerKymaMetrics, "per-kyma-metrics", c.PerKymaMetrics,
		"publish metrics of each Kyma and its modules, and of the calls to each runtime; without them only counts, for fleets of thousands")
	set.StringVar(&c.ProbeAddress, "health-probe-bind-address", c.ProbeAddress, "address of /healthz and /readyz")
	set.BoolVar(&c.PprofEnabled, "pprof", c.PprofEnabled, "serve Go profiles")
	set.StringVar(&c.PprofAddress, "pprof-bind-address", c.PprofAddress, "address of the Go profiles")
	set.StringVar(&c.OTLPEndpoint, "otlp-endpoint", c.OTLPEndpoint,
		"collector that gets traces by OTLP over HTTP, http(s)://host[:port]; empty: nothing is recorded")
	set.BoolVar(&c.LeaderElection, "leader-elect", c.LeaderElection, "share the Kymas with other replicas; without it there must be only one")
	set.DurationVar(&c.LeaseDuration, "leader-election-lease-duration", c.LeaseDuration,
		"how long the heartbeat of a replica may be unchanged before others take over")
	set.DurationVar(&c.RenewDeadline, "leader-election-renew-deadline", c.RenewDeadline, "how long a replica works without a new heartbeat")
	set.DurationVar(&c.RetryPeriod, "leader-election-retry-period", c.RetryPeriod, "pause between two heartbeats")
	set.IntVar(&c.LogLevel, "log-level", c.LogLevel, "verbosity of the log; 0 is normal, 9 is everything")
}

func bindControllers(set *flag.FlagSet, c *Config) {
	set.IntVar(&c.KymaWorkers, "max-concurrent-kyma-reconciles", c.KymaWorkers, "Kymas that are worked on at once")
	set.IntVar(&c.ManifestWorkers, "max-concurrent-manifest-reconciles", c.ManifestWorkers, "Manifests that are worked on at once")
	set.DurationVar(&c.RolloutDelay, "module-upgrade-rollout-max-delay", c.RolloutDelay,
		"spread a new release over this time, each Kyma at a random moment of it; 0 means at once")
	set.Float64Var(&c.CatalogRate, "catalog-sync-rate", c.CatalogRate,
		"Kymas per second whose runtime's catalog is checked after a change of a release or a template")
	set.DurationVar(&c.FailureBaseDelay, "failure-base-delay", c.FailureBaseDelay, "first pause after an unforeseen error")
	set.DurationVar(&c.FailureMaxDelay, "failure-max-delay", c.FailureMaxDelay, "longest pause after unforeseen errors")
	set.IntVar(&c.RateBurst, "rate-limiter-burst", c.RateBurst, "reconciles that may start at once after errors")
	set.IntVar(&c.RateFrequency, "rate-limiter-frequency", c.RateFrequency, "reconciles per second that may start after errors")
	set.DurationVar(&c.CacheSyncTimeout, "cache-sync-timeout", c.CacheSyncTimeout, "how long the first list of the hub's objects may take")
}

func bindClients(set *flag.FlagSet, c *Config) {
	set.Float64Var(&c.HubQPS, "k8s-client-qps", c.HubQPS, "calls per second to the hub")
	set.IntVar(&c.HubBurst, "k8s-client-burst", c.HubBurst, "calls at once to the hub")
	set.Float64Var(&c.RuntimeQPS, "k8s-skr-client-qps", c.RuntimeQPS, "calls per second to one runtime")
	set.IntVar(&c.RuntimeBurst, "k8s-skr-client-burst", c.RuntimeBurst, "calls at once to one runtime")
	set.IntVar(&c.StreamsPerRuntime, "max-streams-per-runtime", c.StreamsPerRuntime,
		"kinds that are watched in one runtime; the others are checked by the audit")
	set.BoolVar(&c.StandardStreams, "standard-watch-streams", c.StandardStreams,
		"watch runtimes through Go's own HTTP client, which takes three times the memory, "+
			"if the manager's own client does not work with a server")
	set.DurationVar(&c.AuditInterval, "audit-interval", c.AuditInterval,
		"pause between two audits: of all kinds in runtimes, watched or not, and of what tags and versions name by now")
}

func bindModules(set *flag.FlagSet, c *Config) {
	set.Func("kyma-namespace", "namespace of Kymas, templates, releases and access Secrets; * means every namespace (default kcp-system)",
		func(value string) error {
			if c.Namespace = value; value == everyNamespace {
				c.Namespace = ""
			}
			return nil
		})
	set.StringVar(&c.OperatorNamespace, "operator-namespace", c.OperatorNamespace,
		"namespace of the manager's lease, of the registry Secret and of the image pull Secret")
	set.StringVar(&c.RegistryHost, "oci-registry-host", c.RegistryHost,
		"registry of the modules' components; http:// in front when it speaks no TLS")
	set.StringVar(&c.RegistrySecret, "oci-registry-cred-secret", c.RegistrySecret,
		"Secret with the login for exactly one registry, which is used")
	set.StringVar(&c.PullSecret, "skr-image-pull-secret", c.PullSecret,
		"Secret that every runtime gets a copy of, for workloads to pull their images with")
	set.StringVar(&c.NameMapping, "component-name-mapping", c.NameMapping,
		"how names of components become repositories: urlPath (default) or sha256-digest, for registries with short paths")
	set.StringVar(&c.RegistrySubPath, "modules-repository-subpath", c.RegistrySubPath, "path between the registry's host and its components")
	set.StringVar(&c.ContentDir, "content-dir", c.ContentDir, "folder that keeps what was fetched (default: one in the temporary folder)")
	set.Int64Var(&c.ContentBytes, "content-max-bytes", c.ContentBytes, "size that the folder is kept below")
	set.StringVar(&c.RegistriesFile, "registries-file", c.RegistriesFile,
		"file with the CA, the mirrors and the plain http of registries and other hosts; it is watched")
	set.StringVar(&c.SignaturesFile, "signatures-file", c.SignaturesFile,
		"file that says which components must be signed, and whose signatures count; it is watched")
	set.StringVar(&c.ApprovalFile, "approval-file", c.ApprovalFile,
		"file that says which versions of modules need consent, and who gives it; it is watched")
	set.StringVar(&c.ContentAddress, "content-bind-address", c.ContentAddress,
		"address where the content of Manifests can be read by HTTPS; empty switches it off")
	set.StringVar(&c.ContentCertDir, "content-cert-dir", c.ContentCertDir,
		"folder with tls.crt and tls.key for it (default: a certificate that is made at start)")
	set.StringVar(&c.ContentURL, "content-url", c.ContentURL, "how users reach it, such as https://klm-content.kcp-system.svc:8444")
	set.StringVar(&c.LocalAccount, "local-service-account", c.LocalAccount,
		"ServiceAccount (namespace/name) that installs into the hub itself")
	set.Func("local-namespaces", "namespaces, separated by commas, whose Kymas and Manifests may install into the hub itself; * means every "+
		"namespace, and then a user who may write one of them may do everything in the hub (default: the one of --operator-namespace)",
		listInto(&c.LocalNamespaces))
	set.BoolVar(&c.RuntimeVersions, "allow-runtime-versions", c.RuntimeVersions, "let the users of a runtime pin exact versions of modules")
	set.StringVar(&c.WindowsFile, "maintenance-policy-file", c.WindowsFile,
		"file with the maintenance windows of upgrades that need downtime; it is watched and may be missing")
	set.DurationVar(&c.WindowsSize, "min-maintenance-window-size", c.WindowsSize,
		"how much of a maintenance window must be left for an upgrade to start in it")
	set.Func("restricted-default-modules", "modules, separated by commas, that only the Kymas get which their release selects",
		listInto(&c.RestrictedModules))
}

// listInto parses names that are separated by commas, without empty ones.
func listInto(names *[]string) func(string) error {
	return func(value string) error {
		*names = nil
		for name := range strings.SplitSeq(value, ",") {
			if name = strings.TrimSpace(name); name != "" {
				*names = append(*names, name)
			}
		}
		return nil
	}
}
