package module

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestCheckRuntimeSpec(t *testing.T) {
	entry := func(edit func(*v1beta2.Module)) func(*v1beta2.KymaSpec) {
		return func(spec *v1beta2.KymaSpec) { edit(&spec.Modules[0]) }
	}
	named := func(count int, name string) func(*v1beta2.KymaSpec) {
		return func(spec *v1beta2.KymaSpec) {
			for i := range count {
				spec.Modules = append(spec.Modules, v1beta2.Module{Name: fmt.Sprintf("%s%d", name, i)})
			}
		}
	}
	long := strings.Repeat("x", 254)
	for _, tc := range []struct {
		name string
		edit func(*v1beta2.KymaSpec)
		want string
	}{
		{"everything that a user may write", entry(func(m *v1beta2.Module) {
			*m = v1beta2.Module{Name: "kyma-project.io/module/template-operator", ControllerName: "a controller", Version: "1.2.3-rc1",
				RemoteModuleTemplateRef: "ns/name", CustomResourcePolicy: "Ignore", Managed: new(bool),
				AllowCRDChanges: []v1beta2.CRDRule{"FieldRemoved", "TypeChanged"}}
		}), ""},
		{"channel none, which has a verdict of its own", entry(func(m *v1beta2.Module) { m.Channel = "none" }), ""},
		{"channel and version together, which have a verdict, too", entry(func(m *v1beta2.Module) { m.Channel, m.Version = "fast", "1.0.0" }), ""},
		{"as many modules as allowed", named(255, "m"), ""},
		{"one more", named(256, "m"), "spec.modules has 257 entries, but at most 256 are accepted: remove some"},
		{"more text than allowed", named(131, long[:250]),
			"spec.modules holds 33034 bytes of text, more than 32768 are not accepted: remove entries"},
		{"no channel", func(spec *v1beta2.KymaSpec) { spec.Channel = "" }, `spec.channel "" is not a valid channel: 3 to 32 lower-case letters`},
		{"a channel that is too long", func(spec *v1beta2.KymaSpec) { spec.Channel = long },
			`spec.channel "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" (254 characters) is not a valid channel: 3 to 32 lower-case letters`},
		{"a module's channel with digits", entry(func(m *v1beta2.Module) { m.Channel = "fast2" }),
			`spec.modules[0].channel "fast2" is not a valid channel: 3 to 32 lower-case letters`},
		{"a channel with a line break", entry(func(m *v1beta2.Module) { m.Channel = "fast\n" }),
			`spec.modules[0].channel "fast\n" is not a valid channel: 3 to 32 lower-case letters`},
		{"a module without a name", entry(func(m *v1beta2.Module) { m.Name = "" }),
			`spec.modules[0].name "" is not a valid module name: at most 253 letters, digits and "-._/"`},
		{"a name with markup", entry(func(m *v1beta2.Module) { m.Name = "<script>" }),
			`spec.modules[0].name "<script>" is not a valid module name: at most 253 letters, digits and "-._/"`},
		{"a name that is too long", entry(func(m *v1beta2.Module) { m.Name = long }),
			`spec.modules[0].name "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" (254 characters) is not a valid module name: at most 253 letters, digits and "-._/"`},
		{"one module twice", func(spec *v1beta2.KymaSpec) { spec.Modules = append(spec.Modules, spec.Modules[0]) },
			`spec.modules[1]: module "x" is named twice: keep one entry`},
		{"a version that is none", entry(func(m *v1beta2.Module) { m.Version = "latest" }),
			`spec.modules[0].version "latest" is no semantic version of at most 32 characters`},
		{"a version that is too long", entry(func(m *v1beta2.Module) { m.Version = "1.0.0-" + long }),
			`spec.modules[0].version "1.0.0-xxxxxxxxxxxxxxxxxxxxxxxxxx" (260 characters) is no semantic version of at most 32 characters`},
		{"a controller in several lines", entry(func(m *v1beta2.Module) { m.ControllerName = "a\nb" }),
			`spec.modules[0].controller "a\nb" is not accepted: at most 256 printable characters`},
		{"a reference that is too long", entry(func(m *v1beta2.Module) { m.RemoteModuleTemplateRef = long }),
			`spec.modules[0].remoteModuleTemplateRef "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" (254 characters) is not accepted: ` +
				`at most 253 printable characters`},
		{"a policy that there is not", entry(func(m *v1beta2.Module) { m.CustomResourcePolicy = "Delete" }),
			`spec.modules[0].customResourcePolicy "Delete" is neither CreateAndDelete nor Ignore`},
		{"an action that there is not", entry(func(m *v1beta2.Module) { m.OnFailedUpgrade = "Delete" }),
			`spec.modules[0].onFailedUpgrade "Delete" is neither None nor Rollback`},
		{"an action and a deadline", entry(func(m *v1beta2.Module) {
			m.OnFailedUpgrade, m.ProgressDeadline = "Rollback", &metav1.Duration{Duration: 10 * time.Second}
		}), ""},
		{"a deadline that is too short", entry(func(m *v1beta2.Module) { m.ProgressDeadline = &metav1.Duration{Duration: 9 * time.Second} }),
			`spec.modules[0].progressDeadline 9s is shorter than 10s`},
		{"a version to avoid", entry(func(m *v1beta2.Module) { m.Avoid = "1.0.0@sha256:" + strings.Repeat("0a", 32) }), ""},
		{"a version to avoid without digest", entry(func(m *v1beta2.Module) { m.Avoid = "1.0.0" }),
			`spec.modules[0].avoid "1.0.0" is not "<version>@<digest>" of at most 160 characters`},
		{"a version to avoid that is too long", entry(func(m *v1beta2.Module) {
			m.Avoid = strings.Repeat("1", 100) + "@sha256:" + strings.Repeat("0a", 32)
		}), `spec.modules[0].avoid "11111111111111111111111111111111" (172 characters) is not "<version>@<digest>" of at most 160 characters`},
		{"a revision below zero to go back to", entry(func(m *v1beta2.Module) { m.BackTo = -1 }),
			`spec.modules[0].backTo -1 is negative: name the number of a revision`},
		{"a revision below zero", entry(func(m *v1beta2.Module) { m.Retry = -1 }),
			`spec.modules[0].retry -1 is negative: name the number of a revision`},
		{"an unknown rule", entry(func(m *v1beta2.Module) { m.AllowCRDChanges = []v1beta2.CRDRule{"Everything"} }),
			`spec.modules[0].allowCRDChanges[0] "Everything" is no rule, or a duplicate`},
		{"a rule twice", entry(func(m *v1beta2.Module) { m.AllowCRDChanges = []v1beta2.CRDRule{"TypeChanged", "TypeChanged"} }),
			`spec.modules[0].allowCRDChanges[1] "TypeChanged" is no rule, or a duplicate`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			spec := &v1beta2.KymaSpec{Channel: "regular", Modules: []v1beta2.Module{{Name: "x"}}}
			tc.edit(spec)
			got := ""
			if err := CheckRuntimeSpec(spec); err != nil {
				got = err.Error()
			}
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// theDefinition returns the schema of a Kyma's spec.
func theDefinition(t *testing.T) map[string]any {
	t.Helper()
	raw, err := os.ReadFile("../../config/crd/bases/operator.kyma-project.io_kymas.yaml")
	must(err)
	var definition map[string]any
	must(yaml.Unmarshal(raw, &definition))
	versions := definition["spec"].(map[string]any)["versions"].([]any)
	for _, version := range versions {
		if of := version.(map[string]any); of["name"] == "v1beta2" {
			return inside(of, "schema", "openAPIV3Schema", "properties", "spec")
		}
	}
	t.Fatal("there is no v1beta2")
	return nil
}

func inside(at map[string]any, path ...string) map[string]any {
	for _, name := range path {
		at = at[name].(map[string]any)
	}
	return at
}

func TestRuntimespec_WhatIsAcceptedIsWhatTheAPIAccepts(t *testing.T) {
	spec := theDefinition(t)
	entry := inside(spec, "properties", "modules", "items", "properties")
	for _, channel := range []map[string]any{inside(spec, "properties", "channel"), inside(entry, "channel")} {
		if channel["pattern"] != channelPattern.String() || channel["minLength"] != 3.0 || channel["maxLength"] != float64(maxWord) {
			t.Errorf("the API's channel: %v", channel)
		}
	}
	if version := inside(entry, "version"); version["pattern"] != versionPattern.String() || version["maxLength"] != float64(maxWord) {
		t.Errorf("the API's version: %v", version)
	}
	for _, name := range []string{"avoid", "approved"} {
		if target := inside(entry, name); target["pattern"] != targetPattern.String() || target["maxLength"] != float64(maxTarget) {
			t.Errorf("the API's %s: %v", name, target)
		}
	}
	known := map[string]bool{"name": true, "channel": true, "version": true, "controller": true, "remoteModuleTemplateRef": true,
		"customResourcePolicy": true, "managed": true, "allowCRDChanges": true,
		"onFailedUpgrade": true, "progressDeadline": true, "avoid": true, "backTo": true, "retry": true,
		"upgradeStrategy": true, "approved": true, "values": true, "valuesFrom": true}
	for name := range entry {
		if !known[name] {
			t.Errorf("field %s of a module is neither checked nor carried between hub and runtime", name)
		}
	}
}

func FuzzCheckRuntimeSpec(f *testing.F) {
	f.Add("regular", "x", "fast", "1.0.0", "c", "r", "Ignore", "TypeChanged")
	f.Add("", "\x00", "\n", "v1", "\xff", " ", "ignore", "")
	f.Fuzz(func(t *testing.T, channel, name, own, version, controller, ref, policy, rule string) {
		spec := &v1beta2.KymaSpec{Channel: channel, Modules: []v1beta2.Module{{Name: name, Channel: own, Version: version,
			ControllerName: controller, RemoteModuleTemplateRef: ref, CustomResourcePolicy: v1beta2.CustomResourcePolicy(policy),
			AllowCRDChanges: []v1beta2.CRDRule{v1beta2.CRDRule(rule)}}}}
		err := CheckRuntimeSpec(spec)
		if err != nil {
			if message := err.Error(); len(message) > 400 || strings.ContainsAny(message, "\n\r\x00") {
				t.Errorf("%d characters: %q", len(message), message)
			}
			return
		}
		seen := SeenOf(spec)
		if got := Merge(MergeInput{Hub: seen, Runtime: &seen}); got.Write || len(got.Seen.Overruled) > 0 {
			t.Errorf("two that agree: %+v", got)
		}
	})
}
