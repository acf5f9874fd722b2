package crdsafety

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Serves returns what the clients of a definition would miss with the one that is in the cluster, which stays: a version that is not served
// or differs, objects that it would not accept, and a conversion that depends on another webhook than theirs. Every finding counts,
// whatever objects exist: the clients will write more of them.
func Serves(live, used *apiextensionsv1.CustomResourceDefinition) []Finding {
	findings := Compare(used, live)
	if live == nil || used == nil || !converts(&live.Spec) || sameWebhook(&live.Spec, &used.Spec) {
		return findings
	}
	return append(findings, Finding{
		Rule: UnknownChange, Definition: live.Name, Message: "objects are converted by a webhook that comes and goes with the newer content",
	})
}

// sameWebhook reports whether objects are converted by the same service, or at the same address.
func sameWebhook(a, b *apiextensionsv1.CustomResourceDefinitionSpec) bool {
	first, second := clientOf(a), clientOf(b)
	switch {
	case first == nil || second == nil:
		return false
	case first.Service != nil && second.Service != nil:
		return first.Service.Namespace == second.Service.Namespace && first.Service.Name == second.Service.Name
	case first.URL != nil && second.URL != nil:
		return *first.URL == *second.URL
	}
	return false
}

// clientOf returns how a conversion webhook is called; nil where there is none.
func clientOf(spec *apiextensionsv1.CustomResourceDefinitionSpec) *apiextensionsv1.WebhookClientConfig {
	if !converts(spec) || spec.Conversion.Webhook == nil {
		return nil
	}
	return spec.Conversion.Webhook.ClientConfig
}
