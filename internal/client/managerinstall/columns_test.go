package managerinstall

import (
	"bytes"
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"
)

// printedColumns returns the columns that kubectl get shows for a kind, computed as the API server does: it takes the first value that a
// path finds.
func printedColumns(t *testing.T, kind, text string) map[string]string {
	t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		t.Fatal(err)
	}
	objects, err := Render(Options{})
	if err != nil {
		t.Fatal(err)
	}
	cells := map[string]string{}
	for _, definition := range objects {
		if name, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind"); name != kind {
			continue
		}
		versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
		for _, version := range versions {
			columns, _, _ := unstructured.NestedSlice(version.(map[string]any), "additionalPrinterColumns")
			for _, column := range columns {
				name, path := column.(map[string]any)["name"].(string), jsonpath.New(kind).AllowMissingKeys(true)
				if err := path.Parse("{" + column.(map[string]any)["jsonPath"].(string) + "}"); err != nil {
					t.Fatal(err)
				}
				found, err := path.FindResults(object)
				if err != nil || len(found) == 0 || len(found[0]) == 0 {
					continue
				}
				var cell bytes.Buffer
				if err := path.PrintResults(&cell, []reflect.Value{found[0][0]}); err != nil {
					t.Fatal(err)
				}
				cells[name] = cell.String()
			}
		}
	}
	return cells
}

func TestColumns_EveryChannelOfAReleaseIsShown(t *testing.T) {
	channels := printedColumns(t, "ModuleReleaseMeta", "spec: {channels: [{channel: fast, version: 0.2.0}, {channel: regular, version: 0.1.0}]}")
	if want := `[{"channel":"fast","version":"0.2.0"},{"channel":"regular","version":"0.1.0"}]`; channels["Channels"] != want {
		t.Errorf("kubectl get modulereleasemetas shows %q, want %q", channels, want)
	}
	if mandatory := printedColumns(t, "ModuleReleaseMeta", "spec: {mandatory: {version: 1.0.0}}"); mandatory["Mandatory"] != "1.0.0" {
		t.Errorf("of a mandatory module it shows %q", mandatory)
	}
}
