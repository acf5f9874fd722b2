package helm

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
)

func TestHelmChecksValuesAgainstTheSchema(t *testing.T) {
	fetched := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fetched = true
		_, _ = w.Write([]byte("true"))
	}))
	defer server.Close()
	for name, test := range map[string]struct {
		schema string
		values map[string]any
		reason string
		want   string
	}{
		"what fits":         {`{"properties": {"a": {"type": "integer"}}}`, map[string]any{"a": 1.0}, "", ""},
		"a number of --set": {`{"properties": {"a": {"type": "integer"}}}`, map[string]any{"a": int64(1)}, "", ""},
		"a wrong type":      {`{"properties": {"a": {"properties": {"b": {"type": "string"}}}}}`, map[string]any{"a": map[string]any{"b": 1.0}}, content.ReasonValuesInvalid, "a.b: got number, want string"},
		"a missing value":   {`{"required": ["name"]}`, nil, content.ReasonValuesInvalid, "the values: missing property 'name'"},
		"an unknown value":  {`{"additionalProperties": false}`, map[string]any{"x": 1.0}, content.ReasonValuesInvalid, "'x' not allowed"},
		"a pattern, without the secret": {`{"properties": {"password": {"pattern": "^[a-z]+$"}}}`,
			map[string]any{"password": "Hunter2"}, content.ReasonValuesInvalid, "password: does not match ^[a-z]+$"},
		"a number out of bounds, without it": {`{"properties": {"pin": {"maximum": 10}}}`, map[string]any{"pin": 4711.0}, content.ReasonValuesInvalid, "pin: is out of bounds: maximum"},
		"several":                            {`{"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}`, map[string]any{"a": 1.0, "b": 1.0}, content.ReasonValuesInvalid, "; "},
		"a schema that is broken":            {`{`, nil, content.ReasonContentInvalid, "values.schema.json of chart test cannot be used: is malformed"},
		"a schema that is none":              {`{"type": "thing"}`, nil, content.ReasonContentInvalid, "values.schema.json of chart test cannot be used"},
		"a reference to the network":         {`{"$ref": "` + server.URL + `"}`, nil, content.ReasonContentInvalid, "which is not fetched"},
		"a reference to a local file":        {`{"$ref": "file:///etc/hostname"}`, nil, content.ReasonContentInvalid, "which is not fetched"},
		"a reference beside the schema":      {`{"$ref": "other.json"}`, nil, content.ReasonContentInvalid, "which is not fetched"},
		"a reference within the schema":      {`{"$ref": "#/$defs/a", "$defs": {"a": {"required": ["b"]}}}`, nil, content.ReasonValuesInvalid, "missing property 'b'"},
		"a schema that is its own part":      {`{"allOf": [{"$ref": "#"}]}`, nil, content.ReasonValuesInvalid, "the values: "},
		"a reference to the JSON schema":     {`{"properties": {"a": {"$ref": "https://json-schema.org/draft/2020-12/schema"}}}`, map[string]any{"a": map[string]any{}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			for chart, files := range map[string]map[string]string{
				"":     {"values.schema.json": test.schema},
				"sub.": {"charts/sub/Chart.yaml": strings.Replace(chartYAML, "test", "sub", 1), "charts/sub/values.schema.json": test.schema},
			} {
				values := test.values
				if chart != "" {
					values = map[string]any{"sub": MergeValues(nil, test.values)}
				}
				if chart != "" && name == "an unknown value" {
					continue // Helm gives every subchart "global".
				}
				_, err := Renderer{}.Render(t.Context(), chartOf(files), render.Input{Name: "demo", Values: values})
				want := strings.ReplaceAll(test.want, "of chart test", "of chart "+strings.TrimSuffix("test."+chart, "."))
				want = strings.Replace(strings.ReplaceAll(want, "test.sub", "sub"), "the values: ", map[bool]string{true: "the values: ", false: "sub: "}[chart == ""], 1)
				if content.ReasonOf(err) != test.reason || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("error %v with reason %q, want %q", err, content.ReasonOf(err), want)
				}
				if strings.Contains(fmt.Sprint(err), "Hunter2") || strings.Contains(fmt.Sprint(err), "4711") {
					t.Errorf("%v shows a value", err)
				}
			}
		})
	}
	if fetched {
		t.Error("something was fetched")
	}
}
