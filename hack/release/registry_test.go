package main

import (
	"bytes"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	intoto "github.com/in-toto/attestation/go/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"helm.sh/helm/v4/pkg/chart/common"
	chartvalues "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/internal/client/managerinstall"
)

const (
	chartArchive = "lifecycle-manager-1.2.3.tgz"
	testRegistry = "https://registry.example.com"
)

// naming returns a release that names a registry, of a tree with the chart that is released.
func naming(t *testing.T, registry string, at time.Time) *release {
	t.Helper()
	root := checkout(t, at)
	charts := filepath.Join(root, "charts")
	if err := os.RemoveAll(charts); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(charts, os.DirFS(filepath.Join("..", "..", "charts"))); err != nil {
		t.Fatal(err)
	}
	r := prepared(t, root)
	r.registry = registry
	return r
}

// registriesIn returns the arguments about the registry of the modules in the manager's Deployment, which is among the given objects.
func registriesIn(t *testing.T, objects string) (found []string) {
	t.Helper()
	for document := range strings.SplitSeq(objects, "\n---\n") {
		var object appsv1.Deployment
		if err := yaml.Unmarshal([]byte(document), &object); err != nil || object.Kind != "Deployment" {
			continue
		}
		for _, arg := range object.Spec.Template.Spec.Containers[0].Args {
			if strings.HasPrefix(arg, "--oci-registry") {
				found = append(found, arg)
			}
		}
		return found
	}
	t.Fatalf("no Deployment in\n%s", objects)
	return nil
}

// rendered returns what helm makes of a packed chart without any values: its objects, and what it tells its users.
func rendered(t *testing.T, archive []byte) (objects, notes string) {
	t.Helper()
	packed, err := loader.LoadArchive(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	options := common.ReleaseOptions{Name: "lifecycle-manager", Namespace: managerinstall.Namespace, Revision: 1, IsInstall: true}
	values, err := chartvalues.ToRenderValues(packed, nil, options, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Render(packed, values)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for name, text := range files {
		if path.Base(name) == "NOTES.txt" {
			notes = text
			continue
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "\n---\n"), notes
}

func TestBuild_InstallationAndChartNameTheRegistry(t *testing.T) {
	for name, tc := range map[string]struct {
		registry string
		want     []string
	}{
		"without one, users have to name theirs": {"", nil},
		"one that says its scheme":               {testRegistry, []string{"--oci-registry-host=https://registry.example.com"}},
		"one by its host alone":                  {"registry.example.com", []string{"--oci-registry-host=registry.example.com"}},
		"one without TLS, at a port":             {"http://localhost:5000", []string{"--oci-registry-host=http://localhost:5000"}},
	} {
		t.Run(name, func(t *testing.T) {
			files := made(t, naming(t, tc.registry, time.Now()))
			if diff := cmp.Diff(tc.want, registriesIn(t, string(files["install.yaml"]))); diff != "" {
				t.Errorf("install.yaml (-want +got):\n%s", diff)
			}
			objects, notes := rendered(t, files[chartArchive])
			if diff := cmp.Diff(tc.want, registriesIn(t, objects)); diff != "" {
				t.Errorf("the chart (-want +got):\n%s", diff)
			}
			if told := strings.Contains(notes, "does not know the registry"); told != (tc.registry == "") {
				t.Errorf("the notes of the chart say that the registry is missing: %t\n%s", told, notes)
			}
			statement := &intoto.Statement{}
			if err := protojson.Unmarshal(files[provenanceFile], statement); err != nil {
				t.Fatal(err)
			}
			parameters := statement.GetPredicate().GetFields()["buildDefinition"].GetStructValue().GetFields()["externalParameters"].GetStructValue()
			recorded, ok := parameters.GetFields()["registry"]
			if ok != (tc.registry != "") || recorded.GetStringValue() != tc.registry {
				t.Errorf("the provenance records the registry as %v", recorded)
			}
		})
	}
}

// The default of a value stands in the values and in their table; all other words of both are those of the checkout.
func TestBuild_TheChartSaysItsDefault(t *testing.T) {
	archive := made(t, naming(t, testRegistry, time.Now()))[chartArchive]
	packed, err := loader.LoadArchive(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, file := range packed.Raw {
		got[file.Name] = string(file.Data)
	}
	for name, preset := range map[string]struct{ before, after string }{
		"values.yaml": {"\n  host: \"\"\n", "\n  host: \"https://registry.example.com\"\n"},
		"README.md":   {"| `registry.host` | `\"\"` |", "| `registry.host` | `\"https://registry.example.com\"` |"},
	} {
		text, err := os.ReadFile(filepath.Join("..", "..", "charts", project, name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Replace(string(text), preset.before, preset.after, 1), got[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestBuild_ARegistryChangesOnlyWhatNamesIt(t *testing.T) {
	without, with := made(t, naming(t, "", time.Unix(1_000_000_000, 0))), made(t, naming(t, testRegistry, time.Unix(1_000_000_000, 0)))
	again := made(t, naming(t, testRegistry, time.Unix(1_700_000_000, 0)))
	var changed []string
	for _, name := range slices.Sorted(maps.Keys(with)) {
		if !bytes.Equal(with[name], without[name]) {
			changed = append(changed, name)
		}
		if !bytes.Equal(with[name], again[name]) {
			t.Errorf("%s differs from one build to the next", name)
		}
	}
	if diff := cmp.Diff([]string{sumsFile, "install.yaml", chartArchive, provenanceFile, sbomFile}, changed); diff != "" {
		t.Errorf("files that a registry changes (-want +got):\n%s", diff)
	}
	text, err := managerinstall.Export(managerinstall.Options{Image: "lifecycle-manager:1.2.3"})
	if err != nil || !bytes.Equal(text, without["install.yaml"]) {
		t.Errorf("without a registry install.yaml is not what it was, %v", err)
	}
}

// A chart whose values are written in another way must not be released with a default that nothing has.
func TestBuild_RefusesAChartWhoseDefaultItDoesNotFind(t *testing.T) {
	for name, tc := range map[string]struct{ file, before, after string }{
		"values that have a registry already": {"values.yaml", "  host: \"\"", "  host: other.example.com"},
		"values without the registry":         {"values.yaml", "  host: \"\"", "  address: \"\""},
		"a table without the registry":        {"README.md", "`registry.host`", "`registry.address`"},
	} {
		t.Run(name, func(t *testing.T) {
			r := naming(t, testRegistry, time.Now())
			file := filepath.Join(r.root, "charts", project, tc.file)
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(strings.Replace(string(text), tc.before, tc.after, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := r.build(t.Context()); err == nil || !strings.Contains(err.Error(), tc.file+" does not say once that registry.host is empty") {
				t.Errorf("got %v", err)
			}
		})
	}
}
