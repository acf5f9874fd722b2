package helm

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

func TestDescribe_ReturnsMetadataAndDefaultsOfAllCharts(t *testing.T) {
	tree := chartOf(map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: test\nversion: 1.2.3\nhome: https://example.com\nicon: https://example.com/icon.svg\n" +
			"sources: [https://example.com/source]\n",
		"values.yaml":            "replicas: 1\nsub: {a: outer}\n",
		"charts/sub/Chart.yaml":  "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
		"charts/sub/values.yaml": "a: inner\nb: 2\n",
	})
	got, err := Describe(tree)
	if err != nil {
		t.Fatal(err)
	}
	want := Description{
		Name: "test", Version: "1.2.3", Home: "https://example.com", Icon: "https://example.com/icon.svg",
		Sources: []string{"https://example.com/source"},
		Values:  map[string]any{"replicas": 1.0, "sub": map[string]any{"a": "outer", "b": 2.0}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("description (-want +got):\n%s", diff)
	}
}

func TestDescribe_RefusesWhatIsNoChart(t *testing.T) {
	_, err := Describe(&content.Tree{Files: []content.File{{Path: "a.yaml", Data: []byte("a: b\n")}}})
	if content.ReasonOf(err) != content.ReasonContentInvalid {
		t.Errorf("got %v", err)
	}
}

func TestWithoutDefaults(t *testing.T) {
	defaults := map[string]any{"a": "b", "number": 1.0, "list": []any{"x"}, "table": map[string]any{"in": true, "out": false}}
	for name, test := range map[string]struct{ values, want map[string]any }{
		"what the chart has anyway is left out": {
			map[string]any{"a": "b", "number": 1.0, "list": []any{"x"}, "table": map[string]any{"in": true}}, nil,
		},
		"of a table only what differs stays": {
			map[string]any{"table": map[string]any{"in": true, "out": true}}, map[string]any{"table": map[string]any{"out": true}},
		},
		"a list counts as a whole":                   {map[string]any{"list": []any{"x", "y"}}, map[string]any{"list": []any{"x", "y"}}},
		"a value that the chart does not have stays": {map[string]any{"new": "z"}, map[string]any{"new": "z"}},
		"a null takes away a default":                {map[string]any{"a": nil}, map[string]any{"a": nil}},
		"a null without a default has no effect":     {map[string]any{"new": nil}, nil},
		"a table in place of a text stays":           {map[string]any{"a": map[string]any{"c": 1.0}}, map[string]any{"a": map[string]any{"c": 1.0}}},
		"nothing stays nothing":                      {nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, WithoutDefaults(test.values, defaults)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
