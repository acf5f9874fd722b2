package resourcetree

import (
	"encoding/base64"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/fielddiff"
)

// mostForms bounds how many texts are looked for: an object of a hostile cluster could hold a hundred thousand lines in a Secret, and each
// of them would be looked for in each of its texts.
const mostForms = 1000

// Hider hides the values of a Secret, and of the Secrets that stand within an object, wherever else they stand.
type Hider struct {
	values fielddiff.Secrets
	// all hides every text, since there are too many values to look for.
	all bool
}

// HiderOf returns what hides the values of the Secrets in an object. Nil has none.
func HiderOf(o *unstructured.Unstructured) Hider {
	if o == nil {
		return Hider{}
	}
	secrets := embedded(o.Object)
	if formsOf(secrets) > mostForms {
		return Hider{all: true}
	}
	return Hider{values: fielddiff.SecretsOf(secrets...)}
}

// Hide returns a text without the values.
func (h Hider) Hide(text string) string {
	if h.all && text != "" {
		return fielddiff.SecretValue
	}
	return h.values.Hide(text)
}

// formsOf returns about how many texts the values of some Secrets are looked for by.
func formsOf(secrets []*unstructured.Unstructured) int {
	forms := 0
	for _, secret := range secrets {
		for _, field := range []string{"data", "stringData"} {
			values, is := secret.Object[field].(map[string]any)
			if !is {
				forms++
			}
			for _, value := range values {
				text := fmt.Sprint(value)
				forms += 3 + strings.Count(text, "\n")
				if plain, err := base64.StdEncoding.DecodeString(text); err == nil {
					forms += strings.Count(string(plain), "\n")
				}
			}
		}
	}
	return forms
}

// embedded returns a Secret and the Secrets that stand within an object, as far down as objects are written.
func embedded(value any) []*unstructured.Unstructured {
	var all []*unstructured.Unstructured
	switch v := value.(type) {
	case map[string]any:
		if isSecret(v) {
			all = append(all, &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "v1", "kind": kindSecret, "data": v["data"], "stringData": v["stringData"],
			}})
		}
		for _, inner := range v {
			all = append(all, embedded(inner)...)
		}
	case []any:
		for _, inner := range v {
			all = append(all, embedded(inner)...)
		}
	}
	return all
}
