package helm

import (
	"bytes"
	gocmp "cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

// testCase is one of testdata/cases.json. What Helm renders for it is in testdata/helm, made by testdata/helmtemplate.
type testCase struct {
	Name        string         `json:"name"`
	Chart       string         `json:"chart"`
	Release     string         `json:"release"`
	Namespace   string         `json:"namespace"`
	KubeVersion string         `json:"kubeVersion"`
	APIVersions []string       `json:"apiVersions"`
	Values      map[string]any `json:"values"`
}

func TestHelmRendersWhatHelmTemplateRenders(t *testing.T) {
	for i, test := range testCases(t) {
		t.Run(test.Name, func(t *testing.T) {
			input := render.Input{
				Name: gocmp.Or(test.Release, "demo"), Namespace: test.Namespace, Values: test.Values,
				KubeVersion: test.KubeVersion, APIVersions: test.APIVersions,
			}
			rendered, err := Renderer{}.Render(t.Context(), treeOf(t, filepath.Join("testdata", "charts", test.Chart)), input)
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(filepath.Join("testdata", "helm", fmt.Sprintf("%02d-%s.yaml", i, test.Chart)))
			if err != nil {
				t.Fatal(err)
			}
			objects, err := render.Parse(bytes.NewReader(text), rendertest.Limit)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(asJSON(t, objects), asJSON(t, withoutKeep(rendered.Objects()))); diff != "" {
				t.Errorf("other objects than helm template (-helm +ours):\n%s", diff)
			}
			if len(rendered.Steps) != 1 {
				t.Errorf("%d steps", len(rendered.Steps))
			}
		})
	}
}

func testCases(t *testing.T) []testCase {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []testCase
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

func asJSON(t *testing.T, objects []*unstructured.Unstructured) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, object := range objects {
		text, err := json.MarshalIndent(object.Object, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		texts[inventory.IDOf(object).String()] = string(text)
	}
	return texts
}

// withoutKeep takes away the one mark that Helm does not set, from objects that Helm would keep.
func withoutKeep(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	for _, object := range objects {
		annotations := object.GetAnnotations()
		if annotations[annotationResourcePolicy] == policyKeep {
			delete(annotations, annotationKeep)
			object.SetAnnotations(annotations)
		}
	}
	return objects
}

// treeOf reads a directory.
func treeOf(t *testing.T, dir string) *content.Tree {
	t.Helper()
	tree := &content.Tree{}
	err := filepath.WalkDir(dir, func(path string, file fs.DirEntry, err error) error {
		if err != nil || file.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		tree.Files = append(tree.Files, content.File{Path: filepath.ToSlash(name), Data: data})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// chartOf makes a chart of files, by path; a Chart.yaml is added where there is none.
func chartOf(files map[string]string) *content.Tree {
	tree := &content.Tree{}
	if _, ok := files["Chart.yaml"]; !ok {
		tree.Files = append(tree.Files, content.File{Path: "Chart.yaml", Data: []byte("apiVersion: v2\nname: test\nversion: 1.0.0\n")})
	}
	for path, text := range files {
		tree.Files = append(tree.Files, content.File{Path: path, Data: []byte(text)})
	}
	return tree
}

// renderTemplate renders a chart of one template.
func renderTemplate(ctx context.Context, text string, values map[string]any) ([]*unstructured.Unstructured, error) {
	rendered, err := Renderer{}.Render(ctx, chartOf(map[string]string{"templates/a.yaml": text}), render.Input{Name: "demo", Values: values})
	return rendered.Objects(), err
}
