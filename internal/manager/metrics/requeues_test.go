package metrics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestRequeues_UseUpstreamNames(t *testing.T) {
	registry := prometheus.NewRegistry()
	requeues, err := NewRequeues(registry)
	if err != nil {
		t.Fatal(err)
	}
	requeues.Requeued("manifest_client_init", false)
	requeues.Requeued("manifest_client_init", false)
	requeues.Requeued("manifest_reconciliation", true)
	want := `
# HELP lifecycle_mgr_requeue_reason_total How often an object is looked at again without an event: intended after a pause, or unexpected after an error.
# TYPE lifecycle_mgr_requeue_reason_total counter
lifecycle_mgr_requeue_reason_total{requeue_reason="manifest_client_init",requeue_type="intended"} 2
lifecycle_mgr_requeue_reason_total{requeue_reason="manifest_reconciliation",requeue_type="unexpected"} 1
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
	if _, err := NewRequeues(registry); err == nil {
		t.Error("the second registration was accepted")
	}
}
