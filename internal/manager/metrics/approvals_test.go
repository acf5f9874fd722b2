package metrics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestStates_CountWhatWaitsForConsent(t *testing.T) {
	registry := prometheus.NewRegistry()
	states, err := New(registry, true)
	if err != nil {
		t.Fatal(err)
	}
	pending := func(sides ...v1beta2.ConsentSide) *v1beta2.PendingVersion {
		return &v1beta2.PendingVersion{Version: "1.1.0", From: sides}
	}
	for _, name := range []string{"one", "two"} {
		observed := kyma(v1beta2.StateReady,
			v1beta2.ModuleStatus{Name: "istio", State: v1beta2.StateReady, Pending: pending(v1beta2.ConsentHub, v1beta2.ConsentRuntime)},
			v1beta2.ModuleStatus{Name: "nats", State: v1beta2.StateReady, Pending: pending()},
			v1beta2.ModuleStatus{Name: "keda", State: v1beta2.StateReady})
		observed.Name = name
		states.ObserveKyma(observed)
	}
	const head = `
# HELP lifecycle_mgr_approval_pending How many Kymas have a version of a module that waits for the consent of a side: Hub, Runtime, or Any where one of them is enough.
# TYPE lifecycle_mgr_approval_pending gauge
`
	const series = `lifecycle_mgr_approval_pending{module_name="istio",side="`
	for _, want := range []string{head + series + `Hub"} 2` + "\n" + series + `Runtime"} 2` + "\n", head + series + `Hub"} 1` + "\n" + series + `Runtime"} 1` + "\n"} {
		if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "lifecycle_mgr_approval_pending"); err != nil {
			t.Error(err)
		}
		states.ForgetKyma("kcp-system", "two")
	}
	states.ObserveKyma(kyma(v1beta2.StateReady, v1beta2.ModuleStatus{Name: "istio", State: v1beta2.StateReady}))
	if got := testutil.CollectAndCount(states, "lifecycle_mgr_approval_pending"); got != 0 {
		t.Errorf("what has consent leaves %d series", got)
	}
}

func TestWatchApprovals(t *testing.T) {
	registry, good := prometheus.NewRegistry(), true
	if err := WatchApprovals(registry, func() bool { return good }); err != nil {
		t.Fatal(err)
	}
	count, err := CountRenders(registry)
	if err != nil {
		t.Fatal(err)
	}
	count()
	for _, want := range []string{"1", "0"} {
		text := `
# HELP lifecycle_mgr_approval_policy_read_success 1 when the approval policy is in force as its file says, 0 when the file is not understood and the rules before it are in force.
# TYPE lifecycle_mgr_approval_policy_read_success gauge
lifecycle_mgr_approval_policy_read_success ` + want + `
# HELP lifecycle_mgr_approval_renders_total How many contents were rendered to find out what a version that waits for consent asks for.
# TYPE lifecycle_mgr_approval_renders_total counter
lifecycle_mgr_approval_renders_total 1
`
		if err := testutil.GatherAndCompare(registry, strings.NewReader(text)); err != nil {
			t.Error(err)
		}
		good = false
	}
}
