package helm

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

const (
	// checksums is a Deployment as charts have it: an annotation changes with the Secret, so that the pods start again.
	checksums = `apiVersion: apps/v1
kind: Deployment
metadata: {name: server}
spec:
  template:
    metadata:
      annotations:
        checksum/secret: {{ include (print $.Template.BasePath "/secret.yaml") . | sha256sum }}
`
	secretHead = "apiVersion: v1\nkind: Secret\nmetadata: {name: login}\n"
)

// What differs follows from something: a message that names the checksum sends users to the wrong file.
func TestHelmNamesWhatMakesAChartDiffer(t *testing.T) {
	for name, test := range map[string]struct {
		files  map[string]string
		values map[string]any
		want   string
	}{
		"the Secret and not its checksum": {
			files: map[string]string{
				"templates/deployment.yaml": checksums, "templates/secret.yaml": secretHead + "data: {password: {{ randAlphaNum 12 | b64enc }}}\n",
			},
			want: "Secret login differs in data.password (test/templates/secret.yaml calls randAlphaNum): " +
				"what is random or depends on the time must come from the values",
		},
		"a password that comes from the values is hashed with a salt": {
			files: map[string]string{
				"templates/deployment.yaml": checksums,
				"templates/secret.yaml":     secretHead + "stringData: {admin.password: {{ bcrypt .Values.password }}}\n",
			},
			values: map[string]any{"password": "hunter2"},
			want: `Secret login differs in stringData["admin.password"] (test/templates/secret.yaml calls bcrypt): ` +
				"bcrypt uses a new salt each time, whatever the values are: the chart must take the result instead",
		},
		"a certificate in a Secret comes before the place where it is trusted": {
			files: map[string]string{
				"templates/a-webhook.yaml": "{{ $ca := genCA `a` 1 }}apiVersion: example.com/v1\nkind: Hook\nmetadata: {name: h}\nca: {{ $ca.Cert | b64enc }}\n---\n" +
					secretHead + "data: {tls.crt: {{ $ca.Cert | b64enc }}}\n",
			},
			want: `Secret login differs in data["tls.crt"] (test/templates/a-webhook.yaml calls genCA), and 1 more object differs: keys`,
		},
		"a helper in another file is found": {
			files: map[string]string{
				"templates/_helpers.tpl": "{{ define `pass` }}{{ randAlpha 5 }}{{ end }}{{ define `other` }}{{ now }}{{ end }}",
				"templates/secret.yaml":  secretHead + "stringData: {a: {{ include `pass` . }}}\n", "templates/z.yaml": "# {{ include `other` . }}\n",
			},
			want: "(test/templates/secret.yaml calls randAlpha): what is random",
		},
		"in one object the field counts and not the annotation above it": {
			files: map[string]string{"templates/secret.yaml": "{{ $p := randAlphaNum 9 }}apiVersion: v1\nkind: Secret\n" +
				"metadata: {name: login, annotations: {config-hash: {{ sha256sum $p }}}}\nstringData: {p: {{ $p }}}\n"},
			want: "Secret login differs in stringData.p (",
		},
		"a label is named where nothing else differs": {
			files: map[string]string{"templates/a.yaml": rendertest.Config("a") + "  annotations: {rollme: {{ randAlphaNum 5 | quote }}}\n"},
			want:  "ConfigMap a differs in metadata.annotations.rollme (test/templates/a.yaml calls randAlphaNum): ",
		},
		"a text for tpl does not tell, so that all are named": {
			files:  map[string]string{"templates/secret.yaml": secretHead + "stringData: {a: {{ tpl .Values.text . }}}\n"},
			values: map[string]any{"text": "{{ uuidv4 }}"},
			want:   "differs in stringData.a (test/templates/secret.yaml calls uuidv4): what is random",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Renderer{}.Render(t.Context(), chartOf(test.files), render.Input{Name: "demo", Values: test.values})
			if content.ReasonOf(err) != content.ReasonNonDeterministic || !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("error %v with reason %q, want %q in it", err, content.ReasonOf(err), test.want)
			}
			if strings.Contains(fmt.Sprint(err), "hunter2") || strings.Contains(fmt.Sprint(err), "checksum") {
				t.Errorf("%v shows a value, or the checksum", err)
			}
		})
	}
}

// A chart that has a switch for its hooks is told which one, and one that has none is promised nothing.
func TestHelmNamesTheSwitchOfHooks(t *testing.T) {
	job := func(name string) string {
		return "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " + name + "\n  annotations: {helm.sh/hook: pre-install}\n"
	}
	const sub = "apiVersion: v2\nname: sub\nversion: 1.0.0\n"
	for name, test := range map[string]struct {
		files  map[string]string
		values map[string]any
		want   string
	}{
		"the switch of the hook and not of all that it belongs to": {
			files: map[string]string{
				"values.yaml":         "webhook: {enabled: true, patch: {enabled: true}}\nother: true\n",
				"templates/hook.yaml": "{{ if and .Values.webhook.enabled .Values.webhook.patch.enabled }}\n" + job("patch") + "{{ end }}",
				"templates/web.yaml":  "{{ if .Values.webhook.enabled }}\n" + rendertest.Config("web") + "{{ end }}",
			},
			want: "switch them off by values (webhook.patch.enabled=false), or",
		},
		"one that is off and has to be on": {
			files: map[string]string{
				"values.yaml": "skipHooks: false\n", "templates/hook.yaml": "{{ if not $.Values.skipHooks }}\n" + job("a") + "{{ end }}",
			},
			want: "by values (skipHooks=true), or",
		},
		"one that a helper asks for": {
			files: map[string]string{
				"values.yaml": "crds: {upgrade: true}\n", "templates/_h.tpl": "{{ define `upgrades` }}{{ if (.Values.crds).upgrade }}true{{ end }}{{ end }}",
				"templates/hook.yaml": "{{ if eq (include `upgrades` .) `true` }}\n" + job("a") + "{{ end }}",
			},
			want: "by values (crds.upgrade=false), or",
		},
		"one of a subchart": {
			files: map[string]string{
				"charts/sub/Chart.yaml": sub, "charts/sub/values.yaml": "job: true\n",
				"charts/sub/templates/hook.yaml": "{{ if .Values.job }}\n" + job("a") + "{{ end }}",
			},
			want: "by values (sub.job=false), or",
		},
		"one for each of two hooks": {
			files: map[string]string{
				"values.yaml": "a: true\nb: true\n", "templates/a.yaml": "{{ if .Values.a }}\n" + job("a") + "{{ end }}",
				"templates/b.yaml": "{{ if .Values.b }}\n" + job("b") + "{{ end }}",
			},
			want: "by values (a=false,b=false), or",
		},
		"one that the values of the installation have set": {
			files:  map[string]string{"values.yaml": "a: false\n", "templates/a.yaml": "{{ if .Values.a }}\n" + job("a") + "{{ end }}"},
			values: map[string]any{"a": true},
			want:   "by values (a=false), or",
		},
		"a switch that changes nothing is not named": {
			files: map[string]string{"values.yaml": "a: true\n", "templates/a.yaml": job("a") + "{{ if .Values.a }}\n# a\n{{ end }}"},
			want:  "switch them off by values, or let",
		},
		"a switch with which the chart fails is not named": {
			files: map[string]string{
				"values.yaml": "a: true\n", "templates/a.yaml": "{{ if .Values.a }}\n" + job("a") + "{{ else }}{{ fail `no` }}{{ end }}",
			},
			want: "switch them off by values, or let",
		},
		"what is neither true nor false is no switch": {
			files: map[string]string{"values.yaml": "mode: job\n", "templates/a.yaml": "{{ if eq .Values.mode `job` }}\n" + job("a") + "{{ end }}"},
			want:  "switch them off by values, or let",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Renderer{}.Render(t.Context(), chartOf(test.files), render.Input{Name: "demo", Values: test.values})
			if content.ReasonOf(err) != content.ReasonHooksRefused || !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("error %v with reason %q, want %q in it", err, content.ReasonOf(err), test.want)
			}
		})
	}
}
