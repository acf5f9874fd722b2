package apply

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestCheckDefinition(t *testing.T) {
	f := onServer(t)
	group := f.namespace + ".example.com"
	definition := func(properties string) *unstructured.Unstructured {
		return f.object(fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: parts.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: Part, plural: parts}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {%[2]s}}}}}
`, group, properties))
	}
	check := func(text string, properties, want string) {
		t.Helper()
		findings, err := f.cluster.CheckDefinition(t.Context(), definition(properties))
		f.must(err)
		var rules []string
		for _, finding := range findings {
			rules = append(rules, finding.Rule)
		}
		if got := strings.Join(rules, " "); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	check("a new definition", "size: {type: integer}", "")
	made := f.exists(definition("size: {type: integer}"), manager)
	(&installation{fixture: f}).established(made)
	made = f.get(made)
	check("the same", "size: {type: integer}", "")
	check("a field more", "size: {type: integer}, name: {type: string}", "")
	check("a field less, without objects", "", "")
	check("a bound without objects", "size: {type: integer, maximum: 5}", "")
	f.exists(f.object(fmt.Sprintf("{apiVersion: %s/v1, kind: Part, metadata: {name: big}, spec: {size: 7}}", group)), manager)
	check("a field less", "", "FieldRemoved")
	check("a bound that an object keeps", "size: {type: integer, maximum: 9}", "BoundNarrowed")
	check("a bound that an object breaks", "size: {type: integer, maximum: 5}", "BoundNarrowed ObjectInvalid")
	check("a default that no object depends on", "size: {type: integer, default: 7}", "")
	f.exists(f.object(fmt.Sprintf("{apiVersion: %s/v1, kind: Part, metadata: {name: plain}, spec: {}}", group)), manager)
	check("a default that an object depends on", "size: {type: integer, default: 7}", "DefaultChanged")
	_, err := f.cluster.CheckDefinition(t.Context(), definition("size: {description: has no type}"))
	var told *Error
	if !errors.As(err, &told) || told.Class != ClassRefused || told.ID != inventory.IDOf(made) {
		t.Errorf("a schema that is none: %v", err)
	}
}
