package permissions_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// TestInstallRole_AllowsWhatAnInstallerDoes compares the roles for a small module with the answer written by hand.
func TestInstallRole_AllowsWhatAnInstallerDoes(t *testing.T) {
	const all = "verbs: [get, list, watch, create, update, patch, delete]"
	objects := documents(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gatewaies-of-old.example.com}
spec: {group: example.com, scope: Cluster, names: {kind: Gateway, plural: gatewaies-of-old}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.example.com}
spec: {group: example.com, scope: Namespaced, names: {kind: Box, plural: boxes}}
---
apiVersion: v1
kind: Namespace
metadata: {name: x}
---
apiVersion: example.com/v1
kind: Gateway
metadata: {name: g}
---
apiVersion: other.com/v1
kind: Proxy
metadata: {name: p, namespace: x}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: op, namespace: x}}
- {apiVersion: v1, kind: Endpoints, metadata: {name: op, namespace: x}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: op}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: op}
roleRef: {kind: ClusterRole, name: cluster-admin}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: op, namespace: x}
roleRef: {kind: Role, name: leader}
`)
	want := documents(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: installer}
rules:
- {apiGroups: [""], resources: [namespaces], `+all+`}
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], `+all+`}
- {apiGroups: [example.com], resources: [gatewaies-of-old], `+all+`}
- {apiGroups: [example.com], resources: [boxes], verbs: [list]}
- {apiGroups: [rbac.authorization.k8s.io], resources: [clusterrolebindings, clusterroles], `+all+`}
- {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [cluster-admin], verbs: [bind]}
- {apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [op], verbs: [escalate]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: installer, namespace: x}
rules:
- {apiGroups: [""], resources: [endpoints, serviceaccounts], `+all+`}
- {apiGroups: ["*"], resources: ["*"], verbs: [list]}
- {apiGroups: [other.com], resources: [proxies], `+all+`}
- {apiGroups: [rbac.authorization.k8s.io], resources: [rolebindings], `+all+`}
- {apiGroups: [rbac.authorization.k8s.io], resources: [roles], resourceNames: [leader], verbs: [bind]}
`)
	got, err := permissions.InstallRole(objects, "installer")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("roles (-want +got):\n%s", diff)
	}
}

func TestInstallRole_RefusesWhatItCannotAllow(t *testing.T) {
	for name, test := range map[string]struct{ objects, role, want string }{
		"a role needs a name":                      {"", "", "needs a name"},
		"an object without a name cannot be named": {"apiVersion: v1\nkind: ConfigMap", "r", "no kind or no name"},
		"a namespaced object needs a namespace":    {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}", "r", "names no namespace"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := permissions.InstallRole(documents(t, test.objects), test.role)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func documents(t testing.TB, text string) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for document := range strings.SplitSeq(text, "\n---\n") {
		fields := map[string]any{}
		if err := yaml.Unmarshal([]byte(document), &fields); err != nil {
			t.Fatal(err)
		}
		if len(fields) > 0 {
			objects = append(objects, &unstructured.Unstructured{Object: fields})
		}
	}
	return objects
}
