package apply_test

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

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
		"explained before":     {apply.Explain("apply", inventory.ID{Kind: "ConfigMap", Name: "x"}, refused), "a.example.com"},
		"wrapped":              {fmt.Errorf("apply: %w", refused), "a.example.com"},
		"a denial":             {apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "x", errors.New(`admission webhook "a.example.com" denied the request: no`)), ""},
		"a denial that quotes": {apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "x", errors.New(`admission webhook "a.example.com" denied the request: failed calling webhook "b"`)), ""},
		"a failed conversion":  {apierrors.NewInternalError(errors.New(`conversion webhook for example.com/v1, Kind=Lamp failed: Post "https://c.default.svc:443/": connection refused`)), ""},
		"another error":        {errors.New(`failed calling webhook "a.example.com"`), ""},
		"none":                 {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := apply.UnansweredWebhook(test.err); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
