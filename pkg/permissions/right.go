package permissions

import (
	"slices"
	"strings"
)

// wildcard is how RBAC writes "all of them".
const wildcard = "*"

// Right is what RBAC allows one holder to do with one resource. It is one of three: a resource, a URL, or a role whose rules are not
// among the objects.
type Right struct {
	// Holder is who has it: "" for the ServiceAccounts of the module, "ServiceAccount ns/name", "User x", "Group x", or "role view" for the
	// subjects that the cluster binds to that role.
	Holder string `json:"holder,omitempty"`
	// Namespace limits the right; "" is the whole cluster.
	Namespace string `json:"namespace,omitempty"`
	// Group is the API group, or "*".
	Group string `json:"group,omitempty"`
	// Resource is the plural name, with its subresource: "pods/exec". "*" is all of them.
	Resource string `json:"resource,omitempty"`
	// Names limits the right to single objects; empty is all of them.
	Names []string `json:"names,omitempty"`
	// Verbs in the order of RBAC's documentation: get, list, watch, create, ...
	Verbs []string `json:"verbs,omitempty"`
	// URL is a path of the API server that belongs to no object.
	URL string `json:"url,omitempty"`
	// Role is a role whose rules are not among the objects: "ClusterRole edit".
	Role string `json:"role,omitempty"`
	// Own means that the module defines the resource itself.
	Own bool `json:"own,omitempty"`
}

// key identifies what the right allows.
func (r *Right) key() string {
	what := r.target()
	if r.Resource != "" {
		what = r.Group + ":" + r.Resource
	}
	return joinKey(
		"rights", escapes.Replace(r.Holder), escapes.Replace(r.Namespace), escapes.Replace(what), joinNames(r.Names), joinNames(r.Verbs),
	)
}

// escapes keep the parts of a key apart, whatever stands in them.
var escapes = strings.NewReplacer("%", "%25", "|", "%7C", ",", "%2C")

// joinKey makes a key of parts.
func joinKey(parts ...string) string { return strings.Join(parts, "|") }

// joinNames writes texts of others into one part of a key.
func joinNames(names []string) string {
	escaped := make([]string, len(names))
	for i, name := range names {
		escaped[i] = escapes.Replace(name)
	}
	return strings.Join(escaped, ",")
}

// target names what the right is about: "deployments.apps", "url /metrics", "ClusterRole edit".
func (r *Right) target() string {
	switch {
	case r.URL != "":
		return "url " + r.URL
	case r.Role != "":
		return r.Role
	default:
		return resourceText(r.Group, r.Resource)
	}
}

// resourceText writes a resource as kubectl does: "deployments.apps/scale".
func resourceText(group, resource string) string {
	if group == "" {
		return resource
	}
	base, sub, found := strings.Cut(resource, "/")
	if !found {
		return base + "." + group
	}
	return base + "." + group + "/" + sub
}

// definition identifies the definition of the resource, as "plural.group".
func (r *Right) definition() string {
	base, _, _ := strings.Cut(r.Resource, "/")
	return base + "." + r.Group
}

// usesWildcard reports whether the right names everything of a kind: all verbs, all groups, all resources or all URLs.
func (r *Right) usesWildcard() bool {
	return slices.Contains(r.Verbs, wildcard) || r.Group == wildcard || strings.Contains(r.Resource, wildcard) ||
		strings.Contains(r.URL, wildcard)
}

// Wildcards returns the findings whose rules ask for everything of a kind, where a list of what is needed would do. Rules that a wider one
// covers are not among them.
func Wildcards(report Report) []Finding {
	var found []Finding
	for _, finding := range report.Findings {
		if finding.Right != nil && finding.Right.usesWildcard() {
			found = append(found, finding)
		}
	}
	return found
}

// verbOrder is the order in which verbs are written; others follow by name.
var verbOrder = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}

func compareVerbs(a, b string) int {
	at, bt := slices.Index(verbOrder, a), slices.Index(verbOrder, b)
	switch {
	case at >= 0 && bt >= 0:
		return at - bt
	case at >= 0:
		return -1
	case bt >= 0:
		return 1
	default:
		return strings.Compare(a, b)
	}
}

// ordinary reports whether a verb is one that every resource has.
func ordinary(verb string) bool { return slices.Contains(verbOrder, verb) }
