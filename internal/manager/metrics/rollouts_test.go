package metrics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestRollouts(t *testing.T) {
	registry := prometheus.NewRegistry()
	rollouts, err := NewRollouts(registry)
	if err != nil {
		t.Fatal(err)
	}
	plan := &v1beta2.ModuleRollout{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "eventing"}}
	plan.Status.Channels = []v1beta2.RolloutChannel{{
		Name: "regular", Phase: v1beta2.RolloutProgressing,
		Waves: []v1beta2.RolloutWaveStatus{{Name: "canary", Total: 3, Ready: 2, Failed: 1}},
	}}
	rollouts.ObserveRollout(plan)
	plan.Status.Channels[0].Phase = v1beta2.RolloutHalted
	rollouts.ObserveRollout(plan)
	rollouts.RolloutHalted("eventing", "regular")
	want := `
# HELP lifecycle_mgr_rollout_halted_total How many times the rollout of a module in a channel has halted.
# TYPE lifecycle_mgr_rollout_halted_total counter
lifecycle_mgr_rollout_halted_total{channel="regular",module_name="eventing"} 1
# HELP lifecycle_mgr_rollout_kymas How many Kymas of a wave are waiting, updating, ready, failed, forgiven, broken before the rollout, or skipped.
# TYPE lifecycle_mgr_rollout_kymas gauge
lifecycle_mgr_rollout_kymas{channel="regular",module_name="eventing",state="broken_before",wave="canary"} 0
lifecycle_mgr_rollout_kymas{channel="regular",module_name="eventing",state="failed",wave="canary"} 1
lifecycle_mgr_rollout_kymas{channel="regular",module_name="eventing",state="forgiven",wave="canary"} 0
lifecycle_mgr_rollout_kymas{channel="regular",module_name="eventing",state="ready",wave="canary"} 2
lifecycle_mgr_rollout_kymas{channel="regular",module_name="eventing",state="skipped",wave="canary"} 0
lifecycle_mgr_rollout_kymas{channel="regular",module_name="eventing",state="updating",wave="canary"} 0
lifecycle_mgr_rollout_kymas{channel="regular",module_name="eventing",state="waiting",wave="canary"} 0
# HELP lifecycle_mgr_rollout_phase Phase of the rollout of a module in a channel: 1 for the phase that it is in. The channel of a mandatory module is empty.
# TYPE lifecycle_mgr_rollout_phase gauge
lifecycle_mgr_rollout_phase{channel="regular",module_name="eventing",phase="Halted"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	rollouts.ForgetRollout("kcp-system", "eventing")
	if left := testutil.CollectAndCount(rollouts); left != 0 {
		t.Errorf("%d series are left of a rollout that is gone", left)
	}
	if _, err := NewRollouts(registry); err == nil {
		t.Error("the same metrics are registered twice")
	}
}
