package permissions

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// setting is an object, or a part of one, that concerns the workloads of others.
type setting struct {
	group, kind string
	severity    Severity
	// sentence with {name} for the object.
	sentence string
	// applies decides whether the object has the setting; nil: every one.
	applies func(*unstructured.Unstructured) bool
}

var settings = []setting{
	{
		"", "Namespace", Medium, "Lets the Pods of namespace {name} run without restrictions of pod security",
		hasLabel("pod-security.kubernetes.io/enforce", "privileged"),
	},
	{"", "Namespace", High, "Changes namespace {name}, which belongs to the cluster", hasPrefix("kube-")},
	{"", "Node", High, "Changes the Node {name}", nil},
	{"", "PersistentVolume", High, "Offers a path of a node as PersistentVolume {name}", hasField("spec", "hostPath")},
	{"", "PersistentVolume", Medium, "Offers a disk of a node as PersistentVolume {name}", hasField("spec", "local")},
	{"certificates.k8s.io", "ClusterTrustBundle", Medium, "Lets Pods trust the certificates of ClusterTrustBundle {name}", nil},
	{
		"flowcontrol.apiserver.k8s.io", "FlowSchema", Medium,
		"Changes which requests the API server serves first (FlowSchema {name})", nil,
	},
	{
		"flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", Medium,
		"Changes which requests the API server serves first (PriorityLevelConfiguration {name})", nil,
	},
	{"networking.k8s.io", "IngressClass", Info, "Defines the IngressClass {name}", nil},
	{
		"networking.k8s.io", "IngressClass", Medium, "Serves every Ingress of the cluster that names no class (IngressClass {name})",
		hasAnnotation("ingressclass.kubernetes.io/is-default-class"),
	},
	{"node.k8s.io", "RuntimeClass", Low, "Defines another way to run containers (RuntimeClass {name})", nil},
	{"policy", "PodSecurityPolicy", High, "Decides which Pods may run (PodSecurityPolicy {name})", nil},
	{"scheduling.k8s.io", "PriorityClass", Low, "Defines the PriorityClass {name}, by which Pods displace others", nil},
	{
		"scheduling.k8s.io", "PriorityClass", Medium, "Sets the priority of every Pod that names none (PriorityClass {name})",
		isSet("globalDefault"),
	},
	{
		"security.openshift.io", "SecurityContextConstraints", High,
		"Decides which Pods may run, and with which privileges (SecurityContextConstraints {name})", nil,
	},
	{"storage.k8s.io", "CSIDriver", Low, "Provides volumes to the Pods of others (CSIDriver {name})", nil},
	{
		"storage.k8s.io", "CSIDriver", Medium, "Gets a token of every Pod that mounts a volume of it (CSIDriver {name})",
		hasField("spec", "tokenRequests"),
	},
	{"storage.k8s.io", "StorageClass", Info, "Defines the StorageClass {name}", nil},
	{
		"storage.k8s.io", "StorageClass", Medium, "Provides every volume of the cluster that names no class (StorageClass {name})",
		hasAnnotation("storageclass.kubernetes.io/is-default-class"),
	},
}

// analyseCluster reports settings that concern the workloads of others.
func (b *builder) analyseCluster() {
	for i := range settings {
		s := &settings[i]
		for _, object := range b.ofKind(s.group, s.kind) {
			if s.applies != nil && !s.applies(object) {
				continue
			}
			b.add(Finding{
				Key:      joinKey("cluster", strings.ReplaceAll(s.sentence, "{name}", escapes.Replace(object.GetName()))),
				Category: CategoryCluster, Severity: s.severity, Rule: place(object),
				Sentence: strings.ReplaceAll(s.sentence, "{name}", short(object.GetName())) + ".",
			})
		}
	}
}

func hasLabel(name, value string) func(*unstructured.Unstructured) bool {
	return func(object *unstructured.Unstructured) bool { return object.GetLabels()[name] == value }
}

func hasAnnotation(name string) func(*unstructured.Unstructured) bool {
	return func(object *unstructured.Unstructured) bool { return object.GetAnnotations()[name] == "true" }
}

func hasPrefix(prefix string) func(*unstructured.Unstructured) bool {
	return func(object *unstructured.Unstructured) bool { return strings.HasPrefix(object.GetName(), prefix) }
}

func hasField(fields ...string) func(*unstructured.Unstructured) bool {
	return func(object *unstructured.Unstructured) bool {
		value, found, err := unstructured.NestedFieldNoCopy(object.Object, fields...)
		return err == nil && found && value != nil
	}
}

func isSet(field string) func(*unstructured.Unstructured) bool {
	return func(object *unstructured.Unstructured) bool { return object.Object[field] == true }
}
