package takeover

import (
	"fmt"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Level is the severity of a finding.
type Level string

// The levels, from the lowest to the highest.
const (
	// Fine needs no action.
	Fine Level = "OK"
	// Differs works, but not as before.
	Differs Level = "Warning"
	// Refused would no longer work, would be removed, or could not be read.
	Refused Level = "Error"
)

// mostPlaces is the number of places that a finding names; its count includes all.
const mostPlaces = 5

// Finding is one result that matters before the switch.
type Finding struct {
	// Subject is what was checked.
	Subject string
	Level   Level
	// Message describes what was found, and what to do.
	Message string
	// Count is the number of places; zero for a finding about the hub as a whole.
	Count int
	// Places are the first of them.
	Places []string
}

// Read is the result of reading one kind of object.
type Read[T any] struct {
	Items []T
	// Err is the reason why the kind could not be read; Items has no meaning then. A kind that the hub does not serve has no objects and no
	// Err.
	Err string
}

// Hub holds the objects that were read of a hub; namespaced ones are of namespace kcp-system.
type Hub struct {
	// Manager is the Deployment of upstream's manager.
	Manager Read[appsv1.Deployment]
	// Definitions are those of the group operator.kyma-project.io.
	Definitions Read[apiextensionsv1.CustomResourceDefinition]
	// Kymas and the others are in their stored form.
	Kymas, Manifests, Templates, Releases, Watchers Read[unstructured.Unstructured]
	// Access are the Secrets with the label kyma-name.
	Access Read[corev1.Secret]
	// Named are the Secrets that flags name, see Settings.Secrets.
	Named Read[corev1.Secret]
	// Policies are the ConfigMaps that hold the maintenance policy, see Settings.Policy.
	Policies Read[corev1.ConfigMap]
	// Validating and Mutating are the webhooks of the hub.
	Validating Read[admissionregistrationv1.ValidatingWebhookConfiguration]
	Mutating   Read[admissionregistrationv1.MutatingWebhookConfiguration]
}

// Rules are the checks of other parts of the manager.
type Rules struct {
	// Kubeconfig returns why a kubeconfig is not used; empty when it is.
	Kubeconfig func([]byte) string
	// Policy returns why a maintenance policy is invalid.
	Policy func([]byte) error
	// Definitions are this manager's definitions.
	Definitions []*apiextensionsv1.CustomResourceDefinition
}

// Judge returns findings about what would be different, or be refused.
//
//  1. Deployment: its flags and environment, and the Secrets and maintenance policy that it names.
//  2. Definitions and webhooks of the hub.
//  3. Kymas with their access Secrets, ModuleTemplates, ModuleReleaseMetas, Manifests: each by itself.
//  4. Modules: the verdict of Resolve on each module that upstream has installed.
//  5. Objects that only upstream needs, and that stay behind.
func Judge(hub *Hub, rules Rules) []Finding {
	j := &judge{hub: hub, rules: rules}
	j.deployment()
	j.definitions()
	j.webhooks()
	j.objects()
	j.modules()
	j.leftovers()
	return j.found
}

// judge collects findings.
type judge struct {
	hub      *Hub
	rules    Rules
	settings Settings
	found    []Finding
}

// sayf adds a finding about the hub as a whole.
func (j *judge) sayf(subject string, level Level, format string, args ...any) {
	j.found = append(j.found, Finding{Subject: subject, Level: level, Message: fmt.Sprintf(format, args...)})
}

// atf adds a finding about places, if there are any.
func (j *judge) atf(subject string, level Level, places []string, format string, args ...any) {
	if len(places) == 0 {
		return
	}
	slices.Sort(places)
	j.found = append(j.found, Finding{
		Subject: subject, Level: level, Message: fmt.Sprintf(format, args...),
		Count: len(places), Places: slices.Clone(places[:min(len(places), mostPlaces)]),
	})
}

// unread adds a finding if something could not be read, and reports whether that is so.
func (j *judge) unread(subject, reason string) bool {
	if reason == "" {
		return false
	}
	j.sayf(subject, Refused, "cannot be read, so that this report is incomplete: %s", reason)
	return true
}

// soundf adds a finding that a subject has no problems, if none was found.
func (j *judge) soundf(subject, format string, args ...any) {
	if !slices.ContainsFunc(j.found, func(f Finding) bool { return f.Subject == subject && f.Level != Fine }) {
		j.sayf(subject, Fine, format, args...)
	}
}

// flagged returns flags as they appear on a command line.
func flagged(names []string) string { return "--" + strings.Join(names, ", --") }
