package helm

import (
	"fmt"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

// Nothing of one installation is in another one that is rendered at the same time: no release name, no namespace, no value, no chart.
func TestChartsThatAreRenderedAtOnceShareNothing(t *testing.T) {
	text := rendertest.Config("a") + "data: {v: '{{ .Release.Name }}/{{ .Release.Namespace }}/{{ .Values.v }}/{{ .Values.mine.x }}/{{ .Chart.Name }}'}\n"
	shared := chartOf(map[string]string{"templates/a.yaml": text, "values.yaml": "v: none\nmine: {x: none}\n"})
	var done sync.WaitGroup
	for n := range 24 {
		done.Go(func() {
			tree, chart := shared, "test"
			if n%3 == 0 {
				chart = fmt.Sprintf("chart-%d", n)
				tree = chartOf(map[string]string{
					"Chart.yaml": "apiVersion: v2\nname: " + chart + "\nversion: 1.0.0\n", "templates/a.yaml": text, "values.yaml": "v: none\nmine: {x: none}\n",
				})
			}
			input := render.Input{
				Name: fmt.Sprintf("release-%d", n), Namespace: fmt.Sprintf("ns-%d", n),
				Values: map[string]any{"v": fmt.Sprintf("v%d", n), "mine": map[string]any{"x": fmt.Sprintf("x%d", n)}},
			}
			rendered, err := Renderer{}.Render(t.Context(), tree, input)
			if err != nil {
				t.Error(err)
				return
			}
			want := fmt.Sprintf("release-%[1]d/ns-%[1]d/v%[1]d/x%[1]d/%[2]s", n, chart)
			if got, _, _ := unstructured.NestedString(rendered.Objects()[0].Object, "data", "v"); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
	done.Wait()
}

// A definition in the folder crds/ of a chart is content like any other: the next version of the chart changes and removes it.
func TestDefinitionsOfAChartAreUpgraded(t *testing.T) {
	version := func(files map[string]string) []*unstructured.Unstructured {
		t.Helper()
		files["templates/a.yaml"] = rendertest.Config("a")
		rendered, err := Renderer{}.Render(t.Context(), chartOf(files), render.Input{Name: "demo"})
		if err != nil {
			t.Fatal(err)
		}
		return rendered.Objects()
	}
	first := version(map[string]string{
		"crds/thing.yaml": rendertest.Definition("example.com", "Thing", "Cluster"), "crds/old.yaml": rendertest.Definition("example.com", "Old", "Cluster"),
	})
	var recorded []inventory.Entry
	for _, object := range first {
		id := inventory.IDOf(object)
		recorded = append(recorded, inventory.Entry{ID: id, Version: "v1", UID: "uid", Hash: inventory.ContentHash(object)})
	}
	second := version(map[string]string{
		"crds/thing.yaml": rendertest.Definition("example.com", "Thing", "Namespaced"),
		"crds/new.yaml":   rendertest.Definition("example.com", "New", "Cluster"),
	})
	decision := inventory.Decide(recorded, second, func(inventory.ID) inventory.Live { return inventory.Live{} })
	apply := map[string]inventory.Why{}
	for _, step := range decision.Apply {
		apply[step.Object.GetName()] = step.Why
	}
	if len(apply) != 2 || apply["things.example.com"] != inventory.WhyChanged || apply["news.example.com"] != inventory.WhyNew {
		t.Errorf("to be applied: %v", apply)
	}
	if len(decision.Prune) != 1 || decision.Prune[0].Name != "olds.example.com" {
		t.Errorf("to be pruned: %v", decision.Prune)
	}
}
