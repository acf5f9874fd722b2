package permissions

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// describeInterception returns how grave an interception is, and what it does.
func describeInterception(i *Interception) (Severity, string) {
	object := "every "
	if i.selective() {
		object = "every selected "
	}
	text := "Sees and may refuse "
	switch {
	case i.Policy && i.Mutates:
		text = "Changes by a rule of its own "
	case i.Policy:
		text = "May refuse by a rule of its own "
	case i.Outside != "":
		text = "Sends to " + short(i.Outside) + " outside the cluster, which may refuse it, "
		if i.Mutates {
			text = "Sends to " + short(i.Outside) + " outside the cluster, which may change it, "
		}
	case i.Mutates:
		text = "Sees and may change "
	}
	text += object + interceptedNoun(i) + operationPhrase(i.Operations)
	if i.Blocks {
		text += "; blocks it while it does not answer"
	}
	return interceptionSeverity(i), text + "."
}

// interceptedNoun names what is intercepted.
func interceptedNoun(i *Interception) string {
	base, sub, hasSub := strings.Cut(i.Resource, "/")
	var text string
	switch {
	case base == wildcard && i.Group == wildcard:
		text = "object of the cluster"
	case base == wildcard && i.Group == "":
		text = "object of the core API, Secrets included,"
	case base == wildcard:
		text = "object of API group " + short(i.Group)
	default:
		text = nounOf(i.Group, base)
	}
	if hasSub && sub != wildcard {
		return text + " (" + subresource(sub) + ")"
	}
	return text
}

// operationPhrase says what is done with an object when it is intercepted.
func operationPhrase(operations []string) string {
	var words []string
	for _, operation := range []struct{ name, word string }{
		{"CREATE", "created"}, {"UPDATE", "changed"}, {"DELETE", "deleted"}, {"CONNECT", "connected to"},
	} {
		if slices.Contains(operations, operation.name) {
			words = append(words, operation.word)
		}
	}
	if len(words) == 0 {
		return ""
	}
	return " that is " + strings.Join(words[:len(words)-1], ", ") + orBefore(words)
}

// orBefore ends an enumeration with "or".
func orBefore(words []string) string {
	last := words[len(words)-1]
	if len(words) == 1 {
		return last
	}
	return " or " + last
}

// interceptionSeverity returns how grave an interception is: by what it sees, whether it can change it, and whether the cluster stands
// still without it.
func interceptionSeverity(i *Interception) Severity {
	if i.Own {
		if i.Outside != "" {
			return Medium
		}
		return Info
	}
	severity, vital := i.target()
	if i.Mutates {
		severity = severity.raised()
	}
	if i.Blocks && vital {
		severity = severity.raised()
	}
	if i.Policy || i.selective() {
		severity = severity.lowered()
	}
	if i.Outside != "" {
		severity = max(severity.raised(), High)
	}
	return severity
}

// target returns how grave it is to see and refuse requests for a resource, and whether the cluster needs them to work.
func (i *Interception) target() (severity Severity, vital bool) {
	matches := func(group string, resources ...string) bool {
		return (i.Group == wildcard || i.Group == group) && slices.ContainsFunc(resources, func(resource string) bool {
			return intercepts(i.Resource, resource) || strings.HasPrefix(i.Resource, resource+"/")
		})
	}
	switch {
	case i.Group == wildcard && strings.HasPrefix(i.Resource, wildcard):
		return High, true
	case matches("", "secrets"):
		return High, false
	case matches("", "pods", "nodes", "namespaces", "serviceaccounts"), matches("coordination.k8s.io", "leases"):
		return Medium, true
	case matches(rbacv1.GroupName, "roles", "clusterroles", "rolebindings", "clusterrolebindings"),
		matches(admission, "mutatingwebhookconfigurations", "validatingwebhookconfigurations"),
		matches(groupDefinitions, "customresourcedefinitions"):
		return Medium, false
	case matches("apps", workloads...), matches("batch", "jobs", "cronjobs"):
		return Medium, false
	default:
		return Low, false
	}
}
