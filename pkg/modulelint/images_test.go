package modulelint

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/moduleconfig"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

func TestImagesOfEverythingThatRunsPods(t *testing.T) {
	objects, err := render.Parse(strings.NewReader(sample(t)[manifest]), render.DefaultLimit)
	if err != nil {
		t.Fatal(err)
	}
	want := []Image{
		{"agent", "1.2.3", "registry.example.com/notes/agent:1.2.3"}, // in a DaemonSet and in a Pod, once
		{"busybox", "0.0.0-1.36", "docker.io/library/busybox:1.36"},
		{"clean-01234567", "0.0.0+sha256.0123456789ab", "registry.example.com/notes/clean" + digest},
		{"helper", "2.0.0", "registry.example.com/notes/helper:2.0.0"},
		{"look", "1.0.0", "registry.example.com/notes/look:1.0.0"},
		{"manager", "1.2.3", "registry.example.com/notes/manager:1.2.3"},
		{"once", "0.0.0-build-7", "registry.example.com/notes/once:build-7"},
		{"proxy", "3.1.0", "registry.example.com:5000/notes/proxy:3.1.0"},
		{"statsd-exporter", "v0.26.1", "docker.io/prom/statsd-exporter:v0.26.1"},
		{"worker", "4.5.6", "registry.example.com/notes/worker:4.5.6"},
	}
	got := Images(objects, "registry.example.com/notes/worker:4.5.6", "registry.example.com/notes/refused:latest", "manager:1.2.3:4")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
	for i := range len(objects) / 2 {
		j := len(objects) - 1 - i
		objects[i], objects[j] = objects[j], objects[i]
	}
	if diff := cmp.Diff(want, Images(objects, "registry.example.com/notes/worker:4.5.6")); diff != "" {
		t.Errorf("the order of the objects counts (-want +got):\n%s", diff)
	}
}

func TestValuesThatReallyAreReferences(t *testing.T) {
	for value, want := range map[string]bool{
		":8080": false, "https://h/x": false, "https://example.com/x:1": false, "db:5432": false, "a/b:80": false, "a": false, "": false,
		"db.example.com:5432": false, "localhost:8080": false, "10.0.0.1:80": false, "user:password@db/x": false, "a b.c/d:1": false,
		"redis:7.2.4": false, "example.com/path": false, "example.com:8080/path": false, "key=value:1": false, "sha256:abc": false,
		"arn:aws:iam::123456789012:role/x": false, "Example.com/UPPER:1": false, "12:30:00": false, "::1": false, "*.example.com:443": false,
		"example.com/a:1": true, "example.com/a:latest": true, "localhost/a:1": true, "localhost:5000/a:dev": true, "prom/prometheus:v2.45.0": true,
		"a" + digest: true, "example.com:443/a/b" + digest: true, "example.com/a:1" + digest: true,
		"example.com/" + strings.Repeat("a", maxReference) + ":1": false,
	} {
		t.Run(fmt.Sprintf("%.40s is a reference: %v", value, want), func(t *testing.T) {
			if got := isReference(value); got != want {
				t.Errorf("%q: got %v", value, got)
			}
		})
	}
}

func TestResourcesOfImages(t *testing.T) {
	for name, c := range map[string]struct {
		references []string
		want       []Image
	}{
		"a tag and a digest": {[]string{"a.io/b/app:1.2.3" + digest}, []Image{{"app-01234567", "1.2.3+sha256.0123456789ab", "a.io/b/app:1.2.3" + digest}}},
		"a tag that is no version and a digest": {
			[]string{"a.io/b/app:main" + digest}, []Image{{"app-01234567", "0.0.0-main+sha256.0123456789ab", "a.io/b/app:main" + digest}},
		},
		"a tag with an underscore":                     {[]string{"a.io/app:a_b"}, []Image{{"app", "0.0.0-a-b", "a.io/app:a_b"}}},
		"a tag that begins with a zero":                {[]string{"a.io/app:007"}, []Image{{"app", "0.0.0-tag-007", "a.io/app:007"}}},
		"a date with dots":                             {[]string{"a.io/app:2024.01.09"}, []Image{{"app", "0.0.0-2024-01-09", "a.io/app:2024.01.09"}}},
		"a tag with two dots in a row":                 {[]string{"a.io/app:a..b"}, []Image{{"app", "0.0.0-a--b", "a.io/app:a..b"}}},
		"a name with dots":                             {[]string{"a.io/my.app__x:1.0.0"}, []Image{{"my-app__x", "1.0.0", "a.io/my.app__x:1.0.0"}}},
		"a name of one letter":                         {[]string{"a.io/b/x:1.0.0"}, []Image{{"image-x", "1.0.0", "a.io/b/x:1.0.0"}}},
		"a name without a host is completed":           {[]string{"redis:7.2.4"}, []Image{{"redis", "7.2.4", "docker.io/library/redis:7.2.4"}}},
		"the same image written in two ways is one":    {[]string{"redis:7.2.4", "docker.io/library/redis:7.2.4"}, []Image{{"redis", "7.2.4", "docker.io/library/redis:7.2.4"}}},
		"two repositories of one name get other names": {[]string{"a.io/app:1.0.0", "b.io/app:1.0.0"}, []Image{{"app-33306954", "1.0.0", "b.io/app:1.0.0"}, {"app-f97b9a43", "1.0.0", "a.io/app:1.0.0"}}},
		"two versions of an image get other names":     {[]string{"a.io/app:1.0.0", "a.io/app:1.1.0"}, []Image{{"app-e3b0e4ac", "1.1.0", "a.io/app:1.1.0"}, {"app-f97b9a43", "1.0.0", "a.io/app:1.0.0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Images(nil, c.references...)); diff != "" {
				t.Errorf("images (-want +got):\n%s", diff)
			}
		})
	}
}

// ocmName and ocmVersion are the names and versions that OCM accepts.
var (
	ocmName    = regexp.MustCompile(`^[a-z0-9][-_+a-z0-9]*[a-z0-9]$`)
	ocmVersion = semver.StrictNewVersion
)

// FuzzImages checks that every accepted reference yields a resource that OCM accepts, and that all others yield none.
func FuzzImages(f *testing.F) {
	for _, text := range []string{"a:1", "a.io/b-.c:0_0", "a" + digest, "x/_:1", "localhost:1/é", "a.io/a--b__c:v1.0.0-0.01", "a.io/0:---", ":", "@sha256:"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		isReference(text)
		for _, image := range Images(nil, text) {
			if !ocmName.MatchString(image.Name) {
				t.Errorf("%q: OCM does not take the name %q", text, image.Name)
			}
			if _, err := ocmVersion(strings.TrimPrefix(image.Version, "v")); err != nil {
				t.Errorf("%q: OCM does not take the version %q: %v", text, image.Version, err)
			}
			if diff := cmp.Diff([]Image{image}, Images(nil, image.Reference)); diff != "" {
				t.Errorf("%q: the reference in full is another image:\n%s", text, diff)
			}
		}
	})
}

// FuzzLint checks that no file makes the linter panic, and that every finding is complete and reproducible.
func FuzzLint(f *testing.F) {
	files := sample(f)
	f.Add([]byte(files[manifest]), []byte(files[cr]))
	f.Add([]byte("kind: List\napiVersion: v1\nitems: [~]"), []byte("---"))
	f.Add([]byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"template":{"spec":{"containers":[1,{"env":[{}]}]}}}}`), []byte("a: [*b]"))
	f.Add([]byte("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\nspec: {versions: 3}"), []byte(files[cr]))
	parsed, _ := moduleconfig.Parse(config, []byte(files[config]))
	f.Fuzz(func(t *testing.T, objects, resource []byte) {
		module := Module{Config: parsed, Manifest: bytes.Clone(objects), ManifestFile: manifest, DefaultCR: resource, DefaultCRFile: cr}
		findings := Lint(module, Options{})
		for _, found := range findings {
			if !Known(found.Rule) || found.Message == "" || found.Fix == "" || found.File == "" || found.Line < 0 {
				t.Errorf("incomplete: %#v", found)
			}
		}
		if diff := cmp.Diff(findings, Lint(module, Options{})); diff != "" {
			t.Errorf("the same files, other findings:\n%s", diff)
		}
	})
}
