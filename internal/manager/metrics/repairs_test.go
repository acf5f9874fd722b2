package metrics

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestRepairs_AreCountedFromZero(t *testing.T) {
	registry := prometheus.NewRegistry()
	repairs, err := NewRepairs(registry)
	if err != nil {
		t.Fatal(err)
	}
	want := func(definitions, contested string) string {
		return `
# HELP lifecycle_mgr_contested_fields_total How often fields were put back that had been put back a moment before: another client keeps changing them.
# TYPE lifecycle_mgr_contested_fields_total counter
lifecycle_mgr_contested_fields_total ` + contested + `
# HELP lifecycle_mgr_restored_definitions_total CustomResourceDefinitions of modules that were deleted in a runtime, with every object of their kinds, and made again.
# TYPE lifecycle_mgr_restored_definitions_total counter
lifecycle_mgr_restored_definitions_total ` + definitions + "\n"
	}
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want("0", "0"))); err != nil {
		t.Error(err)
	}
	repairs.DefinitionRestored()
	repairs.FieldsContested()
	repairs.FieldsContested()
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want("1", "2"))); err != nil {
		t.Error(err)
	}
}

func TestWatchClock_PublishesTheTimeOfTheScrape(t *testing.T) {
	registry, now := prometheus.NewRegistry(), time.UnixMilli(1_500)
	if err := WatchClock(registry, func() time.Time { return now }); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1.5", "61.5"} {
		text := `
# HELP lifecycle_mgr_clock_seconds Time of the manager's clock when it was asked, in seconds since 1970: it should be that of the sample.
# TYPE lifecycle_mgr_clock_seconds gauge
lifecycle_mgr_clock_seconds ` + want + "\n"
		if err := testutil.GatherAndCompare(registry, strings.NewReader(text)); err != nil {
			t.Error(err)
		}
		now = now.Add(time.Minute)
	}
}
