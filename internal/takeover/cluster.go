package takeover

import (
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// The subjects of findings about the hub.
const (
	subjectDefinitions = "definitions"
	subjectWebhooks    = "webhooks"
	subjectLeftovers   = "leftovers"
)

// ownKinds are kinds of this manager that upstream does not have.
var ownKinds = []string{"ModuleRollout", "KymaRelease"}

// definitions checks the existing definitions against those that replace them.
func (j *judge) definitions() {
	if j.unread(subjectDefinitions, j.hub.Definitions.Err) {
		return
	}
	replaced := 0
	var missing, stored, converted []string
	for _, ours := range j.rules.Definitions {
		at := slices.IndexFunc(j.hub.Definitions.Items, func(live apiextensionsv1.CustomResourceDefinition) bool {
			return live.Name == ours.Name
		})
		if at < 0 && slices.Contains(ownKinds, ours.Spec.Names.Kind) {
			continue // it comes with this manager
		}
		replaced++
		if at < 0 {
			missing = append(missing, ours.Name)
			continue
		}
		live := &j.hub.Definitions.Items[at]
		if c := live.Spec.Conversion; c != nil && c.Strategy == apiextensionsv1.WebhookConverter {
			converted = append(converted, live.Name)
		}
		for _, version := range live.Status.StoredVersions {
			if !has(ours, version) {
				stored = append(stored, live.Name+" "+version)
			}
		}
	}
	j.atf(subjectDefinitions, Refused, missing, "missing: is this the cluster that upstream's manager runs on?")
	j.atf(subjectDefinitions, Refused, stored, "this manager's definition does not have the stored version, so that the API server refuses "+
		"it: upgrade upstream first, migrate the objects, and take the version out of status.storedVersions")
	j.atf(subjectDefinitions, Differs, converted, "conversion by upstream's webhook ends: this manager's definitions have none, or their own")
	j.soundf(subjectDefinitions, "all %d can be replaced", replaced)
}

// has reports whether a definition has a version, served or not.
func has(definition *apiextensionsv1.CustomResourceDefinition, version string) bool {
	return slices.ContainsFunc(definition.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return v.Name == version
	})
}

// hook holds the relevant fields of a webhook.
type hook struct {
	name   string
	rules  []admissionregistrationv1.RuleWithOperations
	client admissionregistrationv1.WebhookClientConfig
}

// webhooks checks which webhooks are called when the manager writes its objects.
func (j *judge) webhooks() {
	unread := j.unread(subjectWebhooks, j.hub.Validating.Err)
	unread = j.unread(subjectWebhooks, j.hub.Mutating.Err) || unread
	var own, others []string
	for _, h := range j.hooks() {
		if !h.concerns(v1beta2.GroupVersion.Group) {
			continue
		}
		service := h.client.Service
		if service != nil && service.Namespace == v1beta2.DefaultNamespace && strings.HasPrefix(service.Name, "klm-") {
			own = append(own, h.name)
			continue
		}
		others = append(others, h.name)
	}
	j.atf(subjectWebhooks, Refused, own,
		"upstream's manager serves the webhook: once that is gone, writes of its objects may fail; delete the webhook before the switch")
	j.atf(subjectWebhooks, Differs, others,
		"the webhook judges or changes the manager's objects: see whether it accepts what this manager writes")
	if !unread {
		j.soundf(subjectWebhooks, "none is asked about the manager's objects")
	}
}

// hooks returns all webhooks of the hub.
func (j *judge) hooks() []hook {
	var found []hook
	for i := range j.hub.Validating.Items {
		configuration := &j.hub.Validating.Items[i]
		for k := range configuration.Webhooks {
			w := &configuration.Webhooks[k]
			found = append(found, hook{name: "validating " + configuration.Name + ": " + w.Name, rules: w.Rules, client: w.ClientConfig})
		}
	}
	for i := range j.hub.Mutating.Items {
		configuration := &j.hub.Mutating.Items[i]
		for k := range configuration.Webhooks {
			w := &configuration.Webhooks[k]
			found = append(found, hook{name: "mutating " + configuration.Name + ": " + w.Name, rules: w.Rules, client: w.ClientConfig})
		}
	}
	return found
}

// concerns reports whether a webhook is called for objects of a group.
func (h hook) concerns(group string) bool {
	return slices.ContainsFunc(h.rules, func(r admissionregistrationv1.RuleWithOperations) bool {
		return slices.Contains(r.APIGroups, group) || slices.Contains(r.APIGroups, "*")
	})
}

// leftovers checks for objects that only upstream needs.
func (j *judge) leftovers() {
	if j.unread("Watchers", j.hub.Watchers.Err) {
		return
	}
	if number := len(j.hub.Watchers.Items); number > 0 {
		j.sayf(subjectLeftovers, Fine, "%s without effect after the switch: keep them as long as you may switch back, then delete them "+
			"with their definition, the VirtualServices, Gateway klm-watcher and the certificates", english.Plural(number, "Watcher", ""))
	}
}
