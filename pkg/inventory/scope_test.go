package inventory

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

func TestBuiltinScope(t *testing.T) {
	for name, test := range map[string]struct {
		group, kind       string
		namespaced, known bool
	}{
		"a Namespace is in no namespace":                        {"", "Namespace", false, true},
		"a ConfigMap is in a namespace":                         {"", "ConfigMap", true, true},
		"a Deployment is in a namespace":                        {"apps", "Deployment", true, true},
		"a ClusterRole is in no namespace":                      {"rbac.authorization.k8s.io", "ClusterRole", false, true},
		"a Role is in a namespace":                              {"rbac.authorization.k8s.io", "Role", true, true},
		"a CustomResourceDefinition is in no namespace":         {"apiextensions.k8s.io", "CustomResourceDefinition", false, true},
		"an APIService is in no namespace":                      {"apiregistration.k8s.io", "APIService", false, true},
		"a webhook configuration is in no namespace":            {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", false, true},
		"a custom resource is unknown":                          {"operator.kyma-project.io", "Kyma", false, false},
		"a group that only looks like Kubernetes' own":          {"gateway.networking.k8s.io", "Gateway", false, false},
		"a kind with a built-in name in another user's group":   {"example.io", "Namespace", false, false},
		"a kind that is not there yet is taken for a namespace": {"batch", "Novelty", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			namespaced, known := BuiltinScope(schema.GroupKind{Group: test.group, Kind: test.kind})
			if namespaced != test.namespaced || known != test.known {
				t.Errorf("namespaced %t, known %t", namespaced, known)
			}
		})
	}
}

// Guards the table against spelling mistakes and against groups that come with a new version of Kubernetes.
func TestBuiltinScope_AgreesWithTheClient(t *testing.T) {
	served := map[string][]string{}
	for gvk := range scheme.Scheme.AllKnownTypes() {
		served[gvk.Group] = append(served[gvk.Group], gvk.Kind)
	}
	extra := []string{"apiextensions.k8s.io", "apiregistration.k8s.io", "internal.apiserver.k8s.io", "lifecycle.k8s.io"}
	// Never in client-go's scheme, or no objects that anyone stores.
	gone := []string{"PodSecurityPolicy"}
	none := []string{"__internal", "imagepolicy.k8s.io", "meta.k8s.io", "admission.k8s.io"}
	for group, clusterScoped := range clusterScopedKinds {
		if served[group] == nil && !slices.Contains(extra, group) {
			t.Errorf("group %q is in the table and not in the client", group)
		}
		for _, kind := range clusterScoped {
			if served[group] != nil && !slices.Contains(served[group], kind) && !slices.Contains(gone, kind) {
				t.Errorf("kind %s.%s is in the table and not in the client", kind, group)
			}
		}
	}
	for group := range served {
		if _, ok := clusterScopedKinds[group]; !ok && !slices.Contains(none, group) {
			t.Errorf("group %q is in the client and not in the table", group)
		}
	}
}
