package permissions

import "slices"

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
	"uids.authentication.k8s.io":                                     "user identifier",
	"userextras.authentication.k8s.io":                               "user attribute",
}

// nounOf returns what users call a resource; others are called as kubectl does.
func nounOf(group, resource string) string {
	text := resourceText(group, resource)
	if noun, known := nouns[text]; known {
		return noun
	}
	return excerptResource(text)
}

func excerptResource(text string) string { return short(text) }

// clusterScoped are the resources of Kubernetes' own API groups that live in no namespace, by group. Namespaces are not among them: a
// RoleBinding allows to read its own.
var clusterScoped = map[string][]string{
	"": {"componentstatuses", "nodes", "persistentvolumes"},
	"admissionregistration.k8s.io": {
		"mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "mutatingwebhookconfigurations", "validatingadmissionpolicies",
		"validatingadmissionpolicybindings", "validatingwebhookconfigurations",
	},
	"apiextensions.k8s.io":         {"customresourcedefinitions"},
	"apiregistration.k8s.io":       {"apiservices"},
	"authentication.k8s.io":        {"selfsubjectreviews", "tokenreviews"},
	"authorization.k8s.io":         {"selfsubjectaccessreviews", "selfsubjectrulesreviews", "subjectaccessreviews"},
	"certificates.k8s.io":          {"certificatesigningrequests", "clustertrustbundles", "signers"},
	"flowcontrol.apiserver.k8s.io": {"flowschemas", "prioritylevelconfigurations"},
	"networking.k8s.io":            {"ingressclasses", "ipaddresses", "servicecidrs"},
	"node.k8s.io":                  {"runtimeclasses"},
	"rbac.authorization.k8s.io":    {"clusterrolebindings"},
	"scheduling.k8s.io":            {"priorityclasses"},
	"storage.k8s.io":               {"csidrivers", "csinodes", "storageclasses", "volumeattachments", "volumeattributesclasses"},
}

// beyondNamespaces reports whether a resource is known to live in no namespace. ClusterRoles are left out: a RoleBinding may allow bind and
// escalate on them.
func beyondNamespaces(group, resource string) bool {
	return slices.Contains(clusterScoped[group], resource)
}
