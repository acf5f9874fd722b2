package metrics

import (
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestWatchTurns(t *testing.T) {
	registry := prometheus.NewRegistry()
	err := errors.Join(
		WatchYielded(registry, "kyma", func() int { return 3 }),
		WatchYielded(registry, "manifest", func() int { return 0 }),
	)
	if err != nil {
		t.Fatal(err)
	}
	want := `
# HELP lifecycle_mgr_yielded_reconciles How many reconciles go on beside those that count as concurrent, because their runtime is late with an answer.
# TYPE lifecycle_mgr_yielded_reconciles gauge
lifecycle_mgr_yielded_reconciles{controller="kyma"} 3
lifecycle_mgr_yielded_reconciles{controller="manifest"} 0
`
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want)); err != nil {
		t.Error(err)
	}
}
