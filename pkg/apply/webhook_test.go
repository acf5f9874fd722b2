package apply_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// answered is an error as an API server reports it, with any code that a webhook chose.
func answered(code int32, message string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{Status: metav1.StatusFailure, Code: code, Message: message}}
}

func TestUnansweredWebhook(t *testing.T) {
	refused := apierrors.NewInternalError(errors.New(`failed calling webhook "a.example.com": failed to call webhook: ` +
		`Post "https://a.default.svc:443/?timeout=10s": dial tcp 10.0.0.1:443: connect: connection refused`))
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"no connection": {refused, "a.example.com"},
		"no service": {apierrors.NewInternalError(errors.New(`failed calling webhook "b.example.com": failed to call webhook: ` +
			`Post "https://b.default.svc:443/": service "b" not found`)), "b.example.com"},
		"no answer in time": {apierrors.NewInternalError(errors.New(`failed calling webhook "c.example.com": failed to call webhook: ` +
			`Post "https://c.default.svc:443/?timeout=10s": context deadline exceeded`)), "c.example.com"},
		"no endpoint": {apierrors.NewInternalError(errors.New(`failed calling webhook "d.example.com": failed to call webhook: ` +
			`Post "https://d.default.svc:443/?timeout=10s": no endpoints available for service "d"`)), "d.example.com"},
		"an unknown certificate": {apierrors.NewInternalError(errors.New(`failed calling webhook "e.example.com": failed to call webhook: ` +
			`Post "https://e.default.svc:443/?timeout=10s": tls: failed to verify certificate: x509: certificate signed by unknown authority`)), "e.example.com"},
		"no AdmissionReview": {apierrors.NewInternalError(errors.New(`failed calling webhook "f.example.com": ` +
			`received invalid webhook response: expected response.uid="1", got ""`)), "f.example.com"},
		"a denial with a server's code that quotes": {answered(http.StatusInternalServerError,
			`admission webhook "a.example.com" denied the request: failed calling webhook "a.example.com": refused`), ""},
		"a denial with a server's code that quotes an API server": {answered(http.StatusInternalServerError,
			`admission webhook "a.example.com" denied the request: Internal error occurred: failed calling webhook "a.example.com": refused`), ""},
		"a failed call that quotes a denial": {apierrors.NewInternalError(errors.New(`failed calling webhook "a.example.com": failed to call webhook: ` +
			`admission webhook "b.example.com" denied the request: no`)), ""},
		"other words before an API server's": {answered(http.StatusInternalServerError, `step 2: failed calling webhook "a.example.com": refused`), ""},
		"the request as a whole timed out":   {apierrors.NewTimeoutError("request did not complete within requested timeout", 0), ""},
		"explained before":                   {apply.Explain("apply", inventory.ID{Kind: "ConfigMap", Name: "x"}, refused), "a.example.com"},
		"wrapped":                            {fmt.Errorf("apply: %w", refused), "a.example.com"},
		"a denial":                           {apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "x", errors.New(`admission webhook "a.example.com" denied the request: no`)), ""},
		"a denial that quotes":               {apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "x", errors.New(`admission webhook "a.example.com" denied the request: failed calling webhook "b"`)), ""},
		"a failed conversion":                {apierrors.NewInternalError(errors.New(`conversion webhook for example.com/v1, Kind=Lamp failed: Post "https://c.default.svc:443/": connection refused`)), ""},
		"another error":                      {errors.New(`failed calling webhook "a.example.com"`), ""},
		"none":                               {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := apply.UnansweredWebhook(test.err); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
