package helm

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

func namesOf(objects []*unstructured.Unstructured) []string {
	var names []string
	for _, object := range objects {
		names = append(names, object.GetName())
	}
	return names
}

func TestHelmOrdersObjectsTheSameEveryTime(t *testing.T) {
	tree := treeOf(t, "testdata/charts/stack")
	var first []string
	for range 10 {
		rendered, err := Renderer{}.Render(t.Context(), tree, render.Input{Name: "demo"})
		if err != nil {
			t.Fatal(err)
		}
		names := namesOf(rendered.Objects())
		if first == nil {
			first = names
		}
		if diff := cmp.Diff(first, names); diff != "" {
			t.Fatalf("another order:\n%s", diff)
		}
	}
	if first[0] != "caches.example.com" {
		t.Errorf("begins with %s and not with what crds/ holds", first[0])
	}
}

func TestHelmLeavesTheTreeAndTheValuesAlone(t *testing.T) {
	tree := treeOf(t, "testdata/charts/gateway")
	values := map[string]any{"routes": []any{map[string]any{"path": "/", "to": "x"}}, "domain": nil}
	before := MergeValues(nil, values)
	texts := map[string]string{}
	for _, file := range tree.Files {
		texts[file.Path] = string(file.Data)
	}
	if _, err := (Renderer{}).Render(t.Context(), tree, render.Input{Name: "demo", Values: values}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, values); diff != "" {
		t.Errorf("the values were changed:\n%s", diff)
	}
	for _, file := range tree.Files {
		if string(file.Data) != texts[file.Path] {
			t.Errorf("%s was changed", file.Path)
		}
	}
}

func TestHelmReadsAChartAsItIsPacked(t *testing.T) {
	sub := packed(t, map[string]string{
		"sub/Chart.yaml": strings.Replace(chartYAML, "test", "sub", 1), "sub/templates/a.yaml": rendertest.Config("from-sub") + "data: {v: '{{ .Values.v }}'}\n",
		"sub/charts/deep.tgz": packed(t, map[string]string{
			"deep/Chart.yaml": strings.Replace(chartYAML, "test", "deep", 1), "deep/templates/a.yaml": rendertest.Config("from-deep"),
		}),
	})
	tree := chartOf(map[string]string{
		".helmignore": "# comment\n*.bak\nold/\n/templates/drop.yaml\n", "charts/sub.tgz": sub, "charts/_ignored.tgz": "x",
		"templates/a.yaml": rendertest.Config("own"), "templates/b.yaml.bak": "a: [", "templates/old/x.yaml": rendertest.Config("old"), "templates/drop.yaml": rendertest.Config("drop"),
		"templates/.swp": "a: [", "values.yaml": "sub: {v: given}\n",
	})
	rendered, err := Renderer{}.Render(t.Context(), tree, render.Input{Name: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"from-deep", "from-sub", "own"}, slices.Sorted(slices.Values(namesOf(rendered.Objects())))); diff != "" {
		t.Errorf("other objects (-want +got):\n%s", diff)
	}
	for _, object := range rendered.Objects() {
		if v, found, _ := unstructured.NestedString(object.Object, "data", "v"); found && v != "given" {
			t.Errorf("the subchart got %q", v)
		}
	}
}

func TestHelmMarksWhatIsToBeKept(t *testing.T) {
	for policy, want := range map[string]string{"keep": "true", "KEEP": "true", "delete": "", "": ""} {
		objects, err := renderTemplate(t.Context(), rendertest.Config("a")+"  annotations: {helm.sh/resource-policy: \""+policy+"\", b: c}\n", nil)
		if err != nil {
			t.Fatal(err)
		}
		annotations := objects[0].GetAnnotations()
		if annotations[apply.AnnotationKeep] != want || annotations["b"] != "c" {
			t.Errorf("policy %q gives the annotations %v", policy, annotations)
		}
	}
}

func TestHelmTakesEqualObjectsOnce(t *testing.T) {
	definition := rendertest.Definition("example.com", "Thing", "Cluster")
	rendered, err := Renderer{}.Render(t.Context(), chartOf(map[string]string{
		"crds/a.yaml": definition, "templates/crd.yaml": definition, "templates/a.yaml": rendertest.Config("a") + "---\n" + rendertest.Config("a"),
		"crds/b.txt": "no manifest", "templates/_partial.yaml": rendertest.Config("partial"), "templates/NOTES.txt": rendertest.Config("notes"),
	}), render.Input{Name: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"things.example.com", "a"}, namesOf(rendered.Objects())); diff != "" {
		t.Errorf("other objects (-want +got):\n%s", diff)
	}
}

func TestHelmTellsTemplatesOfTheInstallation(t *testing.T) {
	text := rendertest.Config("a") + "data: {a: '{{ .Release.Name }}/{{ .Release.Namespace }}/{{ .Release.IsInstall }}/{{ .Release.IsUpgrade }}/{{ .Release.Revision }}'}\n"
	tree := chartOf(map[string]string{"templates/a.yaml": text})
	for namespace, want := range map[string]string{"": "demo/default/true/false/1", "x": "demo/x/true/false/1"} {
		rendered, err := Renderer{}.Render(t.Context(), tree, render.Input{Name: "demo", Namespace: namespace})
		if err != nil {
			t.Fatal(err)
		}
		if got, _, _ := unstructured.NestedString(rendered.Objects()[0].Object, "data", "a"); got != want {
			t.Errorf("namespace %q gives %q, want %q", namespace, got, want)
		}
	}
}

func TestHelmChartWithoutObjectsHasNone(t *testing.T) {
	rendered, err := Renderer{}.Render(t.Context(), chartOf(map[string]string{"templates/a.yaml": "# nothing\n"}), render.Input{Name: "demo"})
	if err != nil || len(rendered.Objects()) != 0 {
		t.Errorf("%d objects, error %v", len(rendered.Objects()), err)
	}
}

// FuzzHelm holds that whatever a chart says there is an answer, that the answer is the same each time, and that it can be identified.
func FuzzHelm(f *testing.F) {
	for _, seed := range []string{rendertest.Config("a"), "{{ .Values.a }}", "{{ tpl .Values.t . }}", "{{ range $k, $v := .Values }}{{ end }}", "{{ toYaml $ }}"} {
		f.Add(seed, "a: 1\nt: '{{ .Release.Name }}'\n", chartYAML)
	}
	f.Add("", "sub: {a: 1}\nglobal: 1\n", chartYAML+"dependencies: [{name: sub, version: '*', condition: a.b, alias: c, import-values: [x, {child: a, parent: .}]}]\n")
	f.Fuzz(func(t *testing.T, text, values, chart string) {
		tree := &content.Tree{Files: []content.File{
			{Path: "Chart.yaml", Data: []byte(chart)}, {Path: "values.yaml", Data: []byte(values)}, {Path: "templates/a.yaml", Data: []byte(text)},
			{Path: "charts/sub/Chart.yaml", Data: []byte("apiVersion: v2\nname: sub\nversion: 1.0.0\n")}, {Path: "charts/sub/values.yaml", Data: []byte(values)},
			{Path: "charts/sub/templates/b.yaml", Data: []byte(text)},
		}}
		first, err := Renderer{}.Render(t.Context(), tree, render.Input{Name: "demo"})
		if err != nil {
			if content.ReasonOf(err) == content.ReasonInternal {
				t.Fatalf("no reason: %v", err)
			}
			return
		}
		second, err := Renderer{}.Render(t.Context(), tree, render.Input{Name: "demo"})
		if err != nil || !cmp.Equal(rendertest.Identities(first.Objects()), rendertest.Identities(second.Objects())) {
			t.Errorf("another result: %v", err)
		}
		for _, object := range first.Objects() {
			if inventory.IDOf(object).Name == "" {
				t.Error("an object without name")
			}
		}
	})
}
