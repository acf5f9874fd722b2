package clustercache

import (
	"io"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

func TestClaim_KeepsTheLatest(t *testing.T) {
	c := &claim{}
	if _, known := c.get(); known {
		t.Fatal("known before it was read")
	}
	for _, step := range []struct {
		name    string
		do      func()
		holder  string
		unknown bool
	}{
		{"read: no namespace", func() { c.reset("", 0) }, "", false},
		{"written", func() { c.set("us", 10) }, "us", false},
		{"a list of before", func() { c.set("", 9) }, "us", false},
		{"taken over", func() { c.set("other", 11) }, "other", false},
		{"the response of our own write, which came later", func() { c.set("us", 10) }, "other", false},
		{"gone", func() { c.lose() }, "other", true},
		{"made anew", func() { c.set("us", 20) }, "us", false},
		{"the cluster is back from a backup", func() { c.reset("other", 5) }, "other", false},
		{"and goes on from there", func() { c.set("us", 6) }, "us", false},
	} {
		step.do()
		if holder, known := c.get(); holder != step.holder || known == step.unknown {
			t.Errorf("%s: %q, known %t", step.name, holder, known)
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestClaimFence_SendsOnlyWhatTheClaimAllows(t *testing.T) {
	rule, sent := module.ClaimRequired, 0
	r := &Runtime{cfg: &Config{HubID: "us", Claims: func(string, string) module.ClaimRule { return rule }}, conn: &connection{}}
	fence := claimFence{runtime: r, next: roundTrip(func(req *http.Request) (*http.Response, error) {
		sent++
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: req}, nil
	})}
	const pods, review = "https://runtime/api/v1/namespaces/a/pods", "https://runtime/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	for _, test := range []struct {
		name, method, url, holder string
		rule                      module.ClaimRule
		claiming, sent            bool
	}{
		{"a read", http.MethodGet, pods, "other", module.ClaimRequired, false, true},
		{"a review", http.MethodPost, review, "other", module.ClaimRequired, false, true},
		{"a write to another hub's runtime", http.MethodPost, pods, "other", module.ClaimRequired, false, false},
		{"a deletion there", http.MethodDelete, pods, "other", module.ClaimRespected, false, false},
		{"a write before it is claimed", http.MethodPatch, pods, "", module.ClaimRequired, false, false},
		{"the claim itself", http.MethodPatch, pods, "", module.ClaimRequired, true, true},
		{"a write to our own", http.MethodPut, pods, "us", module.ClaimRequired, false, true},
		{"a write to what is shared on purpose", http.MethodPut, pods, "other", module.ClaimIgnored, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			rule, sent = test.rule, 0
			r.conn.claim.reset(test.holder, 1)
			ctx := t.Context()
			if test.claiming {
				ctx = runtimes.Claiming(ctx)
			}
			req, err := http.NewRequestWithContext(ctx, test.method, test.url, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			resp, err := fence.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = resp.Body.Close() }()
			if (sent == 1) != test.sent {
				t.Fatalf("sent %d times, want %t", sent, test.sent)
			}
			if test.sent {
				return
			}
			if refusal := statusError(resp, test.method, "pods"); !apierrors.IsConflict(refusal) {
				t.Errorf("refused with %v, want a conflict, after which the pass is repeated", refusal)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Error(err)
			}
		})
	}
}
