package permissions

const (
	account  = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: op, namespace: x}"
	separate = "\n---\n"
	toModule = "subjects: [{kind: ServiceAccount, name: op, namespace: x}]"
)

// bound is a ClusterRole with a rule, bound to the module.
func bound(rule string) string {
	return account + separate + clusterRole("r", "", rule) + separate + clusterBinding("r", toModule)
}

func clusterRole(name, labels, rules string) string {
	return "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: '" + name + "', labels: {" + labels + "}}\nrules: [" + rules + "]"
}

func clusterBinding(role, subjects string) string {
	return "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: b}\n" +
		"roleRef: {kind: ClusterRole, name: '" + role + "'}\n" + subjects
}

func roleBinding(kind, role, subjects string) string {
	return "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b, namespace: x}\n" +
		"roleRef: {kind: " + kind + ", name: '" + role + "'}\n" + subjects
}

func defines(name string) string {
	return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: '" + name + "'}\nspec: {scope: Namespaced}"
}

func webhook(kind, more string) string {
	return "apiVersion: admissionregistration.k8s.io/v1\nkind: " + kind + "\nmetadata: {name: w}\nwebhooks: [{name: w.example.com, " + more + "}]"
}

// examples has an object for everything that a report says by code and not by a table. part chooses the finding.
var examples = []struct {
	category   Category
	what, part string
	objects    string
}{
	{CategoryUnreadable, "an object that cannot be read", "", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: r}\nrules: none"},

	{CategoryRights, "everything", "", bound("{apiGroups: ['*'], resources: ['*'], verbs: ['*']}")},
	{CategoryRights, "everything, in one namespace", "", account + separate + clusterRole("r", "", "{apiGroups: ['*'], resources: ['*'], verbs: ['*']}") +
		separate + roleBinding("ClusterRole", "r", toModule)},
	{CategoryRights, "everything of an API group", "", bound("{apiGroups: [apps], resources: ['*'], verbs: ['*']}")},
	{CategoryRights, "reading everything", "", bound("{apiGroups: ['*'], resources: ['*'], verbs: [get, list]}")},
	{CategoryRights, "other reads", "", bound("{apiGroups: [''], resources: [pods], verbs: [get, list]}")},
	{CategoryRights, "other writes", "", bound("{apiGroups: [''], resources: [services], verbs: [create, update]}")},
	{CategoryRights, "other kinds", "", bound("{apiGroups: [example.com], resources: [widgets], verbs: [get, update]}")},
	{CategoryRights, "the status of an object", "", bound("{apiGroups: [apps], resources: [deployments/status], verbs: [patch]}")},
	{CategoryRights, "single objects", "", bound("{apiGroups: [''], resources: [secrets], resourceNames: [token], verbs: [get]}")},
	{CategoryRights, "single objects that it changes, in one namespace", "", account + separate +
		clusterRole("r", "", "{apiGroups: [apps], resources: [deployments], resourceNames: [istiod], verbs: [delete]}") +
		separate + roleBinding("ClusterRole", "r", toModule)},
	{CategoryRights, "kinds that the module defines", "", defines("widgets.example.com") + separate +
		bound("{apiGroups: [example.com], resources: [widgets], verbs: [get, update]}")},
	{CategoryRights, "kinds of Kubernetes that the module defines", "", defines("clusterroles.rbac.authorization.k8s.io") + separate +
		bound("{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [bind]}")},
	{CategoryRights, "all paths of the API server", "", bound("{nonResourceURLs: ['*'], verbs: [get]}")},
	{CategoryRights, "a path of the API server", "", bound("{nonResourceURLs: [/metrics], verbs: [get]}")},
	{CategoryRights, "the role view", "", account + separate + clusterBinding("view", toModule)},
	{CategoryRights, "the role edit", "", account + separate + clusterBinding("edit", toModule)},
	{CategoryRights, "the role admin", "", account + separate + clusterBinding("admin", toModule)},
	{CategoryRights, "the role edit, in one namespace", "", account + separate + roleBinding("ClusterRole", "edit", toModule)},
	{CategoryRights, "a role of Kubernetes' own components", "", account + separate + clusterBinding("system:kube-scheduler", toModule)},
	{CategoryRights, "a role that the module does not bring", "", account + separate + clusterBinding("other", toModule)},
	{CategoryRights, "a Role that the module does not bring", "", account + separate + roleBinding("Role", "other", toModule)},
	{CategoryRights, "roles gathered from the cluster", "label", account + separate + clusterRole("r", "", "") +
		"\naggregationRule: {clusterRoleSelectors: [{matchLabels: {example.com/role: 'true'}}]}" + separate + clusterBinding("r", toModule)},
	{CategoryRights, "all roles of the cluster, gathered", "every ClusterRole", account + separate + clusterRole("r", "", "") +
		"\naggregationRule: {clusterRoleSelectors: [{}]}" + separate + clusterBinding("r", toModule)},
	{CategoryRights, "rights of users with the role view, by aggregation", "",
		clusterRole("r", "rbac.authorization.k8s.io/aggregate-to-view: 'true'", "{apiGroups: [''], resources: [secrets], verbs: [get]}")},
	{CategoryRights, "anything for all who are logged in", "", clusterRole("r", "", "{apiGroups: [''], resources: [pods], verbs: [get]}") + separate +
		clusterBinding("r", "subjects: [{kind: Group, name: 'system:authenticated'}]")},
	{CategoryRights, "anything without login", "", clusterRole("r", "", "{apiGroups: [''], resources: [pods], verbs: [get]}") + separate +
		clusterBinding("r", "subjects: [{kind: User, name: 'system:anonymous'}]")},
	{CategoryRights, "anything for all ServiceAccounts", "", clusterRole("r", "", "{apiGroups: [''], resources: [pods], verbs: [get]}") + separate +
		clusterBinding("r", "subjects: [{kind: Group, name: 'system:serviceaccounts'}]")},
	{CategoryRights, "rights of a ServiceAccount of others", "", clusterRole("r", "", "{apiGroups: [''], resources: [pods], verbs: [get]}") + separate +
		clusterBinding("r", "subjects: [{kind: ServiceAccount, name: a, namespace: other}]")},
	{CategoryRights, "rights of the default ServiceAccount", "default", "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: x}\nspec: {containers: [{name: c, image: 'i:1'}]}" +
		separate + clusterRole("r", "", "{apiGroups: [''], resources: [pods], verbs: [get]}") + separate +
		clusterBinding("r", "subjects: [{kind: ServiceAccount, name: default, namespace: x}]")},

	{CategoryRole, "a role that nothing binds", "", clusterRole("r", "", "")},
	{CategoryCluster, "a role that every cluster has", "", clusterRole("edit", "", "")},

	{CategoryWorkload, "hostPath that is harmless to read", "", nodePath("/opt/data", "true", "Deployment")},
	{CategoryWorkload, "hostPath with secrets of the node", "", nodePath("/var/lib/kubelet", "true", "DaemonSet")},
	{CategoryWorkload, "hostPath that is written", "", nodePath("/opt/data", "false", "Deployment")},
	{CategoryWorkload, "hostPath that controls the node", "", nodePath("/", "false", "Deployment")},
	{CategoryWorkload, "hostPath that controls every node", "", nodePath("/etc", "false", "DaemonSet")},
	{CategoryWorkload, "the default ServiceAccount", "default", "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: x}\nspec: {containers: [{name: c, image: 'i:1'}]}"},
	{CategoryWorkload, "capabilities that are most of root", "", capability("SYS_ADMIN")},
	{CategoryWorkload, "capabilities that reach beyond the container", "", capability("NET_ADMIN")},
	{CategoryWorkload, "capabilities that every container could have", "", capability("NET_BIND_SERVICE")},
	{CategoryWorkload, "other capabilities", "", capability("WAKE_ALARM")},

	{CategoryToken, "tokens of ServiceAccounts with rights", "", bound("{apiGroups: [''], resources: [pods], verbs: [get]}") + separate +
		"apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: x}\nspec: {serviceAccountName: op, containers: [{name: c, image: 'i:1'}]}"},
	{CategoryToken, "a token in a Secret", "", account + separate + tokenSecret("op")},
	{CategoryToken, "a token of a ServiceAccount of others, in a Secret", "", tokenSecret("other")},

	{CategoryWebhook, "changing Pods", "", webhook("MutatingWebhookConfiguration", "clientConfig: {service: {name: s, namespace: x}}, failurePolicy: Ignore, "+
		"rules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]")},
	{CategoryWebhook, "changing Pods, or blocking them", "", webhook("MutatingWebhookConfiguration", "clientConfig: {service: {name: s, namespace: x}}, "+
		"rules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]")},
	{CategoryWebhook, "refusing Secrets", "", webhook("ValidatingWebhookConfiguration", "clientConfig: {service: {name: s, namespace: x}}, failurePolicy: Ignore, "+
		"rules: [{apiGroups: [''], apiVersions: [v1], resources: [secrets], operations: ['*']}]")},
	{CategoryWebhook, "refusing anything, by label", "", webhook("ValidatingWebhookConfiguration", "clientConfig: {service: {name: s, namespace: x}}, failurePolicy: Ignore, "+
		"objectSelector: {matchLabels: {a: b}}, rules: [{apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: [DELETE]}]")},
	{CategoryWebhook, "refusing other kinds", "", webhook("ValidatingWebhookConfiguration", "clientConfig: {service: {name: s, namespace: x}}, failurePolicy: Ignore, "+
		"rules: [{apiGroups: [batch], apiVersions: [v1], resources: [jobs/status], operations: [UPDATE]}]")},
	{CategoryWebhook, "sending requests outside", "", webhook("ValidatingWebhookConfiguration", "clientConfig: {url: 'https://example.net/a'}, failurePolicy: Ignore, "+
		"rules: [{apiGroups: [''], apiVersions: [v1], resources: [services], operations: [CREATE]}]")},
	{CategoryWebhook, "an admission policy", "", admissionPolicy("Validating")},
	{CategoryWebhook, "an admission policy that changes objects", "", admissionPolicy("Mutating")},
	{CategoryWebhook, "a binding of a policy of others", "", "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\n" +
		"metadata: {name: b}\nspec: {policyName: p, validationActions: [Deny]}"},

	{CategoryAPIService, "an API group of the module", "", apiService("example.com", "false")},
	{CategoryAPIService, "an API group that others use", "", apiService("metrics.k8s.io", "false")},
	{CategoryAPIService, "an API group of Kubernetes", "", apiService("apps", "false")},
	{CategoryAPIService, "an API group without TLS verification", "without", apiService("example.com", "true")},

	{CategoryDefinition, "a definition", "Defines", definition("Service")},
	{CategoryDefinition, "conversion by the module", "Converts", definition("Service")},
	{CategoryDefinition, "conversion outside the cluster", "Sends", definition("url")},

	{CategoryPlacement, "objects in a namespace of others", "", account + separate + "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: other}" + separate +
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: x}"},
	{CategoryPlacement, "objects in the namespace of the cluster", "", account + separate + "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: kube-system}"},

	{CategoryImage, "an image without a fixed version", "", "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: x}\nspec: {containers: [{name: c, image: redis}]}"},
	{CategoryImage, "an image that cannot be read", "", "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: x}\nspec: {containers: [{name: c, image: 'Not an image'}]}"},
}

func nodePath(path, readOnly, kind string) string {
	return "apiVersion: apps/v1\nkind: " + kind + "\nmetadata: {name: y, namespace: x}\nspec: {template: {spec: {automountServiceAccountToken: false, serviceAccountName: op, " +
		"containers: [{name: c, image: 'i:1', volumeMounts: [{name: v, mountPath: /v, readOnly: " + readOnly + "}]}], volumes: [{name: v, hostPath: {path: " + path + "}}]}}}" +
		separate + account
}

func capability(name string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: y, namespace: x}\nspec: {serviceAccountName: op, containers: [{name: c, image: 'i:1', " +
		"securityContext: {capabilities: {add: [" + name + "]}}}]}" + separate + account
}

func tokenSecret(account string) string {
	return "apiVersion: v1\nkind: Secret\ntype: kubernetes.io/service-account-token\nmetadata: {name: t, namespace: x, " +
		"annotations: {kubernetes.io/service-account.name: " + account + "}}"
}

func admissionPolicy(kind string) string {
	return "apiVersion: admissionregistration.k8s.io/v1\nkind: " + kind + "AdmissionPolicy\nmetadata: {name: p}\n" +
		"spec: {matchConstraints: {resourceRules: [{apiGroups: [''], apiVersions: [v1], resources: [pods], operations: [CREATE]}]}}" + separate +
		"apiVersion: admissionregistration.k8s.io/v1\nkind: " + kind + "AdmissionPolicyBinding\nmetadata: {name: b}\nspec: {policyName: p}"
}

func apiService(group, insecure string) string {
	return "apiVersion: apiregistration.k8s.io/v1\nkind: APIService\nmetadata: {name: v1." + group + "}\n" +
		"spec: {group: " + group + ", version: v1, insecureSkipTLSVerify: " + insecure + ", service: {name: s, namespace: x}}"
}

func definition(conversion string) string {
	client := "service: {name: s, namespace: x}"
	if conversion == "url" {
		client = "url: 'https://example.net/convert'"
	}
	return "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: widgets.example.com}\n" +
		"spec: {scope: Namespaced, versions: [{name: v1, served: true, storage: true}], conversion: {strategy: Webhook, webhook: {clientConfig: {" + client + "}}}}"
}
