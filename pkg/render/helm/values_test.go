package helm

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/v2/loader"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

func TestValuesAreReadAsHelmReadsThem(t *testing.T) {
	for name, text := range map[string]string{
		"YAML":                  "a: 1\nb: {c: [1, 2.5, x, true, null]}\nd: yes\ne: 0x10\nf: 1_000\ng: 2001-01-01\nh: '1'\n",
		"JSON":                  `{"a": 1, "b": {"c": [1, 2.5, "x", true, null]}, "big": 9007199254740993, "small": 1e-7}`,
		"a number that is huge": "a: 12345678901234567890\nb: 1e400\n",
		"nothing":               "",
		"null":                  "null",
		"a comment":             "# nothing\n",
		"a document":            "---\na: b\n",
		"an alias":              "a: &x {k: v}\nb: *x\nc:\n  <<: *x\n  l: w\n",
		"a value that is null":  "a:\nb: ~\n",
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Values([]byte(text))
			want, wantErr := loader.LoadValues(strings.NewReader(text))
			if (err == nil) != (wantErr == nil) {
				t.Fatalf("error %v, Helm's %v", err, wantErr)
			}
			if err == nil {
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("other values than Helm (-helm +ours):\n%s", diff)
				}
			}
		})
	}
}

func TestValuesRefuse(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"a list":                  {"- a\n", "the values cannot be read: document 1 (line 1): is a list"},
		"a text":                  {"a", "is text and not an object"},
		"broken YAML":             {"a: 1\nb: [\n", "is malformed: yaml: line "},
		"a key that is set twice": {"a: 1\na: 2\n", `key "a" already set`},
		"several documents":       {"{}\n{}", "are 2 documents"},
		"several YAML documents":  {"a: 1\n---\nb: 1\n", "continues after its end"},
		"no text":                 {"a: \xff", "are not UTF-8"},
		"too much":                {"a: " + strings.Repeat("x", MaxValues), "more than 1024 KiB"},
		"aliases that grow":       {"x: &x " + strings.Repeat("y", 900_000) + "\nz: [*x,*x,*x,*x]\n", "aliases"},
	} {
		t.Run(name, func(t *testing.T) {
			values, err := Values([]byte(test.text))
			if content.ReasonOf(err) != content.ReasonValuesInvalid || !strings.Contains(err.Error(), test.want) || values != nil {
				t.Errorf("values %v, error %v, want %q", values, err, test.want)
			}
		})
	}
}

func TestMergeValues(t *testing.T) {
	for name, test := range map[string]struct{ base, over, want string }{
		"tables are merged":              {`{"a": {"b": 1, "c": 2}}`, `{"a": {"c": 3, "d": 4}}`, `{"a": {"b": 1, "c": 3, "d": 4}}`},
		"lists are replaced":             {`{"a": [1, 2]}`, `{"a": [3]}`, `{"a": [3]}`},
		"a table replaces a scalar":      {`{"a": 1}`, `{"a": {"b": 1}}`, `{"a": {"b": 1}}`},
		"a scalar replaces a table":      {`{"a": {"b": 1}}`, `{"a": 1}`, `{"a": 1}`},
		"null wins and stays":            {`{"a": {"b": 1}, "c": 1}`, `{"a": {"b": null}, "c": null}`, `{"a": {"b": null}, "c": null}`},
		"nothing over something":         {`{"a": 1}`, `null`, `{"a": 1}`},
		"something over nothing":         {`null`, `{"a": {"b": [1]}}`, `{"a": {"b": [1]}}`},
		"nothing over nothing is no nil": {`null`, `null`, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			var base, over, want map[string]any
			for _, part := range []struct {
				text string
				into *map[string]any
			}{{test.base, &base}, {test.over, &over}, {test.want, &want}} {
				if err := json.Unmarshal([]byte(part.text), part.into); err != nil {
					t.Fatal(err)
				}
			}
			baseBefore, overBefore := asText(t, base), asText(t, over)
			got := MergeValues(base, over)
			if diff := cmp.Diff(asText(t, want), asText(t, got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			spoil(got)
			if asText(t, base) != baseBefore || asText(t, over) != overBefore {
				t.Error("the result shares something with what it was made of")
			}
		})
	}
}

func asText(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// spoil changes everything in a value.
func spoil(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key := range value {
			spoil(value[key])
			value[key] = "spoilt"
		}
		value["more"] = true
	case []any:
		for i := range value {
			spoil(value[i])
			value[i] = "spoilt"
		}
	}
}

func TestNullTakesAwayADefaultOfTheChart(t *testing.T) {
	tree := chartOf(map[string]string{
		"values.yaml": "a: {b: 1, c: 2}\n", "templates/a.yaml": rendertest.Config("a") + "data: {a: '{{ .Values.a | toJson }}'}\n",
	})
	for _, values := range []map[string]any{
		{"a": map[string]any{"b": nil}},
		MergeValues(map[string]any{"a": map[string]any{"b": 5.0}}, map[string]any{"a": map[string]any{"b": nil}}),
	} {
		rendered, err := Renderer{}.Render(t.Context(), tree, render.Input{Name: "demo", Values: values})
		if err != nil {
			t.Fatal(err)
		}
		if got := rendered.Objects()[0].Object["data"].(map[string]any)["a"]; got != `{"c":2}` {
			t.Errorf("the chart sees %v", got)
		}
	}
}

// FuzzValues holds that values that are accepted are those that Helm would read.
func FuzzValues(f *testing.F) {
	for _, seed := range []string{"", "a: 1\n", `{"a": [1, {}]}`, "a: &a [x]\nb: *a\n", "a: 1e3\n? b\n: c\n", "a: !!binary aGk=\n", "a: .inf\n", "1: 2\n", "{}\n{}\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Values(text)
		if err != nil {
			if content.ReasonOf(err) != content.ReasonValuesInvalid {
				t.Errorf("reason %q of %v", content.ReasonOf(err), err)
			}
			return
		}
		written, err := json.Marshal(MergeValues(got, got))
		if err != nil {
			t.Fatalf("cannot be written: %v", err)
		}
		again, err := Values(written)
		if err != nil || !cmp.Equal(got, again) {
			t.Errorf("read back %v as %v: %v", got, again, err)
		}
	})
}
