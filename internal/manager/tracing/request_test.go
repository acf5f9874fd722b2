package tracing

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestTargetOf(t *testing.T) {
	for request, want := range map[string]target{
		"GET /api/v1/namespaces/a/secrets/name":                       {"GET", "get", "", "secrets", ""},
		"GET /api/v1/namespaces/a/secrets":                            {"GET", "list", "", "secrets", ""},
		"POST /api/v1/namespaces":                                     {"POST", "create", "", "namespaces", ""},
		"GET /api/v1/namespaces/a":                                    {"GET", "get", "", "namespaces", ""},
		"PATCH /apis/apps/v1/namespaces/a/deployments/b":              {"PATCH", "patch", "apps", "deployments", ""},
		"PUT /apis/apps/v1/namespaces/a/deployments/b/status":         {"PUT", "update", "apps", "deployments", "status"},
		"DELETE /apis/x.example.com/v1alpha1/things/b":                {"DELETE", "delete", "x.example.com", "things", ""},
		"DELETE /apis/x.example.com/v1beta2/things":                   {"DELETE", "deletecollection", "x.example.com", "things", ""},
		"GET /k8s/clusters/token/apis/apps/v1/deployments/b":          {"GET", "get", "apps", "deployments", ""},
		"GET /apis/token/v1/secret/api/v1/namespaces/a/pods/b":        {"GET", "get", "", "pods", ""},
		"GET /api/v1/token/apis":                                      {"GET", "", "", "", ""},
		"GET /api/v1/token/version":                                   {"GET", "", "", "", ""},
		"GET /api/v1/token/apis/apps/v1":                              {"GET", "", "", "", ""},
		"GET /api/v1/namespaces/a/services/https:token:443/proxy/api": {"GET", "", "", "", ""},
		"GET /api/token/pods":                                         {"GET", "", "", "", ""},
		"GET /version":                                                {"GET", "", "", "", ""},
		"GET /apis/apps/v1":                                           {"GET", "", "", "", ""},
		"S3CRET /version":                                             {"_OTHER", "", "", "", ""},
	} {
		method, path, _ := strings.Cut(request, " ")
		req, err := http.NewRequestWithContext(t.Context(), method, "https://runtime"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&want, targetOf(req), cmp.AllowUnexported(target{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", request, diff)
		}
	}
}

func TestTransport_Attributes(t *testing.T) {
	common := map[string]string{
		"server.address": "runtime", "server.port": "6443", "lifecycle_mgr.cluster": "hub", "lifecycle_mgr.request.group": "",
		"lifecycle_mgr.request.resource": "secrets",
	}
	for name, test := range map[string]struct {
		method string
		code   int // none is no answer
		want   map[string]string
	}{
		"a success": {http.MethodPatch, 200, map[string]string{
			"http.request.method": "PATCH", "lifecycle_mgr.request.verb": "patch", "http.response.status_code": "200", "status": "Unset",
		}},
		"a conflict": {http.MethodPatch, 409, map[string]string{
			"http.request.method": "PATCH", "lifecycle_mgr.request.verb": "patch", "http.response.status_code": "409", "status": "Error",
			"error.type": "409",
		}},
		"what is not there": {http.MethodGet, 404, map[string]string{
			"http.request.method": "GET", "lifecycle_mgr.request.verb": "get", "http.response.status_code": "404", "status": "Unset",
		}},
		"no answer": {http.MethodGet, 0, map[string]string{
			"http.request.method": "GET", "lifecycle_mgr.request.verb": "get", "status": "Error", "error.type": "_OTHER",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.answer = func(req *http.Request) (*http.Response, error) {
				if len(req.Header) != 0 {
					t.Errorf("the cluster was sent %v", req.Header)
				}
				if test.code == 0 {
					return nil, errSecret
				}
				return &http.Response{StatusCode: test.code, Status: "s3cret"}, nil
			}
			ctx, pass := b.BeginManifest(t.Context(), manifest(1, 1))
			b.send(ctx, test.method, "https://user:s3cret@runtime:6443/s3cret/api/v1/namespaces/a/secrets/s3cret?fieldManager=s3cret")
			pass.End(v1beta2.StateReady, nil)
			maps.Copy(test.want, common)
			got := b.attributes(test.method + " secrets")
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if text := fmt.Sprint(got); strings.Contains(text, "s3cret") {
				t.Errorf("a secret is recorded: %s", text)
			}
		})
	}
}

func TestPass_BoundsTheSpansOfItsRequests(t *testing.T) {
	b := newBench(t)
	ctx, pass := b.BeginManifest(t.Context(), manifest(1, 1))
	for range mostRequests + 3 {
		b.send(ctx, http.MethodPatch, manifestsURL)
	}
	pass.End(v1beta2.StateReady, nil)
	if got := len(b.recorded.Ended()); got != mostRequests+1 {
		t.Errorf("%d spans, want those of %d requests and the pass", got, mostRequests)
	}
	if got := b.attributes("Manifest reconcile")["lifecycle_mgr.requests.omitted"]; got != "3" {
		t.Errorf("%q omitted, want 3", got)
	}
}

func TestPass_TellsHowItEnded(t *testing.T) {
	invalid := apierrors.NewInvalid(schema.GroupKind{Kind: "s3cret"}, "s3cret", nil)
	for name, test := range map[string]struct {
		err  error
		want map[string]string
	}{
		"well":                   {nil, map[string]string{"status": "Unset"}},
		"with an answer":         {fmt.Errorf("write: %w", invalid), map[string]string{"status": "Error", "error.type": "422"}},
		"since its time was up":  {context.DeadlineExceeded, map[string]string{"status": "Error", "error.type": "timeout"}},
		"since the manager ends": {context.Canceled, map[string]string{"status": "Error", "error.type": "canceled"}},
		"with another error":     {errSecret, map[string]string{"status": "Error", "error.type": "_OTHER"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			ctx, pass := b.BeginManifest(t.Context(), manifest(3, 3))
			b.send(ctx, http.MethodPatch, manifestsURL)
			pass.End(v1beta2.StateWarning, test.err)
			maps.Copy(test.want, map[string]string{
				"k8s.namespace.name": namespace, "lifecycle_mgr.manifest.name": manifestKey.Name, "lifecycle_mgr.kyma.name": "one",
				"lifecycle_mgr.module.name": "istio", "lifecycle_mgr.generation": "3", "lifecycle_mgr.state": "Warning",
			})
			if diff := cmp.Diff(test.want, b.attributes("Manifest reconcile")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
