package helm

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

// renderGenerated renders a chart for an installation that has some values.
func renderGenerated(t *testing.T, files map[string]string, values map[string]json.RawMessage) (render.Rendered, error) {
	t.Helper()
	input := render.Input{Name: "demo", Hooks: true, Generated: &render.Generated{Installation: "one", Values: values}}
	return Renderer{}.Render(t.Context(), chartOf(files), input)
}

// generated renders a chart that is accepted.
func generated(t *testing.T, files map[string]string, values map[string]json.RawMessage) render.Rendered {
	t.Helper()
	rendered, err := renderGenerated(t, files, values)
	if err != nil {
		t.Fatal(err)
	}
	return rendered
}

// field returns a text of the only object of that name.
func field(t *testing.T, rendered render.Rendered, name string, path ...string) string {
	t.Helper()
	for _, object := range rendered.Objects() {
		if object.GetName() == name {
			text, found, err := unstructured.NestedString(object.Object, path...)
			if !found || err != nil {
				t.Fatalf("%s has no %v: %v", name, path, err)
			}
			return text
		}
	}
	t.Fatalf("no %s", name)
	return ""
}

// one is a chart with one value that comes from an expression.
func one(expression string) map[string]string {
	return map[string]string{"templates/a.yaml": rendertest.Config("a") + "data: {k: {{ " + expression + " | quote }}}\n"}
}

// everyGenerator has a value of each.
var everyGenerator = map[string]string{
	"randAlphaNum": "randAlphaNum 24", "randAlpha": "randAlpha 24", "randNumeric": "randNumeric 24", "randAscii": "randAscii 24",
	"randBytes": "randBytes 17", "randInt": "randInt 5 2000000000", "uuidv4": "uuidv4", "shuffle": "shuffle `abcdefghijklmnopqrstuvwxyzäöü`",
	"bcrypt": "bcrypt `hunter2`", "htpasswd": "htpasswd `admin` `hunter2`", "encryptAES": "encryptAES `secretkey` `plaintext of 20 ch`",
	"genPrivateKey": "genPrivateKey `ecdsa`", "genCA": "(genCA `a` 1).Cert", "genCAWithKey": "(genCAWithKey `a` 1 (genPrivateKey `ed25519`)).Cert",
	"genSelfSignedCert":        "(genSelfSignedCert `a` (list `10.0.0.1`) nil 1).Key",
	"genSelfSignedCertWithKey": "(genSelfSignedCertWithKey `a` nil (list `a` `b`) 1 (genPrivateKey `ecdsa`)).Cert",
	"genSignedCert":            "(genSignedCert `a` nil (list `a`) 1 (genCA `ca` 1)).Cert",
	"genSignedCertWithKey":     "(genSignedCertWithKey `a` nil nil 1 (genCA `ca` 1) (genPrivateKey `ecdsa`)).Cert",
}

// Every generator gives something that a later render takes again.
func TestHelmGeneratesOnce(t *testing.T) {
	for name, expression := range everyGenerator {
		t.Run(name, func(t *testing.T) {
			first := generated(t, one(expression), nil)
			if len(first.Generated) == 0 {
				t.Fatal("nothing was generated")
			}
			stored, err := json.Marshal(first.Generated)
			if err != nil {
				t.Fatal(err)
			}
			var read map[string]json.RawMessage
			if err := json.Unmarshal(stored, &read); err != nil {
				t.Fatal(err)
			}
			second := generated(t, one(expression), read)
			if field(t, first, "a", "data", "k") != field(t, second, "a", "data", "k") {
				t.Errorf("another value in the second render")
			}
			if !maps.EqualFunc(first.Generated, second.Generated, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
				t.Errorf("generated %v, then %v", first.Generated, second.Generated)
			}
			if field(t, generated(t, one(expression), nil), "a", "data", "k") == field(t, first, "a", "data", "k") {
				t.Error("another installation has the same value")
			}
		})
	}
}

// All functions that give something else each time are generators, but for those of the clock.
func TestEveryGeneratorHasAShape(t *testing.T) {
	var missing []string
	for name := range varying {
		if shapes[name] == nil {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	if len(varying) != len(shapes)+len(missing) || !slices.Equal(missing, []string{"ago", "now"}) {
		t.Errorf("without a shape: %v", missing)
	}
}

// What a call gives stays the same, as long as the call does.
func TestHelmKeepsWhatWasGenerated(t *testing.T) {
	secret := func(name, expression string) string {
		return "apiVersion: v1\nkind: Secret\nmetadata: {name: " + name + "}\nstringData: {k: {{ " + expression + " | quote }}}\n"
	}
	const helper = "{{ define `password` }}{{ randAlphaNum 24 }}{{ end }}"
	before := map[string]string{
		"Chart.yaml":                  chartYAML,
		"templates/a.yaml":            secret("a", "randAlphaNum 24") + "---\n" + secret("b", "randAlphaNum 24"),
		"templates/m.yaml":            secret("m", "include `password` .") + "---\n" + secret("o", "include `password` ."),
		"templates/_h.tpl":            helper,
		"charts/sub/Chart.yaml":       strings.Replace(chartYAML, "test", "sub", 1),
		"charts/sub/templates/a.yaml": secret("sub", "randAlphaNum 24"),
	}
	first := generated(t, before, nil)
	values := map[string]bool{}
	names := []string{"a", "b", "m", "o", "sub"}
	for _, name := range names {
		values[field(t, first, name, "stringData", "k")] = true
	}
	if len(values) != len(names) {
		t.Fatalf("%d values for %d calls", len(values), len(names))
	}
	for name, change := range map[string]struct {
		files map[string]string
		stay  []string
	}{
		"another version of the chart":      {map[string]string{"Chart.yaml": chartYAML + "description: new\n"}, names},
		"a chart of another name":           {map[string]string{"Chart.yaml": strings.Replace(chartYAML, "test", "other", 1)}, names},
		"a file more, with the same calls":  {map[string]string{"templates/0.yaml": secret("x", "randAlphaNum 24")}, names},
		"a call more at the end of a file":  {map[string]string{"templates/a.yaml": before["templates/a.yaml"] + "---\n" + secret("c", "randAlphaNum 24")}, names},
		"another call in front of one":      {map[string]string{"templates/a.yaml": secret("w", "randAlphaNum 12") + "---\n" + before["templates/a.yaml"]}, names},
		"a longer password":                 {map[string]string{"templates/a.yaml": secret("a", "randAlphaNum 32") + "---\n" + secret("b", "randAlphaNum 24")}, []string{"m", "o", "sub"}},
		"a file that moves":                 {map[string]string{"templates/a.yaml": "", "templates/z.yaml": before["templates/a.yaml"]}, []string{"m", "o", "sub"}},
		"the same call by another template": {map[string]string{"templates/m.yaml": secret("m", "randAlphaNum 24") + "---\n" + secret("o", "randAlphaNum 24")}, names},
	} {
		t.Run(name, func(t *testing.T) {
			files := maps.Clone(before)
			maps.Copy(files, change.files)
			second := generated(t, files, first.Generated)
			for _, name := range names {
				same := field(t, second, name, "stringData", "k") == field(t, first, name, "stringData", "k")
				if stays := slices.Contains(change.stay, name); stays && !same {
					t.Errorf("%s changed", name)
				}
			}
		})
	}
}

// The checksum in a Deployment is that of the Secret, although the file of the Secret is rendered twice.
func TestHelmIncludesWhatTheFileGives(t *testing.T) {
	rendered := generated(t, map[string]string{
		"templates/secret.yaml": secretHead + "stringData: {password: {{ randAlphaNum 12 }}, other: {{ randAlphaNum 12 }}}\n",
		"templates/deployment.yaml": rendertest.Config("copy") +
			"data:\n  secret: {{ include (print $.Template.BasePath `/secret.yaml`) . | quote }}\n",
	}, nil)
	password := field(t, rendered, "login", "stringData", "password")
	if !strings.Contains(field(t, rendered, "copy", "data", "secret"), password) || len(rendered.Generated) != 2 {
		t.Errorf("%d values, and the file has another password where it is included", len(rendered.Generated))
	}
}

// A chart under two names has values of its own under each.
func TestHelmGeneratesApartForAliases(t *testing.T) {
	rendered := generated(t, map[string]string{
		"Chart.yaml":                  chartYAML + "dependencies: [{name: sub, version: 1.0.0, alias: left}, {name: sub, version: 1.0.0, alias: right}]\n",
		"charts/sub/Chart.yaml":       strings.Replace(chartYAML, "test", "sub", 1),
		"charts/sub/templates/a.yaml": rendertest.Config("{{ .Chart.Name }}") + "data: {k: {{ randAlphaNum 24 }}}\n",
	}, nil)
	if left, right := field(t, rendered, "left", "data", "k"), field(t, rendered, "right", "data", "k"); left == right {
		t.Error("both have the same value")
	}
}

// What is kept is not trusted: a text that its function does not give could be any part of a document.
func TestHelmRefusesKeptValuesThatNoFunctionGives(t *testing.T) {
	for name, test := range map[string]struct{ expression, kept string }{
		"another document in a password":     {"randAlphaNum 12", `"x\n---\nkind: A"`},
		"a password that is too short":       {"randAlphaNum 12", `"abc"`},
		"a digit among letters":              {"randAlpha 3", `"ab1"`},
		"a letter among digits":              {"randNumeric 3", `"12a"`},
		"a new line among printable text":    {"randAscii 3", `"a\nb"`},
		"bytes with a new line":              {"randBytes 3", `"YW\nFh"`},
		"a number for a text":                {"randAlphaNum 1", `1`},
		"a number that is out of range":      {"randInt 1 5", `5`},
		"no number":                          {"randInt 1 5", `"1"`},
		"other letters than those shuffled":  {"shuffle `abc`", `"abd"`},
		"an identity that is none":           {"uuidv4", `"00000000-0000-0000-0000-000000000000"`},
		"a hash that is none":                {"bcrypt `a`", `"a: b"`},
		"a hash for another user":            {"htpasswd `a` `b`", `"b:$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"`},
		"a text of another length in base64": {"encryptAES `a` `b`", `"YWFh"`},
		"a key with text around it":          {"genPrivateKey `ecdsa`", `"a: b\n-----BEGIN PRIVATE KEY-----\nYQ==\n-----END PRIVATE KEY-----\n"`},
		"a certificate that is empty":        {"(genCA `a` 1).Cert", `{"Cert":"","Key":""}`},
	} {
		t.Run(name, func(t *testing.T) {
			first := generated(t, one(test.expression), nil)
			values := map[string]json.RawMessage{}
			for call := range first.Generated {
				values[call] = json.RawMessage(test.kept)
			}
			_, err := renderGenerated(t, one(test.expression), values)
			if content.ReasonOf(err) != content.ReasonGeneratedValuesLost || !strings.Contains(err.Error(), "put back what was there") {
				t.Errorf("error %v", err)
			}
			if len(test.kept) > 8 && strings.Contains(fmt.Sprint(err), strings.Trim(test.kept, `"`)) {
				t.Errorf("the message shows the value: %v", err)
			}
		})
	}
}

func TestHelmWithGeneratedValues(t *testing.T) {
	for name, test := range map[string]struct {
		expression string
		reason     string
		kept       int
	}{
		"what depends on the time is refused as before":     {"now", content.ReasonNonDeterministic, 0},
		"a certificate that no function gives is refused":   {"(genSignedCert `a` nil nil 1 (buildCustomCert `YQ==` `YQ==`)).Cert", content.ReasonContentInvalid, 0},
		"an argument that is no text is refused":            {"(genSelfSignedCert `a` (list 1) nil 1).Cert", content.ReasonContentInvalid, 0},
		"too much is refused":                               {"randAlphaNum 300000", content.ReasonContentTooLarge, 0},
		"an error that is a text is no value to keep":       {"htpasswd `a:b` `c`", "", 0},
		"an unknown type of key is no value to keep either": {"genPrivateKey `none`", "", 0},
		"a value that others are made of is kept, too":      {"htpasswd `a` (randAlphaNum 8)", "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			rendered, err := renderGenerated(t, one(test.expression), nil)
			if content.ReasonOf(err) != test.reason || len(rendered.Generated) != test.kept {
				t.Errorf("%d values, error %v", len(rendered.Generated), err)
			}
		})
	}
}

// A caller that only looks has values made for it where the content depends on them, and learns that it does.
func TestHelmGeneratesForCallersThatLook(t *testing.T) {
	for name, test := range map[string]struct {
		expression string
		depends    bool
	}{
		"a password":                        {"randAlphaNum 12", true},
		"a password that the values have":   {"default (randAlphaNum 12) `given`", false},
		"nothing random":                    {"upper `a`", false},
		"only a part that no object shows":  {"randAlphaNum 12 | len", false},
		"two objects that differ by chance": {"`x` }}}\n---\n" + rendertest.Config("a-{{ randAlpha 9 | lower }}") + "data: {k: {{ 1", true},
	} {
		t.Run(name, func(t *testing.T) {
			input := render.Input{Name: "demo", Generated: &render.Generated{}}
			rendered, err := Renderer{}.Render(t.Context(), chartOf(one(test.expression)), input)
			if err != nil || (len(rendered.Generated) > 0) != test.depends {
				t.Errorf("generated %v, error %v", rendered.Generated, err)
			}
			if input.Generated.Values != nil {
				t.Error("the input was changed")
			}
			again, err := Renderer{}.Render(t.Context(), chartOf(one(test.expression)), input)
			if diff := cmp.Diff(rendered.Objects(), again.Objects()); err != nil || diff != "" {
				t.Errorf("another look shows something else: %v\n%s", err, diff)
			}
		})
	}
}

// What is invented for them has the shape of what an installation gets, and is another one for each call.
func TestInvent(t *testing.T) {
	for name, expression := range everyGenerator {
		t.Run(name, func(t *testing.T) {
			input := render.Input{Name: "demo", Generated: &render.Generated{}}
			rendered, err := Renderer{}.Render(t.Context(), chartOf(one(expression)), input)
			if err != nil {
				t.Fatal(err)
			}
			looked, installed := field(t, rendered, "a", "data", "k"), field(t, generated(t, one(expression), nil), "a", "data", "k")
			if looked == installed && name != "shuffle" {
				t.Error("an installation has what was invented")
			}
			if _, err := renderGenerated(t, one(expression), rendered.Generated); err != nil {
				t.Errorf("the shape is another one: %v", err)
			}
		})
	}
}

// A webhook of a chart: a certificate signed by an authority of its own, which a webhook trusts.
func TestHelmGeneratesACertificateChain(t *testing.T) {
	rendered := generated(t, map[string]string{
		"templates/a.yaml": "{{ $ca := genCA `demo-ca` 3650 }}{{ $cert := genSignedCert `demo` nil (list `demo.svc`) 365 $ca }}" +
			rendertest.Config("a") + "data: {ca: {{ $ca.Cert | quote }}, again: {{ $ca.Cert | quote }}, cert: {{ $cert.Cert | quote }}}\n",
	}, nil)
	if len(rendered.Generated) != 2 || field(t, rendered, "a", "data", "ca") != field(t, rendered, "a", "data", "again") {
		t.Errorf("%d values", len(rendered.Generated))
	}
	for call := range rendered.Generated {
		if !strings.HasPrefix(call, "templates/a.yaml gen") {
			t.Errorf("value of %q", call)
		}
	}
}
