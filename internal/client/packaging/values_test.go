package packaging_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/pkg/diagnostics"
	"github.com/kyma-project/lifecycle-manager/pkg/modulelint"
	"github.com/kyma-project/lifecycle-manager/pkg/render/helm"
)

// chartModule writes a module whose manifest is a chart that requires values.
func chartModule(t *testing.T, more string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, packaging.ConfigFile), config("chart", more))
	put(t, filepath.Join(dir, "chart/Chart.yaml"), "apiVersion: v2\nname: notes\nversion: 0.1.0\n")
	put(t, filepath.Join(dir, "chart/values.yaml"), "keep: chart\nreplicas: 1\n")
	put(t, filepath.Join(dir, "chart/templates/a.yaml"), `apiVersion: apps/v1
kind: Deployment
metadata: {name: {{ .Release.Name }}, namespace: {{ .Release.Namespace }}}
spec:
  replicas: {{ .Values.replicas }}
  template: {spec: {containers: [{name: a, image: "{{ required "say an image" .Values.image }}"}]}}
`)
	for file, text := range files {
		put(t, filepath.Join(dir, file), text)
	}
	return dir
}

// A chart is validated, searched for images and installed with the same values.
func TestValues_AChartIsPackedWithItsValues(t *testing.T) {
	const values = "image: example.com/notes:1.2.3\nreplicas: 3 # three\nratio: 0.5\nport: \"80\"\nkeep: null\n"
	dir := chartModule(t, "values: values.yaml\ntargetNamespace: notes-system\n", map[string]string{"values.yaml": values})
	source := load(t, dir)
	found, err := source.Lint(t.Context(), modulelint.Options{})
	if err != nil || len(found) > 0 {
		t.Errorf("%v %v", found, err)
	}
	objects, err := source.Objects(t.Context())
	if err != nil || len(objects) != 1 || objects[0].GetNamespace() != "notes-system" {
		t.Fatalf("%v %v", objects, err)
	}
	version, err := source.ComponentVersion(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if version.Resources[0].Image != "example.com/notes:1.2.3" {
		t.Errorf("the image of the values is not among the resources: %+v", version.Resources[0])
	}
	how := installation(t, version)
	want := helm.InstallConfig{
		Values:    map[string]any{"image": "example.com/notes:1.2.3", "replicas": 3.0, "ratio": 0.5, "port": "80", "keep": nil},
		Namespace: "notes-system", CreateNamespace: true,
	}
	if diff := cmp.Diff(want, how); diff != "" {
		t.Errorf("what the lifecycle manager reads (-want +got):\n%s", diff)
	}
	again, err := load(t, dir).ComponentVersion(t.Context(), nil)
	if diff := cmp.Diff(named(version, "config"), named(again, "config")); diff != "" || err != nil {
		t.Errorf("the second time: %v\n%s", err, diff)
	}
}

// Values in the configuration itself are those of a file.
func TestValues_InlineValuesAreThoseOfAFile(t *testing.T) {
	const values = "image: example.com/notes:1.2.3\nreplicas: 3\nport: \"80\"\n"
	inFile := load(t, chartModule(t, "values: values.yaml\n", map[string]string{"values.yaml": values}))
	inline := load(t, chartModule(t, "values:\n  "+strings.ReplaceAll(strings.TrimSpace(values), "\n", "\n  ")+"\n", nil))
	want, err := inFile.ComponentVersion(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := inline.ComponentVersion(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(installation(t, want), installation(t, got)); diff != "" {
		t.Errorf("what the lifecycle manager reads (-in a file +inline):\n%s", diff)
	}
}

// installation returns the settings of the manifest in the resource config of a version.
func installation(t *testing.T, version component.Version) helm.InstallConfig {
	t.Helper()
	config, err := helm.ParseConfig(named(version, "config"))
	if err != nil {
		t.Fatal(err)
	}
	how, err := config.For("raw-manifest")
	if err != nil {
		t.Fatal(err)
	}
	return how
}

// named returns the content of a resource.
func named(version component.Version, name string) []byte {
	for i := range version.Resources {
		if version.Resources[i].Name == name {
			return version.Resources[i].Data
		}
	}
	return nil
}

func TestValues_ATargetNamespaceThatTheModuleBringsIsNotMade(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, packaging.ConfigFile), config("manifest.yaml", "targetNamespace: notes-system\n"))
	put(t, filepath.Join(dir, "manifest.yaml"),
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: notes-system}\n")
	version, err := load(t, dir).ComponentVersion(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if how := installation(t, version); how.Namespace != "notes-system" || how.CreateNamespace || how.Values != nil {
		t.Errorf("%+v", how)
	}
	put(t, filepath.Join(dir, packaging.ConfigFile), config("manifest.yaml", ""))
	if version, err = load(t, dir).ComponentVersion(t.Context(), nil); err != nil || named(version, "config") != nil {
		t.Errorf("a module that says nothing has a config: %q %v", named(version, "config"), err)
	}
	found, err := load(t, dir).Lint(t.Context(), modulelint.Options{})
	if err != nil || len(found) != 1 || !strings.Contains(found[0].Message, "namespace default") {
		t.Errorf("nothing says where the ConfigMap goes: %v %v", found, err)
	}
}

func TestValuesThatCannotBeUsed(t *testing.T) {
	for name, test := range map[string]struct {
		more   string
		values string
		want   string
	}{
		"a file that is not there":               {more: "values: nowhere.yaml\n", want: "there is no file"},
		"a file that is a list":                  {more: "values: values.yaml\n", values: "- a\n", want: "values.yaml: the values cannot be read: document 1 (line 1): is a list"},
		"values of one's own that are set twice": {more: "values: {a: {b: 1, b: 2}}\n", want: "module-config.yaml: the values cannot be read"},
		"a manifest that is plain":               {more: "renderer: bundle\nvalues: values.yaml\n", values: "a: b\n", want: "values apply to charts only"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"chart/manifests/a.yaml": configMap}
			if test.values != "" {
				files["values.yaml"] = test.values
			}
			source, found, err := packaging.Load(t.Context(), chartModule(t, test.more, files), &packaging.Fetcher{})
			if err != nil || source != nil || len(found) != 1 || found[0].Field != "values" || found[0].Severity != diagnostics.Error ||
				found[0].Line == 0 || !strings.Contains(found[0].Message, test.want) {
				t.Errorf("module %v, findings %v, error %v, want %q", source, found, err, test.want)
			}
		})
	}
}

// The resource of --resource config=FILE also applies to rendering.
func TestValues_AResourceConfigOfOnesOwn(t *testing.T) {
	source := load(t, chartModule(t, "", nil))
	if _, err := source.Objects(t.Context()); err == nil || !strings.Contains(err.Error(), "say an image") {
		t.Fatalf("without values: %v", err)
	}
	err := source.Configure([]byte("configs: [{name: notes, overrides: image=example.com/notes:9, clientConfig: {Namespace: x, ReleaseName: r}}]"))
	if err != nil {
		t.Fatal(err)
	}
	objects, err := source.Objects(t.Context())
	if err != nil || objects[0].GetNamespace() != "x" || objects[0].GetName() != "r" {
		t.Errorf("%v %v", objects, err)
	}
	version, err := source.ComponentVersion(t.Context(), nil)
	if err != nil || named(version, "config") != nil || version.Resources[0].Image != "example.com/notes:9" {
		t.Errorf("%+v %v", version.Resources, err)
	}
	for name, test := range map[string]struct{ more, layer, want string }{
		"the configuration has values as well": {"targetNamespace: a\n", "configs: []", "and resource config set values or targetNamespace"},
		"it cannot be read":                    {"", "configs: 1", "resource config: configs of the config layer is a number"},
		"an override is no assignment":         {"", "configs: [{name: notes, overrides: a}]", "resource config: overrides for notes"},
	} {
		t.Run(name, func(t *testing.T) {
			err := load(t, chartModule(t, test.more, nil)).Configure([]byte(test.layer))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
