package metrics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// failing sets a condition that does not hold, for a reason.
func failing(kyma *v1beta2.Kyma, kind, reason string) {
	conditions.Set(&kyma.Status.Conditions, kind, metav1.ConditionFalse, reason, "", 1, metav1.Time{})
}

// threeKymas has two Kymas that are ready and one whose module is refused.
func threeKymas() []*v1beta2.Kyma {
	first := kyma(v1beta2.StateReady,
		v1beta2.ModuleStatus{Name: "istio", State: v1beta2.StateReady, Channel: "regular", Version: "1.0.0"},
		v1beta2.ModuleStatus{Name: "keda", State: v1beta2.StateReady, Version: "2.0.0"})
	second := kyma(v1beta2.StateReady, v1beta2.ModuleStatus{Name: "istio", State: v1beta2.StateReady, Channel: "regular", Version: "1.0.0"})
	third := kyma(v1beta2.StateError, v1beta2.ModuleStatus{
		Name: "istio", State: v1beta2.StateError, Reason: v1beta2.ReasonObjectRefused, Channel: "fast", Version: "1.1.0",
	}, v1beta2.ModuleStatus{Name: "nats", State: v1beta2.StateError, Reason: v1beta2.ReasonChannelNotFound})
	second.Name, third.Name = "two", "three"
	failing(third, v1beta2.ConditionReady, v1beta2.ReasonModuleError)
	failing(third, v1beta2.ConditionMandatoryModules, v1beta2.ReasonModuleProcessing)
	return []*v1beta2.Kyma{first, second, third}
}

const countsOfFleet = `
# HELP lifecycle_mgr_kymas How many Kymas are in a state for a reason: that of their condition Ready.
# TYPE lifecycle_mgr_kymas gauge
lifecycle_mgr_kymas{reason="",state="Ready"} 2
lifecycle_mgr_kymas{reason="ModuleError",state="Error"} 1
# HELP lifecycle_mgr_kymas_without_mandatory How many Kymas have mandatory modules that are not ready, by the reason of condition MandatoryModules.
# TYPE lifecycle_mgr_kymas_without_mandatory gauge
lifecycle_mgr_kymas_without_mandatory{reason="ModuleProcessing"} 1
# HELP lifecycle_mgr_module_versions How many Kymas have a version of a module, installed or being installed, by the channel that it came from; empty for an exact version.
# TYPE lifecycle_mgr_module_versions gauge
lifecycle_mgr_module_versions{channel="",module_name="keda",version="2.0.0"} 1
lifecycle_mgr_module_versions{channel="fast",module_name="istio",version="1.1.0"} 1
lifecycle_mgr_module_versions{channel="regular",module_name="istio",version="1.0.0"} 2
# HELP lifecycle_mgr_modules How many Kymas have a module in a state for a reason; the reason of one that is ready and waits for nothing is empty.
# TYPE lifecycle_mgr_modules gauge
lifecycle_mgr_modules{module_name="istio",reason="",state="Ready"} 2
lifecycle_mgr_modules{module_name="istio",reason="ObjectRefused",state="Error"} 1
lifecycle_mgr_modules{module_name="keda",reason="",state="Ready"} 1
lifecycle_mgr_modules{module_name="nats",reason="ChannelNotFound",state="Error"} 1
`

var countNames = []string{"lifecycle_mgr_kymas", "lifecycle_mgr_kymas_without_mandatory", "lifecycle_mgr_module_versions", "lifecycle_mgr_modules"}

func TestStates_CountKymasAndModules(t *testing.T) {
	registry := prometheus.NewRegistry()
	states, err := New(registry, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range threeKymas() {
		states.ObserveKyma(one)
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(countsOfFleet), countNames...); err != nil {
		t.Error(err)
	}
	for _, one := range threeKymas() {
		states.ForgetKyma(one.Namespace, one.Name)
	}
	if got := testutil.CollectAndCount(states); got != 0 {
		t.Errorf("a fleet that is gone leaves %d series", got)
	}
}

func TestStates_CountTheSameWithoutSeriesOfEachKyma(t *testing.T) {
	registry := prometheus.NewRegistry()
	states, err := New(registry, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range threeKymas() {
		states.ObserveKyma(one)
		states.ObserveMandatory(one.Namespace, one.Name, map[string]v1beta2.State{"warden": v1beta2.StateReady})
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(countsOfFleet), countNames...); err != nil {
		t.Error(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if label.GetName() == labelKyma || label.GetName() == labelInstance || label.GetName() == labelShoot {
					t.Errorf("%s has label %s", family.GetName(), label.GetName())
				}
			}
		}
	}
}
