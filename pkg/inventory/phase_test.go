package inventory_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestPhase(t *testing.T) {
	for _, test := range []struct {
		name        string
		group, kind string
		want        int
	}{
		{"namespaces come first", "", "Namespace", 0},
		{"definitions come before what they define", "apiextensions.k8s.io", "CustomResourceDefinition", 1},
		{"configuration comes before its readers", "", "ConfigMap", 2},
		{"accounts come before the workloads that use them", "", "ServiceAccount", 2},
		{"services come before their backends", "", "Service", 2},
		{"storage comes before its users", "", "PersistentVolumeClaim", 2},
		{"permissions come before the workloads that need them", "rbac.authorization.k8s.io", "ClusterRoleBinding", 2},
		{"a network policy is configuration", "networking.k8s.io", "NetworkPolicy", 2},
		{"a disruption budget is configuration", "policy", "PodDisruptionBudget", 2},
		{"a priority class is configuration", "scheduling.k8s.io", "PriorityClass", 2},
		{"a Deployment is a workload", "apps", "Deployment", 3},
		{"a CronJob is a workload", "batch", "CronJob", 3},
		{"a bare Pod is a workload", "", "Pod", 3},
		{"a ReplicationController is a workload", "", "ReplicationController", 3},
		{"an autoscaler comes with its targets", "autoscaling", "HorizontalPodAutoscaler", 3},
		{"a webhook comes after its backend", "admissionregistration.k8s.io", "MutatingWebhookConfiguration", 4},
		{"an admission policy intercepts as a webhook does", "admissionregistration.k8s.io", "ValidatingAdmissionPolicy", 4},
		{"an aggregated API comes after its server", "apiregistration.k8s.io", "APIService", 4},
		{"a custom resource comes last", "operator.kyma-project.io", "Sample", 5},
		{"a group of the Kubernetes project that comes from definitions is custom too", "gateway.networking.k8s.io", "Gateway", 5},
		{"a group that only looks like Kubernetes' own is custom", "cluster.x-k8s.io", "Cluster", 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := inventory.Phase(schema.GroupKind{Group: test.group, Kind: test.kind}); got != test.want {
				t.Errorf("got %d, want %d", got, test.want)
			}
		})
	}
}

func TestPhasesSortsAndLeavesOutEmptyOnes(t *testing.T) {
	namespace := object("v1", "Namespace", "", "kyma-system", "")
	first, second := configMap("a", ""), configMap("b", "")
	sample := object("operator.kyma-project.io/v1alpha1", "Sample", "kyma-system", "sample", "")
	got := inventory.Phases([]*unstructured.Unstructured{sample, second, namespace, first})
	want := [][]*unstructured.Unstructured{{namespace}, {first, second}, {sample}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := inventory.Phases(nil); got != nil {
		t.Errorf("got %v for no object", got)
	}
}

func TestStepPhasesAgreesWithPhases(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 3))
	objects := randomObjects(random, 100)
	decision := inventory.Decide(nil, objects, notListed)
	var got [][]*unstructured.Unstructured
	for _, steps := range inventory.StepPhases(decision.Apply) {
		var phase []*unstructured.Unstructured
		for _, step := range steps {
			phase = append(phase, step.Object)
		}
		got = append(got, phase)
	}
	if diff := cmp.Diff(inventory.Phases(objects), got); diff != "" {
		t.Error(diff)
	}
}

func TestTeardown(t *testing.T) {
	sample := inventory.ID{Group: "operator.kyma-project.io", Kind: "Sample", Namespace: "kyma-system", Name: "sample"}
	webhook := inventory.ID{Group: "admissionregistration.k8s.io", Kind: "ValidatingWebhookConfiguration", Name: "hook"}
	apiService := inventory.ID{Group: "apiregistration.k8s.io", Kind: "APIService", Name: "v1.sample"}
	config := configMapID("config")
	job := inventory.ID{Group: "batch", Kind: "Job", Namespace: "kyma-system", Name: "job"}
	pod := inventory.ID{Kind: "Pod", Namespace: "kyma-system", Name: "pod"}
	replicaSet := inventory.ID{Group: "apps", Kind: "ReplicaSet", Namespace: "kyma-system", Name: "set"}
	definition := inventory.ID{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "samples"}
	deployment := inventory.ID{Group: "apps", Kind: "Deployment", Namespace: "kyma-system", Name: "operator"}
	role := inventory.ID{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "operator"}
	account := inventory.ID{Kind: "ServiceAccount", Namespace: "kyma-system", Name: "operator"}
	service := inventory.ID{Kind: "Service", Namespace: "kyma-system", Name: "operator"}
	namespace := inventory.ID{Kind: "Namespace", Name: "sample"}
	claim := inventory.ID{Kind: "PersistentVolumeClaim", Namespace: "kyma-system", Name: "data"}
	volume := inventory.ID{Kind: "PersistentVolume", Name: "data"}
	policy := inventory.ID{Group: "networking.k8s.io", Kind: "NetworkPolicy", Namespace: "kyma-system", Name: "operator"}
	ingress := inventory.ID{Group: "networking.k8s.io", Kind: "Ingress", Namespace: "kyma-system", Name: "operator"}
	class := inventory.ID{Group: "scheduling.k8s.io", Kind: "PriorityClass", Name: "operator"}
	all := []inventory.ID{namespace, service, account, role, deployment, definition, replicaSet, pod, job, config, apiService, webhook, sample}

	for _, test := range []struct {
		name    string
		ids     []inventory.ID
		manager *inventory.ID
		want    [][]inventory.ID
	}{
		{"the eight waves, each of them sorted", all, nil, [][]inventory.ID{
			{sample}, {webhook, apiService}, {job}, {definition}, {config, service}, {pod, deployment, replicaSet}, {account, role}, {namespace}}},
		{"claims and volumes go with the pods that hold them, at once", []inventory.ID{deployment, claim, volume, account, job}, nil,
			[][]inventory.ID{{job}, {volume, claim, deployment}, {account}}},
		{"objects that pods only name are deleted after them", []inventory.ID{deployment, policy, class, ingress}, nil,
			[][]inventory.ID{{ingress}, {deployment}, {policy, class}}},
		{"a manager of another kind goes with the workloads", []inventory.ID{sample, pod, definition}, &pod,
			[][]inventory.ID{{sample}, {definition}, {pod}}},
		{"a manager that is a workload goes with the others", []inventory.ID{deployment, config}, &deployment,
			[][]inventory.ID{{config}, {deployment}}},
		{"empty waves are left out", []inventory.ID{namespace}, nil, [][]inventory.ID{{namespace}}},
		{"nothing recorded makes no wave", nil, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var entries []inventory.Entry
			for _, id := range test.ids {
				entries = append(entries, inventory.Entry{ID: id, Version: "v1"})
			}
			var got [][]inventory.ID
			for _, wave := range inventory.Teardown(entries, test.manager) {
				var ids []inventory.ID
				for _, entry := range wave {
					ids = append(ids, entry.ID)
				}
				got = append(got, ids)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTeardownHoldsEachEntryOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for range 200 {
		entries := inventory.Merge(appliedAll(randomObjects(random, random.IntN(80))), nil, nil)
		var manager *inventory.ID
		if len(entries) > 0 && random.IntN(2) == 0 {
			manager = &entries[random.IntN(len(entries))].ID
		}
		flat := slices.Concat(inventory.Teardown(entries, manager)...)
		if diff := cmp.Diff(entries, inventory.Merge(flat, nil, nil)); diff != "" || len(flat) != len(entries) {
			t.Fatalf("%d entries in waves of %d: %s", len(flat), len(entries), diff)
		}
	}
}
