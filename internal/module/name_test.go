package module

import (
	"strings"
	"testing"
)

func TestManifestName(t *testing.T) {
	for _, test := range []struct{ name, kyma, component, module, want string }{
		{"upstream's first vector", "default-id", "kyma-project.io/module/some-module", "module1", "default-id-some-module-1831772875"},
		{"upstream's second vector", "kyma-sample", "kyma-project.io/module/template-operator", "template-operator",
			"kyma-sample-template-operator-2235966007"},
		{"upstream's vector with a name that is too long", "default-id",
			"kyma-project.io/module/this-is-a-very-long-component-name-that-exceeds-the-limit", "module1",
			"default-id-this-is-a-very-long-component-name-that-exceeds-the"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := ManifestName(test.kyma, test.component, test.module); got != test.want {
				t.Errorf("ManifestName = %q, want %q", got, test.want)
			}
		})
	}
}

func TestManifestNameNeverEndsWithADash(t *testing.T) {
	for length := range 80 {
		name := ManifestName(strings.Repeat("k", length+1), "kyma-project.io/a-b-c-d-e-f-g", "m")
		if len(name) > 62 || strings.HasSuffix(name, "-") {
			t.Errorf("ManifestName = %q (%d characters)", name, len(name))
		}
	}
}
