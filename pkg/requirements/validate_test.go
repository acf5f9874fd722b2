package requirements_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

func TestValidate(t *testing.T) {
	for _, test := range []struct {
		name string
		one  requirements.Requirement
		want []string
	}{
		{"a module", requirements.Requirement{Module: "istio"}, nil},
		{"a module in a range", requirements.Requirement{Module: "istio", Version: ">=1.20.0-0 <2 || 3.x"}, nil},
		{"a definition", requirements.Requirement{Definition: "gateways.gateway.networking.k8s.io", Served: "v1beta1"}, nil},
		{"Kubernetes", requirements.Requirement{Kubernetes: ">=1.31"}, nil},
		{"nothing", requirements.Requirement{}, []string{"entry 1: set one of module, definition and kubernetes"}},
		{"two at once", requirements.Requirement{Module: "istio", Kubernetes: ">=1.31"},
			[]string{"entry 1: set one of module, definition and kubernetes"}},
		{"a version of nothing", requirements.Requirement{Kubernetes: ">=1.31", Version: ">=1"}, []string{"entry 1: version goes with module"}},
		{"a served version of a module", requirements.Requirement{Module: "istio", Served: "v1"},
			[]string{"entry 1: served goes with definition"}},
		{"a name in capitals", requirements.Requirement{Module: "Istio"},
			[]string{`entry 1: module "Istio" is no name of a module: lower-case letters, digits, - and ., at most 64`}},
		{"a name that is too long", requirements.Requirement{Module: strings.Repeat("a", 65)},
			[]string{`entry 1: module "` + strings.Repeat("a", 65) + `" is no name of a module: lower-case letters, digits, - and ., at most 64`}},
		{"a range that is none", requirements.Requirement{Module: "istio", Version: "newer"},
			[]string{`entry 1: version "newer" is no range of versions, such as ">=1.20 <2"`}},
		{"a blank range", requirements.Requirement{Module: "istio", Version: " "},
			[]string{`entry 1: version " " is no range of versions, such as ">=1.20 <2"`}},
		{"a range that is too long", requirements.Requirement{Kubernetes: strings.Repeat(">=1.31 ", 20)},
			[]string{"entry 1: kubernetes has 140 characters, and may have 128"}},
		{"a definition without its group", requirements.Requirement{Definition: "gateways"},
			[]string{`entry 1: definition "gateways" is no name of a CustomResourceDefinition, such as gateways.gateway.networking.k8s.io`}},
		{"a served version with a slash", requirements.Requirement{Definition: "a.b", Served: "b/v1"},
			[]string{`entry 1: served "b/v1" is no version of a definition, such as v1`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, err := range requirements.Validate([]requirements.Requirement{test.one}) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidate_TheListIsBounded(t *testing.T) {
	list := make([]requirements.Requirement, 33)
	for i := range list {
		list[i].Module = "istio"
	}
	if faults := requirements.Validate(list); len(faults) != 1 || !strings.Contains(faults[0].Error(), "33 requirements") {
		t.Errorf("faults %v", faults)
	}
}

func TestUnion_EachOnceInOrder(t *testing.T) {
	a, b, c := requirements.Requirement{Module: "a"}, requirements.Requirement{Module: "b"}, requirements.Requirement{Module: "a", Version: "1"}
	got := requirements.Union([]requirements.Requirement{a, b}, nil, []requirements.Requirement{b, c, a})
	if diff := cmp.Diff([]requirements.Requirement{a, b, c}, got); diff != "" {
		t.Errorf("union (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"a", "b"}, requirements.Modules(got)); diff != "" {
		t.Errorf("modules (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]requirements.Requirement{a, c}, requirements.On(got, "a")); diff != "" {
		t.Errorf("about a (-want +got):\n%s", diff)
	}
}
