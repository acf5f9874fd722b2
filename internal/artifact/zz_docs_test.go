package artifact

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

func TestZZDocs(t *testing.T) {
	validators := map[string]*crdsafety.Validator{}
	crds, _ := filepath.Glob("../../config/crd/bases/*.yaml")
	for _, f := range crds {
		data, _ := os.ReadFile(f)
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(data, crd); err != nil {
			t.Fatal(err)
		}
		v, err := crdsafety.NewValidator(crd)
		if err != nil {
			t.Fatal(err)
		}
		validators[crd.Spec.Names.Kind] = v
	}
	c := NewContents(&content.OCI{Store: &content.Store{Dir: t.TempDir()}}, nil)
	pages, _ := filepath.Glob("../../docs/spec/*.md")
	pages = append(pages, "../../README.md", "../../docs/operations.md", "../../docs/engine.md")
	for _, page := range pages {
		data, _ := os.ReadFile(page)
		for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(data), -1) {
			objects, err := render.Parse(strings.NewReader(block[1]), 1<<20)
			if err != nil {
				var any map[string]any
				t.Logf("%s: not objects: %v, yaml: %v: %.60q", page, err, yaml.Unmarshal([]byte(block[1]), &any), block[1])
				continue
			}
			for _, o := range objects {
				if v := validators[o.GetKind()]; v != nil {
					for _, f := range v.Validate(o) {
						t.Errorf("%s: %s", page, f)
					}
				}
				if o.GetKind() != "Manifest" {
					t.Logf("%s: %s %s", page, o.GetKind(), o.GetName())
					continue
				}
				m := &v1beta2.Manifest{}
				raw, _ := o.MarshalJSON()
				if err := yaml.UnmarshalStrict(raw, m); err != nil {
					t.Errorf("%s: %v", page, err)
				}
				m.Namespace = o.GetNamespace()
				sources, err := c.Sources(m)
				t.Logf("%s: %s: %v %v", page, o.GetName(), sources, err)
			}
		}
	}
	_ = bytes.Equal
	_ = unstructured.Unstructured{}
	m := &v1beta2.Manifest{}
	for _, s := range []string{`{"url":"https://git.example.com/a/b.git","type":"kustomize"}`, `{"image":"r.example.com/a:1","type":"kustomize","path":"x"}`,
		`{"url":"oci://r.example.com/charts/x"}`, `{"repo":"a"}`, `{"image":"x.io/a:1","foo":1}`, `{"image":"x.io/a:1","type":"zip"}`,
		`{"git":{"url":"git@h:p","ref":{"tag":"a"}}}`, `{"configMaps":[{"name":"a","path":"."}]}`} {
		m.Spec.Install.Source.Raw = []byte(s)
		m.Spec.Install.Name = "x"
		got, err := c.Sources(m)
		t.Log(s, got, err)
		if err == nil {
			part, _ := c.parts(m)
			src, err := c.open(m, &part[0], Logins{})
			if err == nil && !strings.Contains(s, "r.example") && !strings.Contains(s, "configMaps") {
				_, err = src.Resolve(t.Context())
			}
			t.Log("   resolve:", err)
		}
	}
}
