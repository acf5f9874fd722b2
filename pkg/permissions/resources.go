package permissions

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// nouns are what users call the resources of Kubernetes' own API groups.
var nouns = map[string]string{
	"bindings": "Pod", "componentstatuses": "ComponentStatus", "configmaps": "ConfigMap", "endpoints": "Endpoints", "events": "Event",
	"limitranges": "LimitRange", "namespaces": "Namespace", "nodes": "Node", "persistentvolumeclaims": "PersistentVolumeClaim",
	"persistentvolumes": "PersistentVolume", "pods": "Pod", "podtemplates": "PodTemplate", "replicationcontrollers": "ReplicationController",
	"resourcequotas": "ResourceQuota", "secrets": "Secret", "serviceaccounts": "ServiceAccount", "services": "Service",
	"users": "user", "groups": "group",

	"mutatingadmissionpolicies.admissionregistration.k8s.io":         "MutatingAdmissionPolicy",
	"mutatingadmissionpolicybindings.admissionregistration.k8s.io":   "MutatingAdmissionPolicyBinding",
	"mutatingwebhookconfigurations.admissionregistration.k8s.io":     "MutatingWebhookConfiguration",
	"validatingadmissionpolicies.admissionregistration.k8s.io":       "ValidatingAdmissionPolicy",
	"validatingadmissionpolicybindings.admissionregistration.k8s.io": "ValidatingAdmissionPolicyBinding",
	"validatingwebhookconfigurations.admissionregistration.k8s.io":   "ValidatingWebhookConfiguration",
	"customresourcedefinitions.apiextensions.k8s.io":                 "CustomResourceDefinition",
	"apiservices.apiregistration.k8s.io":                             "APIService",
	"controllerrevisions.apps":                                       "ControllerRevision",
	"daemonsets.apps":                                                "DaemonSet",
	"deployments.apps":                                               "Deployment",
	"replicasets.apps":                                               "ReplicaSet",
	"statefulsets.apps":                                              "StatefulSet",
	"horizontalpodautoscalers.autoscaling":                           "HorizontalPodAutoscaler",
	"cronjobs.batch":                                                 "CronJob",
	"jobs.batch":                                                     "Job",
	"certificatesigningrequests.certificates.k8s.io":                 "CertificateSigningRequest",
	"clustertrustbundles.certificates.k8s.io":                        "ClusterTrustBundle",
	"signers.certificates.k8s.io":                                    "signer",
	"leases.coordination.k8s.io":                                     "Lease",
	"endpointslices.discovery.k8s.io":                                "EndpointSlice",
	"events.events.k8s.io":                                           "Event",
	"flowschemas.flowcontrol.apiserver.k8s.io":                       "FlowSchema",
	"prioritylevelconfigurations.flowcontrol.apiserver.k8s.io":       "PriorityLevelConfiguration",
	"ingressclasses.networking.k8s.io":                               "IngressClass",
	"ingresses.networking.k8s.io":                                    "Ingress",
	"networkpolicies.networking.k8s.io":                              "NetworkPolicy",
	"runtimeclasses.node.k8s.io":                                     "RuntimeClass",
	"poddisruptionbudgets.policy":                                    "PodDisruptionBudget",
	"podsecuritypolicies.policy":                                     "PodSecurityPolicy",
	"clusterrolebindings.rbac.authorization.k8s.io":                  "ClusterRoleBinding",
	"clusterroles.rbac.authorization.k8s.io":                         "ClusterRole",
	"rolebindings.rbac.authorization.k8s.io":                         "RoleBinding",
	"roles.rbac.authorization.k8s.io":                                "Role",
	"priorityclasses.scheduling.k8s.io":                              "PriorityClass",
	"securitycontextconstraints.security.openshift.io":               "SecurityContextConstraints",
	"csidrivers.storage.k8s.io":                                      "CSIDriver",
	"csinodes.storage.k8s.io":                                        "CSINode",
	"csistoragecapacities.storage.k8s.io":                            "CSIStorageCapacity",
	"storageclasses.storage.k8s.io":                                  "StorageClass",
	"volumeattachments.storage.k8s.io":                               "VolumeAttachment",
	"volumeattributesclasses.storage.k8s.io":                         "VolumeAttributesClass",
	"ipaddresses.networking.k8s.io":                                  "IPAddress",
	"servicecidrs.networking.k8s.io":                                 "ServiceCIDR",
	"deviceclasses.resource.k8s.io":                                  "DeviceClass",
	"resourceslices.resource.k8s.io":                                 "ResourceSlice",
	"resourceclaims.resource.k8s.io":                                 "ResourceClaim",
	"resourceclaimtemplates.resource.k8s.io":                         "ResourceClaimTemplate",
	"selfsubjectreviews.authentication.k8s.io":                       "SelfSubjectReview",
	"tokenreviews.authentication.k8s.io":                             "TokenReview",
	"subjectaccessreviews.authorization.k8s.io":                      "SubjectAccessReview",
	"localsubjectaccessreviews.authorization.k8s.io":                 "LocalSubjectAccessReview",
	"selfsubjectaccessreviews.authorization.k8s.io":                  "SelfSubjectAccessReview",
	"selfsubjectrulesreviews.authorization.k8s.io":                   "SelfSubjectRulesReview",
	"ingresses.extensions":                                           "Ingress",
	"uids.authentication.k8s.io":                                     "user identifier",
	"userextras.authentication.k8s.io":                               "user attribute",
}

// nounOf returns what users call a resource; others are called as kubectl does.
func nounOf(group, resource string) string {
	text := resourceText(group, resource)
	if noun, known := nouns[text]; known {
		return noun
	}
	return short(text)
}

// pluralNoun returns what users call several objects of a resource.
func pluralNoun(group, resource string) string {
	noun, known := nouns[resourceText(group, resource)]
	switch {
	case resource == wildcard:
		return "objects"
	case !known:
		return short(resourceText(group, resource))
	case strings.HasSuffix(noun, "ss"):
		return noun + "es"
	case strings.HasSuffix(noun, "s"):
		return noun
	case strings.HasSuffix(noun, "y"):
		return strings.TrimSuffix(noun, "y") + "ies"
	default:
		return noun + "s"
	}
}

// beyondNamespaces reports whether a resource is known to live in no namespace. Some do that a RoleBinding gives rights to all the same: it
// allows to read its own Namespace, and to bind and escalate ClusterRoles.
func beyondNamespaces(group, resource string) bool {
	text := resourceText(group, resource)
	if slices.Contains([]string{"namespaces", "clusterroles.rbac.authorization.k8s.io"}, text) {
		return false
	}
	if slices.Contains(impersonated, text) {
		return true
	}
	base, _, _ := strings.Cut(resource, "/")
	noun := nouns[resourceText(group, base)]
	namespaced, known := inventory.BuiltinScope(schema.GroupKind{Group: group, Kind: noun})
	return noun != "" && known && !namespaced
}

// impersonated are resources that exist for rules alone.
var impersonated = []string{
	"users", "groups", "uids.authentication.k8s.io", "userextras.authentication.k8s.io", "signers.certificates.k8s.io",
}
