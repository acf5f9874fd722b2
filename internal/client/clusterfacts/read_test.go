package clusterfacts_test

import (
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kyma-project/lifecycle-manager/internal/client/clusterfacts"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

var server = apiserver.Start

func TestMain(m *testing.M) { apiserver.Main(m, apiserver.OurKinds) }

func TestRead(t *testing.T) {
	config, err := server()
	if err != nil {
		t.Fatal(err)
	}
	list := []requirements.Requirement{
		{Module: "istio"}, {Definition: "kymas.operator.kyma-project.io", Served: "v1beta2"}, {Definition: "unicorns.example.com"}, {Kubernetes: ">=1.20"},
	}
	facts := requirements.Facts{}
	clusterfacts.Read(t.Context(), config, list, &facts)
	missing := requirements.Check(list, facts)
	if len(missing) != 2 || missing[1].Definition != "unicorns.example.com" || missing[1].Unknown || facts.Problem != "" {
		t.Errorf("missing: %+v; problem %q", missing, facts.Problem)
	}

	stranger := rest.CopyConfig(config)
	stranger.Impersonate.UserName = "stranger"
	facts = requirements.Facts{}
	clusterfacts.Read(t.Context(), stranger, list, &facts)
	missing = requirements.Check(list[1:3], facts)
	if len(missing) != 2 || !missing[0].Unknown || !missing[1].Unknown || !strings.Contains(facts.Problem, "cannot be read") {
		t.Errorf("for a user who may not read definitions: %+v; problem %q", missing, facts.Problem)
	}
}
