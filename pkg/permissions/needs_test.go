package permissions_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// aModule has something of all that needs more than the ordinary verbs.
const aModule = `
apiVersion: v1
kind: Namespace
metadata: {name: x}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gatewaies.example.com}
spec: {group: example.com, scope: Cluster, names: {kind: Gateway, plural: gatewaies}}
---
apiVersion: example.com/v1
kind: Gateway
metadata: {name: g}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: op, namespace: x}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: op}
rules: [{apiGroups: [""], resources: [nodes], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: op}
roleRef: {kind: ClusterRole, name: op}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: op, namespace: x}
roleRef: {kind: ClusterRole, name: view}
`

func TestNeedsOf_NamesEveryRight(t *testing.T) {
	const all = ", verbs: [get, create, patch, delete]}"
	for name, test := range map[string]struct {
		work permissions.Work
		want string
	}{
		"objects are read, written and deleted by name; definitions and Namespaces are looked into, roles ask for what they grant": {
			permissions.Work{Install: documents(t, aModule)},
			`in the whole cluster {apiGroups: [""], resources: [namespaces], resourceNames: [x]` + all +
				`, {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], resourceNames: [gatewaies.example.com]` + all +
				`, {apiGroups: [example.com], resources: [gatewaies], verbs: [list]}` +
				`, {apiGroups: [example.com], resources: [gatewaies], resourceNames: [g]` + all +
				`, {apiGroups: [rbac.authorization.k8s.io], resources: [clusterrolebindings], resourceNames: [op]` + all +
				`, {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [op], ` +
				`verbs: [get, create, patch, delete, bind, escalate]}` +
				`; in namespace x {apiGroups: ["*"], resources: ["*"], verbs: [list]}` +
				`, {apiGroups: [apps], resources: [deployments], resourceNames: [op]` + all +
				`, {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [view], verbs: [bind]}` +
				`, {apiGroups: [rbac.authorization.k8s.io], resources: [rolebindings], resourceNames: [op]` + all,
		},
		"a Namespace that stays is not looked into": {
			permissions.Work{
				Install: documents(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}"), Kept: []string{"x", "y"},
				Delete: []inventory.ID{{Kind: "Namespace", Name: "y"}},
			},
			`in the whole cluster {apiGroups: [""], resources: [namespaces], resourceNames: [x], verbs: [get, create, patch]}`,
		},
		"what is only deleted needs no right to write": {
			permissions.Work{Delete: []inventory.ID{{Kind: "ConfigMap", Namespace: "x", Name: "b"}, {Kind: "Secret", Namespace: "x", Name: "b"}}},
			`in namespace x {apiGroups: [""], resources: [configmaps, secrets], resourceNames: [b], verbs: [get, delete]}`,
		},
		"before a Namespace or a definition is deleted, what would go with it is listed": {
			permissions.Work{Delete: []inventory.ID{
				{Kind: "Namespace", Name: "y"}, {Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "boxes.a.io"},
			}},
			`in the whole cluster {apiGroups: [""], resources: [namespaces], resourceNames: [y], verbs: [get, delete]}` +
				`, {apiGroups: [a.io], resources: [boxes], verbs: [list]}` +
				`, {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], resourceNames: [boxes.a.io], verbs: [get, delete]}` +
				`; in namespace y {apiGroups: ["*"], resources: ["*"], verbs: [list]}`,
		},
		"a name that YAML would read as a number is quoted": {
			permissions.Work{Delete: []inventory.ID{{Kind: "ConfigMap", Namespace: "x", Name: "1.0"}}},
			`in namespace x {apiGroups: [""], resources: [configmaps], resourceNames: ["1.0"], verbs: [get, delete]}`,
		},
		"a kind is listed where it is served, under the name that it has there": {
			permissions.Work{
				List: []schema.GroupKind{{Group: "a.io", Kind: "Box"}, {Group: "b.io", Kind: "Box"}},
				Served: map[schema.GroupKind]permissions.Served{
					{Group: "a.io", Kind: "Box"}: {Resource: "boxen", Namespaced: true},
				},
			},
			`in the whole cluster {apiGroups: [a.io], resources: [boxen], verbs: [list]}`,
		},
		"a Namespace that is only asked for is not deleted": {
			permissions.Work{Namespaces: []string{"y"}},
			`in the whole cluster {apiGroups: [""], resources: [namespaces], resourceNames: [y], verbs: [get, create, patch]}`,
		},
		"a role that grants nothing asks for nothing": {
			permissions.Work{Install: documents(t, "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r, namespace: x}")},
			`in namespace x {apiGroups: [rbac.authorization.k8s.io], resources: [roles], resourceNames: [r]` + all,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, permissions.DescribeNeeds(permissions.NeedsOf(test.work), 1<<20)); diff != "" {
				t.Errorf("needs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMissing_IsWhatNoRuleCovers(t *testing.T) {
	rule := func(groups, resources, verbs string, names ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{
			APIGroups: strings.Split(groups, ","), Resources: strings.Split(resources, ","), Verbs: strings.Split(verbs, ","), ResourceNames: names,
		}
	}
	const roles = "rbac.authorization.k8s.io"
	role := func(kind, head, rest string) string {
		return "apiVersion: rbac.authorization.k8s.io/v1\nkind: " + kind + "\nmetadata: {name: r" + head + "}\n" + rest
	}
	reads := role("Role", ", namespace: x", `rules: [{apiGroups: [""], resources: [pods], verbs: [get, list]}]`)
	writer := rule(roles, "roles,rolebindings,clusterroles", "get,create,patch,delete")
	many := "[" + strings.Repeat("a, ", 400) + "]"
	for name, test := range map[string]struct {
		work  permissions.Work
		rules map[string][]rbacv1.PolicyRule
		want  string
	}{
		"who may do everything lacks nothing": {
			permissions.Work{Install: documents(t, aModule)},
			map[string][]rbacv1.PolicyRule{"": {rule("*", "*", "*")}, "x": {rule("*", "*", "*")}}, "",
		},
		"a role in another namespace does not count": {
			permissions.Work{Delete: []inventory.ID{{Kind: "ConfigMap", Namespace: "x", Name: "c"}}},
			map[string][]rbacv1.PolicyRule{"": nil, "y": {rule("", "configmaps", "*")}},
			`in namespace x {apiGroups: [""], resources: [configmaps], resourceNames: [c], verbs: [get, delete]}`,
		},
		"a rule for this very name counts, one for another does not": {
			permissions.Work{Delete: []inventory.ID{{Kind: "ConfigMap", Namespace: "x", Name: "a"}, {Kind: "ConfigMap", Namespace: "x", Name: "b"}}},
			map[string][]rbacv1.PolicyRule{"x": {rule("", "configmaps", "get,delete", "a", "c")}},
			`in namespace x {apiGroups: [""], resources: [configmaps], resourceNames: [b], verbs: [get, delete]}`,
		},
		"to list, a rule for names does not do": {
			permissions.Work{List: []schema.GroupKind{{Kind: "Secret"}}},
			map[string][]rbacv1.PolicyRule{"": {rule("", "secrets", "list", "a")}},
			`in the whole cluster {apiGroups: [""], resources: [secrets], verbs: [list]}`,
		},
		"who has the rights of a role may write it": {
			permissions.Work{Install: documents(t, reads)},
			map[string][]rbacv1.PolicyRule{"x": {writer, rule("", "*", "get,list")}}, "",
		},
		"who may escalate may write it, too": {
			permissions.Work{Install: documents(t, reads)},
			map[string][]rbacv1.PolicyRule{"x": {writer, rule(roles, "roles", "escalate", "r")}}, "",
		},
		"who has a part of its rights may not": {
			permissions.Work{Install: documents(t, reads)},
			map[string][]rbacv1.PolicyRule{"x": {writer, rule("", "pods", "get")}},
			`in namespace x {apiGroups: [rbac.authorization.k8s.io], resources: [roles], resourceNames: [r], verbs: [escalate]}`,
		},
		"rights that are too many to be compared count as missing": {
			permissions.Work{Install: documents(t, role("Role", ", namespace: x", "rules: [{apiGroups: "+many+", resources: "+many+", verbs: [get]}]"))},
			map[string][]rbacv1.PolicyRule{"x": {writer, rule("*", "*", "get")}},
			`in namespace x {apiGroups: [rbac.authorization.k8s.io], resources: [roles], resourceNames: [r], verbs: [escalate]}`,
		},
		"an aggregation is for those who may do everything, and with it the binding of what is not gathered yet": {
			permissions.Work{Install: append(
				documents(t, role("ClusterRole", "", "aggregationRule: {clusterRoleSelectors: [{matchLabels: {a: b}}]}")),
				documents(t, role("RoleBinding", ", namespace: x", "roleRef: {kind: ClusterRole, name: r}"))...,
			)},
			map[string][]rbacv1.PolicyRule{"": {writer, rule("*", "*", "get")}, "x": {writer, rule("*", "*", "get")}},
			`in the whole cluster {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [r], verbs: [escalate]}` +
				`; in namespace x {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [r], verbs: [bind]}`,
		},
		"who has the rights of a role of the cluster may bind it, where the role is known": {
			permissions.Work{
				Install: documents(t, role("RoleBinding", ", namespace: x", "roleRef: {kind: ClusterRole, name: view}")),
				Known: documents(t, "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: view}\n"+
					`rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]`),
			},
			map[string][]rbacv1.PolicyRule{"x": {writer, rule("", "pods", "get")}}, "",
		},
		"where it is not, only the verb does": {
			permissions.Work{Install: documents(t, role("RoleBinding", ", namespace: x", "roleRef: {kind: ClusterRole, name: view}"))},
			map[string][]rbacv1.PolicyRule{"x": {writer, rule("", "*", "*")}},
			`in namespace x {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [view], verbs: [bind]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			missing := permissions.Missing(permissions.NeedsOf(test.work), test.rules)
			if diff := cmp.Diff(test.want, permissions.DescribeNeeds(missing, 1<<20)); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDescribeNeeds_NamesKindsWhereObjectsAreTooMany(t *testing.T) {
	work := permissions.Work{Install: documents(t, "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: r, namespace: x}\n"+
		`rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]`)}
	for _, name := range []string{"first", "second"} {
		work.Delete = append(work.Delete, inventory.ID{Kind: "ConfigMap", Namespace: "x", Name: name})
	}
	const want = `in namespace x {apiGroups: [""], resources: [configmaps], verbs: [get, delete]}, ` +
		`{apiGroups: [rbac.authorization.k8s.io], resources: [roles], verbs: [get, create, patch, delete]}, ` +
		`{apiGroups: [rbac.authorization.k8s.io], resources: [roles], resourceNames: [r], verbs: [escalate]}`
	if diff := cmp.Diff(want, permissions.DescribeNeeds(permissions.NeedsOf(work), 100)); diff != "" {
		t.Errorf("described (-want +got):\n%s", diff)
	}
}

func TestBoundRoles_AreThoseOfTheCluster(t *testing.T) {
	got := permissions.BoundRoles(documents(t, aModule))
	want := []inventory.ID{{Group: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
}
