package releasepreview

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// has adds another module to a Kyma, in a version and a state.
func has(other, version string, state v1beta2.State) func(*Member) {
	return func(m *Member) {
		m.Kyma.Spec.Modules = append(m.Kyma.Spec.Modules, v1beta2.Module{Name: other})
		m.Kyma.Status.Modules = append(m.Kyma.Status.Modules, v1beta2.ModuleStatus{
			Name: other, State: state, Channel: "regular", Version: version, OCMComponentName: "example.com/module/" + other,
		})
	}
}

// offers adds a module to the hub: its release, and the template of a version that requires something.
func offers(other, version string, requires ...v1beta2.Requirement) func(*Hub) {
	return func(hub *Hub) {
		release := v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: other}}
		release.Spec.ModuleName, release.Spec.OCMComponentName = other, "example.com/module/"+other
		release.Spec.Channels = []v1beta2.ChannelVersion{{Channel: "regular", Version: version}}
		template := v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: module.TemplateName(other, version)}}
		template.Spec.ModuleName, template.Spec.Version, template.Spec.Requires = other, version, requires
		hub.Releases, hub.Templates = append(hub.Releases, release), append(hub.Templates, template)
	}
}

// needs lets the version require something, by its template.
func needs(requires ...v1beta2.Requirement) func(*Hub) {
	return func(hub *Hub) { hub.Templates[1].Spec.Requires = requires }
}

func TestForesee_LooksAtRequirements(t *testing.T) {
	istio := v1beta2.Requirement{Module: "istio", Version: ">=1.20 <2"}
	for name, test := range map[string]struct {
		hub    []func(*Hub)
		member Member
		want   Outcome
		says   string
	}{
		"a module that the Kyma does not have is missing": {
			hub: []func(*Hub){needs(istio)}, member: newMember(1, "1.0.0"), want: RequirementMissing, says: "module istio (>=1.20 <2)",
		},
		"one that it has, ready, is not": {
			hub: []func(*Hub){needs(istio), offers("istio", "1.21.0")}, member: newMember(1, "1.0.0", has("istio", "1.21.0", v1beta2.StateReady)),
			want: Upgrades,
		},
		"one in another version is": {
			hub: []func(*Hub){needs(istio), offers("istio", "1.18.0")}, member: newMember(1, "1.0.0", has("istio", "1.18.0", v1beta2.StateReady)),
			want: RequirementMissing, says: "1.18.0",
		},
		"so is one that is not ready": {
			hub:    []func(*Hub){needs(istio), offers("istio", "1.21.0")},
			member: newMember(1, "1.0.0", has("istio", "1.21.0", v1beta2.StateError)), want: RequirementMissing, says: "not ready",
		},
		"what the component requires counts, too": {
			hub:    []func(*Hub){func(hub *Hub) { hub.Component.Requires = []requirements.Requirement{{Module: "istio"}} }},
			member: newMember(1, "1.0.0"), want: RequirementMissing, says: "module istio",
		},
		"a module that works with the version before only would break": {
			hub:    []func(*Hub){offers("lantern", "3.0.0", v1beta2.Requirement{Module: beacon, Version: "<1.1.0"})},
			member: newMember(1, "1.0.0", has("lantern", "3.0.0", v1beta2.StateReady)), want: WouldBreak, says: "lantern",
		},
		"a definition is for the cluster to tell": {
			hub: []func(*Hub){needs(v1beta2.Requirement{Definition: "gateways.example.com"})}, member: newMember(1, "1.0.0"), want: Upgrades,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := foresee(t, newHub(test.hub...), upgrade, test.member)
			if got.Count(test.want) != 1 || !strings.Contains(got.Groups[0].Detail, test.says) {
				t.Errorf("want %s (%s), got %+v", test.want, test.says, got.Groups)
			}
		})
	}
}

func TestForesee_SaysWhatOnlyClustersKnow(t *testing.T) {
	hub := newHub(needs(v1beta2.Requirement{Definition: "gateways.example.com", Served: "v1"}, v1beta2.Requirement{Kubernetes: ">=1.31"}))
	got := foresee(t, hub, upgrade, newMember(1, "1.0.0"))
	told := strings.Join(got.Unknown, "\n")
	if !strings.Contains(told, "gateways.example.com") || !strings.Contains(told, "Kubernetes >=1.31") {
		t.Errorf("%q", told)
	}
	if len(hub.Templates[1].Spec.Requires) != 2 {
		t.Error("the hub was changed")
	}
}
