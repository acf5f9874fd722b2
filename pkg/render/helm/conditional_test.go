package helm

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

// hiding returns a chart with one object, and another one in a template that the text stands around: %s is the place of the object, and HAS
// asks the cluster for an API.
func hiding(around string) *content.Tree {
	return chartOf(map[string]string{
		"Chart.yaml":          "apiVersion: v2\nname: hides\nversion: 1.0.0\n",
		"templates/plain.yml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: plain}\n",
		"templates/hidden.yml": strings.NewReplacer("HAS", ".Capabilities.APIVersions.Has", "%s",
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: hidden}\n").Replace(around),
	})
}

// inCluster describes the cluster of these tests.
func inCluster(apis ...string) render.Input {
	return render.Input{Name: "demo", KubeVersion: "v1.33.4", APIVersions: append([]string{"v1", "apps/v1"}, apis...), Explore: true}
}

func distinctNames(objects []*unstructured.Unstructured) []string {
	names := map[string]bool{}
	for _, object := range objects {
		names[object.GetName()] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func TestExplore_FindsWhatAnotherClusterWouldGet(t *testing.T) {
	many := "{{ $n := 0 }}"
	for i := range 8 {
		many += fmt.Sprintf(`{{ if HAS "example.com/v%d" }}{{ $n = add $n 1 }}{{ end }}`, i)
	}
	for sentence, test := range map[string]struct {
		around  string
		want    []string
		untried bool
	}{
		"no condition":                   {around: "%s"},
		"never":                          {around: `{{ if false }}%s{{ end }}`},
		"an API that is not served":      {around: `{{ if HAS "example.com/v1/Key" }}%s{{ end }}`, want: []string{"hidden"}},
		"an API that is served goes":     {around: `{{ if not ($HAS "apps/v1") }}%s{{ end }}`, want: []string{"hidden"}},
		"a name that is made up":         {around: `{{ with .Capabilities }}{{ if .APIVersions.Has (print "exam" "ple.com/v" 1) }}%s{{ end }}{{ end }}`, want: []string{"hidden"}},
		"a question behind another one":  {around: `{{ if HAS "a/v1" }}{{ if HAS "b/v1" }}%s{{ end }}{{ end }}`, want: []string{"hidden"}},
		"one with, and one without":      {around: `{{ if and (HAS "a/v1") (not (HAS "b/v1")) }}%s{{ end }}`, want: []string{"hidden"}},
		"the next version of Kubernetes": {around: `{{ if semverCompare ">=1.35-0" .Capabilities.KubeVersion.Version }}%s{{ end }}`, want: []string{"hidden"}},
		"its minor version as a number":  {around: `{{ if gt (int .Capabilities.KubeVersion.Minor) 33 }}%s{{ end }}`, want: []string{"hidden"}},
		"a later version, and an API":    {around: `{{ if and (HAS "a/v1") (ge (int .Capabilities.KubeVersion.Minor) 34) }}%s{{ end }}`, want: []string{"hidden"}},
		"served APIs read as a list":     {around: `{{ if has "a/v1" .Capabilities.APIVersions }}%s{{ end }}`, untried: true},
		"a list in a branch":             {around: `{{ if HAS "a/v1" }}{{ if has "a/v1" .Capabilities.APIVersions }}%s{{ end }}{{ end }}`, want: []string{"hidden"}, untried: true},
		"one of many questions":          {around: many + `{{ if eq $n 1 }}%s{{ end }}`, want: []string{"hidden"}, untried: true},
		"too many to try":                {around: many + `{{ if eq $n 4 }}%s{{ end }}`, untried: true},
		"it would be refused":            {around: `{{ if HAS "a/v1" }}{{ fail "no" }}%s{{ end }}`},
		"it would have hooks":            {around: `{{ if HAS "a/v1" }}%s` + "\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: hook, annotations: {helm.sh/hook: pre-install}}\n{{ end }}"},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := Renderer{}.Render(t.Context(), hiding(test.around), inCluster())
			if err != nil {
				t.Fatal(err)
			}
			if names := distinctNames(got.Conditional); !slices.Equal(names, test.want) || got.Untried != test.untried {
				t.Errorf("conditional are %v, untried: %t", names, got.Untried)
			}
			quick := inCluster()
			quick.Explore = false
			plain, err := Renderer{}.Render(t.Context(), hiding(test.around), quick)
			if err != nil || !reflect.DeepEqual(plain.Steps, got.Steps) || plain.Conditional != nil || plain.Untried {
				t.Errorf("without exploring it is %+v: %v", plain, err)
			}
		})
	}
}

// Whatever a cluster serves later, a chart declares nothing there that was not found before, or it was said that this may be.
func TestExplore_LawForAnyCluster(t *testing.T) {
	apis := []string{"a/v1", "b/v1", "c/v1", "d/v1", "e/v1", "apps/v1"}
	judged := 0
	for seed := range uint64(40) {
		random := rand.New(rand.NewPCG(seed, 1))
		tree := hiding(someConditions(random, apis[:1+random.IntN(len(apis))], 3))
		found, err := Renderer{}.Render(t.Context(), tree, inCluster())
		if err != nil {
			t.Fatal(err)
		}
		for range 12 {
			var served []string
			for _, api := range apis {
				if random.IntN(2) == 0 {
					served = append(served, api)
				}
			}
			later := inCluster(served...)
			later.APIVersions = slices.DeleteFunc(later.APIVersions, func(string) bool { return random.IntN(4) == 0 })
			later.Explore = false
			later.KubeVersion = fmt.Sprintf("v1.%d.1", 33+random.IntN(2))
			got, err := Renderer{}.Render(t.Context(), tree, later)
			if err != nil || found.Untried {
				continue
			}
			judged++
			known := slices.Concat(found.Objects(), found.Conditional)
			for _, object := range got.Objects() {
				if !slices.ContainsFunc(known, func(other *unstructured.Unstructured) bool { return reflect.DeepEqual(other.Object, object.Object) }) {
					t.Fatalf("seed %d: nothing told of %v, which comes with %v", seed, object.Object, later.APIVersions)
				}
			}
		}
	}
	if judged < 200 {
		t.Errorf("only %d clusters were judged", judged)
	}
}

// someConditions returns a template with objects behind random conditions.
func someConditions(random *rand.Rand, apis []string, depth int) string {
	if depth == 0 || random.IntN(5) == 0 {
		return fmt.Sprintf("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m%d}\ndata: {v: \"%d\"}\n", random.IntN(1e9), random.IntN(3))
	}
	condition := fmt.Sprintf(`HAS %q`, apis[random.IntN(len(apis))])
	switch random.IntN(3) {
	case 0:
		condition = "not (" + condition + ")"
	case 1:
		condition = fmt.Sprintf("ne (%s) (HAS %q)", condition, apis[random.IntN(len(apis))])
	}
	return fmt.Sprintf("{{ if %s }}\n%s{{ else }}\n%s{{ end }}\n%s",
		condition, someConditions(random, apis, depth-1), someConditions(random, apis, depth-1), someConditions(random, apis, depth-1))
}

// What a chart declares is the same with and without being asked what it would declare elsewhere.
func TestExplore_AskingChangesNothing(t *testing.T) {
	for _, test := range testCases(t) {
		input := render.Input{
			Name: "demo", Namespace: test.Namespace, Values: test.Values, KubeVersion: test.KubeVersion, APIVersions: test.APIVersions,
		}
		files, err := chartFiles(treeOf(t, "testdata/charts/"+test.Chart))
		if err != nil {
			t.Fatal(err)
		}
		want, err := renderChart(t.Context(), files, input, instants[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := renderChart(t.Context(), files, input, instants[0], &cluster{asked: map[string]bool{}})
		if err != nil || !reflect.DeepEqual(got.files, want.files) {
			t.Errorf("%s: other files when asked: %v", test.Name, err)
		}
	}
}
