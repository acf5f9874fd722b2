package simruntime

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
)

// kind is what is served under the name of a resource. It is shared by all runtimes, and never changes.
type kind struct {
	group, resource, singular, name string
	short                           []string
	stored                          string   // version in which objects are kept
	versions                        []string // served, the preferred one first
	namespaced                      bool
	status, generation              bool // has a status of its own, counts changes of the rest
	fields                          func(version, subresource string) (*managedfields.FieldManager, error)
	shapes                          map[string]*shape // of kinds that definitions define, by version
}

func (k *kind) gvk(version string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: k.group, Version: version, Kind: k.name}
}

func (k *kind) gr() schema.GroupResource {
	return schema.GroupResource{Group: k.group, Resource: k.resource}
}

// version returns the one asked for when it is served, empty when not.
func (k *kind) version(asked string) string {
	if slices.Contains(k.versions, asked) {
		return asked
	}
	return ""
}

// fillIn sets defaults, of kinds that definitions define.
func (k *kind) fillIn(content map[string]any) {
	if len(k.shapes) == 0 {
		return
	}
	apiVersion, _ := content["apiVersion"].(string)
	_, version, _ := strings.Cut(apiVersion, "/")
	if s := k.shapes[version]; s != nil {
		s.fillIn(content)
	}
}

// The kinds of Kubernetes' own that are served. A mark stands before a resource: "*" lives in no namespace. Others come behind the
// kind: "s" has a status, "g" a generation.
var own = []struct{ group, version, kinds string }{
	{"", "v1", "configmaps=ConfigMap,cm secrets=Secret endpoints=Endpoints,ep events=Event,ev limitranges=LimitRange " +
		"*namespaces=Namespace:s,ns *nodes=Node:s,no persistentvolumeclaims=PersistentVolumeClaim:s,pvc " +
		"*persistentvolumes=PersistentVolume:s,pv pods=Pod:sg,po " +
		"podtemplates=PodTemplate:g replicationcontrollers=ReplicationController:sg,rc resourcequotas=ResourceQuota:s " +
		"serviceaccounts=ServiceAccount,sa services=Service:s,svc"},
	{"admissionregistration.k8s.io", "v1", "*mutatingwebhookconfigurations=MutatingWebhookConfiguration:g " +
		"*validatingadmissionpolicies=ValidatingAdmissionPolicy:sg *validatingadmissionpolicybindings=ValidatingAdmissionPolicyBinding:g " +
		"*validatingwebhookconfigurations=ValidatingWebhookConfiguration:g"},
	{"apiextensions.k8s.io", "v1", "*customresourcedefinitions=CustomResourceDefinition:sg,crd,crds"},
	{"apiregistration.k8s.io", "v1", "*apiservices=APIService:s"},
	{"apps", "v1", "controllerrevisions=ControllerRevision daemonsets=DaemonSet:sg,ds " +
		"deployments=Deployment:sg,deploy replicasets=ReplicaSet:sg,rs " +
		"statefulsets=StatefulSet:sg,sts"},
	{"autoscaling", "v2", "horizontalpodautoscalers=HorizontalPodAutoscaler:s,hpa"},
	{"batch", "v1", "cronjobs=CronJob:sg,cj jobs=Job:sg"},
	{"certificates.k8s.io", "v1", "*certificatesigningrequests=CertificateSigningRequest:s,csr"},
	{"coordination.k8s.io", "v1", "leases=Lease"},
	{"discovery.k8s.io", "v1", "endpointslices=EndpointSlice"},
	{"events.k8s.io", "v1", "events=Event,ev"},
	{"flowcontrol.apiserver.k8s.io", "v1", "*flowschemas=FlowSchema:sg *prioritylevelconfigurations=PriorityLevelConfiguration:sg"},
	{"networking.k8s.io", "v1", "*ingressclasses=IngressClass:g ingresses=Ingress:sg,ing networkpolicies=NetworkPolicy:g,netpol"},
	{"node.k8s.io", "v1", "*runtimeclasses=RuntimeClass"},
	{"policy", "v1", "poddisruptionbudgets=PodDisruptionBudget:sg,pdb"},
	{"rbac.authorization.k8s.io", "v1", "*clusterrolebindings=ClusterRoleBinding *clusterroles=ClusterRole " +
		"rolebindings=RoleBinding roles=Role"},
	{"scheduling.k8s.io", "v1", "*priorityclasses=PriorityClass:g,pc"},
	{"storage.k8s.io", "v1", "*csidrivers=CSIDriver *storageclasses=StorageClass,sc *volumeattachments=VolumeAttachment:s"},
}

// ownKinds spells the table out.
func ownKinds(t *typing) map[schema.GroupResource]*kind {
	kinds := make(map[schema.GroupResource]*kind)
	for _, group := range own {
		for word := range strings.FieldsSeq(group.kinds) {
			resource, rest, _ := strings.Cut(word, "=")
			names := strings.Split(rest, ",")
			name, marks, _ := strings.Cut(names[0], ":")
			k := &kind{
				group: group.group, resource: strings.TrimPrefix(resource, "*"), singular: strings.ToLower(name), name: name, short: names[1:],
				stored: group.version, versions: []string{group.version}, namespaced: resource[0] != '*',
				status: strings.Contains(marks, "s"), generation: strings.Contains(marks, "g"),
			}
			k.fields = func(_, subresource string) (*managedfields.FieldManager, error) { return t.manager(k, subresource) }
			kinds[k.gr()] = k
		}
	}
	return kinds
}
