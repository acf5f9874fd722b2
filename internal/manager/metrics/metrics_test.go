package metrics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func kyma(state v1beta2.State, modules ...v1beta2.ModuleStatus) *v1beta2.Kyma {
	return &v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "kcp-system", Name: "one", Labels: map[string]string{instanceIDLabel: "id"},
			Annotations: map[string]string{domainAnnotation: "c-1.example.com"},
		},
		Status: v1beta2.KymaStatus{State: state, Modules: modules},
	}
}

func TestStates_FollowKyma(t *testing.T) {
	registry := prometheus.NewRegistry()
	states, err := New(registry, true)
	if err != nil {
		t.Fatal(err)
	}
	states.ObserveKyma(kyma(v1beta2.StateProcessing, v1beta2.ModuleStatus{Name: "istio", State: v1beta2.StateProcessing}))
	states.ObserveKyma(kyma(v1beta2.StateReady, v1beta2.ModuleStatus{Name: "istio", State: v1beta2.StateReady}))
	want := `
# HELP lifecycle_mgr_kyma_state Current state of a Kyma: 1 for the state it is in, 0 for those it has left.
# TYPE lifecycle_mgr_kyma_state gauge
lifecycle_mgr_kyma_state{instance_id="id",kyma_name="one",shoot="c-1",state="Processing"} 0
lifecycle_mgr_kyma_state{instance_id="id",kyma_name="one",shoot="c-1",state="Ready"} 1
# HELP lifecycle_mgr_module_state Current state of a module of a Kyma: 1 for the state it is in, 0 for those it has left.
# TYPE lifecycle_mgr_module_state gauge
lifecycle_mgr_module_state{instance_id="id",kyma_name="one",module_name="istio",shoot="c-1",state="Processing"} 0
lifecycle_mgr_module_state{instance_id="id",kyma_name="one",module_name="istio",shoot="c-1",state="Ready"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "lifecycle_mgr_kyma_state", "lifecycle_mgr_module_state"); err != nil {
		t.Fatal(err)
	}
	states.ObserveKyma(kyma(v1beta2.StateReady))
	if got := testutil.CollectAndCount(states, "lifecycle_mgr_module_state"); got != 0 {
		t.Errorf("a removed module leaves %d series, want none", got)
	}
	states.ForgetKyma("kcp-system", "one")
	if got := testutil.CollectAndCount(states); got != 0 {
		t.Errorf("a deleted Kyma leaves %d series, want none", got)
	}
}

func TestStates_MergeKymasOfSameName(t *testing.T) {
	registry := prometheus.NewRegistry()
	states, err := New(registry, true)
	if err != nil {
		t.Fatal(err)
	}
	other := kyma(v1beta2.StateError)
	other.Namespace = "elsewhere"
	states.ObserveKyma(kyma(v1beta2.StateError))
	states.ObserveKyma(kyma(v1beta2.StateReady))
	states.ObserveKyma(other)
	want := `
# HELP lifecycle_mgr_kyma_state Current state of a Kyma: 1 for the state it is in, 0 for those it has left.
# TYPE lifecycle_mgr_kyma_state gauge
lifecycle_mgr_kyma_state{instance_id="id",kyma_name="one",shoot="c-1",state="Error"} 1
lifecycle_mgr_kyma_state{instance_id="id",kyma_name="one",shoot="c-1",state="Ready"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "lifecycle_mgr_kyma_state"); err != nil {
		t.Fatal(err)
	}
	states.ForgetKyma("kcp-system", "one")
	if got := testutil.CollectAndCount(states, "lifecycle_mgr_kyma_state"); got != 1 {
		t.Errorf("%d series of the one that is left, want 1", got)
	}
}

func TestStates_UseNewestClusterLabels(t *testing.T) {
	states, err := New(prometheus.NewRegistry(), true)
	if err != nil {
		t.Fatal(err)
	}
	states.ObserveKyma(kyma(v1beta2.StateProcessing))
	moved := kyma(v1beta2.StateReady)
	moved.Annotations[domainAnnotation] = "c-2.example.com"
	states.ObserveKyma(moved)
	want := `
# HELP lifecycle_mgr_kyma_state Current state of a Kyma: 1 for the state it is in, 0 for those it has left.
# TYPE lifecycle_mgr_kyma_state gauge
lifecycle_mgr_kyma_state{instance_id="id",kyma_name="one",shoot="c-2",state="Processing"} 0
lifecycle_mgr_kyma_state{instance_id="id",kyma_name="one",shoot="c-2",state="Ready"} 1
`
	if err := testutil.CollectAndCompare(states, strings.NewReader(want), "lifecycle_mgr_kyma_state"); err != nil {
		t.Fatal(err)
	}
}

func TestNew_RefusesSecondRegistration(t *testing.T) {
	registry := prometheus.NewRegistry()
	if _, err := New(registry, true); err != nil {
		t.Fatal(err)
	}
	if _, err := New(registry, true); err == nil {
		t.Error("the second registration was accepted")
	}
}
