package metrics

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
)

// observations returns how many values a histogram has observed.
func observations(t *testing.T, of prometheus.Observer) uint64 {
	t.Helper()
	histogram, is := of.(prometheus.Histogram)
	if !is {
		t.Fatalf("%T is no histogram", of)
	}
	written := &dto.Metric{}
	if err := histogram.Write(written); err != nil {
		t.Fatal(err)
	}
	return written.GetHistogram().GetSampleCount()
}

func TestPhases_AreObservedByModule(t *testing.T) {
	phases, err := NewPhases(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	phases.Observe("istio", "fetch", time.Second)
	phases.Observe("istio", "fetch", time.Minute)
	phases.Observe("istio", "ready", time.Hour)
	phases.Observe("", "ready", time.Hour)
	for _, want := range []struct {
		module, phase string
		count         uint64
	}{{"istio", "fetch", 2}, {"istio", "ready", 1}, {"", "ready", 1}} {
		if got := observations(t, phases.seconds.WithLabelValues(want.module, want.phase)); got != want.count {
			t.Errorf("phase %s of %q has %d observations, want %d", want.phase, want.module, got, want.count)
		}
	}
}

func TestPhases_AreBounded(t *testing.T) {
	phases, err := NewPhases(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 * mostModules {
		phases.Observe(fmt.Sprintf("module-%d", i), "queue", time.Second)
	}
	phases.Observe("module-0", "queue", time.Second)
	if got := testutil.CollectAndCount(phases.seconds); got != mostModules+1 {
		t.Errorf("%d series, want %d", got, mostModules+1)
	}
	if got := observations(t, phases.seconds.WithLabelValues(otherModules, "queue")); got != 2*mostModules {
		t.Errorf("the others have %d observations, want %d", got, 2*mostModules)
	}
}
