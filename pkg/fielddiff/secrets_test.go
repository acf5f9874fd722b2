package fielddiff

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestSecrets_HideWhatStandsElsewhere(t *testing.T) {
	const password = "correct horse"
	secret := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "s"},
		"data":       map[string]any{"a": base64.StdEncoding.EncodeToString([]byte(password)), "short": base64.StdEncoding.EncodeToString([]byte("on"))},
		"stringData": map[string]any{"b": "battery\nstaple and more"},
	}}
	values := SecretsOf(secret)
	for name, test := range map[string]struct{ text, want string }{
		"an argument with the password":          {"--password=" + password, "--password=" + Hidden},
		"the same as base64":                     {base64.StdEncoding.EncodeToString([]byte(password)), Hidden},
		"a line of a longer value":               {"x: staple and more", "x: " + Hidden},
		"a longer value as part of JSON":         {`{"a":"battery\nstaple and more"}`, `{"a":"` + Hidden + `"}`},
		"a value that is too short to be hidden": {"on", "on"},
		"what no Secret holds":                   {"unrelated", "unrelated"},
	} {
		if got := values.Hide(test.text); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	other := secret.DeepCopy()
	other.SetKind("ConfigMap")
	if got := SecretsOf(other).Hide(password); got != password {
		t.Errorf("an object that is no Secret hides %q", got)
	}
}

// shownInstead is what stands in the place of values.
var shownInstead = Hidden + SecretValue

// FuzzSecrets writes a value into a Secret and into an argument, and expects to find it in no difference.
func FuzzSecrets(f *testing.F) {
	for _, seed := range []string{"hunter2!", "with \"quotes\" and\nlines of text", "ünïcödé-value", "aaaaaaaaaaaa", "eA==eA=="} {
		f.Add(seed, "prefix ", " suffix")
	}
	f.Fuzz(func(t *testing.T, value, before, after string) {
		if len(strings.TrimSpace(value)) < longValue || strings.Contains(shownInstead, value) {
			t.Skip()
		}
		if _, err := json.Marshal(value); err != nil || strings.ToValidUTF8(value, "") != value {
			t.Skip()
		}
		object := func(argument string) *unstructured.Unstructured {
			return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"x": argument}}}
		}
		secret := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{"v": value},
		}}
		from, to := object("none"), object(before+value+after)
		for _, field := range SecretsOf(secret).Compare(from, to) {
			if strings.Contains(field.From+field.To, strings.TrimSpace(value)) && !strings.Contains(before+after, strings.TrimSpace(value)) {
				t.Errorf("%q shows %q", field, value)
			}
		}
	})
}
