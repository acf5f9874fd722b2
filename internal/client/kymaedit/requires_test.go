package kymaedit

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// needs adds a module to a catalog: its channels with versions, and what each version needs.
func (s *KymaContext) needs(module string, channels map[string]string, requires ...v1beta2.Requirement) *KymaContext {
	release := v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: module}}
	for channel, version := range channels {
		release.Spec.Channels = append(release.Spec.Channels, v1beta2.ChannelVersion{Channel: channel, Version: version})
		s.Templates = append(s.Templates, v1beta2.ModuleTemplate{
			ObjectMeta: metav1.ObjectMeta{Name: module + "-" + version},
			Spec:       v1beta2.ModuleTemplateSpec{ModuleName: module, Version: version, Requires: requires},
		})
	}
	s.Releases = append(s.Releases, release)
	s.Offers = Offers(s.Releases, s.Templates)
	return s
}

func TestCheckRequired(t *testing.T) {
	istio := requirements.Requirement{Module: "istio", Version: ">=1.20"}
	for name, c := range map[string]struct {
		one   requirements.Requirement
		facts requirements.Facts
		state Met
		have  string
	}{
		"a module that is ready": {istio, requirements.Facts{Modules: map[string]requirements.Module{"istio": {Version: "1.21.0", Ready: true}}},
			MetReady, "1.21.0"},
		"another version": {istio, requirements.Facts{Modules: map[string]requirements.Module{"istio": {Version: "1.18.0", Ready: true}}},
			MetWrongVersion, "1.18.0"},
		"a version in range that is not ready": {istio, requirements.Facts{Modules: map[string]requirements.Module{"istio": {Version: "1.21.0"}}},
			MetNotReady, "1.21.0"},
		"one that is about to be installed": {istio, requirements.Facts{Modules: map[string]requirements.Module{"istio": {}}}, MetNotReady, ""},
		"one that the Kyma does not have":   {istio, requirements.Facts{ModulesKnown: true}, MetMissing, ""},
		"a cluster that was not looked at":  {requirements.Requirement{Kubernetes: ">=1.31"}, requirements.Facts{}, MetUnknown, ""},
		"a cluster that is too old": {requirements.Requirement{Kubernetes: ">=1.31"}, requirements.Facts{Kubernetes: "v1.30.2"},
			MetWrongVersion, "v1.30.2"},
		"a definition that is absent": {requirements.Requirement{Definition: "a.b"},
			requirements.Facts{Definitions: map[string]requirements.Definition{"a.b": {}}}, MetMissing, ""},
		"one that is not served yet": {requirements.Requirement{Definition: "a.b"},
			requirements.Facts{Definitions: map[string]requirements.Definition{"a.b": {Present: true}}}, MetNotReady, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := CheckRequired([]requirements.Requirement{c.one}, c.facts)[0]
			if got.State != c.state || got.Have != c.have || (got.Message == "") != (c.state == MetReady) {
				t.Errorf("%s, have %q: %q", got.State, got.Have, got.Message)
			}
		})
	}
}

func TestContext_Facts(t *testing.T) {
	no := false
	s := stand(true, v1beta2.Module{Name: "up"}, v1beta2.Module{Name: "new"}, v1beta2.Module{Name: "bad"}, v1beta2.Module{Name: "own", Managed: &no})
	s.Kyma.Status.Modules = []v1beta2.ModuleStatus{
		{Name: "up", State: v1beta2.StateReady, Version: "1.0.0"},
		{Name: "bad", State: v1beta2.StateError, Version: "1.1.0", InstalledVersion: "1.0.0", Message: "it failed"},
	}
	want := map[string]requirements.Module{
		"up": {Version: "1.0.0", Ready: true}, "new": {}, "bad": {Version: "1.0.0", Detail: "it failed"},
		"own":    {Unknown: true, Detail: "it is not managed"},
		"warden": {Unknown: true, Detail: "it is mandatory, and its Manifest has its version"},
	}
	if diff := cmp.Diff(want, s.Facts().Modules); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestContext_Dependents(t *testing.T) {
	regular := map[string]string{"regular": "1.0.0"}
	s := stand(true, v1beta2.Module{Name: "base"}, v1beta2.Module{Name: "middle"}, v1beta2.Module{Name: "top"}, v1beta2.Module{Name: "alone"})
	s.needs("base", regular).needs("alone", regular).needs("elsewhere", regular, v1beta2.Requirement{Module: "base"}).
		needs("middle", regular, v1beta2.Requirement{Module: "base", Version: ">=1"}).
		needs("top", map[string]string{"regular": "2.0.0", "fast": "1.0.0"}, v1beta2.Requirement{Module: "middle"})
	if diff := cmp.Diff(map[string][]string{"middle": {"base"}}, s.Dependents("base")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string][]string{}, s.Dependents("base", "middle", "top")); diff != "" {
		t.Errorf("of all of them (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"top", "middle", "base"}, s.Cascade("base")); diff != "" {
		t.Errorf("the cascade (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"alone"}, s.Cascade("alone")); diff != "" {
		t.Errorf("the cascade of one that nothing needs (-want +got):\n%s", diff)
	}
}

func TestContext_LackingFor(t *testing.T) {
	both := map[string]string{"regular": "1.0.0", "fast": "2.0.0"}
	need := func(module, version string) v1beta2.Requirement {
		return v1beta2.Requirement{Module: module, Version: version}
	}
	for name, c := range map[string]struct {
		asked    []v1beta2.Module
		requires []v1beta2.Requirement
		want     []Lacking
	}{
		"nothing is needed":                       {nil, nil, nil},
		"what the Kyma has is not lacking":        {[]v1beta2.Module{{Name: "base"}}, []v1beta2.Requirement{need("base", ">=1")}, nil},
		"a mandatory module is there":             {nil, []v1beta2.Requirement{need("warden", "")}, nil},
		"other things than modules do not count":  {nil, []v1beta2.Requirement{{Kubernetes: ">=9"}}, nil},
		"a module of the Kyma's channel is added": {nil, []v1beta2.Requirement{need("base", "")}, []Lacking{{Add: ModuleRequest{Name: "base"}, Version: "1.0.0"}}},
		"or of another channel, where only that is in range": {nil, []v1beta2.Requirement{need("base", ">=2")},
			[]Lacking{{Add: ModuleRequest{Name: "base", Channel: "fast"}, Version: "2.0.0"}}},
		"no channel has it": {nil, []v1beta2.Requirement{need("base", ">=3")}, []Lacking{{Why: "no channel offers a version in that range"}}},
		"it is not there":   {nil, []v1beta2.Requirement{need("unicorn", "")}, []Lacking{{Why: "it is not available here"}}},
		"the Kyma has another version": {[]v1beta2.Module{{Name: "base", Version: "1.0.0"}}, []v1beta2.Requirement{need("base", ">=2")},
			[]Lacking{{Why: "the Kyma asks for version 1.0.0 of it"}}},
		"what that needs is added, too": {nil, []v1beta2.Requirement{need("middle", "")}, []Lacking{
			{Add: ModuleRequest{Name: "middle"}, Version: "1.0.0"}, {Add: ModuleRequest{Name: "base"}, Version: "1.0.0"},
		}},
		"a circle ends": {nil, []v1beta2.Requirement{need("round", "")}, []Lacking{{Add: ModuleRequest{Name: "round"}, Version: "1.0.0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := stand(true, c.asked...).needs("base", both).needs("middle", both, need("base", "")).
				needs("round", both, need("top", "")).needs("top", both, c.requires...)
			var got []Lacking
			for _, l := range s.LackingFor([]ModuleRequest{{Name: "top"}}) {
				if len(l.For) != 1 || l.Module == "" {
					t.Errorf("%+v does not say what needs what", l)
				}
				got = append(got, Lacking{Add: l.Add, Version: l.Version, Why: l.Why})
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
