package permissions

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	kindMutatingWebhooks   = "MutatingWebhookConfiguration"
	kindValidatingWebhooks = "ValidatingWebhookConfiguration"
)

// placedInterception is an interception with the webhook or policy that it comes from.
type placedInterception struct {
	Interception

	rules, subjects []string
}

// analyseWebhooks reports what admission webhooks intercept.
func (b *builder) analyseWebhooks() {
	for _, object := range b.ofKind(admissionregistrationv1.GroupName, kindMutatingWebhooks) {
		configuration := admissionregistrationv1.MutatingWebhookConfiguration{}
		if err := decode(object, &configuration); err != nil {
			b.unreadable(object, "what it intercepts is unknown")
			continue
		}
		for i := range configuration.Webhooks {
			b.addMutating(object, &configuration.Webhooks[i])
		}
	}
	for _, object := range b.ofKind(admissionregistrationv1.GroupName, kindValidatingWebhooks) {
		configuration := admissionregistrationv1.ValidatingWebhookConfiguration{}
		if err := decode(object, &configuration); err != nil {
			b.unreadable(object, "what it intercepts is unknown")
			continue
		}
		for i := range configuration.Webhooks {
			b.addValidating(object, &configuration.Webhooks[i])
		}
	}
}

// addMutating takes a mutating webhook for a validating one that can change what it sees: they have the same fields otherwise.
func (b *builder) addMutating(object *unstructured.Unstructured, hook *admissionregistrationv1.MutatingWebhook) {
	reinvocation := override(new(admissionregistrationv1.NeverReinvocationPolicy), hook.ReinvocationPolicy)
	b.addWebhook(object, &admissionregistrationv1.ValidatingWebhook{
		Name: hook.Name, ClientConfig: hook.ClientConfig, Rules: hook.Rules, FailurePolicy: hook.FailurePolicy, MatchPolicy: hook.MatchPolicy,
		NamespaceSelector: hook.NamespaceSelector, ObjectSelector: hook.ObjectSelector, SideEffects: hook.SideEffects,
		TimeoutSeconds: hook.TimeoutSeconds, AdmissionReviewVersions: hook.AdmissionReviewVersions, MatchConditions: hook.MatchConditions,
	}, true, string(*reinvocation))
}

func (b *builder) addValidating(object *unstructured.Unstructured, hook *admissionregistrationv1.ValidatingWebhook) {
	b.addWebhook(object, hook, false, "")
}

func (b *builder) addWebhook(
	object *unstructured.Unstructured, hook *admissionregistrationv1.ValidatingWebhook, mutates bool, more string,
) {
	setDefaults(hook)
	name := object.GetKind() + " " + object.GetName() + "/" + hook.Name
	b.out.Webhooks = append(b.out.Webhooks, Named{name, hashOf(hook, more)})
	limits := limitsOf(hook.NamespaceSelector, hook.ObjectSelector, hook.MatchConditions)
	base := Interception{Mutates: mutates, Limits: limits, Blocks: *hook.FailurePolicy == admissionregistrationv1.Fail}
	target := ""
	if hook.ClientConfig.URL != nil {
		base.Outside = hostOf(*hook.ClientConfig.URL)
		target = prefixHost + base.Outside
	} else if service := hook.ClientConfig.Service; service != nil {
		target = "Service " + service.Namespace + "/" + service.Name
	}
	for i := range hook.Rules {
		rule := &hook.Rules[i]
		b.intercept(object, &base, &rule.Rule, rule.Operations, name, target)
	}
}

// setDefaults fills in what the API server does, so that a value that is written out is no change.
func setDefaults(hook *admissionregistrationv1.ValidatingWebhook) {
	hook.ClientConfig.CABundle = nil // is renewed all the time
	if service := hook.ClientConfig.Service; service != nil {
		copied := *service
		copied.Port = override(new(int32(443)), service.Port)
		hook.ClientConfig.Service = &copied
	}
	hook.FailurePolicy = override(new(admissionregistrationv1.Fail), hook.FailurePolicy)
	hook.MatchPolicy = override(new(admissionregistrationv1.Equivalent), hook.MatchPolicy)
	hook.TimeoutSeconds = override(new(int32(10)), hook.TimeoutSeconds)
	for i := range hook.Rules {
		hook.Rules[i].Scope = override(new(admissionregistrationv1.AllScopes), hook.Rules[i].Scope)
	}
}

// hostOf returns the host of a URL, or the URL when it has none.
func hostOf(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return address
	}
	return parsed.Host
}

// hashOf identifies values by their JSON.
func hashOf(values ...any) string {
	digest := sha256.New()
	for _, value := range values {
		data, err := json.Marshal(value)
		if err != nil {
			data = []byte(err.Error()) // read from JSON, so that it can be written as JSON
		}
		digest.Write(append(data, '\n'))
	}
	return hex.EncodeToString(digest.Sum(nil)[:8])
}
