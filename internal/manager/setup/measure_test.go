package setup

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// hosts records the hosts that requests are counted for.
type hosts struct{ counted []string }

func (h *hosts) Increment(_ context.Context, _, _, host string) { h.counted = append(h.counted, host) }

func TestOneHost_CountsTheHubApart(t *testing.T) {
	told := &hosts{}
	counting := &oneHost{next: told, hub: serverOf("https://10.96.0.1:443")}
	for _, host := range []string{"10.96.0.1:443", "api.one.example.com", "api.two.example.com:6443"} {
		counting.Increment(t.Context(), "200", "GET", host)
	}
	if want := []string{"10.96.0.1:443", allRuntimes, allRuntimes}; !slices.Equal(told.counted, want) {
		t.Errorf("counted for %q, want %q", told.counted, want)
	}
}

func TestServerOf(t *testing.T) {
	for address, want := range map[string]string{
		"https://10.96.0.1:443": "10.96.0.1:443", "https://hub.example.com/clusters/a": "hub.example.com", "localhost:8080": "localhost:8080",
	} {
		if got := serverOf(address); got != want {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
}

func TestTrackPhases_PublishesWhatIsObserved(t *testing.T) {
	registry := prometheus.NewRegistry()
	tracker, err := trackPhases(registry, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &v1beta2.Manifest{}
	m.Namespace, m.Name, m.Generation = v1beta2.DefaultNamespace, "one", 1
	tracker.Now = func() time.Time { return time.Unix(0, 0) }
	tracker.Requested(m)
	tracker.Begin(t.Context(), m)
	if got, err := testutil.GatherAndCount(registry, "lifecycle_mgr_module_phase_seconds"); err != nil || got != 1 {
		t.Errorf("%d series, error %v", got, err)
	}
}
