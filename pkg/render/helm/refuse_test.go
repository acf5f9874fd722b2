package helm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

const chartYAML = "apiVersion: v2\nname: test\nversion: 1.0.0\n"

func TestHelmRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		files  map[string]string
		input  render.Input
		reason string
		want   string
	}{
		"a Chart.yaml that is empty":  {map[string]string{"Chart.yaml": ""}, render.Input{}, content.ReasonContentInvalid, "chart.metadata.name is required"},
		"a Chart.yaml that is broken": {map[string]string{"Chart.yaml": "a: [\n"}, render.Input{}, content.ReasonContentInvalid, "cannot load Chart.yaml"},
		"a chart of an unknown version": {
			map[string]string{"Chart.yaml": "apiVersion: v3\nname: test\nversion: 1.0.0\n"}, render.Input{}, content.ReasonContentInvalid, `apiVersion "v3"`,
		},
		"a name that is a path": {
			map[string]string{"Chart.yaml": "apiVersion: v2\nname: ../x\nversion: 1.0.0\n"}, render.Input{}, content.ReasonContentInvalid, "is invalid",
		},
		"a library chart": {
			map[string]string{"Chart.yaml": chartYAML + "type: library\n"}, render.Input{}, content.ReasonContentInvalid, "chart test is a library chart",
		},
		"a chart for another Kubernetes": {
			map[string]string{"Chart.yaml": chartYAML + "kubeVersion: '>=1.40.0-0'\n"}, render.Input{KubeVersion: "v1.36.3"},
			content.ReasonContentInvalid, "needs Kubernetes >=1.40.0-0, and the cluster has v1.36.3",
		},
		"a version of Kubernetes that is none": {nil, render.Input{KubeVersion: "new"}, content.ReasonValuesInvalid, `"new" is no version`},
		"subcharts that are not there": {
			map[string]string{"Chart.yaml": chartYAML + "dependencies: [{name: a, version: 1.0.0}, {name: b, version: 1.0.0}]\n"}, render.Input{},
			content.ReasonContentInvalid, "not in its charts/: a, b: run `helm dependency build`",
		},
		"a release name that is too long": {nil, render.Input{Name: strings.Repeat("a", 54)}, content.ReasonValuesInvalid, "is not accepted: use at most 53"},
		"a release name with capitals":    {nil, render.Input{Name: "Demo"}, content.ReasonValuesInvalid, `the release name "Demo" is not accepted`},
		"values for a subchart that are no table": {
			map[string]string{"charts/sub/Chart.yaml": strings.Replace(chartYAML, "test", "sub", 1)}, render.Input{Values: map[string]any{"sub": "x"}},
			content.ReasonValuesInvalid, "do not fit chart test and its subcharts: type mismatch on sub",
		},
		"a template that is broken": {
			map[string]string{"templates/a.yaml": "a\n{{ if }}"}, render.Input{}, content.ReasonContentInvalid, "test/templates/a.yaml:2",
		},
		"a function that does not exist": {
			map[string]string{"templates/a.yaml": "{{ env `HOME` }}"}, render.Input{}, content.ReasonContentInvalid, `function "env" not defined`,
		},
		"a value that is required": {
			map[string]string{"templates/a.yaml": "\n{{ required `give a name` .Values.name }}"}, render.Input{}, content.ReasonContentInvalid,
			"execution error at (test/templates/a.yaml:2:3): give a name",
		},
		"a check in NOTES.txt that fails": {
			map[string]string{"templates/NOTES.txt": "{{ fail `not like this` }}"}, render.Input{}, content.ReasonContentInvalid, "not like this",
		},
		"a template that gives no YAML": {
			map[string]string{"templates/a.yaml": "{{ 1 }}\n---\na: [\n"}, render.Input{}, content.ReasonContentInvalid,
			"test/templates/a.yaml of the rendered chart: document 1 (line 1): is a number",
		},
		"a key that is set twice": {
			map[string]string{"templates/a.yaml": rendertest.Config("a") + "kind: B\n"}, render.Input{}, content.ReasonContentInvalid, `key "kind" already set`,
		},
		"a broken file in crds": {
			map[string]string{"crds/a.yaml": "a: [\n"}, render.Input{}, content.ReasonContentInvalid, "test/crds/a.yaml of the rendered chart: document 1",
		},
		"one object in two templates": {
			map[string]string{"templates/a.yaml": rendertest.Config("a"), "templates/b.yaml": rendertest.Config("a") + "data: {k: v}\n"}, render.Input{},
			content.ReasonContentInvalid, "ConfigMap a is declared differently in test/templates/a.yaml and in test/templates/b.yaml of the chart",
		},
		"too many objects": {
			map[string]string{"templates/a.yaml": "{{ range $i := until 6000 }}---\n" + rendertest.Config("a-{{ $i }}") + "{{ end }}",
				"templates/b.yaml": "{{ range $i := until 6000 }}---\n" + rendertest.Config("b-{{ $i }}") + "{{ end }}"}, render.Input{},
			content.ReasonContentTooLarge, "more than 10000 objects",
		},
		"too much text": {
			map[string]string{"templates/a.yaml": "# {{ repeat 17000000 `x` }}"}, render.Input{}, content.ReasonContentTooLarge, "more than 16 MiB",
		},
		"a packed subchart that is none": {
			map[string]string{"charts/sub.tgz": "x"}, render.Input{}, content.ReasonContentInvalid, "charts/sub.tgz is no packed chart",
		},
		"a packed subchart that leaves its directory": {
			map[string]string{"charts/sub.tgz": packed(t, map[string]string{"sub/../../x": ""})}, render.Input{}, content.ReasonContentInvalid, "charts/sub.tgz",
		},
		"a packed subchart that is a bomb": {
			map[string]string{"charts/sub.tgz": packed(t, map[string]string{"sub/x": strings.Repeat("x", 65<<20)})}, render.Input{},
			content.ReasonContentTooLarge, "more than 64 MiB unpacked",
		},
		"packed subcharts in packed subcharts without end": {
			map[string]string{"charts/sub.tgz": nested(t, 12)}, render.Input{}, content.ReasonContentInvalid, "deeper than 8",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.input.Name == "" {
				test.input.Name = "demo"
			}
			rendered, err := Renderer{}.Render(t.Context(), chartOf(test.files), test.input)
			if content.ReasonOf(err) != test.reason || !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("error %v with reason %q, want %q with %s", err, content.ReasonOf(err), test.want, test.reason)
			}
			if len(rendered.Objects()) > 0 {
				t.Error("objects beside the error")
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("the message has several lines: %q", err)
			}
		})
	}
}

func TestHelmFindsTheChart(t *testing.T) {
	for name, test := range map[string]struct {
		paths []string
		want  string
	}{
		"no chart at all":            {[]string{"values.yaml"}, "no Chart.yaml"},
		"a chart too far down":       {[]string{"a/b/Chart.yaml"}, "no Chart.yaml"},
		"two charts":                 {[]string{"b/Chart.yaml", "a/Chart.yaml"}, "2 Helm charts (a/, b/)"},
		"a chart at the root":        {[]string{"Chart.yaml", "a/Chart.yaml"}, ""},
		"a chart in a directory":     {[]string{"a/Chart.yaml", "README.md", "a/charts/b/Chart.yaml"}, ""},
		"a packed chart as one file": {[]string{""}, "no Chart.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			tree := &content.Tree{}
			for _, path := range test.paths {
				// The mark of byte order that some editors write is no part of the text.
				text := "\ufeffapiVersion: v2\nname: test\nversion: 1.0.0\n"
				tree.Files = append(tree.Files, content.File{Path: path, Data: []byte(text)})
			}
			_, err := Renderer{}.Render(t.Context(), tree, render.Input{Name: "demo"})
			if (err == nil) != (test.want == "") || !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestHelmRefusesHooks(t *testing.T) {
	job := func(name, events string) string {
		return "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " + name + "\n  annotations: {helm.sh/hook: \"" + events + "\"}\n"
	}
	for events, want := range map[string]string{
		"test": "left out", "test-success": "left out", "Test , test-failure": "left out",
		"crd-install": "rendered",
		"pre-install": "refused", "post-install,post-upgrade": "refused", "pre-delete": "refused", "test,pre-install": "refused",
		"": "refused", "made-up": "refused",
	} {
		t.Run("a hook for "+events, func(t *testing.T) {
			objects, err := renderTemplate(t.Context(), rendertest.Config("a")+"---\n"+job("j", events), nil)
			switch want {
			case "refused":
				text := fmt.Sprintf("hooks, which are not run: Job.batch j (%s) in test/templates/a.yaml: switch them off", events)
				if content.ReasonOf(err) != content.ReasonHooksRefused || !strings.Contains(err.Error(), text) {
					t.Errorf("error %v, want %q", err, text)
				}
			case "left out":
				if err != nil || len(objects) != 1 {
					t.Errorf("%d objects, error %v", len(objects), err)
				}
			default:
				if err != nil || len(objects) != 2 {
					t.Errorf("%d objects, error %v", len(objects), err)
				}
			}
		})
	}
	t.Run("many hooks", func(t *testing.T) {
		var text strings.Builder
		for i := range 8 {
			text.WriteString(job(fmt.Sprint("j", i), "pre-install") + "---\n")
		}
		_, err := renderTemplate(t.Context(), text.String(), nil)
		if err == nil || !strings.Contains(err.Error(), "j4 (pre-install) in test/templates/a.yaml and 3 more: ") {
			t.Errorf("error %v", err)
		}
	})
}

func TestHelmRefusesWhatDiffersBetweenRenders(t *testing.T) {
	data := func(value string) string {
		return rendertest.Config("a") + "data:\n  b: c\n  k: {{ " + value + " | quote }}\n"
	}
	for name, test := range map[string]struct{ template, want string }{
		"a generated password":         {data("randAlphaNum 12"), "ConfigMap a differs in data.k (test/templates/a.yaml calls randAlphaNum): what is random or depends on the time must come from the values"},
		"one digit":                    {data("randNumeric 1"), "data.k"},
		"one of two numbers":           {data("randInt 0 2"), "data.k"},
		"a generated key":              {data(`genPrivateKey "ecdsa"`), "data.k"},
		"a generated certificate":      {data(`(genCA "a" 1).Cert`), "calls genCA): keys and certificates must come from the values, or be made"},
		"a random identity":            {data("uuidv4"), "data.k"},
		"random bytes":                 {data("randBytes 3"), "data.k"},
		"now":                          {data("now"), "data.k"},
		"the year of now":              {data(`now | date "2006"`), "data.k"},
		"the day of now":               {data(`now | htmlDate`), "data.k"},
		"a date of no date":            {data(`date "2006" "yesterday"`), "a.yaml calls now): what is random"},
		"the minute of now in UTC":     {data(`dateInZone "04" (now) "UTC"`), "data.k"},
		"how long something is ago":    {data("ago (toDate `2006` `2020`)"), "data.k"},
		"a salted hash":                {data("htpasswd `a` `b`"), "calls htpasswd): htpasswd uses a new salt each time, whatever the values are"},
		"now in a list":                {rendertest.Config("a") + "spec: {l: [{a: b}, {c: {{ now | quote }}}]}\n", "ConfigMap a differs in spec.l[1].c"},
		"a list that is longer":        {rendertest.Config("a") + "l: [{{ range $i := until (now | date `2` | int) }}{{ $i }},{{ end }}]\n", "differs in l"},
		"a field that comes and goes":  {rendertest.Config("a") + "{{ if eq (now | date `2006`) `2001` }}x: y\n{{ end }}", "differs in x"},
		"a name":                       {rendertest.Config("a-{{ randAlpha 5 | lower }}"), "is in only one of them"},
		"an object that comes":         {rendertest.Config("a") + "{{ if ne (now | date `2006`) `2001` }}---\n" + rendertest.Config("b") + "{{ end }}", "ConfigMap b is in only one"},
		"an object that goes":          {rendertest.Config("a") + "{{ if eq (now | date `2006`) `2001` }}---\n" + rendertest.Config("b") + "{{ end }}", "ConfigMap b is in only one"},
		"a comment with the time":      {rendertest.Config("a") + "# {{ now }}\n", ""},
		"a hook for tests with chance": {rendertest.Config("a") + "---\n" + rendertest.Config("t-{{ randAlpha 5 | lower }}") + "  annotations: {helm.sh/hook: test}\n", ""},
		"a date that is given":         {data("toDate `2006-01-02` `2020-02-03` | date `Jan`"), ""},
		"keys in no order":             {data("keys (dict `a` 1 `b` 2 `c` 3 `d` 4 `e` 5 `f` 6 `g` 7) | join `,`"), ""},
		"values in no order":           {data("values (dict `a` 1 `b` 2 `c` 3 `d` 4 `e` 5 `f` 6 `g` 7) | join `,`"), ""},
		"values that are changed":      {data("(set .Values `n` (add1 (.Values.n | default 0))).n"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := renderTemplate(t.Context(), test.template, nil)
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if content.ReasonOf(err) != content.ReasonNonDeterministic || !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("error %v with reason %q, want %q in it", err, content.ReasonOf(err), test.want)
			}
		})
	}
}

func TestHelmShowsNoTextThatWasGivenToTpl(t *testing.T) {
	for _, secret := range []string{`Hunter2 {{`, `Hunter2 {{ .a.b.c }}`, `Hunter2 "quoted" {{ fail "x" }}`, `{{ index .Values "Hunter2" 1 }}`} {
		_, err := renderTemplate(t.Context(), "{{ tpl .Values.password . }}", map[string]any{"password": secret})
		if err == nil || strings.Contains(err.Error(), `Hunter2 `) || strings.Contains(err.Error(), textFunction) {
			t.Errorf("error %v", err)
		}
	}
}

// packed makes a .tgz.
func packed(t *testing.T, files map[string]string) string {
	t.Helper()
	var text bytes.Buffer
	zipped := gzip.NewWriter(&text)
	archive := tar.NewWriter(zipped)
	for name, data := range files {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data))}); err != nil {
			t.Fatal(err)
		}
		if _, err := archive.Write([]byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// nested makes packed charts in packed charts.
func nested(t *testing.T, depth int) string {
	t.Helper()
	files := map[string]string{"sub/Chart.yaml": chartYAML}
	inner := maps.Clone(files)
	for range depth {
		inner["sub/charts/sub.tgz"] = packed(t, maps.Clone(inner))
	}
	return packed(t, inner)
}
