package communitycatalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

func TestParseReadsWhatUpstreamPublishes(t *testing.T) {
	first, second := notes("1.0.0"), notes("1.1.0")
	upstream := "---\n" + replaced(first, "  annotations:\n", "  annotations:\n    source: https://example.com/all-modules.yaml\n"+
		"    lastUpdated: 2026-01-31\n") + "---\n" + second
	for name, text := range map[string]string{
		"documents":                           first + "---\n" + second,
		"documents with a separator in front": upstream,
		"a list":                              "apiVersion: v1\nkind: List\nitems:\n- " + indented(first) + "- " + indented(second),
		"documents with nothing between them": first + "---\n# nothing\n---\n" + second + "---\n",
	} {
		t.Run(name, func(t *testing.T) {
			found, err := Parse([]byte(strings.ReplaceAll(text, "lastUpdated: 2026-01-31", `lastUpdated: "2026-01-31"`)))
			if err != nil {
				t.Fatal(err)
			}
			want := []Module{{Name: "notes", Versions: []string{"1.1.0", "1.0.0"}, New: true}}
			if diff := cmp.Diff(want, found.Modules()); diff != "" {
				t.Error(diff)
			}
			if known := found.Modules(found.Templates[0]); known[0].New {
				t.Error("a module that the cluster has is new")
			}
		})
	}
}

// indented returns a document as an item of a list.
func indented(text string) string {
	return strings.TrimSuffix(strings.ReplaceAll(text, "\n", "\n  "), "  ")
}

func TestParse_BothFormsAreTheSame(t *testing.T) {
	made := built(t, wholeFolder())
	fromJSON, err := Parse(made.JSON)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(made.Collection, fromJSON); diff != "" {
		t.Errorf("all-modules.json differs from all-modules.yaml: %s", diff)
	}
	if len(fromJSON.Releases) != 1 || fromJSON.Releases[0].Spec.Channels[0].Version != "1.0.0" {
		t.Errorf("the release is %+v", fromJSON.Releases)
	}
}

func TestOldTemplatesSayItByLabelAndAnnotation(t *testing.T) {
	text := notes("1.0.0", "  moduleName: notes\n", "", "  version: 1.0.0\n", "",
		"  annotations:\n", "  annotations:\n    operator.kyma-project.io/module-version: 1.0.0\n")
	found, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Module{{Name: "notes", Versions: []string{"1.0.0"}, New: true}}, found.Modules()); diff != "" {
		t.Error(diff)
	}
}

func TestParse_WhatCannotBeRead(t *testing.T) {
	many := strings.Repeat("  - {name: NAME, link: https://example.com}\n", 65)
	for i := range 65 {
		many = strings.Replace(many, "NAME", fmt.Sprintf("n%d", i), 1)
	}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing":                     {"", []string{"no ModuleTemplate"}},
		"an empty array":              {"[]", []string{"no ModuleTemplate"}},
		"a page of HTML":              {"<html><body>404</body></html>", []string{"document 1"}},
		"a text":                      {"hello", []string{"document 1"}},
		"no YAML":                     {notes("1.0.0") + "---\na: [", []string{"document 2", "line"}},
		"another kind":                {notes("1.0.0") + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\n", []string{"document 2 (line 43)", "Secret s", "kind: a catalog holds"}},
		"an array with another kind":  {`[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}]`, []string{"document 1", "ConfigMap c", "kind"}},
		"an incomplete array":         {`[{"apiVersion":"v1"`, []string{"document 1"}},
		"an old version of the API":   {notes("1.0.0", "/v1beta2", "/v1alpha1"), []string{"apiVersion", "v1beta2"}},
		"no module":                   {notes("1.0.0", "  moduleName: notes\n", "", "operator.kyma-project.io/module-name", "x"), []string{"ModuleTemplate notes-1.0.0", "spec.moduleName", "is missing"}},
		"no version":                  {notes("1.0.0", "  version: 1.0.0\n", ""), []string{"spec.version", "is missing"}},
		"a version that is none":      {notes("1.0.0", "version: 1.0.0", "version: one"), []string{"line 12", "spec.version", `"one"`}},
		"a number where text belongs": {notes("1.0.0", "version: 1.0.0", "version: 1.0"), []string{"spec.version", "number", "text"}},
		"a text where a list belongs": {notes("1.0.0", "  associatedResources:\n  - group: example.com\n    version: v1\n    kind: Note\n", "  associatedResources: x\n"), []string{"spec.associatedResources", "list"}},
		"a default resource without a kind": {
			notes("1.0.0", "    kind: Note\n    metadata:", "    metadata:"), []string{"spec.data"},
		},
		"a hostile name of a module": {notes("1.0.0", "moduleName: notes", `moduleName: "<script>"`), []string{"spec.moduleName", "no name of a module"}},
		"a version twice":            {notes("1.0.0") + "---\n" + notes("1.0.0", "name: notes-1.0.0", "name: other"), []string{"document 2", "other", "is described by notes-1.0.0 already"}},
		"two objects with one name":  {notes("1.0.0") + "---\n" + notes("1.0.0", "hello", "bye"), []string{"declared differently"}},
		"an endless link":            {notes("1.0.0", "https://example.com/notes/icon.svg", "https://example.com/"+strings.Repeat("x", maxText)), []string{"spec.info.icons[0]", "characters"}},
		"too many links":             {notes("1.0.0", "  resources:\n", "  resources:\n"+many), []string{"spec.resources", "66 entries"}},
		"an object that is too large": {
			notes("1.0.0", "text: hello", "text: "+strings.Repeat("x", maxObject)), []string{"1048576 bytes"},
		},
		"a release of another module": {replaced(release, "moduleName: notes", "moduleName: beacon"), []string{"ModuleReleaseMeta notes", "spec.moduleName"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(c.text))
			if err == nil {
				t.Fatal("it was read")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q, want %q in it", err, want)
				}
			}
			if len(err.Error()) > 700 {
				t.Errorf("the error has %d characters", len(err.Error()))
			}
			if reason := content.ReasonOf(err); reason != content.ReasonContentInvalid && reason != content.ReasonContentTooLarge {
				t.Errorf("reason %s", reason)
			}
		})
	}
}

func TestCapsOfParse(t *testing.T) {
	if _, err := Parse(make([]byte, MaxBytes+1)); content.ReasonOf(err) != content.ReasonContentTooLarge {
		t.Errorf("a catalog over the limit: %v", err)
	}
	hidden := "apiVersion: v1\nkind: List\nitems:\n" + strings.Repeat("- a\n---x\n", maxObject/8)
	if _, err := Parse([]byte(hidden)); content.ReasonOf(err) != content.ReasonContentTooLarge {
		t.Errorf("a document that is too long: %v", err)
	}
	var text strings.Builder
	for i := range MaxObjects + 1 {
		fmt.Fprintf(&text, "---\napiVersion: operator.kyma-project.io/v1beta2\nkind: ModuleTemplate\nmetadata: {name: n%d}\n", i)
	}
	if _, err := Parse([]byte(text.String())); content.ReasonOf(err) != content.ReasonContentTooLarge {
		t.Errorf("too many objects: %v", err)
	}
}

// FuzzParse checks what every reader of a catalog relies on: no panic, short errors, valid names.
func FuzzParse(f *testing.F) {
	made := built(f, wholeFolder())
	for _, seed := range []string{
		string(made.YAML), string(made.JSON), notes("1.0.0"), release, "[]", "[{}]", "- a", "a: &a [*a]", "", "\xff", `[{"kind":"List","items":[[]]}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		found, err := Parse(data)
		if err != nil {
			if text := err.Error(); len(text) > 3000 || strings.ContainsAny(text, "\n\x1b") {
				t.Errorf("the error is no line for people: %q", text)
			}
			return
		}
		for i := range found.Templates {
			if !looseName.MatchString(found.Templates[i].ModuleName()) || found.Templates[i].ModuleVersion() == "" {
				t.Errorf("template %d is of module %q, version %q", i, found.Templates[i].ModuleName(), found.Templates[i].ModuleVersion())
			}
		}
		_ = Check(t.Context(), found, Options{})
	})
}
