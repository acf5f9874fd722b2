package descriptor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

const (
	ones   = "sha256:1111111111111111111111111111111111111111111111111111111111111111"
	twos   = "sha256:2222222222222222222222222222222222222222222222222222222222222222"
	threes = "sha256:3333333333333333333333333333333333333333333333333333333333333333"
)

// harbour returns what testdata/v2.yaml and testdata/v3alpha1.yaml both say.
func harbour(schema string) *Component {
	return &Component{
		Name: "example.org/module/harbour", Version: "1.4.0", Provider: "example.org", Schema: schema,
		Labels: []Label{{Name: "example.org/tier", Value: []byte(`"gold"`), Signing: true}},
		Resources: []Resource{
			{
				Name: "raw-manifest", Version: "1.4.0", Type: "PlainText", Relation: "local",
				Labels: []Label{{Name: "operator.kyma-project.io/renderer", Value: []byte(`"bundle"`)}},
				Access: Access{Type: "localBlob", LocalReference: ones, MediaType: "application/yaml", ReferenceName: "raw-manifest"},
				Digest: &DigestSpec{
					HashAlgorithm: "SHA-256", NormalisationAlgorithm: "genericBlobDigest/v1", Value: strings.TrimPrefix(ones, "sha256:"),
				},
			},
			{
				Name: "default-cr", Version: "1.4.0", Type: "directoryTree", Relation: "local",
				Access: Access{Type: "localBlob/v1", LocalReference: twos, MediaType: "application/x-tar"},
			},
			{
				Name: "harbour-operator", Version: "1.4.0", Type: "ociArtifact", Relation: "external",
				Access: Access{Type: "ociArtifact", ImageReference: "registry.example.org/harbour/operator:1.4.0"},
			},
		},
	}
}

func lighthouse() *Component {
	return &Component{
		Name: "example.org/module/lighthouse", Version: "v0.9.0-rc.1+build.7", Provider: "example.org", Schema: SchemaV2,
		Resources: []Resource{
			{
				Name: "raw-manifest", Version: "v0.9.0-rc.1+build.7", Type: "yaml", Relation: "local",
				Access: Access{Type: "localOciBlob", LocalReference: threes},
			},
			{
				Name: "scanned", Version: "2.0.0", Type: "ociImage", Relation: "external",
				Access: Access{Type: "ociRegistry", ImageReference: "registry.example.org/scanned:2.0.0"},
			},
			{Name: "elsewhere", Version: "1.0.0", Type: "blob", Relation: "external", Access: Access{Type: "shelf"}},
		},
	}
}

func TestDecodeReadsWhatEitherSchemaSays(t *testing.T) {
	for file, want := range map[string]*Component{
		"v2.yaml":       harbour(SchemaV2),
		"v3alpha1.yaml": harbour(SchemaV3Alpha1),
		"legacy.json":   lighthouse(),
	} {
		t.Run(file, func(t *testing.T) {
			got, err := Decode(golden(t, file))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Component{})); diff != "" {
				t.Errorf("decoded differently (-want +got):\n%s", diff)
			}
		})
	}
}

func golden(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDecodeRefusesWhatItCannotVouchFor(t *testing.T) {
	good := string(golden(t, "v2.yaml"))
	three := string(golden(t, "v3alpha1.yaml"))
	swap := func(text, old, replacement string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("the golden descriptor has no %q any more", old)
		}
		return strings.Replace(text, old, replacement, 1)
	}
	for name, test := range map[string]struct{ data, message string }{
		"nothing at all has no schema":       {"", `has schema ""`},
		"bytes that are no text are no YAML": {"\x00\x01\xff", "no YAML"},
		"a list is no descriptor":            {"- a\n- b\n", "does not name its schema"},
		"an HTML page is no descriptor":      {"<html><body>404</body></html>", "does not name its schema"},
		"an unknown schema is named":         {swap(good, "schemaVersion: v2", "schemaVersion: v7"), `schema "v7"`},
		"two schemas at once are refused": {
			good + "\napiVersion: ocm.software/v3alpha1\n", "both meta.schemaVersion and apiVersion",
		},
		"another kind is refused":            {swap(three, "kind: ComponentVersion", "kind: Pod"), `kind "Pod"`},
		"a key that occurs twice is refused": {good + "\nmeta: {schemaVersion: v2}\n", "already set"},
		"a component of another shape is refused": {
			"meta: {schemaVersion: v2}\ncomponent: [1]\n", "does not follow schema v2",
		},
		"metadata of another shape is refused": {
			swap(three, "spec:", "spec: 1\nunread:"), "does not follow schema ocm",
		},
		"a provider of another shape is refused": {
			swap(good, "provider: example.org", "provider: [1]"), "does not follow schema v2",
		},
		"a component name without domain is refused": {
			swap(good, "name: example.org/module/harbour", "name: harbour"), "OCM component name",
		},
		"a component name that climbs is refused": {
			swap(good, "name: example.org/module/harbour", "name: example.org/../x"), "OCM component name",
		},
		"a version that YAML takes for a number is refused": {
			swap(good, "version: 1.4.0", "version: 1.10"), "cannot unmarshal number",
		},
		"a version that is none is refused": {swap(good, "version: 1.4.0", "version: latest"), "semantic version"},
		"a resource without a name is refused": {
			swap(good, "name: raw-manifest", "name: ''"), "resource 1 of component",
		},
		"a resource without access is refused": {
			swap(good, "access:\n        type: localBlob/v1", "oops:\n        type: x"), "no access",
		},
		"a resource whose access is a text is refused": {
			swap(good, "access:\n        type: localBlob/v1\n", "access: text\n      oops:\n"), "no access",
		},
		"a resource whose access has no type is refused": {
			swap(good, "type: localBlob/v1", "type: ''"), "no access with a type",
		},
		"a layer whose reference is a number is refused": {
			swap(good, "localReference: "+twos, "localReference: 7"), "access of type localBlob/v1",
		},
		"a resource that is neither local nor not refused": {
			swap(good, "relation: external", "relation: distant"), `relation "distant"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Decode([]byte(test.data))
			if ReasonOf(err) != ReasonInvalid {
				t.Fatalf("got %+v with error %v, want reason %s", got, err, ReasonInvalid)
			}
			if !strings.Contains(err.Error(), test.message) {
				t.Errorf("message %q does not say %q", err, test.message)
			}
		})
	}
}

func TestDecodeSurvivesTextThatGrowsWhenItIsExpanded(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 12; i++ {
		level, below := string(rune('a'+i)), string(rune('a'+i-1))
		bomb.WriteString(level + "0: &" + level + "0 [" + strings.Repeat("*"+below+"0, ", 8) + "*" + below + "0]\n")
	}
	if _, err := Decode([]byte(bomb.String())); ReasonOf(err) != ReasonInvalid {
		t.Fatalf("error %v, want reason %s", err, ReasonInvalid)
	}
}

func FuzzDecode(f *testing.F) {
	for _, file := range []string{"v2.yaml", "v3alpha1.yaml", "legacy.json"} {
		f.Add(golden(f, file))
	}
	f.Add([]byte("meta: {schemaVersion: v2}\n" +
		"component: {name: a.bc/d, version: 1, resources: [{name: x, relation: local, access: {type: t}}]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		component, err := Decode(data)
		if err != nil {
			if ReasonOf(err) != ReasonInvalid || component != nil {
				t.Fatalf("component %v, error %v: want no component and reason %s", component, err, ReasonInvalid)
			}
			return
		}
		if err := CheckIdentity(component.Name, component.Version); err != nil {
			t.Fatal(err)
		}
		for _, r := range component.Resources {
			layer, _, _, err := component.Layer(r.Name)
			if err == nil && !strings.HasPrefix(layer, "sha256:") || err != nil && ReasonOf(err) != ReasonInvalid {
				t.Fatalf("layer %q of resource %q, error %v", layer, r.Name, err)
			}
		}
	})
}
