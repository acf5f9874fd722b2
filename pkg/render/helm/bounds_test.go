//go:build !race

// The templates run until a bound stops them, one after the other: the race detector makes that five times slower and has nothing to find.

package helm

import (
	"context"
	"strings"
	"testing"
	"text/template"

	"helm.sh/helm/v4/pkg/engine"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

func TestHelmEndsTemplatesThatWouldNot(t *testing.T) {
	for name, test := range map[string]struct {
		template string
		want     string
	}{
		"a loop over a huge number":                   {"{{ range 1000000000000 }}{{ end }}", "do not come to an end"},
		"a loop that only sets a variable":            {"{{ $x := 0 }}{{ range $i := 1000000000000 }}{{ $x = $i }}{{- end }}", "do not come to an end"},
		"loops in loops":                              {strings.Repeat("{{ range until 500 }}", 8) + "x" + strings.Repeat("{{ end }}", 8), "do not come to an end"},
		"a template that calls itself twice":          {`{{ define "a" }}{{ template "a" }}{{ template "a" }}{{ end }}{{ template "a" }}`, "call"},
		"templates that double":                       {doublingTemplates(), "do not come to an end"},
		"includes that call each other":               {ringOfTemplates(200), "call each other too deep"},
		"a template that includes itself":             {`{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`, "nested reference name"},
		"tpl of a text that is given to tpl":          {`{{ tpl .Values.self . }}`, "call each other too deep"},
		"tpl with a loop":                             {`{{ tpl "{{ range 1000000000000 }}{{ end }}" . }}`, "do not come to an end"},
		"tpl in tpl with a loop":                      {"{{ tpl `{{ tpl \"{{ range 1000000000000 }}{{ end }}\" . }}` . }}", "do not come to an end"},
		"tpl that is piped":                           {"{{ . | tpl `{{ range 1000000000000 }}{{ end }}` }}", "do not come to an end"},
		"tpl of an expression":                        {`{{ if tpl (printf "{{ range %d }}{{ end }}" 1000000000000) . }}{{ end }}`, "do not come to an end"},
		"a block that loops":                          {`{{ block "b" . }}{{ range 1000000000000 }}{{ end }}{{ end }}`, "do not come to an end"},
		"much text in a loop":                         {"{{ range 200000 }}" + strings.Repeat("x", 10_000) + "{{ end }}", "do not come to an end"},
		"repeat":                                      {`{{ repeat 10000000000 "x" }}`, "do not come to an end"},
		"until":                                       {`{{ until 10000000000 | len }}`, "do not come to an end"},
		"untilStep":                                   {`{{ untilStep 10000000000 0 -1 | len }}`, "do not come to an end"},
		"seq":                                         {`{{ seq 1 1 10000000000 | len }}`, "do not come to an end"},
		"indent":                                      {`{{ "x" | indent 10000000000 }}`, "do not come to an end"},
		"replace by something long":                   {`{{ $a := repeat 1000000 "a" }}{{ replace "a" $a $a | len }}`, "do not come to an end"},
		"a text that doubles":                         {`{{ $x := "x" }}{{ range until 60 }}{{ $x = print $x $x }}{{ end }}`, "do not come to an end"},
		"a text that doubles by printf":               {`{{ $x := "x" }}{{ range until 60 }}{{ $x = printf "%s%s" $x $x }}{{ end }}`, "do not come to an end"},
		"a list that doubles":                         {`{{ $x := list 1 }}{{ range until 60 }}{{ $x = concat $x $x }}{{ end }}`, "do not come to an end"},
		"a text that is encoded again and again":      {`{{ $x := "x" }}{{ range until 200 }}{{ $x = b64enc $x }}{{ end }}`, "do not come to an end"},
		"random text without end":                     {`{{ randAlphaNum 10000000000 | len }}`, "do not come to an end"},
		"many keys":                                   {`{{ range until 1000 }}{{ $_ := genPrivateKey "ed25519" }}{{ end }}`, "do not come to an end"},
		"a chain that is too long to be printed":      {`{{ $d := dict }}{{ range 1000000 }}{{ $d = dict "a" $d }}{{ end }}{{ $d }}`, "do not come to an end"},
		"a map that holds itself":                     {`{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ $d }}`, "holds itself"},
		"a map that holds itself in a list":           {`{{ $d := dict }}{{ $_ := set $d "a" (list (dict "b" $d)) }}{{ deepCopy $d }}`, "holds itself"},
		"values that hold themselves":                 {`{{ $_ := set .Values "root" $ }}{{ toToml .Values }}`, "holds itself"},
		"a map that is merged into itself":            {`{{ $d := dict }}{{ $_ := merge $d (dict "a" $d) }}{{ $d }}`, "holds itself"},
		"a map that is merged into itself with force": {`{{ $d := dict "a" 1 }}{{ $_ := mustMergeOverwrite $d (dict "a" $d) }}{{ $d }}`, "holds itself"},
		"more actions than a template may have":       {strings.Repeat("{{ 1 }}", maxActions+1), "more than 50000 template actions"},
		"more actions than a text for tpl may have":   {`{{ tpl (repeat 50001 "{{ 1 }}") . }}`, "more than 50000 template actions"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := renderTemplate(t.Context(), test.template, map[string]any{"self": "{{ tpl .Values.self . }}"})
			if reason := content.ReasonOf(err); reason != content.ReasonContentTooLarge && reason != content.ReasonContentInvalid {
				t.Fatalf("error %v with reason %q", err, reason)
			}
			if !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want %q in it, in one line", err, test.want)
			}
		})
	}
}

// doublingTemplates declares templates of which each calls the next twice: 2^40 calls, and not deep.
func doublingTemplates() string {
	var text strings.Builder
	for i := range 40 {
		next := "x" + strings.Repeat("y", i+1)
		text.WriteString(`{{ define "x` + strings.Repeat("y", i) + `" }}{{ template "` + next + `" }}{{ template "` + next + `" }}{{ end }}`)
	}
	return text.String() + `{{ define "x` + strings.Repeat("y", 40) + `" }}{{ end }}{{ template "x" }}`
}

// ringOfTemplates declares templates that include each other in a ring: Helm counts each name for itself.
func ringOfTemplates(count int) string {
	var text strings.Builder
	for i := range count {
		text.WriteString(`{{ define "x` + strings.Repeat("y", i) + `" }}{{ include "x` + strings.Repeat("y", (i+1)%count) + `" . }}{{ end }}`)
	}
	return text.String() + `{{ include "x" . }}`
}

func TestHelmStopsWhenItsCallerDoes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := renderTemplate(ctx, "{{ range 1000000000000 }}{{ end }}", nil)
	if content.ReasonOf(err) != content.ReasonInternal || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("error %v with reason %q", err, content.ReasonOf(err))
	}
}

func TestInstrumentingLeavesWhiteSpaceAsItWas(t *testing.T) {
	for name, text := range map[string]string{
		"no trimming":                                       "a {{ range until 2 }} b {{ end }} c",
		"trimming outside":                                  "a {{- range until 2 }} b {{ end -}} c",
		"trimming inside":                                   "a {{ range until 2 -}}\n b {{- end }} c",
		"an action that trims":                              "{{ range until 2 }}\n  {{- . }}\n{{ end }}",
		"an empty body that trims":                          "a{{ range until 2 }}  {{- end }}b",
		"a comment first":                                   "{{ range until 2 }}  {{- /* c */ -}}  x {{ end }}",
		"a comment, then an action":                         "{{ range until 2 }} \n{{- /* c */}}\n{{- . }}\n{{ end }}",
		"a definition that trims":                           "{{- define \"a\" -}}\n x \n{{- end -}}\n {{ include \"a\" . }}",
		"an else of a loop":                                 "{{ range list }}x{{ else }} y {{ end }}",
		"break and continue":                                "{{ range until 9 }}{{ if eq . 2 }}{{ continue }}{{ end }}{{ if eq . 4 }}{{ break }}{{ end }}{{ . }} {{ end }}",
		"a number after the braces":                         "{{ range until 2 }}{{-1}}{{ end }}",
		"a brace at the end":                                "a {{ range until 2 }}b{{ end }} {",
		"white space at the end that is trimmed":            "a {{ range until 2 }}b{{ end -}} \n ",
		"braces that are text":                              "{{ range until 2 }}{ {{- . }} }} {{ end }}",
		"tpl with white space":                              "{{ tpl\t\"a {{ . }}\"\n 1 }}|{{ tpl `b` . | upper }}|{{ (tpl \"c\" .) }}|{{ tpl (print `{` `{ 1 }}`) . }}",
		"an empty definition that must not replace another": `{{ define "a" }}x{{ end }}{{ define "b" }}{{ end }}{{ include "b" . }}{{ include "a" . }}`,
	} {
		t.Run(name, func(t *testing.T) {
			for _, file := range []string{"", "templates/a \"b\".yaml"} {
				changed, err := instrumented(text, file)
				if err != nil {
					t.Fatal(err)
				}
				if changed == text {
					t.Error("nothing was put into it")
				}
				want, got := execute(t, text), execute(t, changed)
				if want != got {
					t.Errorf("%q gives %q, want %q", changed, got, want)
				}
			}
		})
	}
}

// execute runs a text through Helm's engine, with the functions that the instrumented one needs.
func execute(t *testing.T, text string) string {
	t.Helper()
	loaded, err := loadChart(chartOf(map[string]string{"templates/a": text}).Files)
	if err != nil {
		t.Fatal(err)
	}
	bounds := newTemplateBounds(func() error { return nil }, instants[0])
	files, err := engine.Engine{CustomTemplateFuncs: bounds.functions()}.RenderWithContext(t.Context(), loaded, map[string]any{"Values": map[string]any{}})
	if err != nil {
		t.Fatal(err)
	}
	return files["test/templates/a"]
}

// FuzzInstrumented holds that a template means the same after it was instrumented.
func FuzzInstrumented(f *testing.F) {
	for _, seed := range []string{
		"a", "{{ range . }}x{{ end }}", "{{ range 3 -}} {{ . }} {{- else }}y{{ end }}", "{{ define `a` }} {{- range 2 }}{{ end }}{{ end }}{{ template `a` }}",
		"{{ tpl `x` . }}", "{{ tpl (print \"(\" ')' `\"`) .|print }}", "{{ with $x := 1 }}{{ tpl\n`{{`|print . }}{{ end }}", "{{/* c */ -}} {{ if tpl `a` 1 }}{{ end }}",
		"{{ block `b` 2 -}} {{ range . }}{{ break }}{{ end }}{{- end }}", "{{ (tpl `x` .).y }}", "{ {{- 1 }}", "{{ define `a` }}{{ end }}{{ define `a` }}x{{ end }}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		changed, err := instrumented(text, "a")
		if err != nil || changed == text {
			return
		}
		bounds := newTemplateBounds(func() error { return nil }, instants[0])
		bounds.left = 200 * turn
		functions := template.FuncMap{
			stepFunction: bounds.step, endFunction: bounds.end, textFunction: func(text string) string { return text },
			"tpl": func(text string, _ any) string { return text },
		}
		run := func(text string) (string, error) {
			parsed, err := template.New("a").Funcs(functions).Parse(text)
			if err != nil {
				return "", err
			}
			var out strings.Builder
			err = parsed.Execute(&out, map[string]any{"a": []any{1, "b"}})
			return out.String(), err
		}
		got, err := run(changed)
		if bounds.err != nil {
			return
		}
		want, wantErr := run(text)
		if (err == nil) != (wantErr == nil) || err == nil && got != want {
			t.Errorf("%q became %q: it gives %q, %v, want %q, %v", text, changed, got, err, want, wantErr)
		}
	})
}
