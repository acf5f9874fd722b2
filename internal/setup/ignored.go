package setup

import (
	"flag"
	"strings"
)

const (
	byEvents    = "work starts when something happens, so there is nothing to poll"
	noWatcher   = "runtimes are watched directly; there is no webhook, listener, gateway or certificate"
	noMandatory = "mandatory modules are installed with the other modules of a Kyma, see --max-concurrent-kyma-reconciles"
)

// ignoredFlags are upstream's flags without effect here, by reason.
var ignoredFlags = map[string]string{
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

// anyValue is a flag that takes whatever it is given, also nothing, as boolean flags do.
type anyValue struct{}

func (anyValue) String() string   { return "" }
func (anyValue) Set(string) error { return nil }

// bindIgnored makes upstream's flags known that have no effect, and returns why by name.
func bindIgnored(set *flag.FlagSet) map[string]string {
	reasons := map[string]string{}
	for reason, names := range ignoredFlags {
		for name := range strings.FieldsSeq(names) {
			reasons[name] = reason
			set.Var(anyValue{}, name, "accepted and ignored: "+reason)
		}
	}
	return reasons
}
