package requirements_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

func TestCheck(t *testing.T) {
	istio := requirements.Requirement{Module: "istio", Version: ">=1.20 <2"}
	gateway := requirements.Requirement{Definition: "gateways.gateway.networking.k8s.io", Served: "v1"}
	kubernetes := requirements.Requirement{Kubernetes: ">=1.31"}
	module := func(one requirements.Module) requirements.Facts {
		return requirements.Facts{ModulesKnown: true, Modules: map[string]requirements.Module{"istio": one}}
	}
	definition := func(one requirements.Definition) requirements.Facts {
		return requirements.Facts{Definitions: map[string]requirements.Definition{gateway.Definition: one}}
	}
	cluster := func(version string) requirements.Facts { return requirements.Facts{Kubernetes: version} }
	for _, test := range []struct {
		name    string
		one     requirements.Requirement
		facts   requirements.Facts
		say     string // empty: it is met
		have    string
		unknown bool
	}{
		{"a module that is ready", istio, module(requirements.Module{Version: "1.21.0", Ready: true}), "", "", false},
		{"any version of a module", requirements.Requirement{Module: "istio"}, module(requirements.Module{Version: "0.1.0-rc", Ready: true}),
			"", "", false},
		{"a module that the Kyma does not have", istio, requirements.Facts{ModulesKnown: true},
			"module istio (>=1.20 <2), which the Kyma does not have", "", false},
		{"modules that were not looked at", istio, requirements.Facts{}, "module istio (>=1.20 <2), which was not looked for yet", "", true},
		{"a module without a version yet", istio, module(requirements.Module{}), "module istio (>=1.20 <2), which is not installed yet", "", false},
		{"a module that is not ready", istio, module(requirements.Module{Version: "1.21.0"}),
			"module istio (>=1.20 <2), which is not ready", "1.21.0", false},
		{"a module that is on the move", istio, module(requirements.Module{Version: "1.21.0", Detail: "it is being upgraded to 2.0.0"}),
			"module istio (>=1.20 <2), which is not ready: it is being upgraded to 2.0.0", "1.21.0", false},
		{"another version, ready", istio, module(requirements.Module{Version: "1.18.0", Ready: true}),
			"module istio (>=1.20 <2), which has version 1.18.0", "1.18.0", false},
		{"a pre-release is in no range that names none", istio, module(requirements.Module{Version: "1.21.0-rc", Ready: true}),
			"module istio (>=1.20 <2), which has version 1.21.0-rc", "1.21.0-rc", false},
		{"a module whose version is not known", istio, module(requirements.Module{Unknown: true, Detail: "it is not managed"}),
			"module istio (>=1.20 <2), whose version is not known: it is not managed", "", true},

		{"a definition that is served", gateway, definition(requirements.Definition{Present: true, Served: []string{"v1", "v1beta1"}}), "", "", false},
		{"any version of a definition", requirements.Requirement{Definition: gateway.Definition},
			definition(requirements.Definition{Present: true, Served: []string{"v1beta1"}}), "", "", false},
		{"a definition that is absent", gateway, definition(requirements.Definition{}),
			"definition gateways.gateway.networking.k8s.io served as v1, which the cluster does not have", "", false},
		{"a definition that is not established", gateway, definition(requirements.Definition{Present: true}),
			"definition gateways.gateway.networking.k8s.io served as v1, which the cluster does not serve yet", "", false},
		{"another version of a definition", gateway, definition(requirements.Definition{Present: true, Served: []string{"v1alpha1", "v1beta1"}}),
			"definition gateways.gateway.networking.k8s.io served as v1, and the cluster serves v1alpha1, v1beta1", "v1alpha1, v1beta1", false},
		{"a definition that was not looked at", gateway, requirements.Facts{Problem: "the runtime cannot be reached"},
			"definition gateways.gateway.networking.k8s.io served as v1, which was not looked for yet: the runtime cannot be reached", "", true},

		{"Kubernetes", kubernetes, cluster("v1.31.4"), "", "", false},
		{"Kubernetes of Google", kubernetes, cluster("v1.31.4-gke.1"), "", "", false},
		{"Kubernetes of Rancher", kubernetes, cluster("v1.31.4+k3s1"), "", "", false},
		{"Kubernetes of Amazon", kubernetes, cluster("v1.31.4-eks-1a2b3c4"), "", "", false},
		{"a pre-release of Kubernetes", kubernetes, cluster("v1.32.0-alpha.1"), "", "", false},
		{"Kubernetes that is too old", kubernetes, cluster("v1.30.9-gke.7"),
			"Kubernetes >=1.31, and the cluster has v1.30.9-gke.7", "v1.30.9-gke.7", false},
		{"Kubernetes that is not known", kubernetes, requirements.Facts{}, "Kubernetes >=1.31, and the version of the cluster is not known yet", "", true},
		{"a version of Kubernetes that is none", kubernetes, cluster("unknown"), "Kubernetes >=1.31, and the cluster has unknown", "unknown", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			var want []requirements.Missing
			if test.say != "" {
				want = []requirements.Missing{{Requirement: test.one, Have: test.have, Unknown: test.unknown, Sentence: test.say}}
			}
			if diff := cmp.Diff(want, requirements.Check([]requirements.Requirement{test.one}, test.facts)); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSentences_AreJoined(t *testing.T) {
	missing := requirements.Check([]requirements.Requirement{{Module: "a"}, {Module: "b"}}, requirements.Facts{ModulesKnown: true})
	want := "module a, which the Kyma does not have; module b, which the Kyma does not have"
	if got := requirements.Sentences(missing); got != want {
		t.Errorf("text %q, want %q", got, want)
	}
}

func TestAccepts(t *testing.T) {
	list := []requirements.Requirement{{Module: "a", Version: ">=1"}, {Module: "a", Version: "<2"}, {Module: "b", Version: "1.x"}, {Module: "c"}}
	for _, test := range []struct {
		module, version string
		want            bool
	}{
		{"a", "1.5.0", true}, {"a", "2.0.0", false}, {"a", "0.9.0", false}, {"b", "2.0.0", false}, {"c", "9.0.0", true}, {"d", "1.0.0", true},
	} {
		if got := requirements.Accepts(list, test.module, test.version); got != test.want {
			t.Errorf("%s %s is accepted: %v", test.module, test.version, got)
		}
	}
}
