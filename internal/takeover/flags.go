package takeover

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

const (
	byEvents    = "work starts when something happens, so there is nothing to poll"
	noWatcher   = "runtimes are watched directly; there is no webhook, listener, gateway or certificate"
	noMandatory = "mandatory modules are installed with the other modules of a Kyma, see --max-concurrent-kyma-reconciles"
)

// IgnoredFlags are upstream's flags without effect here, by reason.
var IgnoredFlags = map[string]string{
	byEvents: `kyma-requeue-success-interval kyma-requeue-error-interval kyma-requeue-warning-interval kyma-requeue-busy-interval
		manifest-requeue-success-interval manifest-requeue-error-interval manifest-requeue-warning-interval manifest-requeue-busy-interval
		manifest-requeue-jitter-probability manifest-requeue-jitter-percentage mandatory-module-requeue-success-interval
		mandatory-module-deletion-requeue-success-interval watcher-requeue-success-interval`,
	noWatcher: `cert-management kyma-skr-listener-bind-address max-concurrent-watcher-reconciles additional-dns-names istio-namespace
		istio-gateway-name istio-gateway-namespace listener-port-overwrite self-signed-cert-duration self-signed-cert-renew-before
		self-signed-cert-renew-buffer self-signed-cert-key-size self-signed-cert-issuer-name self-signed-cert-issuer-namespace
		istio-gateway-server-cert-switch-grace-period istio-gateway-server-cert-expiry-window istio-gateway-secret-requeue-success-interval
		istio-gateway-secret-requeue-error-interval istio-gateway-cert-switch-before-expiration-time skr-watcher-image-name
		skr-watcher-image-tag skr-watcher-image-registry skr-webhook-memory-limits skr-webhook-cpu-limits`,
	noMandatory:                       `max-concurrent-mandatory-modules-reconciles max-concurrent-mandatory-modules-deletion-reconciles`,
	"the series go with their object": `metrics-cleanup-interval`,
	"modules go to kyma-system":       `sync-namespace`,
	"the CRDs keep v1beta1 as a version that is not served": `drop-crd-stored-version-map`,
	"a request for a profile ends when it is done":          `pprof-server-timeout`,
}

// SharedFlags are upstream's flags that have an effect here, too.
var SharedFlags = strings.Fields(`metrics-bind-address health-probe-bind-address pprof pprof-bind-address log-level leader-elect
	leader-election-lease-duration leader-election-renew-deadline leader-election-retry-period max-concurrent-kyma-reconciles
	max-concurrent-manifest-reconciles cache-sync-timeout failure-base-delay failure-max-delay rate-limiter-burst rate-limiter-frequency
	k8s-client-qps k8s-client-burst k8s-skr-client-qps k8s-skr-client-burst module-upgrade-rollout-max-delay oci-registry-host
	oci-registry-cred-secret modules-repository-subpath restricted-default-modules skr-image-pull-secret min-maintenance-window-size
	enable-webhooks`)

// NewFlags are flags that upstream does not have.
var NewFlags = strings.Fields(`kyma-namespace operator-namespace max-streams-per-runtime audit-interval local-service-account content-dir
	approval-file content-max-bytes content-bind-address content-cert-dir content-url registries-file signatures-file allow-runtime-versions
	maintenance-policy-file catalog-sync-rate webhook-bind-address webhook-service webhook-url standard-watch-streams local-namespaces
	component-name-mapping per-kyma-metrics otlp-endpoint`)

// UpstreamDefaults are upstream's defaults of shared flags whose default differs here.
var UpstreamDefaults = map[string]string{
	"max-concurrent-kyma-reconciles": "1", "max-concurrent-manifest-reconciles": "1", "module-upgrade-rollout-max-delay": "5m",
	"k8s-skr-client-qps": "50", "k8s-skr-client-burst": "100", "leader-election-lease-duration": "180s",
}

// ignored returns why a flag has no effect.
func ignored(flag string) (reason string, is bool) {
	for reason, names := range IgnoredFlags {
		if slices.Contains(strings.Fields(names), flag) {
			return reason, true
		}
	}
	return "", false
}

// switches are flags that need no value on a command line.
var switches = []string{"pprof", "leader-elect", "enable-webhooks", "allow-runtime-versions", "standard-watch-streams", "per-kyma-metrics"}

// policyFolder is the folder from which upstream's manager reads the maintenance policy, and ours unless a flag sets another one.
const (
	policyFolder = "/etc/maintenance-policy"
	policyFile   = "policy.json"
)

// Settings are the manager's settings in a Deployment.
type Settings struct {
	// Flags by name, as they are on the command line; a switch without a value is "true".
	Flags map[string]string
	// Stray is the first argument that is not a flag: nothing after it is read.
	Stray string
	// Policy is the ConfigMap with the maintenance policy, and Key its key; empty where none is mounted.
	Policy, Key string
	// SubPath reports whether it is mounted by subPath, so that changes do not reach the pod.
	SubPath bool
	// Elsewhere describes what is mounted in place of a ConfigMap.
	Elsewhere string
}

// SettingsOf returns the settings in a Deployment.
func SettingsOf(deployment *appsv1.Deployment) Settings {
	pod := &deployment.Spec.Template.Spec
	container := managerIn(pod)
	if container == nil {
		return Settings{Flags: map[string]string{}}
	}
	s := parse(container.Args)
	s.mounts(pod, container)
	return s
}

// Secrets returns the names of the Secrets that flags name.
func (s *Settings) Secrets() []string {
	var names []string
	for _, flag := range []string{"oci-registry-cred-secret", "skr-image-pull-secret"} {
		if name := s.Flags[flag]; name != "" {
			names = append(names, name)
		}
	}
	return names
}

// managerIn returns the container that runs the manager: the one called manager, else the first.
func managerIn(pod *corev1.PodSpec) *corev1.Container {
	for i := range pod.Containers {
		if pod.Containers[i].Name == "manager" {
			return &pod.Containers[i]
		}
	}
	if len(pod.Containers) == 0 {
		return nil
	}
	return &pod.Containers[0]
}

// parse parses arguments as Go's flag package does.
func parse(args []string) Settings {
	s := Settings{Flags: map[string]string{}}
	for i := 0; i < len(args); i++ {
		name, isFlag := strings.CutPrefix(args[i], "-")
		if !isFlag || name == "" || name == "-" {
			s.Stray = args[i]
			return s
		}
		name, value, valued := strings.Cut(strings.TrimPrefix(name, "-"), "=")
		switch {
		case valued:
		case slices.Contains(switches, name):
			value = "true"
		case i+1 < len(args):
			i++
			value = args[i]
		}
		s.Flags[name] = value
	}
	return s
}

// mounts finds the maintenance policy.
func (s *Settings) mounts(pod *corev1.PodSpec, container *corev1.Container) {
	for _, mount := range container.VolumeMounts {
		if mount.MountPath != policyFolder && mount.MountPath != policyFolder+"/"+policyFile {
			continue
		}
		at := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == mount.Name })
		if at < 0 {
			return
		}
		source := pod.Volumes[at].ConfigMap
		if source == nil {
			s.Elsewhere = "volume " + mount.Name
			return
		}
		s.Policy, s.Key, s.SubPath = source.Name, policyFile, mount.SubPath != ""
		if mount.SubPath != "" {
			s.Key = mount.SubPath
		}
		for _, item := range source.Items {
			if item.Path == s.Key {
				s.Key = item.Key
			}
		}
		return
	}
}
