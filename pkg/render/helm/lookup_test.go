package helm

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

// renderFor renders a chart for an installation, or for none where its name is empty.
func renderFor(t *testing.T, files map[string]string, of render.Generated) (render.Rendered, error) {
	t.Helper()
	return Renderer{}.Render(t.Context(), chartOf(files), render.Input{Name: "demo", Hooks: true, Generated: &of})
}

// theirs is the query of the charts below.
var theirs = render.Lookup{APIVersion: "v1", Kind: "Secret", Namespace: "shop", Name: "theirs"}

const lookUpTheirs = "lookup `v1` `Secret` `shop` `theirs`"

// A template sees the answer that the input has, as the API server gave it.
func TestLookup_FindsWhatTheInputSays(t *testing.T) {
	for name, test := range map[string]struct{ expression, answer, want string }{
		"a field of an object":                    {"(" + lookUpTheirs + ").data.key", `{"data":{"key":"eA=="}}`, "eA=="},
		"an object that is not there":             {"if " + lookUpTheirs + " }}yes{{ else }}no{{ end", `null`, "no"},
		"an object that is there":                 {"if " + lookUpTheirs + " }}yes{{ else }}no{{ end", `{"kind":"Secret"}`, "yes"},
		"a large number stays one":                {"(" + lookUpTheirs + ").spec.size", `{"spec":{"size":12345678}}`, "12345678"},
		"the objects of a list":                   {"len (" + lookUpTheirs + ").items", `{"items":[{},{}]}`, "2"},
		"a change of one answer is in no other":   {"$_ := set (" + lookUpTheirs + ") `a` `b` }}{{ hasKey (" + lookUpTheirs + ") `a`", `{}`, "false"},
		"an object of which a field is missing":   {"(" + lookUpTheirs + ").data", `{}`, ""},
		"the same in a text that goes to tpl":     {"tpl `{{ (lookup \"v1\" \"Secret\" \"shop\" \"theirs\").data.key }}` .", `{"data":{"key":"x"}}`, "x"},
		"a text that is not for YAML is as it is": {"(" + lookUpTheirs + ").data.key | toJson", `{"data":{"key":"a: b"}}`, `\"a: b\"`},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"templates/a.yaml": rendertest.Config("a") + "data: {k: '{{ " + test.expression + " }}'}\n"}
			if strings.Contains(test.expression, "toJson") {
				files["templates/a.yaml"] = rendertest.Config("a") + "data: {k: {{ " + test.expression + " | quote }}}\n"
				test.want = `"a: b"`
			}
			rendered, err := renderFor(t, files, render.Generated{
				Installation: "one", Found: map[string]json.RawMessage{theirs.String(): json.RawMessage(test.answer)},
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := field(t, rendered, "a", "data", "k"); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if diff := cmp.Diff([]render.Lookup{theirs}, rendered.Lookups); diff != "" {
				t.Errorf("lookups (-want +got):\n%s", diff)
			}
		})
	}
}

// Where nothing can be asked nothing is found, and the render tells what it would have asked.
func TestLookup_FindsNothingWithoutInstallation(t *testing.T) {
	files := map[string]string{
		"templates/a.yaml": rendertest.Config("a") + "data: {k: \"{{ if " + lookUpTheirs + " }}yes{{ else }}no{{ end }}{{ if lookup `v1` `Node` `` `` }}{{ end }}\"}\n",
	}
	nodes := render.Lookup{APIVersion: "v1", Kind: "Node"}
	for name, of := range map[string]*render.Generated{"a look": {}, "a caller without generated values": nil} {
		rendered, err := Renderer{}.Render(t.Context(), chartOf(files), render.Input{Name: "demo", Generated: of})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := field(t, rendered, "a", "data", "k"); got != "no" {
			t.Errorf("%s: got %q", name, got)
		}
		if diff := cmp.Diff([]render.Lookup{nodes, theirs}, rendered.Lookups); diff != "" {
			t.Errorf("%s: lookups (-want +got):\n%s", name, diff)
		}
	}
	if nodes.String() != "v1 Node *" || theirs.String() != "v1 Secret shop/theirs" {
		t.Errorf("queries are named %q and %q", nodes, theirs)
	}
}

// Nothing is rendered with a guess for an installation, and a chart cannot ask for ever.
func TestLookup_Refusals(t *testing.T) {
	look := one("(" + lookUpTheirs + ").data.key")
	_, err := renderFor(t, look, render.Generated{Installation: "one"})
	if unanswered, ok := errors.AsType[*render.Unanswered](err); !ok || unanswered.Lookup != theirs {
		t.Errorf("without an answer: %v", err)
	}
	_, err = renderFor(t, look, render.Generated{Installation: "one", Found: map[string]json.RawMessage{theirs.String(): json.RawMessage(`[`)}})
	if content.ReasonOf(err) != content.ReasonGeneratedValuesLost || !strings.Contains(err.Error(), theirs.String()) {
		t.Errorf("with an answer that is no object: %v", err)
	}
	many := one("range until 100 }}{{ $_ := lookup `v1` `Secret` `shop` (toString .) }}{{ end")
	many["templates/a.yaml"] = strings.Replace(many["templates/a.yaml"], " | quote", "", 1)
	if _, err = renderFor(t, many, render.Generated{}); content.ReasonOf(err) != content.ReasonContentTooLarge {
		t.Errorf("with too many: %v", err)
	}
	demanding := one("required `make a Secret first` (" + lookUpTheirs + ").data")
	_, err = renderFor(t, demanding, render.Generated{})
	needs, ok := errors.AsType[*render.NeedsLookups](err)
	if !ok || len(needs.Lookups) != 1 || needs.Lookups[0] != theirs || content.ReasonOf(err) != content.ReasonContentInvalid {
		t.Errorf("a chart that fails without what it looks up: %v", err)
	}
	if text := fmt.Sprint(err); !strings.Contains(text, "make a Secret first") || !strings.Contains(text, theirs.String()) {
		t.Errorf("its message is %q", text)
	}
}

// A chart knows an upgrade by the number of the release, and a render that only looks says whether that matters.
func TestRevision(t *testing.T) {
	for name, test := range map[string]struct {
		expression, first, third string
		by                       bool
	}{
		"the number":                            {".Release.Revision", "1", "3", true},
		"an upgrade":                            {".Release.IsUpgrade", "false", "true", true},
		"an installation":                       {".Release.IsInstall", "true", "false", true},
		"a name in the object as a whole":       {"(.Release | toJson | fromJson).IsUpgrade", "false", "true", true},
		"a field that is named and not used":    {"if false }}{{ .Release.Revision }}{{ end }}{{ print `x`", "x", "x", false},
		"a chart that does not ask":             {".Release.Name", "demo", "demo", false},
		"a label that has the name by chance":   {"print `Revision`", "Revision", "Revision", false},
		"an upgrade that generates the same":    {"if .Release.IsUpgrade }}{{ end }}{{ randAlpha 8 | len", "8", "8", false},
		"an upgrade that generates more values": {"if .Release.IsUpgrade }}{{ randAlpha 8 | len }}{{ end }}{{ print 1", "1", "81", true},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"templates/a.yaml": rendertest.Config("a") + "data: {k: \"{{ " + test.expression + " }}\"}\n"}
			looked, err := renderFor(t, files, render.Generated{})
			if err != nil {
				t.Fatal(err)
			}
			if got := field(t, looked, "a", "data", "k"); got != test.first || looked.ByRevision != test.by {
				t.Errorf("looked at: %q, by revision %t; want %q, %t", got, looked.ByRevision, test.first, test.by)
			}
			third, err := renderFor(t, files, render.Generated{Installation: "one", Revision: 3})
			if err != nil {
				t.Fatal(err)
			}
			if got := field(t, third, "a", "data", "k"); got != test.third {
				t.Errorf("third release: %q, want %q", got, test.third)
			}
		})
	}
}

// The templates that many charts share keep a password by a lookup, and refuse an upgrade that does not find it.
func TestSharedPasswordTemplatesKeepAPassword(t *testing.T) {
	files := one("$known := (" + lookUpTheirs + ").data }}{{ if $known }}{{ $known.key | b64dec }}{{ else if .Release.IsUpgrade }}" +
		"{{ fail `PASSWORDS ERROR` }}{{ else }}{{ randAlphaNum 10 }}{{ end")
	files["templates/a.yaml"] = strings.Replace(files["templates/a.yaml"], " | quote", "", 1)
	looked, err := renderFor(t, files, render.Generated{})
	if err != nil || !looked.ByRevision || looked.Generated == nil {
		t.Fatalf("%v, %+v", err, looked)
	}
	absent := map[string]json.RawMessage{theirs.String(): json.RawMessage("null")}
	installed, err := renderFor(t, files, render.Generated{Installation: "one", Found: absent, Revision: 1})
	if err != nil || len(field(t, installed, "a", "data", "k")) != 10 {
		t.Fatalf("installed: %v", err)
	}
	there := map[string]json.RawMessage{theirs.String(): json.RawMessage(`{"data":{"key":"aHVudGVy"}}`)}
	upgraded, err := renderFor(t, files, render.Generated{Installation: "one", Found: there, Revision: 2})
	if err != nil || field(t, upgraded, "a", "data", "k") != "hunter" {
		t.Fatalf("upgraded: %v", err)
	}
}
