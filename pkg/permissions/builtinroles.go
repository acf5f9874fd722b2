package permissions

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// holds is the verb of a grant that is a whole role.
const holds = "hold"

var (
	readVerbs  = []string{"get", "list", "watch"}
	writeVerbs = []string{"create", "update", "patch", "delete", "deletecollection"}
)

// expandedRoles are roles of every cluster whose rules are few and fixed, by how a report names them.
var expandedRoles = map[string][]rbacv1.PolicyRule{
	"ClusterRole cluster-admin": {
		{APIGroups: []string{wildcard}, Resources: []string{wildcard}, Verbs: []string{wildcard}},
		{NonResourceURLs: []string{wildcard}, Verbs: []string{wildcard}},
	},
	"ClusterRole system:auth-delegator": {
		{APIGroups: []string{"authentication.k8s.io"}, Resources: []string{"tokenreviews"}, Verbs: []string{"create"}},
		{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"subjectaccessreviews"}, Verbs: []string{"create"}},
	},
	"Role kube-system/extension-apiserver-authentication-reader": {
		{
			APIGroups: []string{""}, Resources: []string{"configmaps"}, ResourceNames: []string{"extension-apiserver-authentication"},
			Verbs: readVerbs,
		},
	},
}

// userRoles are the roles that clusters give to users, each with what it has at least beyond the one before.
var userRoles = []struct {
	role  string
	rules []rbacv1.PolicyRule
}{
	{"ClusterRole view", []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Verbs: readVerbs, Resources: []string{
			"bindings", "configmaps", "endpoints", "events", "limitranges", "namespaces", "namespaces/status", "persistentvolumeclaims",
			"persistentvolumeclaims/status", "pods", "pods/log", "pods/status", "replicationcontrollers", "replicationcontrollers/scale",
			"replicationcontrollers/status", "resourcequotas", "resourcequotas/status", "serviceaccounts", "services", "services/status",
		}},
		{APIGroups: []string{"apps"}, Verbs: readVerbs, Resources: []string{
			"controllerrevisions", "daemonsets", "daemonsets/status", "deployments", "deployments/scale", "deployments/status", "replicasets",
			"replicasets/scale", "replicasets/status", "statefulsets", "statefulsets/scale", "statefulsets/status",
		}},
		{APIGroups: []string{"autoscaling"}, Verbs: readVerbs, Resources: []string{
			"horizontalpodautoscalers", "horizontalpodautoscalers/status",
		}},
		{APIGroups: []string{"batch"}, Verbs: readVerbs, Resources: []string{"cronjobs", "cronjobs/status", "jobs", "jobs/status"}},
		{APIGroups: []string{"discovery.k8s.io"}, Verbs: readVerbs, Resources: []string{"endpointslices"}},
		{APIGroups: []string{"networking.k8s.io"}, Verbs: readVerbs, Resources: []string{"ingresses", "ingresses/status", "networkpolicies"}},
		{APIGroups: []string{"policy"}, Verbs: readVerbs, Resources: []string{"poddisruptionbudgets", "poddisruptionbudgets/status"}},
	}},
	{"ClusterRole edit", []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Verbs: readVerbs, Resources: []string{
			"pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "secrets", "services/proxy",
		}},
		{APIGroups: []string{""}, Verbs: writeVerbs, Resources: []string{
			"configmaps", "persistentvolumeclaims", "pods", "pods/attach", "pods/exec", "pods/portforward", "pods/proxy", "replicationcontrollers",
			"replicationcontrollers/scale", "secrets", "serviceaccounts", "services", "services/proxy",
		}},
		{APIGroups: []string{""}, Verbs: []string{"create"}, Resources: []string{"pods/eviction", "serviceaccounts/token"}},
		{APIGroups: []string{""}, Verbs: []string{"impersonate"}, Resources: []string{"serviceaccounts"}},
		{APIGroups: []string{"apps"}, Verbs: writeVerbs, Resources: []string{
			"daemonsets", "deployments", "deployments/rollback", "deployments/scale", "replicasets", "replicasets/scale", "statefulsets",
			"statefulsets/scale",
		}},
		{APIGroups: []string{"autoscaling"}, Verbs: writeVerbs, Resources: []string{"horizontalpodautoscalers"}},
		{APIGroups: []string{"batch"}, Verbs: writeVerbs, Resources: []string{"cronjobs", "jobs"}},
		{APIGroups: []string{"networking.k8s.io"}, Verbs: writeVerbs, Resources: []string{"ingresses", "networkpolicies"}},
		{APIGroups: []string{"policy"}, Verbs: writeVerbs, Resources: []string{"poddisruptionbudgets"}},
	}},
	{"ClusterRole admin", []rbacv1.PolicyRule{
		{APIGroups: []string{"authorization.k8s.io"}, Verbs: []string{"create"}, Resources: []string{"localsubjectaccessreviews"}},
		{
			APIGroups: []string{rbacv1.GroupName}, Verbs: slices.Concat(readVerbs, writeVerbs),
			Resources: []string{"rolebindings", "roles"},
		},
	}},
}

// userRole returns the place of a role among those for users; -1 for other roles.
func userRole(role string) int {
	for i := range userRoles {
		if userRoles[i].role == role {
			return i
		}
	}
	return -1
}

// builtinRole reports whether a ClusterRole is one that every cluster has.
func builtinRole(name string) bool {
	role := "ClusterRole " + name
	return expandedRoles[role] != nil || userRole(role) >= 0 || strings.HasPrefix(name, "system:")
}

// coversRole reports whether the rights of a scope include those of a whole role: by full control, by the role, or by a role for users that
// includes it.
func coversRole(has func(grant) bool, role string) bool {
	if has(grant{group: wildcard, resource: wildcard}) || has(grant{role: role}) {
		return true
	}
	at := userRole(role)
	if at < 0 {
		return false
	}
	return slices.ContainsFunc(userRoles[at+1:], func(wider struct {
		role  string
		rules []rbacv1.PolicyRule
	}) bool {
		return has(grant{role: wider.role})
	})
}

// impliedByRole reports whether a role for users, which a scope holds, allows a verb on a resource.
func impliedByRole(holdsRole func(string) bool, group, resource, verb string) bool {
	held := -1
	for i := range userRoles {
		if holdsRole(userRoles[i].role) {
			held = i
		}
	}
	for _, included := range userRoles[:held+1] {
		for _, rule := range included.rules {
			if slices.Contains(rule.APIGroups, group) && slices.Contains(rule.Resources, resource) && slices.Contains(rule.Verbs, verb) {
				return true
			}
		}
	}
	return false
}
