package metrics

import (
	"errors"
	"net/http"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// server answers every request alike.
type server struct {
	status  int
	warning string
	err     error
}

func (s server) RoundTrip(*http.Request) (*http.Response, error) {
	if s.err != nil {
		return nil, s.err
	}
	header := http.Header{}
	if s.warning != "" {
		header.Add("Warning", s.warning)
	}
	return &http.Response{StatusCode: s.status, Header: header, Body: http.NoBody}, nil
}

func TestAPICalls_CountByOutcome(t *testing.T) {
	const kymas = "https://hub.example.com/apis/operator.kyma-project.io/v1beta2/kymas"
	for name, test := range map[string]struct {
		method, url string
		server      server
		want        [3]string
		timed       uint64
		unknown     float64
	}{
		"a list that is answered": {http.MethodGet, kymas, server{status: 200}, [3]string{Hub, "read", "answered"}, 1, 0},
		"an object that is not there is an answer, too": {
			http.MethodGet, kymas + "/a", server{status: 404}, [3]string{Hub, "read", "answered"}, 1, 0,
		},
		"a watch has no end, and so no time": {http.MethodGet, kymas + "?watch=true", server{status: 200}, [3]string{Hub, "watch", "answered"}, 0, 0},
		"a watch whose history is gone":      {http.MethodGet, kymas + "?watch=true", server{status: 410}, [3]string{Hub, "watch", "expired"}, 0, 0},
		"a write that lost a race":           {http.MethodPut, kymas + "/a", server{status: 409}, [3]string{Hub, "write", "conflict"}, 1, 0},
		"a write that is asked to wait":      {http.MethodPatch, kymas + "/a", server{status: 429}, [3]string{Hub, "write", "throttled"}, 1, 0},
		"credentials that are not accepted":  {http.MethodGet, kymas, server{status: 401}, [3]string{Hub, "read", "forbidden"}, 1, 0},
		"a right that is missing":            {http.MethodDelete, kymas + "/a", server{status: 403}, [3]string{Hub, "write", "forbidden"}, 1, 0},
		"a server that fails":                {http.MethodPost, kymas, server{status: 503}, [3]string{Hub, "write", "failed"}, 1, 0},
		"a server that does not answer":      {http.MethodGet, kymas, server{err: errors.New("refused")}, [3]string{Hub, "read", "unanswered"}, 1, 0},
		"a definition without a field": {
			http.MethodPut, kymas + "/a/status", server{status: 200, warning: `299 - "unknown field \"status.pending\""`},
			[3]string{Hub, "write", "answered"}, 1, 1,
		},
		"a warning about something else": {
			http.MethodPut, kymas + "/a", server{status: 200, warning: `299 - "metadata.finalizers: prefer a domain-qualified name"`},
			[3]string{Hub, "write", "answered"}, 1, 0,
		},
		"definitions of a runtime are its user's": {
			http.MethodPatch, kymas + "/a", server{status: 200, warning: `299 - "unknown field \"spec.a\""`},
			[3]string{Runtime, "write", "answered"}, 1, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			calls, err := NewAPICalls(prometheus.NewRegistry())
			if err != nil {
				t.Fatal(err)
			}
			before := testutil.CollectAndCount(calls.total)
			req, err := http.NewRequestWithContext(t.Context(), test.method, test.url, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := calls.To(test.want[0])(test.server).RoundTrip(req)
			if !errors.Is(err, test.server.err) {
				t.Fatalf("error %v", err)
			}
			if err == nil {
				_ = resp.Body.Close()
			}
			if got := testutil.ToFloat64(calls.total.WithLabelValues(test.want[:]...)); got != 1 {
				t.Errorf("counted %v times as %q", got, test.want)
			}
			if after := testutil.CollectAndCount(calls.total); after != before {
				t.Errorf("%d series, %d from the start", after, before)
			}
			if got := observations(t, calls.seconds.WithLabelValues(test.want[0])); got != test.timed {
				t.Errorf("timed %d times, want %d", got, test.timed)
			}
			if got := testutil.ToFloat64(calls.unknown); got != test.unknown {
				t.Errorf("%v writes lost a field, want %v", got, test.unknown)
			}
		})
	}
}
