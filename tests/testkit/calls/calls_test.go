package calls

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCalls_OfReadsVerbAndResource(t *testing.T) {
	for _, test := range []struct{ name, method, target, want string }{
		{"a POST creates", "POST", "/api/v1/namespaces/a/secrets?fieldManager=m", "create secrets"},
		{"a PATCH patches", "PATCH", "/apis/apps/v1/namespaces/a/deployments/b", "patch deployments.apps"},
		{"a PUT updates", "PUT", "/api/v1/namespaces/a/secrets/b", "update secrets"},
		{"a subresource is part of the resource", "PUT", "/apis/apps/v1/namespaces/a/deployments/b/status", "update deployments.apps/status"},
		{"a DELETE of one", "DELETE", "/api/v1/nodes/a", "delete nodes"},
		{"a DELETE of many", "DELETE", "/api/v1/namespaces/a/pods", "delete pods"},
		{"a GET with a name", "GET", "/api/v1/namespaces/a/pods/b", "get pods"},
		{"a GET without a name lists", "GET", "/api/v1/namespaces/a/pods?limit=5", "list pods"},
		{"a list over all namespaces", "GET", "/apis/apps/v1/deployments", "list deployments.apps"},
		{"a watch by query", "GET", "/api/v1/pods?allowWatchBookmarks=true&watch=true", "watch pods"},
		{"a watch by query, as a number", "GET", "/api/v1/pods?watch=1", "watch pods"},
		{"a watch refused by query", "GET", "/api/v1/pods?watch=false", "list pods"},
		{"a watch by path", "GET", "/api/v1/watch/namespaces/a/pods", "watch pods"},
		{"all Namespaces", "GET", "/api/v1/namespaces", "list namespaces"},
		{"one Namespace", "GET", "/api/v1/namespaces/a", "get namespaces"},
		{"the status of a Namespace", "PATCH", "/api/v1/namespaces/a/status", "patch namespaces/status"},
		{"the end of a Namespace", "PUT", "/api/v1/namespaces/a/finalize", "update namespaces/finalize"},
		{"a path behind a proxy's prefix", "GET", "/k8s/clusters/c1/api/v1/namespaces/a/pods/b", "get pods"},
		{"discovery of groups", "GET", "/apis", "get /apis"},
		{"discovery of one group", "GET", "/apis/apps/v1", "get /apis/apps/v1"},
		{"discovery of the core group", "GET", "/api/v1", "get /api/v1"},
		{"a path without a resource", "GET", "/version", "get /version"},
		{"the root", "GET", "/", "get /"},
	} {
		t.Run(test.name, func(t *testing.T) {
			request := httptest.NewRequest(test.method, "https://server"+test.target, nil)
			if got := Of(request).String(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestCalls_AReviewAsksAndWritesNothing(t *testing.T) {
	for _, test := range []struct {
		name, method, target string
		write                bool
	}{
		{"a question about one right", "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", false},
		{"a question about all rights", "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", false},
		{"a question about the rights in a namespace", "POST", "/apis/authorization.k8s.io/v1/namespaces/a/localsubjectaccessreviews", false},
		{"a question about a token", "POST", "/apis/authentication.k8s.io/v1/tokenreviews", false},
		{"an object of a user that has such a name", "POST", "/apis/shop.example.com/v1/namespaces/a/reviews", true},
		{"a token, which is issued", "POST", "/api/v1/namespaces/a/serviceaccounts/b/token", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			call := Of(httptest.NewRequest(test.method, "https://server"+test.target, nil))
			if got := (Counts{call: 1}).Writes().Total() == 1; call.Write() != test.write || got != test.write {
				t.Errorf("%s counts as a write: %t, want %t", call, got, test.write)
			}
		})
	}
}

type answer func(*http.Request) (*http.Response, error)

func (a answer) RoundTrip(request *http.Request) (*http.Response, error) { return a(request) }

func send(t *testing.T, through http.RoundTripper, method, path, agent string) {
	t.Helper()
	request := httptest.NewRequest(method, "https://server"+path, nil)
	request.Header.Set("User-Agent", agent)
	response, err := through.RoundTrip(request)
	if err == nil {
		_ = response.Body.Close()
	}
}

func TestCounterCountsWhatIsSent(t *testing.T) {
	var counter Counter
	works := counter.Wrap(answer(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}))
	fails := counter.Wrap(answer(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") }))

	send(t, works, "POST", "/api/v1/namespaces/a/secrets", "manager/manifest")
	before := counter.Snapshot()
	if got := counter.Since(before); got.Total() != 0 {
		t.Errorf("counted without a call:\n%s", got)
	}
	send(t, works, "POST", "/api/v1/namespaces/a/secrets", "manager/manifest")
	send(t, works, "POST", "/api/v1/namespaces/a/events", "manager/events")
	send(t, works, "PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/b", "manager/leader")
	send(t, fails, "GET", "/api/v1/namespaces/a/secrets/b", "manager/manifest")

	since := counter.Since(before)
	want := Counts{
		{Create, "secrets", "manager/manifest"}:                  1,
		{Create, "events", "manager/events"}:                     1,
		{Update, "leases.coordination.k8s.io", "manager/leader"}: 1,
		{Get, "secrets", "manager/manifest"}:                     1,
	}
	if diff := cmp.Diff(want, since); diff != "" {
		t.Errorf("since the snapshot (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Counts{{Create, "secrets", "manager/manifest"}: 1}, since.Writes()); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Counts{{Create, "secrets", ""}: 1, {Get, "secrets", ""}: 1}, since.Of("manifest").Plain()); diff != "" {
		t.Errorf("of one agent (-want +got):\n%s", diff)
	}
	if got, want := since.Of("manifest").String(), "     1 create secrets (manager/manifest)\n     1 get secrets (manager/manifest)"; got != want {
		t.Errorf("printed:\n%s\nwant:\n%s", got, want)
	}
	if total := counter.Snapshot().Total(); total != 5 {
		t.Errorf("%d calls in all, want 5", total)
	}
}

func TestCounterIsSafeForManyClients(t *testing.T) {
	var counter Counter
	var clients sync.WaitGroup
	through := counter.Wrap(answer(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
	}))
	for range 8 {
		clients.Go(func() {
			for range 50 {
				send(t, through, "GET", "/version", "")
				counter.Snapshot()
			}
		})
	}
	clients.Wait()
	if got := counter.Snapshot().Total(); got != 400 {
		t.Errorf("%d calls, want 400", got)
	}
}

func TestWrapLeavesTheTransportInSight(t *testing.T) {
	var counter Counter
	wrapped, ok := counter.Wrap(http.DefaultTransport).(interface{ WrappedRoundTripper() http.RoundTripper })
	if !ok || wrapped.WrappedRoundTripper() != http.DefaultTransport {
		t.Error("client-go cannot find the transport inside")
	}
}
