package metrics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestMandatoryModules(t *testing.T) {
	registry := prometheus.NewRegistry()
	states, err := New(registry, true)
	if err != nil {
		t.Fatal(err)
	}
	states.CountMandatory(2)
	states.ObserveMandatory("kcp-system", "one", map[string]v1beta2.State{"warden": v1beta2.StateProcessing, "other": v1beta2.StateReady})
	states.ObserveMandatory("kcp-system", "two", map[string]v1beta2.State{"warden": v1beta2.StateReady})
	states.ObserveMandatory("kcp-system", "one", map[string]v1beta2.State{"warden": v1beta2.StateReady})
	states.ObserveMandatory("kcp-system", "none", nil)
	want := `
# HELP lifecycle_mgr_mandatory_module_state Current state of a mandatory module of a Kyma: 1 for the state it is in, 0 for those it has left.
# TYPE lifecycle_mgr_mandatory_module_state gauge
lifecycle_mgr_mandatory_module_state{kyma_name="one",module_name="warden",state="Processing"} 0
lifecycle_mgr_mandatory_module_state{kyma_name="one",module_name="warden",state="Ready"} 1
lifecycle_mgr_mandatory_module_state{kyma_name="two",module_name="warden",state="Ready"} 1
# HELP lifecycle_mgr_mandatory_modules How many modules every Kyma has.
# TYPE lifecycle_mgr_mandatory_modules gauge
lifecycle_mgr_mandatory_modules 2
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Fatal(err)
	}
	states.ForgetKyma("kcp-system", "one")
	states.ObserveMandatory("kcp-system", "two", nil)
	if got := testutil.CollectAndCount(states.mandatory.states); got != 0 {
		t.Errorf("%d series are left, want none", got)
	}
}

func TestWatchWindows(t *testing.T) {
	registry, good := prometheus.NewRegistry(), false
	if err := WatchWindows(registry, func() bool { return good }); err != nil {
		t.Fatal(err)
	}
	const help = "# HELP lifecycle_mgr_maintenance_window_config_read_success 1 when the maintenance policy was read and is in force, " +
		"0 when there is none or its file is not understood.\n# TYPE lifecycle_mgr_maintenance_window_config_read_success gauge\n" +
		"lifecycle_mgr_maintenance_window_config_read_success "
	for _, value := range []string{"0\n", "1\n"} {
		good = value == "1\n"
		if err := testutil.GatherAndCompare(registry, strings.NewReader(help+value)); err != nil {
			t.Error(err)
		}
	}
}
