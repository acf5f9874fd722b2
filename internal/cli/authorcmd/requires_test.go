package authorcmd_test

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// needsWhatIsNotOffered checks that a channel cannot offer what no Kyma that follows it could install.
func needsWhatIsNotOffered(s *shell, c client.Client) {
	for version, needs := range map[string]string{"0.1.0": "", "0.2.0": ">=2"} {
		template := &v1beta2.ModuleTemplate{
			ObjectMeta: metav1.ObjectMeta{Name: "wants-" + version, Namespace: "default"},
			Spec:       v1beta2.ModuleTemplateSpec{ModuleName: "wants", Version: version},
		}
		if needs != "" {
			template.Spec.Requires = []v1beta2.Requirement{{Module: "base", Version: needs}}
		}
		if err := c.Create(s.Context(), template); err != nil {
			s.Fatal(err)
		}
	}
	set := []string{"release", "set", "wants", "--namespace", "default", "--component", "example.com/module/wants"}
	s.ok(append(set, "regular=0.1.0")...)
	s.refused(1, "of which there is no ModuleReleaseMeta", append(set, "regular=0.2.0")...)
	base := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Name: "base", Namespace: "default"}, Spec: v1beta2.ModuleReleaseMetaSpec{
		ModuleName: "base", OCMComponentName: "example.com/module/base",
		Channels: []v1beta2.ChannelVersion{{Channel: "regular", Version: "1.0.0"}, {Channel: "fast", Version: "2.1.0"}},
	}}
	if err := c.Create(s.Context(), base); err != nil {
		s.Fatal(err)
	}
	s.refused(1, "no Kyma of channel regular could install wants 0.2.0: it needs module base (>=2), and channel regular of base offers 1.0.0",
		append(set, "regular=0.2.0")...)
	s.ok(append(set, "fast=0.2.0")...)
	s.refused(1, "--force offers the version anyway", "release", "promote", "wants", "fast", "regular", "--namespace", "default")
	if _, said := s.ok(append(set, "regular=0.2.0", "--force")...); !strings.Contains(said, "Warning: no Kyma of channel regular could install") {
		s.Errorf("--force said %q", said)
	}
	breaksWhatOthersNeed(s, c)
}

// breaksWhatOthersNeed checks that a channel cannot offer what makes another module's version there impossible to install.
func breaksWhatOthersNeed(s *shell, c client.Client) {
	for _, version := range []string{"1.4.0", "1.5.0", "2.2.0"} {
		template := &v1beta2.ModuleTemplate{
			ObjectMeta: metav1.ObjectMeta{Name: "base-" + version, Namespace: "default"},
			Spec:       v1beta2.ModuleTemplateSpec{ModuleName: "base", Version: version},
		}
		if err := c.Create(s.Context(), template); err != nil {
			s.Fatal(err)
		}
	}
	set := []string{"release", "set", "base", "--namespace", "default", "--allow-downgrade"}
	s.ok(append(set, "fast=2.2.0")...)
	s.refused(1, "with base 1.5.0 no Kyma of channel fast could install wants 0.2.0, which needs module base (>=2)", append(set, "fast=1.5.0")...)
	if _, said := s.ok(append(set, "fast=1.5.0", "--force")...); !strings.Contains(said, "Warning: with base 1.5.0 no Kyma of channel fast") {
		s.Errorf("--force said %q", said)
	}
	s.ok(append(set, "fast=1.4.0")...) // nothing breaks that worked before
}

func TestValidate_SeveralModules(t *testing.T) {
	s := open(t)
	for _, name := range []string{"notes", "beacon"} {
		s.ok("module", "init", name)
	}
	if _, said := s.ok("module", "validate", "notes", "beacon", "--strict"); said != "notes 0.1.0 and beacon 0.1.0 are valid.\n" {
		t.Errorf("said %q", said)
	}
	edit(t, "notes/module-config.yaml", "version: 0.1.0\n", "version: 0.1.0\nrequires: [{module: beacon, version: \">=0.1\"}]\n")
	s.ok("module", "validate", "notes", "beacon", "--strict")
	edit(t, "beacon/module-config.yaml", "version: 0.1.0\n", "version: 0.1.0\nrequires:\n- module: notes\n")
	code, out, _ := s.run("module", "validate", "notes", "beacon")
	if code != 1 || !strings.Contains(out, "the modules require each other: beacon -> notes -> beacon") {
		t.Errorf("exit code %d, wrote %q", code, out)
	}
	s.refused(64, "--role and --against are for one module", "module", "validate", "notes", "beacon", "--role", "-")
	s.refused(64, "both name a module", "module", "validate", "notes", "-c", "beacon")
}

func TestValidate_WritesTheRoleOfAnInstallation(t *testing.T) {
	s := open(t)
	s.ok("module", "init", "notes")
	out, said := s.ok("module", "validate", "notes", "--role", "-")
	if said != "" {
		t.Errorf("said %q", said)
	}
	var kinds []string
	rules := 0
	for text := range strings.SplitSeq(out, "---\n") {
		role := rbacv1.ClusterRole{}
		if err := yaml.UnmarshalStrict([]byte(text), &role); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		if role.Name != "notes-installer" {
			t.Errorf("a role is called %s", role.Name)
		}
		kinds, rules = append(kinds, role.Kind), rules+len(role.Rules)
		for _, rule := range role.Rules {
			looks := slices.Equal(rule.Verbs, []string{"list"}) // at what a Namespace holds, before that is deleted
			if slices.Contains(rule.Verbs, "*") || slices.Contains(rule.Resources, "*") && !looks {
				t.Errorf("%s asks for everything: %+v", role.Kind, rule)
			}
		}
	}
	if !slices.Contains(kinds, "ClusterRole") || rules == 0 {
		t.Errorf("the roles are %v, with %d rules:\n%s", kinds, rules, out)
	}
	if _, said := s.ok("module", "validate", "notes", "--role", "role.yaml"); !strings.Contains(said, "role.yaml is written.\nnotes 0.1.0 is valid.\n") ||
		read(t, "role.yaml") != out {
		t.Errorf("with a file: %q", said)
	}
}
