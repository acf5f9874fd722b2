package authorcmd_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

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
	s.refused(1, "--force offers the version all the same", "release", "promote", "wants", "fast", "regular", "--namespace", "default")
	if _, said := s.ok(append(set, "regular=0.2.0", "--force")...); !strings.Contains(said, "Warning: no Kyma of channel regular could install") {
		s.Errorf("--force said %q", said)
	}
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
