package editcmd

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/registryauth"
)

func TestComponentOfRegistry(t *testing.T) {
	for name, c := range map[string]struct {
		registry string
		want     *directinstall.Component
	}{
		"without the flag the template names the place": {"", nil},
		"a host":                           {"registry:5000", &directinstall.Component{Registry: "registry:5000"}},
		"a host with a path":               {"r.io/modules/", &directinstall.Component{Registry: "r.io/modules"}},
		"a scheme is no part of the place": {"http://127.0.0.1:5000", &directinstall.Component{Registry: "127.0.0.1:5000"}},
		"two slashes begin the name of the component":  {"r.io/m//x.io/m/notes", &directinstall.Component{Registry: "r.io/m", Name: "x.io/m/notes"}},
		"so they do after the two slashes of a scheme": {"oci://r.io//x.io/notes", &directinstall.Component{Registry: "r.io", Name: "x.io/notes"}},
	} {
		t.Run(name, func(t *testing.T) {
			flags := directFlags{registry: c.registry}
			if diff := cmp.Diff(c.want, flags.component()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDirectFlags_ARegistryWithoutTLSSaysNothingOfACatalog: the catalog that a module came from is at another server, with another login.
func TestDirectFlags_ARegistryWithoutTLSSaysNothingOfACatalog(t *testing.T) {
	for title, test := range map[string]struct {
		flags         directFlags
		host, catalog bool // whether they are called without TLS
	}{
		"the scheme of --registry":         {directFlags{registry: "http://registry.example.com/modules"}, true, false},
		"--registry and the flag":          {directFlags{registry: "registry.example.com", login: registryauth.Options{PlainHTTP: true}}, true, false},
		"the flag, and no --registry":      {directFlags{login: registryauth.Options{PlainHTTP: true}}, true, true},
		"neither":                          {directFlags{registry: "registry.example.com"}, false, false},
		"an https:// scheme with the flag": {directFlags{registry: "https://registry.example.com", login: registryauth.Options{PlainHTTP: true}}, true, false},
	} {
		access, err := test.flags.access(&console.Console{})
		if err != nil {
			t.Fatal(err)
		}
		if got := access.PlainHTTP || access.Policy("registry.example.com").PlainHTTP; got != test.host {
			t.Errorf("%s: http is spoken to the registry: %t", title, got)
		}
		if got := test.flags.ofCatalog().PlainHTTP; got != test.catalog {
			t.Errorf("%s: http is spoken to the catalog: %t", title, got)
		}
	}
}

func TestPreviewOfAModuleWithoutAKyma(t *testing.T) {
	var out bytes.Buffer
	d := &deleting{cascade: "preview", change: &change{
		console: &console.Console{Out: &out}, output: &console.Formats{Format: console.JSON},
	}}
	if err := d.preview(&session{}, nil); err != nil {
		t.Fatal(err)
	}
	want := "{\n  \"apiVersion\": \"cli.kyma-project.io/v1\",\n  \"kind\": \"DeletionPreview\",\n  \"items\": []\n}\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}
