package resourcetree

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/fielddiff"
)

// randomSecret returns a Secret with random values, and the values: in data, in stringData, in the copy of kubectl, in another annotation.
func randomSecret(random *rand.Rand) (*unstructured.Unstructured, []string) {
	var values []string
	data, plain := map[string]any{}, map[string]any{}
	for i := range 1 + random.IntN(4) {
		value := randomText(random)
		values = append(values, value, base64.StdEncoding.EncodeToString([]byte(value)))
		if random.IntN(2) == 0 {
			data[fmt.Sprint("key", i)] = base64.StdEncoding.EncodeToString([]byte(value))
		} else {
			plain[fmt.Sprint("key", i)] = value
		}
	}
	fields := map[string]any{"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": data, "stringData": plain}
	if random.IntN(4) == 0 {
		fields["apiVersion"] = "vault.example.com/v1" // a Secret of another group holds secrets as well
	}
	text, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	fields["metadata"] = map[string]any{"name": "s", "annotations": map[string]any{
		lastApplied: string(text), "example.com/checksum": "v1 " + values[0],
	}}
	return &unstructured.Unstructured{Object: fields}, values
}

// randomText returns 6 to 30 letters: no word of an object.
func randomText(random *rand.Rand) string {
	letters := []rune("abcdefghijklmnopqrstuvwxyzQWXYZ0123456789+/=\"\\ü")
	text := []rune("Q")
	for range 5 + random.IntN(25) {
		text = append(text, letters[random.IntN(len(letters))])
	}
	return string(text)
}

// holds returns the first of some values that stands in what is sent.
func holds(t *testing.T, sent any, values []string) string {
	t.Helper()
	text, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range values {
		quoted, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), strings.Trim(string(quoted), `"`)) {
			return value + " in " + string(text)
		}
	}
	return ""
}

// TestSecrets_NoValueEverAppears is the law of this package: in no form of what is shown.
func TestSecrets_NoValueEverAppears(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		secret, values := randomSecret(random)
		other, others := randomSecret(random)
		values = append(values, others...)
		wrapped := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "example.com/v1", "kind": "Bundle", "metadata": map[string]any{"name": "s", "annotations": secret.Object["metadata"].(map[string]any)["annotations"]},
			"spec": map[string]any{"objects": []any{map[string]any{"template": secret.Object}, other.Object}, "text": "x " + values[0]},
		}}
		most := 1 + random.IntN(4000)
		for name, o := range map[string]*unstructured.Unstructured{"a Secret": secret, "Secrets in another object": wrapped} {
			for _, how := range []Options{{}, {ManagedFields: true}, {Most: most}} {
				if shown, _ := Show(o, how); holds(t, shown, values) != "" {
					t.Fatalf("%s: %s", name, holds(t, shown, values))
				}
			}
		}
		elsewhere := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "data": map[string]any{"args": "--password " + others[0]},
		}}
		if shown, _ := Show(elsewhere, Options{Hide: fielddiff.SecretsOf(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Secret", "data": other.Object["data"], "stringData": other.Object["stringData"],
		}})}); holds(t, shown, others) != "" {
			t.Fatal(holds(t, shown, others))
		}
		other.SetAPIVersion(secret.GetAPIVersion())
		for _, pair := range [][2]*unstructured.Unstructured{{secret, other}, {other, secret}, {secret, elsewhere}, {wrapped, secret}, {elsewhere, wrapped}} {
			fields, _ := Difference(pair[0], pair[1], fielddiff.SecretsOf(elsewhereSecrets(secret, other)...))
			if holds(t, fields, values) != "" {
				t.Fatalf("the difference: %s", holds(t, fields, values))
			}
		}
	}
}

// elsewhereSecrets returns Secrets as those of a version, which are of Kubernetes itself.
func elsewhereSecrets(all ...*unstructured.Unstructured) []*unstructured.Unstructured {
	var made []*unstructured.Unstructured
	for _, o := range all {
		one := o.DeepCopy()
		one.SetAPIVersion("v1")
		made = append(made, one)
	}
	return made
}

func TestShow_AShortValueOfASecretIsHiddenToo(t *testing.T) {
	shown, notes := Show(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "data": map[string]any{"pin": "NDI=", "bad": "not base64!", "odd": int64(7)},
	}}, Options{})
	data, _ := shown["data"].(map[string]any)
	if data["pin"] != "(hidden, 2 bytes)" || data["bad"] != "(hidden, 11 bytes)" || data["odd"] != "(hidden, 0 bytes)" || len(notes) != 1 {
		t.Errorf("%v, %q", data, notes)
	}
	if shown, _ = Show(&unstructured.Unstructured{Object: map[string]any{"kind": "Secret", "data": "text"}}, Options{}); shown["data"] != fielddiff.SecretValue {
		t.Errorf("%v", shown)
	}
}

// TestShow_ASecretOfVeryManyLines is shown in little time, and hides every text.
func TestShow_ASecretOfVeryManyLines(t *testing.T) {
	var lines strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&lines, "a line of a value %d\n", i)
	}
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{"lines": lines.String()}, "metadata": map[string]any{
			"name": "s", "namespace": "ns", "annotations": map[string]any{"copy": "a line of a value 77", "name": "a line of a value 78"},
		},
	}}
	began := time.Now()
	shown, _ := Show(o, Options{})
	text := fmt.Sprint(shown)
	if strings.Contains(text, "a line of") || shown["kind"] != "Secret" || shown["metadata"].(map[string]any)["name"] != "s" || time.Since(began) > 10*time.Second {
		t.Errorf("%s, after %s", text, time.Since(began))
	}
}

func TestShow_IsBounded(t *testing.T) {
	large := map[string]any{}
	for i := range 3000 {
		large[fmt.Sprint("key-", i)] = strings.Repeat("ü", 1000)
	}
	large["aaa"] = strings.Repeat("x", 1<<20)
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "large"}, "data": large}}
	shown, notes := Show(o, Options{})
	text, err := json.Marshal(shown)
	if err != nil || len(text) > MostBytes+mostText || len(notes) != 1 || !strings.Contains(notes[0], "too large") {
		t.Errorf("%d bytes, %q, %v", len(text), notes, err)
	}
	if metadata, _ := shown["metadata"].(map[string]any); metadata["name"] != "large" {
		t.Errorf("what names the object is left out: %v", metadata)
	}
	deep := any("end")
	for range 5000 {
		deep = []any{deep}
	}
	if _, notes = Show(&unstructured.Unstructured{Object: map[string]any{"spec": deep}}, Options{}); len(notes) != 1 {
		t.Errorf("%q", notes)
	}
	if shown, notes = Show(nil, Options{}); shown != nil || notes != nil {
		t.Error("something is shown of nothing")
	}
}

func TestShow_ManagedFieldsOnRequest(t *testing.T) {
	o := &unstructured.Unstructured{Object: map[string]any{"kind": "A", "metadata": map[string]any{"name": "a", "managedFields": []any{"f"}}}}
	without, _ := Show(o, Options{})
	with, _ := Show(o, Options{ManagedFields: true})
	if _, has := without["metadata"].(map[string]any)["managedFields"]; has || with["metadata"].(map[string]any)["managedFields"] == nil {
		t.Errorf("%v, %v", without, with)
	}
	if _, has := o.Object["metadata"].(map[string]any)["managedFields"]; !has {
		t.Error("the object itself was changed")
	}
}
