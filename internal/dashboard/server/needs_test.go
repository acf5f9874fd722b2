package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// leaning creates a local Kyma with beacon, and a module that needs it, one that the catalog has, one that nothing has, definitions and a
// version of Kubernetes.
func (s *site) leaning(name string) {
	s.Helper()
	s.createAll(name)
	template := s.template(name, "arch", "1.0.0").(*v1beta2.ModuleTemplate)
	template.Spec.Requires = []v1beta2.Requirement{
		{Module: "beacon", Version: ">=1"}, {Module: "greeter"}, {Module: "nowhere"}, {Definition: "kymas." + ownGroup, Served: "v1beta2"},
		{Definition: "lamps.example.org"}, {Kubernetes: ">=1.20"}, {Kubernetes: ">=99"},
	}
	release := &v1beta2.ModuleReleaseMeta{}
	release.Namespace, release.Name = name, "arch"
	release.Spec = v1beta2.ModuleReleaseMetaSpec{
		ModuleName: "arch", OCMComponentName: "kyma-project.io/module/arch", Channels: []v1beta2.ChannelVersion{{Channel: "regular", Version: "1.0.0"}},
	}
	s.make(template, release)
	local := false
	kyma := &v1beta2.Kyma{Spec: v1beta2.KymaSpec{Channel: "regular", Remote: &local, Modules: []v1beta2.Module{{Name: "beacon"}, {Name: "arch"}}}}
	kyma.Namespace, kyma.Name = name, "here"
	s.make(kyma)
	kyma.Status = v1beta2.KymaStatus{
		State: v1beta2.StateReady, ObservedGeneration: kyma.Generation, LastOperation: v1beta2.LastOperation{Operation: "x"},
		Modules: []v1beta2.ModuleStatus{{Name: "beacon", Channel: "regular", Version: "1.0.0", State: v1beta2.StateReady}},
	}
	if err := s.admin.Status().Update(s.Context(), kyma); err != nil {
		s.Fatal(err)
	}
}

func TestNeeds_AreComparedWithAKymaAndItsCluster(t *testing.T) {
	s := open(t, ModeLocal)
	s.leaning("leaning")
	s.enter()
	is := until(s, "/api/v1/catalog/arch/requirements?namespace=leaning&kyma=leaning/here", func(n needs) bool {
		return len(n.Needs) == 7 && n.Needs[0].State == kymaedit.MetReady
	})
	var got []string
	for _, line := range is.Needs {
		text := string(line.State) + " " + line.Text
		if line.Addable {
			text += ", which can be added"
		}
		got = append(got, text)
	}
	want := []string{
		"Ready module beacon (>=1)", "Missing module greeter, which can be added", "Missing module nowhere",
		"Ready definition kymas." + ownGroup + " served as v1beta2", "Missing definition lamps.example.org", "Ready Kubernetes >=1.20",
		"WrongVersion Kubernetes >=99",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	plain := get[needs](s, "/api/v1/catalog/arch/requirements?namespace=leaning")
	if slices.ContainsFunc(plain.Needs, func(line needLine) bool { return line.State != kymaedit.MetUnknown || line.Addable }) {
		t.Errorf("without a Kyma: %+v", plain)
	}
	module := get[moduleDetail](s, "/api/v1/modules/leaning/here/arch")
	if module.Needs == nil || len(module.Needs.Needs) != 7 || module.NeededBy == nil {
		t.Errorf("the page of the module: %+v", module.Needs)
	}
	beacon := get[moduleDetail](s, "/api/v1/modules/leaning/here/beacon")
	if !slices.Equal(beacon.NeededBy, []string{"arch"}) {
		t.Errorf("beacon is needed by %v", beacon.NeededBy)
	}
}

func TestNeeds_AClusterThatCannotBeReadIsNotTakenForOneWithout(t *testing.T) {
	s := open(t, ModeLocal)
	s.leaning("distant")
	s.enter()
	is := until(s, "/api/v1/catalog/arch/requirements?namespace=distant&kyma=distant/good", func(n needs) bool { return n.Reason != "" })
	for _, line := range is.Needs {
		if line.Module == "" && line.State != kymaedit.MetUnknown {
			t.Errorf("%s is %s: %s (%s)", line.Text, line.State, line.Message, is.Reason)
		}
	}
	if !strings.Contains(is.Reason, "nothing leads to the runtime") {
		t.Errorf("why: %s", is.Reason)
	}
	if r := s.do(http.MethodGet, "/api/v1/modules?pending=true", ""); r.status != http.StatusOK {
		t.Errorf("%d", r.status)
	}
	if list := get[List[modulestatus.Module]](s, "/api/v1/modules?pending=true&kyma=distant/good"); list.Total != 0 {
		t.Errorf("%+v", list.Items)
	}
}
