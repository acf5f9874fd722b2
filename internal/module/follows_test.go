package module

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestFollows(t *testing.T) {
	no := false
	hub := func(modules ...v1beta2.Module) *v1beta2.Kyma {
		return &v1beta2.Kyma{Spec: v1beta2.KymaSpec{Channel: "regular", Modules: modules}}
	}
	merged := func(channel string, modules ...v1beta2.SeenModule) *v1beta2.Kyma {
		kyma := hub(v1beta2.Module{Name: "m", Channel: "fast"})
		kyma.Status.LastSeen = &v1beta2.LastSeen{Runtime: &v1beta2.SeenSpec{Channel: channel, Modules: modules}}
		return kyma
	}
	unsynced := merged("rapid", v1beta2.SeenModule{Name: "m"})
	unsynced.Labels = map[string]string{v1beta2.LabelSync: "false"}
	for _, test := range []struct {
		name    string
		kyma    *v1beta2.Kyma
		channel string
		ok      bool
	}{
		{"the Kyma's channel, where the module has none", hub(v1beta2.Module{Name: "m"}), "regular", true},
		{"the module's own channel", hub(v1beta2.Module{Name: "m", Channel: "fast"}), "fast", true},
		{"the default channel, where neither has one", &v1beta2.Kyma{Spec: v1beta2.KymaSpec{Modules: []v1beta2.Module{{Name: "m"}}}}, "regular", true},
		{"a module that the Kyma does not have", hub(v1beta2.Module{Name: "other"}), "", false},
		{"a pinned version", hub(v1beta2.Module{Name: "m", Version: "1.0.0"}), "", false},
		{"a module that is not managed", hub(v1beta2.Module{Name: "m", Managed: &no}), "", false},
		{"what was merged with the runtime's spec counts", merged("rapid", v1beta2.SeenModule{Name: "m"}), "rapid", true},
		{"also where it does not name the module", merged("rapid"), "", false},
		{"and where it pins a version", merged("rapid", v1beta2.SeenModule{Name: "m", Version: "1.0.0"}), "", false},
		{"but not of a Kyma that is not synchronised", unsynced, "fast", true},
	} {
		if channel, ok := Follows(test.kyma, "m"); channel != test.channel || ok != test.ok {
			t.Errorf("%s: %q, %v, want %q, %v", test.name, channel, ok, test.channel, test.ok)
		}
	}
}

func TestSkipsWindows(t *testing.T) {
	kyma := &v1beta2.Kyma{Spec: v1beta2.KymaSpec{SkipMaintenanceWindows: true}}
	if !SkipsWindows(kyma) {
		t.Error("the hub's spec does not count")
	}
	kyma.Status.LastSeen = &v1beta2.LastSeen{Runtime: &v1beta2.SeenSpec{}}
	if SkipsWindows(kyma) {
		t.Error("the spec that was merged does not count")
	}
}

func TestRefusedChannel(t *testing.T) {
	release := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: "m"}, Spec: v1beta2.ModuleReleaseMetaSpec{
		OCMComponentName: "example.com/m", Channels: []v1beta2.ChannelVersion{{Channel: "regular", Version: "1.0.0"}},
	}}
	forced := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: "m"}, Spec: v1beta2.ModuleReleaseMetaSpec{
		OCMComponentName: "example.com/m", Mandatory: &v1beta2.Mandatory{Version: "1.0.0"},
	}}
	beta := &v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{
		Name: TemplateName("m", "1.0.0"), Labels: map[string]string{v1beta2.LabelBeta: "true"},
	}}
	templates := map[string]*v1beta2.ModuleTemplate{beta.Name: beta}
	for _, test := range []struct {
		name      string
		release   *v1beta2.ModuleReleaseMeta
		templates map[string]*v1beta2.ModuleTemplate
		labels    map[string]string
		channel   string
		want      string
	}{
		{"what the Kyma may have", release, templates, map[string]string{v1beta2.LabelBeta: "true"}, "regular", ""},
		{"a beta module", release, templates, nil, "regular", v1beta2.ReasonNotAllowed},
		{"no template", release, nil, nil, "regular", v1beta2.ReasonTemplateNotFound},
		{"no such channel", release, templates, nil, "fast", v1beta2.ReasonChannelNotFound},
		{"a mandatory module, whose labels do not count", forced, templates, nil, "", ""},
		{"a mandatory module without a template", forced, nil, nil, "", v1beta2.ReasonTemplateNotFound},
		{"no release", nil, templates, nil, "", v1beta2.ReasonReleaseNotFound},
	} {
		w := Snapshot{
			Kyma:      &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Labels: test.labels}},
			Releases:  map[string]*v1beta2.ModuleReleaseMeta{"m": test.release},
			Templates: test.templates,
		}
		if got := RefusedChannel(w, "m", test.channel); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestWindowGroupOf_KymasOfOneGroupHaveTheSameWindows(t *testing.T) {
	labels := map[string]string{labelRegion: "eu", "ring": "canary"}
	if WindowGroupOf(labels) != WindowGroupOf(map[string]string{labelRegion: "eu"}) {
		t.Error("a label that no rule matches makes another group")
	}
	if WindowGroupOf(labels) == WindowGroupOf(map[string]string{labelPlan: "eu"}) {
		t.Error("the same value of another label makes the same group")
	}
}
