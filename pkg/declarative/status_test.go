package declarative

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// moving counts how often it is resolved.
type moving struct {
	content.Source
	asked atomic.Int32
}

func (m *moving) Reference() string { return "registry/moving:latest" }

func (m *moving) Resolve(ctx context.Context) (content.Resolved, error) {
	m.asked.Add(1)
	return m.Source.Resolve(ctx)
}

// refuseWatches returns a transport that forbids a list with a selector, with which a watch begins.
func refuseWatches(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if !strings.Contains(request.URL.RawQuery, "labelSelector=declarative") {
			return next.RoundTrip(request)
		}
		body := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"not today"}`
		return &http.Response{
			StatusCode: http.StatusForbidden, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(body)), Request: request,
		}, nil
	})
}

func TestVerdict(t *testing.T) {
	lives, dies := &widget{}, &widget{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: time.Unix(1, 0)}}}
	ready := installer.Report{Ready: true, State: installer.StateReady, Reason: "Installed", Message: "all there"}
	leaving := installer.Report{State: installer.StateDeleting, Reason: "WaitingForDeletion", Message: "web"}
	blocked := installer.Report{State: installer.StateDeleting, Reason: installer.ReasonDeletionBlocked, Message: "cogs"}
	for name, tc := range map[string]struct {
		object *widget
		report installer.Report
		err    error
		want   verdict
	}{
		"a ready report is ready":                   {lives, ready, nil, verdict{StateReady, "Installed", "all there"}},
		"a deletion lasts until the object is gone": {dies, leaving, nil, verdict{StateDeleting, "WaitingForDeletion", "web"}},
		"a blocked deletion needs a user":           {dies, blocked, nil, verdict{StateWarning, "DeletionBlocked", "cogs"}},
		"a warning overrides the report":            {lives, ready, failed(ReasonHookFailed, Warning("do %s", "it")), verdict{StateWarning, "Warning", "do it"}},
		"a hook's error has its reason":             {dies, leaving, failed(ReasonHookFailed, errors.New("no")), verdict{StateError, "HookFailed", "no"}},
		"an error of the library keeps its reason": {
			lives, installer.Report{}, fmt.Errorf("source x: %w", &content.Error{Reason: content.ReasonDigestMismatch, Err: errors.New("other bytes")}),
			verdict{StateError, content.ReasonDigestMismatch, "source x: other bytes"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := verdictOf(tc.object, tc.report, tc.err); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestObserve(t *testing.T) {
	resolved := installer.Resolved{Source: "a", Reference: "r", Resolved: content.Resolved{Digest: "d", Version: "v", MediaType: "m"}}
	status := &Status{}
	status.observe(verdict{StateReady, "Installed", "m"}, 2, installer.Report{Resolved: []installer.Resolved{resolved}}, nil)
	if diff := cmp.Diff([]installer.Resolved{resolved}, status.pinned()); diff != "" {
		t.Errorf("contents do not come back as they were (-want +got):\n%s", diff)
	}
	copied := &Status{}
	status.DeepCopyInto(copied)
	status.observe(verdict{StateError, "Bad", "m"}, 3, installer.Report{}, errors.New("bad"))
	if len(status.Contents) != 1 {
		t.Error("a pass that failed forgot the contents")
	}
	if copied.State != StateReady || copied.Conditions[0].Status != metav1.ConditionTrue {
		t.Error("a copy shares something with what it was made of")
	}
}

func TestIdentify(t *testing.T) {
	for name, tc := range map[string]struct {
		records   string
		object    metav1.ObjectMeta
		name, loc string
	}{
		"in the object's namespace":           {"", metav1.ObjectMeta{Name: "a", Namespace: "n"}, "op.a", "n"},
		"in one namespace, with its own name": {"r", metav1.ObjectMeta{Name: "a", Namespace: "n"}, "op.n.a", "r"},
		"in that namespace, like all others":  {"r", metav1.ObjectMeta{Name: "a", Namespace: "r"}, "op.r.a", "r"},
		"of a kind without namespaces":        {"r", metav1.ObjectMeta{Name: "a"}, "op.a", "r"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &Reconciler[*widget]{Name: "op", Namespace: tc.records}
			if got, at := r.identify(&widget{ObjectMeta: tc.object}); got != tc.name || at != tc.loc {
				t.Errorf("got %s in %s, want %s in %s", got, at, tc.name, tc.loc)
			}
		})
	}
	t.Run("a name that is too long is replaced by its hash", func(t *testing.T) {
		r := &Reconciler[*widget]{Name: "op"}
		one, _ := r.identify(&widget{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("x", 250)}})
		two, _ := r.identify(&widget{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("x", 251)}})
		if one == two || len(one) > maxName || !strings.HasPrefix(one, "op.") {
			t.Errorf("got %s and %s", one, two)
		}
	})
}

func TestStatus_Same(t *testing.T) {
	config := func(edit func(*rest.Config)) *rest.Config {
		made := &rest.Config{Host: "https://a", BearerToken: "x", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("ca")}}
		edit(made)
		return made
	}
	plain := config(func(*rest.Config) {})
	for name, tc := range map[string]struct {
		other *rest.Config
		want  bool
	}{
		"with the same content":    {config(func(*rest.Config) {}), true},
		"with a function":          {config(func(c *rest.Config) { c.Wrap(refuseWatches) }), true},
		"of another server":        {config(func(c *rest.Config) { c.Host = "https://b" }), false},
		"with another token":       {config(func(c *rest.Config) { c.BearerToken = "y" }), false},
		"with another certificate": {config(func(c *rest.Config) { c.CAData = []byte("other") }), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := same(plain, tc.other); got != tc.want {
				t.Errorf("same = %v, want %v", got, tc.want)
			}
		})
	}
}
