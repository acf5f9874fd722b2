package main

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	chartvalues "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const (
	repository     = "../.."
	notes          = "NOTES.txt"
	keepAnnotation = "helm.sh/resource-policy"
)

// renderFiles renders the chart with values, in YAML, as helm does, and returns its files by their names.
func renderFiles(values, namespace string) (map[string]string, error) {
	var given map[string]any
	if err := yaml.UnmarshalStrict([]byte(values), &given); err != nil {
		return nil, err
	}
	loaded, err := loader.Load(filepath.Join(repository, chartFolder))
	if err != nil {
		return nil, err
	}
	options := common.ReleaseOptions{Name: "lifecycle-manager", Namespace: namespace, Revision: 1, IsInstall: true}
	top, err := chartvalues.ToRenderValues(loaded, given, options, nil)
	if err != nil {
		return nil, err
	}
	rendered, err := engine.Render(loaded, top)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for name, text := range rendered {
		files[path.Base(name)] = text
	}
	return files, nil
}

// render returns the objects of the chart by their names.
func render(t *testing.T, values string) map[string]*unstructured.Unstructured {
	t.Helper()
	files, err := renderFiles(values, "kcp-system")
	if err != nil {
		t.Fatal(err)
	}
	delete(files, notes)
	found := map[string]*unstructured.Unstructured{}
	for name, text := range files {
		objects, err := decode([]byte(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, object := range objects {
			if found[nameOf(object)] != nil {
				t.Errorf("%s is rendered twice", nameOf(object))
			}
			found[nameOf(object)] = object
		}
	}
	return found
}

// valueOf is the value of the chart that switches a component on.
var valueOf = map[string]string{
	"local": "local", "all-namespaces": "allNamespaces", "maintenance-windows": "maintenanceWindows", "signatures": "signatures",
	"approvals": "approvals", "content": "content", "webhook": "webhook", "dashboard": "dashboard",
}

// switchedOn returns the values that switch components on, and create the namespace, which is a part of config/default.
func switchedOn(components ...string) string {
	values := "namespace: {create: true}\n"
	for _, component := range components {
		values += valueOf[component] + ": {enabled: true}\n"
	}
	return values
}

// TestChart_RendersWhatKustomizeBuilds compares the chart with config/, object by object: with default values, with each component, with
// those that belong together, and with all of them.
func TestChart_RendersWhatKustomizeBuilds(t *testing.T) {
	combinations := map[string][]string{
		"config/default alone": nil, "a playground": {"local", "all-namespaces", "content", "webhook"}, "every component": components,
	}
	for _, component := range components {
		combinations["config/default with "+component] = []string{component}
	}
	for name, combination := range combinations {
		t.Run(name, func(t *testing.T) {
			want, err := compose(repository, combination...)
			if err != nil {
				t.Fatal(err)
			}
			same(t, want, render(t, switchedOn(combination...)))
		})
	}
}

// TestChart_RendersTheKustomizationsThatUsersApply compares the chart with the kustomizations that pages name.
func TestChart_RendersTheKustomizationsThatUsersApply(t *testing.T) {
	files, err := configFiles(repository)
	if err != nil {
		t.Fatal(err)
	}
	for name, combination := range map[string][]string{
		"default": nil, "dashboard": {"dashboard"}, "local": {"local", "all-namespaces"},
		"policies": {"maintenance-windows", "signatures", "approvals"},
	} {
		t.Run(name, func(t *testing.T) {
			want, err := build(files, "/config/"+name)
			if err != nil {
				t.Fatal(err)
			}
			same(t, want, render(t, switchedOn(combination...)))
		})
	}
}

// TestChart_LeavesOut compares the chart with what is left of config/ where a value takes something away.
func TestChart_LeavesOut(t *testing.T) {
	kind := func(kind string) func(*unstructured.Unstructured) bool {
		return func(object *unstructured.Unstructured) bool { return object.GetKind() == kind }
	}
	everything, err := compose(repository, components...)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		values string
		out    func(*unstructured.Unstructured) bool
	}{
		"network policies, those of the dashboard too": {"networkPolicy: {enabled: false}", kind("NetworkPolicy")},
		"definitions":       {"crds: {install: false}", kind("CustomResourceDefinition")},
		"the own namespace": {"namespace: {create: false}", func(o *unstructured.Unstructured) bool { return nameOf(o) == "Namespace /kcp-system" }},
	} {
		t.Run(name, func(t *testing.T) {
			want := slices.DeleteFunc(slices.Clone(everything), tc.out)
			if len(want) == len(everything) {
				t.Fatal("config/ has nothing to leave out")
			}
			values := strings.ReplaceAll(switchedOn(components...), "namespace: {create: true}\n", "") + tc.values
			if !strings.Contains(tc.values, "namespace:") {
				values += "\nnamespace: {create: true}"
			}
			same(t, want, render(t, values))
		})
	}
}

// same compares objects, but for what only Helm needs: the word to keep definitions and the namespace.
func same(t *testing.T, want []*unstructured.Unstructured, got map[string]*unstructured.Unstructured) {
	t.Helper()
	wanted, found := map[string]any{}, map[string]any{}
	for _, object := range want {
		wanted[nameOf(object)] = object.Object
	}
	for name, object := range got {
		annotations := object.GetAnnotations()
		kept := object.GetKind() == definitionKind || name == "Namespace /kcp-system"
		if (annotations[keepAnnotation] == "keep") != kept {
			t.Errorf("%s has %s: %q", name, keepAnnotation, annotations[keepAnnotation])
		}
		if delete(annotations, keepAnnotation); len(annotations) == 0 {
			annotations = nil
		}
		object.SetAnnotations(annotations)
		found[name] = object.Object
	}
	if diff := cmp.Diff(wanted, found); diff != "" {
		t.Errorf("the chart differs from config/ (-config +chart): change the templates, or run make chart:\n%s", diff)
	}
}

// TestChart_KnowsEveryComponent finds components of config/ that no value switches on.
func TestChart_KnowsEveryComponent(t *testing.T) {
	// apart are those that need definitions of other operators.
	apart := []string{"monitoring"}
	entries, err := os.ReadDir(filepath.Join(repository, "config", "components"))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if name := entry.Name(); !slices.Contains(components, name) && !slices.Contains(apart, name) {
			t.Errorf("config/components/%s is not in the chart: add it to components in hack/chart/parts.go, to templates/_parts.tpl, "+
				"to the values and their schema", name)
		}
	}
	for _, component := range components {
		if valueOf[component] == "" {
			t.Errorf("no value switches %s on", component)
		}
	}
}

func TestChart_GeneratedFilesAreUpToDate(t *testing.T) {
	want, err := generate(repository)
	if err != nil {
		t.Fatal(err)
	}
	chart := filepath.Join(repository, chartFolder)
	for name, data := range want {
		if got, err := os.ReadFile(filepath.Join(chart, name)); err != nil || string(got) != string(data) {
			t.Errorf("%s is not what make chart writes (%v)", name, err)
		}
	}
	found, err := filepath.Glob(filepath.Join(chart, partsFolder, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != len(want)-1 { // all but the README
		t.Errorf("%s has %d files, and make chart writes %d", partsFolder, len(found), len(want)-1)
	}
}
