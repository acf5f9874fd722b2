package modulecontent

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

func TestDescribe(t *testing.T) {
	for name, test := range map[string]struct {
		resource, mediaType string
		want                v1beta2.RefType
		reason, message     string
	}{
		"a plain layer is applied unchanged":            {rawManifest, "application/x-yaml", v1beta2.RefTypeOCI, "", ""},
		"a tar archive is unpacked":                     {rawManifest, "application/x-tar", v1beta2.RefTypeOCIDir, "", ""},
		"a component without raw-manifest is no module": {"other", "application/x-yaml", "", v1beta2.ReasonComponentInvalid, "raw-manifest"},
	} {
		t.Run(name, func(t *testing.T) {
			f := startRegistry(t)
			layer := f.publish(t, test.resource, test.mediaType)
			got, retry := f.components().Describe(t.Context(), key)
			if test.reason != "" {
				if got.Reason != test.reason || !strings.Contains(got.Message, test.message) || retry != shortestPause || got.Source != nil {
					t.Errorf("got %+v, retry %s", got, retry)
				}
				return
			}
			want := module.Component{
				Source:          &v1beta2.ImageSpec{Repo: f.host + "/component-descriptors", Name: component, Ref: layer, Type: test.want},
				LocalizedImages: []string{"example.com/operator:1.0.0"},
			}
			if diff := cmp.Diff(want, got); diff != "" || retry != 0 {
				t.Errorf("retry %s, differs (-want +got):\n%s", retry, diff)
			}
		})
	}
}

func TestDescribeAsksOnceForWhatItKnows(t *testing.T) {
	f := startRegistry(t)
	f.publish(t, rawManifest, "application/x-yaml")
	f.requests.Store(0)
	components := f.components()
	for range 3 {
		if got, retry := components.Describe(t.Context(), key); got.Reason != "" || retry != 0 {
			t.Fatalf("got %+v, retry %s", got, retry)
		}
	}
	if got := f.requests.Load(); got != 3 {
		t.Errorf("%d requests, want the 3 of one reading", got)
	}
	f.status.Store(http.StatusServiceUnavailable)
	if got, retry := components.Describe(t.Context(), key); got.Source == nil || retry != 0 {
		t.Errorf("what is known depends on the registry: %+v, retry %s", got, retry)
	}
}

func TestDescribeLeavesARegistryAloneThatFailed(t *testing.T) {
	for name, test := range map[string]struct {
		status int32
		reason string
	}{
		"one that is down":           {http.StatusServiceUnavailable, v1beta2.ReasonRegistryUnreachable},
		"one that refuses the login": {http.StatusForbidden, v1beta2.ReasonRegistryUnauthorized},
		"one without the component":  {http.StatusNotFound, v1beta2.ReasonComponentNotFound},
		"one that is empty":          {0, v1beta2.ReasonComponentNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			f := startRegistry(t)
			f.status.Store(test.status)
			components := f.components()
			now := &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
			components.calls.now = now.read
			got, retry := components.Describe(t.Context(), key)
			if got.Reason != test.reason || got.Message == "" || retry != shortestPause {
				t.Fatalf("got %+v, retry %s, want reason %s", got, retry, test.reason)
			}
			asked := f.requests.Load()
			now.move(shortestPause / 2)
			if again, retry := components.Describe(t.Context(), key); again.Reason != test.reason || retry != shortestPause/2 || f.requests.Load() != asked {
				t.Errorf("it is asked again at once: got %+v, retry %s", again, retry)
			}
			f.status.Store(0)
			f.publish(t, rawManifest, "application/x-yaml")
			now.move(shortestPause)
			if healed, retry := components.Describe(t.Context(), key); healed.Reason != "" || healed.Source == nil || retry != 0 {
				t.Errorf("it does not heal: got %+v, retry %s", healed, retry)
			}
		})
	}
}

func TestDescribeDoesNotWaitForASlowRegistry(t *testing.T) {
	f := startRegistry(t)
	f.publish(t, rawManifest, "application/x-yaml")
	release := make(chan struct{})
	next := f.next
	f.next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-release; next.ServeHTTP(w, r) })
	components := f.components()
	components.calls.patience = 10 * time.Millisecond
	got, retry := components.Describe(t.Context(), key)
	if diff := cmp.Diff(module.Component{Pending: true}, got); diff != "" || retry != pendingPause {
		t.Errorf("retry %s, differs (-want +got):\n%s", retry, diff)
	}
	close(release)
	for got.Pending {
		got, _ = components.Describe(t.Context(), key)
	}
	if got.Source == nil {
		t.Errorf("got %+v, want what the registry has", got)
	}
}

func TestComponents_AVersionThatCannotBeInstalledIsReadAgain(t *testing.T) {
	f := startRegistry(t)
	f.publish(t, rawManifest, "application/x-yaml")
	components, now := f.components(), time.Now()
	components.calls.now = func() time.Time { return now }
	expect := func(when string, want v1beta2.RefType) {
		t.Helper()
		got, retry := components.Describe(t.Context(), key)
		if got.Source == nil || got.Source.Type != want || retry != 0 {
			t.Fatalf("%s: got %+v, retry %s, want type %s", when, got, retry, want)
		}
	}
	expect("at first", v1beta2.RefTypeOCI)
	f.publish(t, rawManifest, "application/x-tar")
	now = now.Add(time.Hour)
	expect("when no one has complained", v1beta2.RefTypeOCI)
	if retry := components.MarkSuspect(key); retry != doubtPause {
		t.Errorf("worth looking again after %s, want %s", retry, doubtPause)
	}
	expect("when a user has", v1beta2.RefTypeOCIDir)

	components.MarkSuspect(key)
	f.publish(t, rawManifest, "application/x-yaml")
	expect("when it was read just now", v1beta2.RefTypeOCIDir)
	now = now.Add(doubtPause)
	f.status.Store(http.StatusServiceUnavailable)
	expect("while the registry does not answer", v1beta2.RefTypeOCIDir)
	f.status.Store(0)
	now = now.Add(doubtPause)
	expect("when it answers again", v1beta2.RefTypeOCI)

	f.publish(t, rawManifest, "application/x-tar")
	components.MarkSuspect(key)
	now = now.Add(doubtPause)
	components.calls.patience = 0
	release, next := make(chan struct{}), f.next
	f.next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-release; next.ServeHTTP(w, r) })
	got, retry := components.Describe(t.Context(), key)
	if got.Source == nil || got.Source.Type != v1beta2.RefTypeOCI || retry != pendingPause {
		t.Errorf("while the registry takes its time: got %+v, retry %s, want what is known and a look soon", got, retry)
	}
	close(release)
	for retry > 0 {
		got, retry = components.Describe(t.Context(), key)
	}
	if got.Source == nil || got.Source.Type != v1beta2.RefTypeOCIDir {
		t.Errorf("got %+v, want what the registry has", got)
	}
}
