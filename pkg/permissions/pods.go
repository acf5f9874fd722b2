package permissions

import (
	"cmp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const kindDaemonSet = "DaemonSet"

// podTemplates maps the kinds that run pods to the path of the template. The path of a Pod is empty: it is its own template.
var podTemplates = map[schema.GroupKind][]string{
	{Kind: "Pod"}:                        {},
	{Kind: "PodTemplate"}:                {"template"},
	{Kind: "ReplicationController"}:      {"spec", "template"},
	{Group: "apps", Kind: "Deployment"}:  {"spec", "template"},
	{Group: "apps", Kind: "StatefulSet"}: {"spec", "template"},
	{Group: "apps", Kind: kindDaemonSet}: {"spec", "template"},
	{Group: "apps", Kind: "ReplicaSet"}:  {"spec", "template"},
	{Group: "batch", Kind: "Job"}:        {"spec", "template"},
	{Group: "batch", Kind: "CronJob"}:    {"spec", "jobTemplate", "spec", "template"},
}

// workload is an object that runs pods.
type workload struct {
	object      *unstructured.Unstructured
	namespace   string
	carrier     string
	everyNode   bool
	spec        corev1.PodSpec
	annotations map[string]string
}

// account returns the ServiceAccount that the pods use, as "ns/name".
func (w *workload) account() string {
	return w.namespace + "/" + cmp.Or(w.spec.ServiceAccountName, w.spec.DeprecatedServiceAccount, "default")
}

// readWorkloads reads the objects that run pods. One of a kind of Kubernetes that cannot be read is reported.
func (b *builder) readWorkloads() {
	for _, object := range b.objects {
		kind := inventory.IDOf(object).GroupKind()
		at, builtin := podTemplates[kind]
		template := fieldsAt(object.Object, at)
		if !builtin {
			template = customTemplate(object)
		}
		fields, _ := template["spec"].(map[string]any)
		if fields == nil {
			continue
		}
		w := workload{object: object, namespace: namespaceOf(object), everyNode: kind.Group == "apps" && kind.Kind == kindDaemonSet}
		w.carrier = object.GetKind() + " " + w.namespace + "/" + object.GetName()
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &w.spec); err != nil {
			b.unreadable(object, "what its Pods may do is unknown")
			continue
		}
		metadata, _ := template["metadata"].(map[string]any)
		w.annotations, _, _ = unstructured.NestedStringMap(metadata, "annotations")
		b.workloads = append(b.workloads, w)
		b.accounts[w.account()] = true
	}
}

// customTemplate returns the template of an object of another kind that has the shape of one that runs pods; nil when it has none.
func customTemplate(object *unstructured.Unstructured) map[string]any {
	for _, at := range [][]string{{"spec", "template"}, {"spec", "jobTemplate", "spec", "template"}} {
		template := fieldsAt(object.Object, at)
		spec, _ := template["spec"].(map[string]any)
		if _, has := spec["containers"].([]any); has {
			return template
		}
	}
	return nil
}

// fieldsAt returns the map at the end of a path; nil when there is none.
func fieldsAt(fields map[string]any, at []string) map[string]any {
	for _, name := range at {
		fields, _ = fields[name].(map[string]any)
	}
	return fields
}

// analysePods reports what the pods of the module may do.
func (b *builder) analysePods() {
	for i := range b.workloads {
		w := &b.workloads[i]
		b.analyseHost(w)
		b.analyseScheduling(w)
		b.analyseAccount(w)
		b.analyseToken(w)
		b.analyseVolumes(w)
		for _, c := range containersOf(&w.spec) {
			b.analyseContainer(w, &c)
		}
	}
}

// access reports an access of a workload. field is where it is written.
func (b *builder) access(w *workload, a Access, field string) {
	a.Carrier, a.EveryNode = w.carrier, w.everyNode
	b.add(a.finding(w.carrier + " " + field))
}

// analyseHost reports what a whole pod shares with its node.
func (b *builder) analyseHost(w *workload) {
	spec := &w.spec
	for _, shared := range []struct {
		set  bool
		what string
	}{
		{spec.HostNetwork, accessHostNetwork},
		{spec.HostPID, accessHostPID},
		{spec.HostIPC, accessHostIPC},
		{spec.ShareProcessNamespace != nil && *spec.ShareProcessNamespace, accessShareProcesses},
	} {
		if shared.set {
			b.access(w, Access{What: shared.what}, shared.what)
		}
	}
	if spec.SecurityContext == nil {
		return
	}
	for _, sysctl := range spec.SecurityContext.Sysctls {
		if !slices.Contains(safeSysctls, strings.ReplaceAll(sysctl.Name, "/", ".")) {
			b.access(w, Access{What: accessSysctl, Detail: sysctl.Name}, "securityContext.sysctls")
		}
	}
}

// safeSysctls are what the pod security standard of Kubernetes allows every pod to set.
var safeSysctls = []string{
	"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.ip_unprivileged_port_start", "net.ipv4.tcp_syncookies",
	"net.ipv4.ping_group_range", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout",
	"net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
}

// analyseScheduling reports where pods may run and what they displace.
func (b *builder) analyseScheduling(w *workload) {
	if name := w.spec.NodeName; name != "" {
		b.access(w, Access{What: accessNodeName, Detail: name}, "nodeName")
	}
	if name := w.spec.PriorityClassName; strings.HasPrefix(name, "system-") {
		b.access(w, Access{What: accessPriority, Detail: name}, "priorityClassName")
	}
	for _, toleration := range w.spec.Tolerations {
		runs := toleration.Effect != corev1.TaintEffectPreferNoSchedule
		switch {
		case !runs:
		case toleration.Key == "" && toleration.Operator == corev1.TolerationOpExists:
			b.access(w, Access{What: accessAnyNode}, "tolerations")
		case toleration.Key == "node-role.kubernetes.io/control-plane" || toleration.Key == "node-role.kubernetes.io/master":
			b.access(w, Access{What: accessControlPlane}, "tolerations")
		}
	}
}

// analyseAccount reports pods that run in the name of others.
func (b *builder) analyseAccount(w *workload) {
	account := w.account()
	if b.brought[account] {
		return
	}
	if strings.HasSuffix(account, "/default") {
		b.add(Finding{
			Key: joinKey("access", "default", escapes.Replace(w.namespace)), Category: CategoryWorkload, Severity: Info,
			Sentence: "Runs as the default ServiceAccount of namespace " + short(w.namespace) + ".",
			Rule:     w.carrier, Subject: prefixAccount + account,
		})
		return
	}
	a := Access{What: accessAccount, Detail: account}
	finding := a.finding(w.carrier + " serviceAccountName")
	finding.Subject = prefixAccount + account
	b.add(finding)
}

// analyseToken reports pods that hold a token of a ServiceAccount with rights, as all do that do not refuse it.
func (b *builder) analyseToken(w *workload) {
	account := w.account()
	mounted := w.spec.AutomountServiceAccountToken == nil && !b.refusesToken[account] || isTrue(w.spec.AutomountServiceAccountToken)
	if !mounted || !b.bound[account] {
		return
	}
	b.add(Finding{
		Key: joinKey("token", "pods"), Category: CategoryToken, Severity: Info, Rule: w.carrier, Subject: prefixAccount + account,
		Sentence: "Its Pods hold tokens of its ServiceAccounts, and so have their rights.",
	})
}
