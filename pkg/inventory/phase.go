package inventory

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The phases of an apply. Each phase ends before the next one starts.
const (
	phaseNamespaces = iota
	phaseDefinitions
	phaseConfiguration
	phaseWorkloads
	phaseAdmission
	phaseCustomResources
	phaseCount
)

var (
	// CRDKind is the kind of CustomResourceDefinitions.
	CRDKind = schema.GroupKind{Group: groupDefinitions, Kind: "CustomResourceDefinition"}
	// CRDResource is their resource, in the only version that is served.
	CRDResource = schema.GroupVersionResource{Group: groupDefinitions, Version: "v1", Resource: "customresourcedefinitions"}
)

// Groups that matter for the order.
const (
	groupAdmission   = "admissionregistration.k8s.io"
	groupDefinitions = "apiextensions.k8s.io"
	groupAPIServices = "apiregistration.k8s.io"
	groupRBAC        = "rbac.authorization.k8s.io"
)

// Phase returns the phase of an apply to which a kind belongs:
//
//	0 namespaces
//	1 CustomResourceDefinitions
//	2 RBAC, configuration, storage, services and whatever else Kubernetes serves itself
//	3 workloads and their autoscalers
//	4 webhooks, admission policies and APIServices: they intercept others as soon as they exist, so their backends come first
//	5 custom resources: every group that is not Kubernetes' own
func Phase(kind schema.GroupKind) int {
	switch kind.Group {
	case "":
		switch kind.Kind {
		case "Namespace":
			return phaseNamespaces
		case "Pod", "ReplicationController":
			return phaseWorkloads
		}
		return phaseConfiguration
	case groupDefinitions:
		return phaseDefinitions
	case "apps", "batch", "autoscaling":
		return phaseWorkloads
	case groupAdmission, groupAPIServices:
		return phaseAdmission
	}
	if _, found := clusterScopedKinds[kind.Group]; found {
		return phaseConfiguration
	}
	return phaseCustomResources
}

// Phases divides objects into the phases in which they are applied, sorted by identity in each; empty phases are left out.
func Phases(objects []*unstructured.Unstructured) [][]*unstructured.Unstructured {
	return waves(objects, IDOf, phaseCount, func(id ID) int { return Phase(id.GroupKind()) })
}

// StepPhases is Phases for the steps of a Decision.
func StepPhases(steps []Step) [][]Step {
	return waves(steps, func(step Step) ID { return step.Entry.ID }, phaseCount, func(id ID) int { return Phase(id.GroupKind()) })
}

// waves divides items by the number that wave gives them, sorts each wave by identity and leaves out empty ones.
func waves[T any](items []T, identify func(T) ID, count int, wave func(ID) int) [][]T {
	type keyed struct {
		id   ID
		item T
	}
	buckets := make([][]keyed, count)
	for _, item := range items {
		id := identify(item)
		at := wave(id)
		buckets[at] = append(buckets[at], keyed{id, item})
	}
	var divided [][]T
	for _, bucket := range buckets {
		if len(bucket) == 0 {
			continue
		}
		slices.SortStableFunc(bucket, func(a, b keyed) int { return a.id.Compare(b.id) })
		list := make([]T, len(bucket))
		for at := range bucket {
			list[at] = bucket[at].item
		}
		divided = append(divided, list)
	}
	return divided
}
