package render

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

func parse(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	objects, err := Parse(strings.NewReader(text), rendertest.Limit)
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return objects
}

func TestParseFindsEveryObject(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"nothing declares nothing":                {"", nil},
		"comments and separators declare nothing": {"# hello\n---\n# still\n---\n\n---   # so\n", nil},
		"null documents declare nothing":          {"null\n---\n~\n", nil},
		"one document needs no separator":         {rendertest.Config("a"), []string{"ConfigMap a"}},
		"documents come in their order":           {rendertest.Config("b") + "---\n" + rendertest.Config("a"), []string{"ConfigMap b", "ConfigMap a"}},
		"a separator may lead and trail":          {"---\n" + rendertest.Config("a") + "---\n", []string{"ConfigMap a"}},
		"a separator may carry a comment": {
			"--- # first\n" + rendertest.Config("a") + "--- # second\n" + rendertest.Config("b"), []string{"ConfigMap a", "ConfigMap b"},
		},
		"lines may end as on Windows": {
			strings.ReplaceAll(rendertest.Config("a")+"---\n"+rendertest.Config("b"), "\n", "\r\n"), []string{"ConfigMap a", "ConfigMap b"},
		},
		"a byte order mark is no content":          {"\ufeff---\n" + rendertest.Config("a"), []string{"ConfigMap a"}},
		"an end marker before nothing is accepted": {rendertest.Config("a") + "...\n# end\n", []string{"ConfigMap a"}},
		"the last line needs no end":               {strings.TrimSpace(rendertest.Config("a")), []string{"ConfigMap a"}},
		"YAML in flow style is YAML":               {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", []string{"ConfigMap a"}},
		"JSON is accepted": {
			`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}`, []string{"ConfigMap a"},
		},
		"JSON values may follow each other": {
			rendertest.JSONConfig("a") + rendertest.JSONConfig("b") + "\n" + rendertest.JSONConfig("c"), []string{"ConfigMap a", "ConfigMap b", "ConfigMap c"},
		},
		"JSON and YAML may be mixed by separators": {
			rendertest.JSONConfig("a") + "\n---\n" + rendertest.Config("b") + "---\n" + rendertest.JSONConfig("c"), []string{"ConfigMap a", "ConfigMap b", "ConfigMap c"},
		},
		"equal declarations count once": {rendertest.Config("a") + "---\n" + rendertest.Config("a"), []string{"ConfigMap a"}},
		"same names in different namespaces are two": {
			rendertest.Config("a") + "---\n" + rendertest.Config("a") + "  namespace: x\n", []string{"ConfigMap a", "ConfigMap x/a"},
		},
		"anchors and aliases are resolved": {
			rendertest.Config("a") + "data: &d {k: v}\n---\n" + rendertest.Config("b") + "data: &e {k: v}\nother: *e\n", []string{"ConfigMap a", "ConfigMap b"},
		},
		"a key may override a merged one": {rendertest.Config("a") + "x: &x {k: v}\ndata:\n  <<: *x\n  k: w\n", []string{"ConfigMap a"}},
		"names of roles may hold colons": {
			"apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: 'a:b'}\n",
			[]string{"ClusterRole.rbac.authorization.k8s.io a:b"},
		},
		"an empty namespace is none":                     {rendertest.Config("a") + "  namespace: ''\n", []string{"ConfigMap a"}},
		"a null namespace is none":                       {rendertest.Config("a") + "  namespace:\n", []string{"ConfigMap a"}},
		"a list gives its items":                         {rendertest.List("List", rendertest.Config("a"), rendertest.Config("b")), []string{"ConfigMap a", "ConfigMap b"}},
		"a typed list gives its items":                   {rendertest.List("ConfigMapList", rendertest.Config("a")), []string{"ConfigMap a"}},
		"items of a typed list may leave out their kind": {rendertest.List("ConfigMapList", "metadata: {name: a}\n"), []string{"ConfigMap a"}},
		"lists may hold lists": {
			rendertest.List("List", rendertest.List("List", rendertest.Config("a")), rendertest.Config("b")), []string{"ConfigMap a", "ConfigMap b"},
		},
		"an empty list declares nothing":        {"apiVersion: v1\nkind: List\nitems: []\n", nil},
		"a list without items declares nothing": {"apiVersion: v1\nkind: List\n", nil},
		"an object whose kind ends in List is an object": {
			"apiVersion: x.io/v1\nkind: AllowList\nmetadata: {name: a}\nitems: [1, 2]\n", []string{"AllowList.x.io a"},
		},
		"an object named List without items is an object": {
			"apiVersion: x.io/v1\nkind: AllowList\nmetadata: {name: a}\n", []string{"AllowList.x.io a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, rendertest.Identities(parse(t, test.text))); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParseKeepsValues(t *testing.T) {
	objects := parse(t, rendertest.Config("a")+`
data:
  template: "{{ .Values.x }}"
  block: |
    {{ if .y }}
    --- not a separator
    {{ end }}
  number: "1"
spec: {whole: 3, large: 9007199254740993, part: 1.5, yes: true, none: null, list: [a, 2]}
`)
	want := map[string]any{
		"data": map[string]any{
			"template": "{{ .Values.x }}",
			"block":    "{{ if .y }}\n--- not a separator\n{{ end }}\n",
			"number":   "1",
		},
		"spec": map[string]any{
			"whole": int64(3), "large": int64(9007199254740993), "part": 1.5, "true": true, "none": nil, "list": []any{"a", int64(2)},
		},
	}
	got := map[string]any{"data": objects[0].Object["data"], "spec": objects[0].Object["spec"]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

func TestParseReadsNumbersInJSONAsInYAML(t *testing.T) {
	objects := parse(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"spec":{"whole":9007199254740993,"part":1.5}}`)
	want := map[string]any{"whole": int64(9007199254740993), "part": 1.5}
	if diff := cmp.Diff(want, objects[0].Object["spec"]); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
}

func TestParseTidiesMetadata(t *testing.T) {
	objects := parse(t, rendertest.Config("a")+`  uid: u
  resourceVersion: "7"
  generation: 3
  creationTimestamp: null
  managedFields: []
  labels: {empty: , full: x}
  annotations:
`)
	want := map[string]any{"name": "a", "labels": map[string]any{"empty": "", "full": "x"}}
	if diff := cmp.Diff(want, objects[0].Object["metadata"]); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"empty": "", "full": "x"}, objects[0].GetLabels()); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func TestParseTakesAHugeLine(t *testing.T) {
	value := strings.Repeat("x", 5<<20)
	objects, err := Parse(strings.NewReader(rendertest.Config("a")+"data: {k: "+value+"}\n"), 6<<20)
	if err != nil {
		t.Fatal(err)
	}
	if got, _, _ := unstructured.NestedString(objects[0].Object, "data", "k"); got != value {
		t.Errorf("value of %d bytes came back with %d", len(value), len(got))
	}
}

func TestParsePassesOnErrorsOfTheReader(t *testing.T) {
	cause := &content.Error{Reason: content.ReasonArchiveRefused, Err: errors.New("refused")}
	_, err := Parse(iotest.ErrReader(cause), rendertest.Limit)
	if content.ReasonOf(err) != content.ReasonArchiveRefused {
		t.Errorf("error %v has reason %q", err, content.ReasonOf(err))
	}
}
