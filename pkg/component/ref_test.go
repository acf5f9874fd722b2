package component_test

import (
	"os"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

func TestParseRef(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("odd/x.ctf", 0o755); err != nil {
		t.Fatal(err)
	}
	for title, test := range map[string]struct {
		text, host, sub, path, name, version, message string
		plain                                         bool
	}{
		"a registry":                            {text: "oci://registry.example.org//example.org/module/harbour:1.0.0", host: "registry.example.org", name: name, version: "1.0.0"},
		"one with a port and a path":            {text: "oci://Registry.example.org:5000/prod/eu//example.org/module/harbour:1.0.0+build.1", host: "registry.example.org:5000", sub: "prod/eu", name: name, version: "1.0.0+build.1"},
		"https":                                 {text: "https://registry.example.org//example.org/module/harbour:1.0.0", host: "registry.example.org", name: name, version: "1.0.0"},
		"http":                                  {text: "http://localhost:5000//example.org/module/harbour:1.0.0", host: "localhost:5000", name: name, version: "1.0.0", plain: true},
		"a registry, and the version comes":     {text: "oci://localhost//example.org/module/harbour", host: "localhost", name: name},
		"an archive":                            {text: "./mod.ctf", path: "mod.ctf"},
		"an archive with a name":                {text: "dir/mod.tgz//example.org/module/harbour", path: "dir/mod.tgz", name: name},
		"an archive with a name and a version":  {text: "/tmp/mod//example.org/module/harbour:v1", path: "/tmp/mod", name: name, version: "v1"},
		"a path with two slashes that is there": {text: "odd//x.ctf", path: "odd/x.ctf"},
		"nothing":                               {text: "", message: "neither a registry nor an archive"},
		"a registry without component":          {text: "oci://registry.example.org/a:1", message: "two slashes"},
		"no host":                               {text: "oci:////example.org/a:1", message: "no host"},
		"a host of colons":                      {text: "oci://:::://example.org/a:1", message: "not HOST or HOST:PORT"},
		"a port that is none":                   {text: "oci://registry.example.org:x//example.org/a:1", message: "not HOST or HOST:PORT"},
		"an address of IPv6":                    {text: "oci://[::1]:5000//example.org/module/harbour:1.0.0", host: "[::1]:5000", name: name, version: "1.0.0"},
		"one of IPv6 without brackets":          {text: "oci://::1//example.org/a:1", message: "not HOST or HOST:PORT"},
		"a login in it":                         {text: "oci://user:geheim@registry.example.org//example.org/a:1", message: "has a login"},
		"another scheme":                        {text: "docker://registry.example.org//example.org/a:1", message: "begins with docker://"},
		"a name that is none":                   {text: "oci://localhost//Harbour:1", message: "no OCM component name"},
		"a version that is none":                {text: "mod//example.org/a:latest", message: "no version"},
	} {
		t.Run(title, func(t *testing.T) {
			ref, err := component.ParseRef(test.text, component.Access{Mapping: descriptor.SHA256})
			if test.message != "" {
				if err == nil || !strings.Contains(err.Error(), test.message) || strings.Contains(err.Error(), "geheim") {
					t.Errorf("error %v, want one that says %q", err, test.message)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var at component.Registry
			if ref.Registry != nil {
				at = *ref.Registry
			}
			if at.Host != test.host || at.SubPath != test.sub || at.PlainHTTP != test.plain || ref.Path != test.path || ref.Name != test.name || ref.Version != test.version {
				t.Errorf("read as %+v of %+v", ref, at)
			}
			if (at.Host != "") != (at.Mapping == descriptor.SHA256) {
				t.Errorf("mapping %q", at.Mapping)
			}
			again, err := component.ParseRef(ref.String(), component.Access{})
			if err != nil || again.String() != ref.String() {
				t.Errorf("%s is read again as %s, error %v", ref, again, err)
			}
		})
	}
}

func FuzzParseRef(f *testing.F) {
	for _, text := range []string{"oci://h:1/s//example.org/a:1.0.0", "http://h//example.org/a", "a//b.c/d:1", "//", "a//", "oci://@//a"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := component.ParseRef(text, component.Access{})
		if err != nil {
			return
		}
		if (ref.Registry == nil) == (ref.Path == "") {
			t.Errorf("%q is read as %+v", text, ref)
		}
		if ref.Registry == nil {
			return
		}
		if again, err := component.ParseRef(ref.String(), component.Access{}); err != nil || again.String() != ref.String() {
			t.Errorf("%q is %s and then %s, error %v", text, ref, again, err)
		}
	})
}

func TestRef_AReferenceIsOneThing(t *testing.T) {
	for title, ref := range map[string]component.Ref{
		"two places":             {Registry: &component.Registry{Host: "localhost"}, Path: "a", Name: name, Version: "1.0.0"},
		"no place":               {Name: name, Version: "1.0.0"},
		"a registry, no version": {Registry: &component.Registry{Host: "localhost", PlainHTTP: true}, Name: name},
	} {
		t.Run(title, func(t *testing.T) {
			if _, err := component.Open(t.Context(), ref); err == nil {
				t.Error("it was opened")
			}
			if _, err := component.Copy(t.Context(), ref, ref, component.CopyOptions{}); err == nil {
				t.Error("it was copied")
			}
		})
	}
}

func policyOf(host string, policy content.HostPolicy) func(string) content.HostPolicy {
	return func(asked string) content.HostPolicy {
		if asked == host {
			return policy
		}
		return content.HostPolicy{}
	}
}
