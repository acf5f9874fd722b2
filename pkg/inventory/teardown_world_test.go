package inventory_test

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

const customGroup = "sample.example.com"

// builder creates a random model.
type builder struct {
	*model
	random *rand.Rand
}

func randomWorld(random *rand.Rand) *model {
	b := &builder{random: random, model: &model{
		things: map[inventory.ID]*thing{}, starts: map[inventory.ID][]inventory.ID{}, works: map[inventory.ID][]inventory.ID{},
	}}
	namespaces := b.some("Namespace", "", 2)
	b.definitions()
	var workloads []inventory.ID
	for range 1 + random.IntN(4) {
		kind := b.one("Deployment.apps", "StatefulSet.apps", "DaemonSet.apps", "ReplicaSet.apps", "Job.batch", "CronJob.batch", "Pod",
			"ReplicationController")
		workloads = append(workloads, b.workload(kind, b.place(namespaces)))
	}
	operator := b.workload(b.one("Deployment.apps", "StatefulSet.apps", "Pod", "ReplicaSet.apps"), b.place(namespaces))
	if random.IntN(2) == 0 || operator.Kind == "Job" {
		b.manager = &operator
	}
	b.equip(operator, namespaces)
	b.storage(append(workloads, operator), namespaces)
	b.network(namespaces)
	b.interceptors(operator)
	b.finalizers(operator)
	return b.model
}

func (b *builder) chance() bool { return b.random.IntN(2) == 0 }

func (b *builder) one(choices ...string) string { return choices[b.random.IntN(len(choices))] }

// place returns a namespace of the module, or another one.
func (b *builder) place(namespaces []inventory.ID) string {
	if at := b.random.IntN(len(namespaces) + 1); at < len(namespaces) {
		return namespaces[at].Name
	}
	return "elsewhere"
}

// make adds an object of a kind like "Deployment.apps".
func (b *builder) make(kind, namespace string) *thing {
	name, group, _ := strings.Cut(kind, ".")
	return b.add(inventory.ID{Group: group, Kind: name, Namespace: namespace, Name: fmt.Sprintf("n%d", len(b.things))})
}

func (b *builder) some(kind, namespace string, most int) (made []inventory.ID) {
	for range b.random.IntN(most + 1) {
		made = append(made, b.make(kind, namespace).id)
	}
	return made
}

// workload adds a workload with a pod that outlives it.
func (b *builder) workload(kind, namespace string) inventory.ID {
	made := b.make(kind, namespace)
	pod := b.make("Pod", namespace)
	pod.recorded, pod.owner = false, &made.id
	return made.id
}

// definitions adds definitions with custom resources of the module and of users.
func (b *builder) definitions() {
	for range b.random.IntN(3) {
		definition := b.make("CustomResourceDefinition.apiextensions.k8s.io", "")
		definition.recorded = b.chance() // otherwise it is another module's
		for range b.random.IntN(4) {
			cr := b.make("Sample."+customGroup, b.one("elsewhere", ""))
			cr.recorded = b.chance()
			definition.heldBy = append(definition.heldBy, cr.id)
		}
	}
}

// equip gives an operator the objects that it needs to start and to work.
func (b *builder) equip(operator inventory.ID, namespaces []inventory.ID) {
	for _, kind := range []string{
		"ConfigMap", "Secret", "PriorityClass.scheduling.k8s.io", "RuntimeClass.node.k8s.io", "LimitRange", "DeviceClass.resource.k8s.io",
		"ResourceClaimTemplate.resource.k8s.io", "StorageClass.storage.k8s.io", "CSIDriver.storage.k8s.io", "PersistentVolumeClaim",
	} {
		if b.chance() {
			b.starts[operator] = append(b.starts[operator], b.make(kind, operator.Namespace).id)
		}
	}
	for _, kind := range []string{
		"ServiceAccount", "Role.rbac.authorization.k8s.io", "RoleBinding.rbac.authorization.k8s.io", "ClusterRole.rbac.authorization.k8s.io",
		"NetworkPolicy.networking.k8s.io", "IngressClass.networking.k8s.io", "Lease.coordination.k8s.io",
	} {
		if b.chance() {
			b.works[operator] = append(b.works[operator], b.make(kind, b.place(namespaces)).id)
		}
	}
}

// storage adds storage that the pods of workloads use.
func (b *builder) storage(workloads, namespaces []inventory.ID) {
	for range b.random.IntN(4) {
		claim := b.make(b.one("PersistentVolumeClaim", "ResourceClaim.resource.k8s.io"), b.place(namespaces))
		for _, id := range b.ids() {
			if owner := b.things[id].owner; owner != nil && b.uses(workloads, *owner) {
				claim.heldBy = append(claim.heldBy, id)
			}
		}
		for _, kind := range []string{"PersistentVolume", "VolumeAttributesClass.storage.k8s.io"} {
			if b.chance() {
				b.make(kind, "").heldBy = []inventory.ID{claim.id}
			}
		}
	}
}

func (b *builder) uses(workloads []inventory.ID, owner inventory.ID) bool {
	return workloads[b.random.IntN(len(workloads))] == owner
}

func (b *builder) network(namespaces []inventory.ID) {
	services := b.some("Service", b.place(namespaces), 3)
	b.some("Ingress.networking.k8s.io", b.place(namespaces), 2)
	b.some("ConfigMap", b.place(namespaces), 2)
	b.some("Secret", b.place(namespaces), 2)
	b.some("HorizontalPodAutoscaler.autoscaling", b.place(namespaces), 1)
	b.some("PodDisruptionBudget.policy", b.place(namespaces), 1)
	b.some("ResourceQuota", b.place(namespaces), 1)
	if len(services) > 0 && b.chance() {
		b.make("ServiceCIDR.networking.k8s.io", "").heldBy = services
	}
}

// interceptors adds webhooks and APIServices that the operator serves, through a Service of the module where there is one.
func (b *builder) interceptors(operator inventory.ID) {
	backend := []inventory.ID{operator}
	for _, id := range b.ids() {
		if id.Kind == "Service" && len(backend) == 1 {
			backend = append(backend, id)
		}
	}
	for range b.random.IntN(3) {
		hook := b.make(b.one("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")+".admissionregistration.k8s.io", "")
		hook.backend = backend
		for _, id := range b.ids() {
			if id.Group != "admissionregistration.k8s.io" && id.Kind != "APIService" && b.chance() {
				hook.intercepts = append(hook.intercepts, id)
			}
		}
	}
	if b.chance() {
		b.make("APIService.apiregistration.k8s.io", "").backend = backend
	}
	for _, id := range b.ids() {
		if id.Group == customGroup && b.random.IntN(3) == 0 {
			b.things[id].backend = backend
		}
	}
}

// finalizers adds finalizers to objects that an operator may have to clean up, except those that its own pods need for that.
func (b *builder) finalizers(operator inventory.ID) {
	for _, id := range b.ids() {
		switch id.Kind {
		case "Sample", "Ingress", "Service", "ConfigMap", "Secret", "HorizontalPodAutoscaler":
			if b.chance() {
				b.things[id].finalizer = &operator
			}
		}
	}
}
