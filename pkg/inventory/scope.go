package inventory

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// BuiltinScope reports whether objects of a kind live in namespaces, and whether the kind belongs to one of Kubernetes' own API groups: of
// others it knows nothing.
func BuiltinScope(kind schema.GroupKind) (namespaced, known bool) {
	clusterScoped, known := clusterScopedKinds[kind.Group]
	return known && !slices.Contains(clusterScoped, kind.Kind), known
}

// clusterScopedKinds has every API group that kube-apiserver itself serves, also in versions that are gone, with its cluster-scoped
// kinds. What is not named is namespaced. Groups that merely end in k8s.io (gateway.networking.k8s.io, metrics.k8s.io) belong to other
// servers or come from CustomResourceDefinitions.
var clusterScopedKinds = map[string][]string{
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
