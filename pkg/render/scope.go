package render

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Scope tells whether objects of a kind live in namespaces, and whether it knows. BuiltinScope is one.
type Scope func(schema.GroupVersionKind) (namespaced, known bool)

// FirstKnown asks scopes in turn and takes the first answer.
func FirstKnown(scopes ...Scope) Scope {
	return func(gvk schema.GroupVersionKind) (namespaced, known bool) {
		for _, scope := range scopes {
			if namespaced, known := scope(gvk); known {
				return namespaced, true
			}
		}
		return false, false
	}
}

// Learned is what CustomResourceDefinitions say about their kinds: whether they live in namespaces.
type Learned map[schema.GroupKind]bool

// Scope makes a Scope of it.
func (l Learned) Scope(gvk schema.GroupVersionKind) (namespaced, known bool) {
	namespaced, known = l[gvk.GroupKind()]
	return namespaced, known
}

// Scopes learns the scopes of the kinds that the CustomResourceDefinitions among objs define.
func Scopes(objs []*unstructured.Unstructured) Learned {
	learned := Learned{}
	for _, object := range objs {
		gk := object.GroupVersionKind().GroupKind()
		if gk != inventory.CRDKind {
			continue
		}
		group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
		scope, _, _ := unstructured.NestedString(object.Object, "spec", "scope")
		if group != "" && kind != "" && (scope == "Namespaced" || scope == "Cluster") {
			learned[schema.GroupKind{Group: group, Kind: kind}] = scope == "Namespaced"
		}
	}
	return learned
}

// BuiltinScope knows the kinds of Kubernetes' own API groups.
func BuiltinScope(gvk schema.GroupVersionKind) (namespaced, known bool) {
	clusterScoped, known := builtin[gvk.Group]
	return known && !slices.Contains(clusterScoped, gvk.Kind), known
}

// builtin has every API group that kube-apiserver itself serves, also in versions that are gone, with its cluster-scoped kinds. What is
// not named is namespaced. Groups that merely end in k8s.io (gateway.networking.k8s.io, metrics.k8s.io) belong to other servers.
var builtin = map[string][]string{
	"": {"ComponentStatus", "Namespace", "Node", "PersistentVolume"},
	"admissionregistration.k8s.io": {
		"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy",
		"ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
	},
	"apiextensions.k8s.io":         {"CustomResourceDefinition"},
	"apiregistration.k8s.io":       {"APIService"},
	"apps":                         nil,
	"authentication.k8s.io":        {"SelfSubjectReview", "TokenReview"},
	"authorization.k8s.io":         {"SelfSubjectAccessReview", "SelfSubjectRulesReview", "SubjectAccessReview"},
	"autoscaling":                  nil,
	"batch":                        nil,
	"certificates.k8s.io":          {"CertificateSigningRequest", "ClusterTrustBundle"},
	"coordination.k8s.io":          nil,
	"discovery.k8s.io":             nil,
	"events.k8s.io":                nil,
	"extensions":                   {"PodSecurityPolicy"},
	"flowcontrol.apiserver.k8s.io": {"FlowSchema", "PriorityLevelConfiguration"},
	"internal.apiserver.k8s.io":    {"StorageVersion"},
	"lifecycle.k8s.io":             nil,
	"networking.k8s.io":            {"IPAddress", "IngressClass", "ServiceCIDR"},
	"node.k8s.io":                  {"RuntimeClass"},
	"policy":                       {"PodSecurityPolicy"},
	"rbac.authorization.k8s.io":    {"ClusterRole", "ClusterRoleBinding"},
	"resource.k8s.io":              {"DeviceClass", "DeviceTaintRule", "ResourcePoolStatusRequest", "ResourceSlice"},
	"scheduling.k8s.io":            {"PriorityClass"},
	"storage.k8s.io":               {"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"},
	"storagemigration.k8s.io":      {"StorageVersionMigration"},
}
