package inventory_test

import (
	"fmt"
	"math/rand/v2"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// object returns an object with one field of content.
func object(apiVersion, kind, namespace, name, content string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "data": map[string]any{"content": content}}}
	u.SetNamespace(namespace)
	u.SetName(name)
	return u
}

func configMap(name, content string) *unstructured.Unstructured {
	return object("v1", "ConfigMap", "kyma-system", name, content)
}

func configMapID(name string) inventory.ID {
	return inventory.ID{Kind: "ConfigMap", Namespace: "kyma-system", Name: name}
}

// applied returns the entry that a successful apply of an object records.
func applied(u *unstructured.Unstructured) inventory.Entry {
	return inventory.Entry{
		ID: inventory.IDOf(u), Version: u.GroupVersionKind().Version, UID: types.UID("uid-" + u.GetName()),
		Hash: inventory.ContentHash(u), Fields: "a:" + u.GetName(),
	}
}

// seen returns a cluster that holds exactly the objects of the entries.
func seen(entries []inventory.Entry) func(inventory.ID) inventory.Live {
	live := map[inventory.ID]inventory.Live{}
	for _, entry := range entries {
		live[entry.ID] = inventory.Live{Presence: inventory.Present, UID: entry.UID, Fields: entry.Fields}
	}
	return func(id inventory.ID) inventory.Live {
		if found, ok := live[id]; ok {
			return found
		}
		return inventory.Live{Presence: inventory.Absent}
	}
}

// notListed is a cluster of which nothing is known yet.
func notListed(inventory.ID) inventory.Live { return inventory.Live{} }

// kinds has at least one for every phase of an apply and every wave of a teardown.
var kinds = [][2]string{
	{"v1", "Namespace"}, {"apiextensions.k8s.io/v1", "CustomResourceDefinition"}, {"v1", "ConfigMap"}, {"v1", "Secret"},
	{"v1", "ServiceAccount"}, {"v1", "Service"}, {"v1", "Pod"}, {"rbac.authorization.k8s.io/v1", "ClusterRole"},
	{"networking.k8s.io/v1", "NetworkPolicy"}, {"policy/v1", "PodDisruptionBudget"}, {"apps/v1", "Deployment"},
	{"apps/v1", "StatefulSet"}, {"apps/v1", "DaemonSet"}, {"batch/v1", "Job"}, {"autoscaling/v2", "HorizontalPodAutoscaler"},
	{"admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"}, {"apiregistration.k8s.io/v1", "APIService"},
	{"operator.kyma-project.io/v1alpha1", "Sample"}, {"gateway.networking.k8s.io/v1", "Gateway"},
}

// randomObjects returns n objects of all kinds, in any order, without duplicates.
func randomObjects(random *rand.Rand, n int) []*unstructured.Unstructured {
	objects := make([]*unstructured.Unstructured, 0, n)
	for at := range n {
		kind := kinds[random.IntN(len(kinds))]
		namespace := []string{"", "kyma-system", "istio-system"}[random.IntN(3)]
		objects = append(objects, object(kind[0], kind[1], namespace, fmt.Sprintf("object-%d", at), fmt.Sprint(random.IntN(3))))
	}
	random.Shuffle(n, func(a, b int) { objects[a], objects[b] = objects[b], objects[a] })
	return objects
}

// subset keeps about half of the items.
func subset[T any](random *rand.Rand, items []T) []T {
	var kept []T
	for _, item := range items {
		if random.IntN(2) == 0 {
			kept = append(kept, item)
		}
	}
	return kept
}

func appliedAll(objects []*unstructured.Unstructured) []inventory.Entry {
	var entries []inventory.Entry
	for _, u := range objects {
		entries = append(entries, applied(u))
	}
	return entries
}
