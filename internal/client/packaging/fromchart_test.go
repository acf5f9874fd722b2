package packaging_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/modulelint"
)

const (
	chartMetadata = "apiVersion: v2\nname: notes\nversion: v1.2.3+build.7\nhome: https://example.com/notes\n"
	someConfig    = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}}\ndata: {colour: {{ .Values.colour }}}\n"
	definition    = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: notes.example.com}
spec: {group: example.com, scope: Namespaced, names: {kind: Note, plural: notes}, versions: [{name: v1, served: true, storage: true,
  schema: {openAPIV3Schema: {type: object}}}]}
`
)

// writeChart writes a chart into a directory, and returns that.
func writeChart(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range map[string]string{
		"Chart.yaml": chartMetadata, "values.yaml": "colour: grey\nreplicas: 1\n", "templates/a.yaml": someConfig,
	} {
		if _, own := files[name]; !own {
			put(t, filepath.Join(dir, name), text)
		}
	}
	for name, text := range files {
		put(t, filepath.Join(dir, name), text)
	}
	return dir
}

func TestScaffoldChart(t *testing.T) {
	for name, c := range map[string]struct {
		files  map[string]string
		draft  packaging.Draft
		values map[string]any
		// config are words of the configuration, without words that it must not have; notes those of the notes.
		config, without, notes []string
		err                    string
	}{
		"name, version and links are the chart's": {
			config: []string{
				"name: example.com/module/notes\nversion: 1.2.3\n", "manifest: chart\nrenderer: helm-chart\ntargetNamespace: notes-system\n",
				"repository: https://example.com/notes\ndocumentation: https://example.com/notes\n",
			},
			without: []string{"values:"},
		},
		"name and version that are given count first": {
			draft:  packaging.Draft{Name: "kyma-project.io/module/jotter", Version: "3.0.0"},
			config: []string{"name: kyma-project.io/module/jotter\nversion: 3.0.0\n", "targetNamespace: jotter-system"},
		},
		"only values that differ from the chart's are written": {
			values: map[string]any{"colour": "violet", "replicas": 1.0},
			config: []string{"values:\n  colour: violet\n\n"}, without: []string{"replicas"},
		},
		"a switch that brings the definitions is set": {
			files: map[string]string{
				"values.yaml":        "colour: grey\ncrds: {enabled: false, keep: false}\n",
				"templates/crd.yaml": "{{ if .Values.crds.enabled }}\n" + definition + "{{ end }}",
			},
			config: []string{"values:\n  crds:\n    enabled: true\n"}, without: []string{"keep"},
			notes: []string{"crds.enabled is set to true: without it, the chart leaves out its definitions."},
		},
		"definitions that are there need no switch": {
			files: map[string]string{
				"values.yaml": "colour: grey\ncrds: {keep: false}\n", "crds/a.yaml": definition,
				"templates/b.yaml": "{{ if .Values.crds.keep }}# kept\n{{ end }}",
			},
			without: []string{"values:"},
		},
		"hooks are told": {
			files: map[string]string{
				"templates/hook.yaml": "apiVersion: batch/v1\nkind: Job\nmetadata: {name: migrate, annotations: {helm.sh/hook: pre-upgrade}}\n" +
					"spec: {template: {spec: {restartPolicy: Never, containers: [{name: a, image: example.com/a:1}]}}}\n",
				"templates/test.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: try, annotations: {helm.sh/hook: test}}\n",
			},
			notes: []string{"The chart has hooks (1): they run around"},
		},
		"generated values are told": {
			files: map[string]string{
				"templates/s.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {p: {{ randAlphaNum 9 }}}\n",
			},
			notes: []string{"The chart generates values such as passwords"},
		},
		"a chart that needs a value is written all the same": {
			files:  map[string]string{"templates/b.yaml": "{{ required `say a size` .Values.size }}"},
			config: []string{"manifest: chart\n"}, notes: []string{"The chart cannot be rendered yet", "say a size"},
		},
		"links that are not https are left out": {
			files:   map[string]string{"Chart.yaml": "apiVersion: v2\nname: notes\nversion: 1.0.0\nhome: \"http://example.org\"\nicon: \"https://u:p@example.org/i\"\n"},
			without: []string{"example.org"},
		},
		"metadata that would break the file is harmless": {
			files:   map[string]string{"Chart.yaml": "apiVersion: v2\nname: notes\nversion: 1.0.0\nhome: \"https://example.org/\\nteam: evil\"\n"},
			without: []string{"evil"},
		},
		"a name that no module can have is refused": {
			files: map[string]string{"Chart.yaml": "apiVersion: v2\nname: k8s-notes\nversion: 1.0.0\n"}, err: "no name for a module",
		},
		"a folder without a chart is refused": {files: map[string]string{"Chart.yaml": ""}, err: "chart"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "module")
			chart := writeChart(t, filepath.Join(t.TempDir(), "source"), c.files)
			done, err := packaging.ScaffoldChart(t.Context(), dir, packaging.ChartDraft{Draft: c.draft, Chart: chart, Values: c.values})
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got %v, want %q", err, c.err)
				}
				if _, err := os.Stat(dir); err == nil {
					t.Error("something was written all the same")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join(dir, packaging.ConfigFile))
			if err != nil {
				t.Fatal(err)
			}
			contains(t, string(text), c.config, c.without)
			contains(t, strings.Join(done.Notes, "\n"), c.notes, nil)
			load(t, dir)
		})
	}
}

func contains(t *testing.T, text string, want, without []string) {
	t.Helper()
	for _, words := range want {
		if !strings.Contains(text, words) {
			t.Errorf("%q is not in:\n%s", words, text)
		}
	}
	for _, words := range without {
		if strings.Contains(text, words) {
			t.Errorf("%q is in:\n%s", words, text)
		}
	}
}

// What validate says of the result is nothing.
func TestScaffoldChart_IsValid(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "module")
	chart := writeChart(t, t.TempDir(), nil)
	if _, err := packaging.ScaffoldChart(t.Context(), dir, packaging.ChartDraft{Chart: chart}); err != nil {
		t.Fatal(err)
	}
	found, err := load(t, dir).Lint(t.Context(), modulelint.Options{})
	if err != nil || len(found) > 0 {
		t.Errorf("%v %v", found, err)
	}
}

func TestScaffoldChart_WhereTheChartGoes(t *testing.T) {
	t.Run("a packed chart is copied as it is", func(t *testing.T) {
		dir, packed := t.TempDir(), filepath.Join(t.TempDir(), "notes-1.2.3.tgz")
		writePacked(t, packed)
		if _, err := packaging.ScaffoldChart(t.Context(), dir, packaging.ChartDraft{Chart: packed}); err != nil {
			t.Fatal(err)
		}
		want, _ := os.ReadFile(packed)
		if got, err := os.ReadFile(filepath.Join(dir, "notes-1.2.3.tgz")); err != nil || !bytes.Equal(got, want) {
			t.Errorf("another chart was copied: %v", err)
		}
		if source := load(t, dir); source.Config.Manifest != "notes-1.2.3.tgz" || source.Config.Renderer != "helm-chart" {
			t.Errorf("%+v", source.Config)
		}
	})
	t.Run("one that is in the directory stays where it is", func(t *testing.T) {
		dir := t.TempDir()
		writeChart(t, filepath.Join(dir, "deploy/notes"), nil)
		done, err := packaging.ScaffoldChart(t.Context(), dir, packaging.ChartDraft{Chart: filepath.Join(dir, "deploy/notes")})
		if err != nil || len(done.Written) != 1 {
			t.Fatalf("%+v %v", done, err)
		}
		if got := load(t, dir).Config.Manifest; got != "deploy/notes" {
			t.Errorf("the manifest is %s", got)
		}
	})
	t.Run("what is there is not mixed with another chart", func(t *testing.T) {
		dir := t.TempDir()
		put(t, filepath.Join(dir, "chart/old.yaml"), "mine")
		_, err := packaging.ScaffoldChart(t.Context(), dir, packaging.ChartDraft{Chart: writeChart(t, t.TempDir(), nil)})
		if !errors.Is(err, fs.ErrExist) {
			t.Fatalf("got %v", err)
		}
		if files, _ := os.ReadDir(dir); len(files) != 1 {
			t.Errorf("something was written: %v", files)
		}
	})
	t.Run("a module that is there stays", func(t *testing.T) {
		dir := t.TempDir()
		put(t, filepath.Join(dir, packaging.ConfigFile), "mine")
		_, err := packaging.ScaffoldChart(t.Context(), dir, packaging.ChartDraft{Chart: writeChart(t, t.TempDir(), nil)})
		if !errors.Is(err, packaging.ErrExists) {
			t.Errorf("got %v", err)
		}
	})
}

// writePacked writes a packed chart.
func writePacked(t *testing.T, file string) {
	t.Helper()
	var text bytes.Buffer
	writer := gzip.NewWriter(&text)
	_, err := writer.Write(content.Archive([]content.File{
		{Path: "notes/Chart.yaml", Data: []byte(chartMetadata)}, {Path: "notes/values.yaml", Data: []byte("colour: grey\n")},
		{Path: "notes/templates/a.yaml", Data: []byte(someConfig)},
	}))
	if err := errors.Join(err, writer.Close()); err != nil {
		t.Fatal(err)
	}
	put(t, file, text.String())
}
