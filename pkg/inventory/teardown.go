package inventory

import "k8s.io/apimachinery/pkg/runtime/schema"

// The waves of a teardown. Each wave is gone before the next one starts.
const (
	waveCustomResources = iota
	waveAdmission
	waveRest
	waveDefinitions
	waveSettings
	waveWorkloads
	waveAccess
	waveNamespaces
	waveCount
)

// Teardown divides entries into the waves in which they are deleted; empty waves are left out:
//
//  1. custom resources, while their operator still runs and can clean up after them
//  2. webhooks, admission policies and APIServices, which would block the rest once their backends are gone
//  3. everything that is in no other wave: Ingresses, Jobs, autoscalers, budgets
//  4. CustomResourceDefinitions, whose deletion also deletes the custom resources of users
//  5. ConfigMaps, Secrets and Services: until here the operator mounts them and is reached through them, for conversion too
//  6. workloads, and the manager whatever its kind is, together with the storage and devices that the pods hold
//  7. objects that pods need to run: ServiceAccounts, RBAC, NetworkPolicies, classes, quotas
//  8. namespaces, which would otherwise delete everything else in them at once
//
// The caller deletes a whole wave before it waits for any object of it, and begins the next one when all are gone. That ends, because an
// object is never held by objects of a later wave:
//
//   - Kubernetes holds a PersistentVolumeClaim or a ResourceClaim while a pod uses it, a PersistentVolume and a VolumeAttributesClass while
//     a claim does: they are in one wave with the workloads. A Job's pods were deleted before. Waiting for claims alone would never end.
//   - A custom resource is held by its operator's finalizer, a definition by its custom resources. An Ingress, a Service, a ConfigMap or
//     a Secret may be held by that operator, too. All of them are deleted while the operator runs, and until wave 5 the operator can be
//     evicted and still start again: objects that its pods mount, name or are admitted by are deleted later. In wave 5 itself that holds
//     only while the operator is not evicted as well: a Secret may be both mounted and held, and no order serves both.
//   - A ServiceAccount's tokens end with it, and RBAC and network policies decide whether an operator reaches its API server: wave 7.
//   - An IngressClass, a StorageClass, a PriorityClass or a RuntimeClass is not held, but objects that start or serve others need it.
//   - A ServiceCIDR is held by the Services in it.
//   - A namespace is held by all of its content, and by an APIService whose backend is gone.
//
// manager is the object that runs the module's operator; nil when there is none.
func Teardown(entries []Entry, manager *ID) [][]Entry {
	return waves(entries, func(entry Entry) ID { return entry.ID }, waveCount, func(id ID) int {
		if manager != nil && id == *manager {
			return waveWorkloads
		}
		return teardownWave(id.GroupKind())
	})
}

func teardownWave(kind schema.GroupKind) int {
	switch Phase(kind) {
	case phaseNamespaces:
		return waveNamespaces
	case phaseDefinitions:
		return waveDefinitions
	case phaseAdmission:
		return waveAdmission
	case phaseCustomResources:
		return waveCustomResources
	}
	switch kind.Group {
	case "", "discovery.k8s.io":
		return coreWave(kind.Kind)
	case "apps":
		return waveWorkloads
	case "resource.k8s.io", "storage.k8s.io":
		return heldWave(kind.Kind)
	case "networking.k8s.io":
		if kind.Kind == "Ingress" {
			return waveRest
		}
		return waveAccess
	case groupRBAC, "coordination.k8s.io", "flowcontrol.apiserver.k8s.io", "node.k8s.io", "scheduling.k8s.io":
		return waveAccess
	}
	return waveRest
}

// coreWave returns the wave of a kind of the core group, and of EndpointSlices.
func coreWave(kind string) int {
	switch kind {
	case "ConfigMap", "Secret", "Service", "Endpoints", "EndpointSlice":
		return waveSettings
	case "Pod", "ReplicationController", "PersistentVolumeClaim", "PersistentVolume":
		return waveWorkloads
	case "ServiceAccount", "LimitRange", "ResourceQuota":
		return waveAccess
	}
	return waveRest
}

// heldWave returns the wave of a kind of storage or devices: pods hold some kinds and only name the others.
func heldWave(kind string) int {
	switch kind {
	case "ResourceClaim", "VolumeAttachment", "VolumeAttributesClass":
		return waveWorkloads
	}
	return waveAccess
}
