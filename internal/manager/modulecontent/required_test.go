package modulecontent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

func TestRequired(t *testing.T) {
	list := []requirements.Requirement{{Module: "istio", Version: ">=1.20 <2"}, {Kubernetes: ">=1.31"}}
	for _, test := range []struct {
		name, value string
		want        []requirements.Requirement
		broken      string
	}{
		{"no label", "", nil, ""},
		{"a text with a list", `"[{\"module\":\"istio\",\"version\":\">=1.20 <2\"},{\"kubernetes\":\">=1.31\"}]"`, list, ""},
		{"a list", `[{"module":"istio","version":">=1.20 <2"},{"kubernetes":">=1.31"}]`, list, ""},
		{"a blank text", `" "`, nil, ""},
		{"something else", `{"module":"istio"}`, nil, "component example.com/a:1.0.0 has a label operator.kyma-project.io/requires that cannot be used"},
		{"a range that is none", `[{"module":"istio","version":"newer"}]`, nil, `entry 1: version "newer" is no range of versions`},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := &descriptor.Component{Name: "example.com/a", Version: "1.0.0", Labels: []descriptor.Label{{Name: "other", Value: []byte(`"x"`)}}}
			if test.value != "" {
				c.Labels = append(c.Labels, descriptor.Label{Name: v1beta2.AnnotationRequires, Value: []byte(test.value)})
			}
			got, err := required(c)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("list (-want +got):\n%s", diff)
			}
			switch {
			case test.broken == "" && err != nil:
				t.Errorf("error %v", err)
			case test.broken != "" && (err == nil || !strings.Contains(err.Error(), test.broken) || descriptor.ReasonOf(err) != "ComponentInvalid"):
				t.Errorf("error %v, want one about %q", err, test.broken)
			}
		})
	}
}
