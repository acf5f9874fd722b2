package setup

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// upstream lists the flags of the public lifecycle-manager 1.21, each with an accepted value.
var upstream = []string{
	"cert-management=cert-manager.io/v1", "metrics-bind-address=:8080", "health-probe-bind-address=:8081",
	"kyma-skr-listener-bind-address=:8082", "pprof", "pprof-bind-address=:8084", "pprof-server-timeout=90s",
	"max-concurrent-kyma-reconciles=1", "max-concurrent-manifest-reconciles=1", "max-concurrent-watcher-reconciles=1",
	"max-concurrent-mandatory-modules-reconciles=1", "max-concurrent-mandatory-modules-deletion-reconciles=1",
	"leader-elect", "leader-election-lease-duration=180s", "leader-election-renew-deadline=120s", "leader-election-retry-period=3s",
	"kyma-requeue-success-interval=5m", "kyma-requeue-error-interval=2s", "kyma-requeue-warning-interval=30s", "kyma-requeue-busy-interval=5s",
	"manifest-requeue-success-interval=30s", "manifest-requeue-error-interval=2s", "manifest-requeue-warning-interval=30s",
	"manifest-requeue-busy-interval=5s", "manifest-requeue-jitter-probability=0.02", "manifest-requeue-jitter-percentage=0.02",
	"mandatory-module-requeue-success-interval=30s", "mandatory-module-deletion-requeue-success-interval=30s",
	"watcher-requeue-success-interval=1m", "module-upgrade-rollout-max-delay=5m", "k8s-client-qps=1000", "k8s-client-burst=2000",
	"k8s-skr-client-qps=50", "k8s-skr-client-burst=100", "rate-limiter-burst=2000", "rate-limiter-frequency=1000",
	"failure-base-delay=5s", "failure-max-delay=30s", "cache-sync-timeout=60m", "log-level=0", "sync-namespace=kyma-system",
	"enable-webhooks", "additional-dns-names=", "istio-namespace=istio-system", "istio-gateway-name=klm-watcher",
	"istio-gateway-namespace=kcp-system", "listener-port-overwrite=", "self-signed-cert-duration=1440h",
	"self-signed-cert-renew-before=720h", "self-signed-cert-renew-buffer=24h", "self-signed-cert-key-size=4096",
	"self-signed-cert-issuer-name=klm-watcher-selfsigned", "self-signed-cert-issuer-namespace=istio-system",
	"istio-gateway-server-cert-switch-grace-period=96h", "istio-gateway-server-cert-expiry-window=336h",
	"istio-gateway-secret-requeue-success-interval=5m", "istio-gateway-secret-requeue-error-interval=2s",
	"istio-gateway-cert-switch-before-expiration-time=24h",
	"drop-crd-stored-version-map=Manifest:v1beta1,Watcher:v1beta1,ModuleTemplate:v1beta1,Kyma:v1beta1",
	"skr-watcher-image-name=runtime-watcher", "skr-watcher-image-tag=1.2.3", "skr-watcher-image-registry=registry.example.com/kyma",
	"skr-webhook-memory-limits=200Mi", "skr-webhook-cpu-limits=0.1", "metrics-cleanup-interval=15", "min-maintenance-window-size=20m",
	"oci-registry-host=http://localhost:5000", "modules-repository-subpath=prod", "skr-image-pull-secret=pull", "restricted-default-modules=a,b",
}

func withDashes(flags []string) []string {
	args := make([]string, 0, len(flags))
	for _, flag := range flags {
		args = append(args, "--"+flag)
	}
	return args
}

func TestParseFlagsTakesEveryFlagOfUpstream(t *testing.T) {
	c, err := ParseFlags(withDashes(upstream), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if c.KymaWorkers != 1 || !c.LeaderElection || c.LeaseDuration != 3*time.Minute || c.RolloutDelay != 5*time.Minute ||
		c.RuntimeQPS != 50 || !c.PprofEnabled || c.RegistryHost != "http://localhost:5000" || c.RegistrySubPath != "prod" || c.PullSecret != "pull" {
		t.Errorf("what has an effect was not taken: %+v", c)
	}
	if diff := cmp.Diff([]string{"a", "b"}, c.RestrictedModules); diff != "" {
		t.Errorf("restricted modules differ (-want +got):\n%s", diff)
	}
	for _, name := range []string{"--sync-namespace: ", "--kyma-requeue-busy-interval: ", "--skr-watcher-image-tag: "} {
		if !slices.ContainsFunc(c.Ignored, func(told string) bool { return strings.HasPrefix(told, name) && len(told) > len(name) }) {
			t.Errorf("no one is told why %s has no effect: %q", name, c.Ignored)
		}
	}
	if slices.ContainsFunc(c.Ignored, func(told string) bool { return strings.HasPrefix(told, "--k8s-client-qps") }) {
		t.Errorf("a flag with an effect is called ignored: %q", c.Ignored)
	}
}

func TestParseFlagsTakesTheSecretOfUpstream(t *testing.T) {
	c, err := ParseFlags([]string{"-oci-registry-cred-secret", "login", "--enable-webhooks=false"}, io.Discard)
	if err != nil || c.RegistrySecret != "login" || len(c.Ignored) != 0 || c.Webhooks {
		t.Errorf("got %+v, error %v", c, err)
	}
}

func TestParseFlags(t *testing.T) {
	const registry = "--oci-registry-host=registry.example.com"
	for name, test := range map[string]struct {
		args []string
		want func(Config) bool
		err  string
	}{
		"only a registry: the defaults": {
			[]string{registry}, func(c Config) bool { return c.Namespace == "kcp-system" && len(c.Ignored) == 0 && c.ContentDir != "" }, "",
		},
		"the last of two registries counts": {
			[]string{registry, "--oci-registry-host=mirror.example.com"}, func(c Config) bool { return c.RegistryHost == "mirror.example.com" }, "",
		},
		"a registry that is taken back leaves room for a Secret": {
			[]string{registry, "--oci-registry-host=", "--oci-registry-cred-secret=login"},
			func(c Config) bool { return c.RegistryHost == "" && c.RegistrySecret == "login" }, "",
		},
		"a star means every namespace": {[]string{registry, "--kyma-namespace=*"}, func(c Config) bool { return c.Namespace == "" }, ""},
		"one namespace":                {[]string{registry, "--kyma-namespace=mine"}, func(c Config) bool { return c.Namespace == "mine" }, ""},
		"a folder for content":         {[]string{registry, "--content-dir=/data"}, func(c Config) bool { return c.ContentDir == "/data" }, ""},
		"empty names of restricted modules are ignored": {
			[]string{registry, "--restricted-default-modules= a,, b ,"},
			func(c Config) bool { return slices.Equal(c.RestrictedModules, []string{"a", "b"}) }, "",
		},
		"only the operator's namespace may install into the hub": {
			[]string{registry, "--kyma-namespace=*", "--operator-namespace=ours"},
			func(c Config) bool { return c.installsLocally("ours") && !c.installsLocally("kcp-system") }, "",
		},
		"the named namespaces may install into the hub": {
			[]string{registry, "--local-namespaces=a, b"},
			func(c Config) bool {
				return c.installsLocally("a") && c.installsLocally("b") && !c.installsLocally("kcp-system")
			}, "",
		},
		"a star lets every namespace install into the hub": {
			[]string{registry, "--local-namespaces=*"}, func(c Config) bool { return c.installsLocally("any") }, "",
		},
		"an unknown flag is refused":                       {[]string{registry, "--no-such-flag=1"}, nil, "no-such-flag"},
		"an invalid value is refused":                      {[]string{registry, "--k8s-client-burst=many"}, nil, "k8s-client-burst"},
		"a forgotten dash is refused":                      {[]string{registry, "leader-elect"}, nil, `"leader-elect"`},
		"a configuration that Validate refuses is refused": {nil, nil, "no registry"},
		"a mistake beside valid flags is found":            {[]string{registry, "--max-streams-per-runtime=0"}, nil, "--max-streams-per-runtime"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := ParseFlags(test.args, io.Discard)
			if test.err != "" {
				if err == nil || IsHelp(err) || !strings.Contains(err.Error(), test.err) {
					t.Fatalf("error %v, want one that names %s", err, test.err)
				}
				return
			}
			if err != nil || !test.want(c) {
				t.Errorf("got %+v, error %v", c, err)
			}
		})
	}
}

func TestHelpIsPrintedAndIsNoMistake(t *testing.T) {
	for _, flag := range []string{"--help", "-h"} {
		var out bytes.Buffer
		if _, err := ParseFlags([]string{flag}, &out); !IsHelp(err) {
			t.Errorf("%s: error %v", flag, err)
		}
		for _, name := range append([]string{"oci-registry-host", "max-streams-per-runtime"}, "enable-webhooks") {
			if !strings.Contains(out.String(), "-"+name) {
				t.Errorf("%s does not tell of %s", flag, name)
			}
		}
	}
}
