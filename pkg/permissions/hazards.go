package permissions

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// hazard is something that a right can be used for beyond what its verbs say.
type hazard struct {
	group     string
	resources []string
	// verbs of which one is enough.
	verbs []string
	// cluster is the severity in the whole cluster and in its system namespaces, narrow the one in a single other namespace.
	cluster, narrow Severity
	// phrase says what the right allows in place of its verbs; {it} is the resource. Empty: the verbs say it.
	phrase string
	// why says what follows, after the phrase.
	why string
}

var (
	anyRead   = []string{"get", "list", "watch"}
	anyChange = []string{"create", "update", "patch"}
	anyDelete = []string{"delete", "deletecollection"}
	anyWrite  = slices.Concat(anyChange, anyDelete)
)

const (
	whyRun     = ", and so run any container with any ServiceAccount there"
	whyReplace = ", and so replace the containers of others"
	admission  = "admissionregistration.k8s.io"
	csrGroup   = "certificates.k8s.io"
)

// hazards has for every resource the gravest first.
var hazards = []hazard{
	{"", []string{"secrets"}, anyRead, Critical, Medium, "", ""},
	{"", []string{"secrets"}, anyChange, High, Medium, "", ""},
	{"", []string{"secrets"}, anyDelete, High, Medium, "", ""},

	{"", []string{"nodes/proxy"}, nil, Critical, Critical, "reach the kubelet of {it}, and so run commands in its containers", ""},
	{"", []string{"pods/exec"}, nil, Critical, High, "run commands in the containers of {it}", ""},
	{"", []string{"pods/attach"}, nil, Critical, High, "attach to the containers of {it}", ""},
	{"", []string{"pods/ephemeralcontainers"}, []string{"update", "patch"}, Critical, High, "add containers to {it} while it runs", ""},
	{"", []string{"serviceaccounts/token"}, []string{"create"}, Critical, High, "create tokens of {it}, and so act in its name", ""},
	{"", []string{"users", "groups", "serviceaccounts"}, []string{"impersonate"}, Critical, High, "act as {it}", ""},
	{"authentication.k8s.io", []string{"uids", "userextras"}, []string{"impersonate"}, High, High, "act with attributes of other users", ""},

	{"", []string{"pods"}, []string{"create"}, High, Medium, "", whyRun},
	{"", []string{"pods"}, []string{"update", "patch"}, High, Medium, "", whyReplace},
	{"", []string{"replicationcontrollers"}, []string{"create"}, High, Medium, "", whyRun},
	{"", []string{"replicationcontrollers"}, []string{"update", "patch"}, High, Medium, "", whyReplace},
	{"apps", workloads, []string{"create"}, High, Medium, "", whyRun},
	{"apps", workloads, []string{"update", "patch"}, High, Medium, "", whyReplace},
	{"batch", []string{"jobs", "cronjobs"}, []string{"create"}, High, Medium, "", whyRun},
	{"batch", []string{"jobs", "cronjobs"}, []string{"update", "patch"}, High, Medium, "", whyReplace},

	{"", []string{"pods/eviction"}, []string{"create"}, Medium, Low, "evict {it}", ""},
	{"", []string{"pods/binding", "bindings"}, []string{"create"}, Medium, Low, "decide on which node {it} runs", ""},
	{"", []string{"pods/log"}, anyRead, Medium, Low, "read the logs of {it}", ""},
	{"", []string{"pods/portforward"}, nil, Medium, Low, "open connections to {it}", ""},
	{"", []string{"pods/proxy", "services/proxy"}, nil, Medium, Low, "send requests to {it} through the API server", ""},

	{"", []string{"nodes"}, anyWrite, High, High, "", ", and so steer where Pods run"},
	{"", []string{"nodes/status"}, []string{"update", "patch"}, Medium, Medium, "", ""},
	{"", []string{"nodes/log"}, anyRead, Medium, Medium, "read the logs of {it}", ""},
	{"", []string{"namespaces"}, anyDelete, High, High, "", ", with everything in it"},
	{"", []string{"namespaces"}, []string{"update", "patch"}, High, Medium, "", ", and so switch off its pod security"},
	{"", []string{"namespaces"}, []string{"create"}, Low, Low, "", ""},
	{"", []string{"persistentvolumes"}, []string{"create"}, High, High, "", ", and so mount any path of a node"},
	{"", []string{"endpoints"}, []string{"create", "update", "patch"}, Medium, Low, "", ", and so redirect traffic"},
	{"discovery.k8s.io", []string{"endpointslices"}, anyChange, Medium, Low, "", ", and so redirect traffic"},
	{"", []string{"configmaps"}, anyWrite, Medium, Low, "", ""},
	{"", []string{"events"}, anyChange, Info, Info, "report events {scope}", ""},
	{"events.k8s.io", []string{"events"}, anyChange, Info, Info, "report events {scope}", ""},
	{"coordination.k8s.io", []string{"leases"}, anyWrite, Low, Low, "", ""},

	{
		rbacv1.GroupName, []string{"roles", "clusterroles"}, []string{"escalate"}, Critical, High,
		"give itself any right, by changing {it} (escalate)", "",
	},
	{rbacv1.GroupName, []string{"roles", "clusterroles"}, []string{"bind"}, Critical, High, "give any subject the rights of {it} (bind)", ""},
	{rbacv1.GroupName, []string{"roles", "clusterroles"}, anyChange, High, Medium, "", ", limited to rights that it has itself"},
	{rbacv1.GroupName, []string{"rolebindings", "clusterrolebindings"}, anyChange, High, Medium, "", ", limited to rights that it has itself"},
	{
		rbacv1.GroupName, []string{"roles", "clusterroles", "rolebindings", "clusterrolebindings"}, anyDelete, Medium, Low, "",
		", and so take rights away",
	},

	{csrGroup, []string{"signers"}, []string{"sign"}, Critical, Critical, "sign certificates as {it}, and so let others log in", ""},
	{csrGroup, []string{"signers"}, []string{"approve"}, High, High, "approve certificates of {it}", ""},
	{
		csrGroup, []string{"certificatesigningrequests/approval"}, []string{"update", "patch"}, High, High,
		"approve {it}, and so let others log in", "",
	},
	{csrGroup, []string{"certificatesigningrequests/status"}, []string{"update", "patch"}, High, High, "issue the certificate of {it}", ""},
	{csrGroup, []string{"certificatesigningrequests"}, []string{"create"}, Low, Low, "", ""},

	{admission, []string{"mutatingwebhookconfigurations"}, anyChange, High, High, "", ", and so read and change any request"},
	{admission, []string{"validatingwebhookconfigurations"}, anyChange, High, High, "", ", and so read and refuse any request"},
	{admission, []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}, anyDelete, Medium, Medium, "", ""},
	{
		admission, []string{"mutatingadmissionpolicies", "mutatingadmissionpolicybindings"}, anyWrite, High, High, "",
		", and so change any request",
	},
	{
		admission, []string{"validatingadmissionpolicies", "validatingadmissionpolicybindings"}, anyWrite, High, High, "",
		", and so refuse any request, or let it pass",
	},
	{"apiextensions.k8s.io", []string{"customresourcedefinitions"}, anyDelete, High, High, "", ", with all objects of its kind"},
	{"apiregistration.k8s.io", []string{"apiservices"}, anyChange, High, High, "", ", and so answer requests in place of the API server"},
	{"policy", []string{"podsecuritypolicies"}, []string{"use"}, High, High, "run Pods under {it}", ""},
	{"security.openshift.io", []string{"securitycontextconstraints"}, []string{"use"}, High, High, "run Pods under {it}", ""},
	{"security.openshift.io", []string{"securitycontextconstraints"}, anyWrite, High, High, "", ", and so allow Pods anything"},

	{"authentication.k8s.io", []string{"tokenreviews"}, []string{"create"}, Low, Low, "ask whom a token belongs to", ""},
	{"authentication.k8s.io", []string{"selfsubjectreviews"}, []string{"create"}, Info, Info, "ask who it is itself", ""},
	{
		"authorization.k8s.io", []string{"subjectaccessreviews", "localsubjectaccessreviews"}, []string{"create"}, Low, Low,
		"ask what others may do", "",
	},
	{
		"authorization.k8s.io", []string{"selfsubjectaccessreviews", "selfsubjectrulesreviews"}, []string{"create"}, Info, Info,
		"ask what it may do itself", "",
	},
}

var workloads = []string{"deployments", "daemonsets", "statefulsets", "replicasets"}

// exposed are single objects that give more than others of their kind to those that do more than read them, by resource.
var exposed = map[string]map[string]Severity{
	"configmaps":   {"aws-auth": Critical, "extension-apiserver-authentication": High, "coredns": High, "kubeadm-config": High},
	"groups":       {"system:masters": Critical},
	"signers":      {"kubernetes.io/kube-apiserver-client": Critical},
	"clusterroles": {"cluster-admin": Critical},
}

// matches reports whether a verb on the resource of a right includes what makes the hazard.
func (h *hazard) matches(r *Right, verb string) bool {
	if r.Group != wildcard && r.Group != h.group {
		return false
	}
	if verb != wildcard && len(h.verbs) > 0 && !slices.Contains(h.verbs, verb) {
		return false
	}
	return slices.ContainsFunc(h.resources, func(name string) bool { return slices.Contains(resourcesAround(name), r.Resource) })
}

// severityOf returns how grave a right is, and the hazard that makes it so; nil when its verbs say everything.
func severityOf(r *Right) (severity Severity, worst *hazard) {
	for _, verb := range r.Verbs {
		level, why := severityOfVerb(r, verb)
		if level > severity || worst == nil && level == severity {
			severity, worst = level, why
		}
	}
	if r.Own && worst == nil { // whatever a module defines, a hazard is more than its own
		return Info, nil
	}
	if len(r.Names) > 0 {
		severity = severityOfNames(r, severity)
	}
	return severity, worst
}

// severityOfNames returns how grave a right to single objects is that has a severity for all of them. To change one of another module may
// be all that harms it, and so counts as much as to change many of little weight.
func severityOfNames(r *Right, all Severity) Severity {
	severity := all.lowered()
	if readOnly(r.Verbs) {
		return severity
	}
	severity = max(severity, min(all, Low))
	for _, name := range r.Names {
		severity = max(severity, exposed[r.Resource][name])
	}
	return severity
}

func severityOfVerb(r *Right, verb string) (severity Severity, worst *hazard) {
	for i := range hazards {
		h := &hazards[i]
		if !h.matches(r, verb) {
			continue
		}
		level := h.narrow
		if wide(r) {
			level = h.cluster
		}
		if worst == nil || level > severity {
			severity, worst = level, h
		}
	}
	if worst == nil || verb == wildcard || strings.Contains(r.Resource, wildcard) {
		severity = max(severity, usual(r, verb))
	}
	return severity, worst
}

// wide reports whether a right reaches the whole cluster, or the namespace that the cluster itself runs in.
func wide(r *Right) bool { return r.Namespace == "" || systemNamespace(r.Namespace) }

// systemNamespace reports whether a namespace belongs to the cluster itself.
func systemNamespace(namespace string) bool { return namespace == "kube-system" }

// usual returns the severity of a verb by its reach alone.
func usual(r *Right, verb string) Severity {
	severity := Medium
	switch _, sub, _ := strings.Cut(r.Resource, "/"); {
	case slices.Contains(anyRead, verb) || sub == "status" || sub == "finalizers":
		severity = Low
	case r.Group == wildcard && r.Resource == wildcard && verb == wildcard:
		severity = Critical
	}
	if !wide(r) {
		severity = severity.lowered()
	}
	return severity
}
