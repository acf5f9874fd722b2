package metrics

import (
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestShards(t *testing.T) {
	registry := prometheus.NewRegistry()
	shards, err := NewShards(registry, func() int { return 21 })
	if err != nil {
		t.Fatal(err)
	}
	shards.Fenced("lapsed")
	shards.Fenced("lapsed")
	want := `
# HELP lifecycle_mgr_buckets How many of the 64 buckets of Kymas this replica works on.
# TYPE lifecycle_mgr_buckets gauge
lifecycle_mgr_buckets 21
# HELP lifecycle_mgr_fenced_writes_total Writes that were not sent, because what they belong to may be another replica's by now, or is.
# TYPE lifecycle_mgr_fenced_writes_total counter
lifecycle_mgr_fenced_writes_total{reason="lapsed"} 2
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
