package render

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/render/internal/rendertest"
)

// FuzzParse holds what the rest of the program relies on: whatever the bytes are, there is an answer, every object can be identified,
// copied and written as JSON, and what was written is read back as the same objects.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", rendertest.Config("a"), rendertest.Config("a") + "---\n" + rendertest.Config("b"), rendertest.JSONConfig("a") + rendertest.JSONConfig("b"), rendertest.List("List", rendertest.Config("a")),
		"{apiVersion: v1, kind: A, metadata: {name: a}}\n{b: 1}", "a: &a [*a]\n", rendertest.Config("a") + "x: &x {k: v}\ny:\n  <<: *x\n  k: w\n",
		"a: 1\r---\rb: 2\n", "...\n", "%YAML 1.1\n---\na: 1\n", "? a\n: b\n", "a: !!binary aGk=\n", "a: 2001-01-01\n", "\ufeffa: .inf\n",
		rendertest.Config("a") + "  labels: {a: , b: 1}\n", "- a\n", "--- x\n", "a: |\n  {{ b }}\n", clusterRole, rendertest.Definition("a.io", "A", "Cluster"),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		objects, err := Parse(bytes.NewReader(text), 1<<16)
		if err != nil {
			if reason := content.ReasonOf(err); reason != content.ReasonContentInvalid && reason != content.ReasonContentTooLarge {
				t.Fatalf("reason %q of %v", reason, err)
			}
			return
		}
		normal, err := Normalise(objects, "target", FirstKnown(BuiltinScope, Scopes(objects).Scope))
		if err != nil {
			return
		}
		var written strings.Builder
		for _, object := range Mark(normal, Marks{Labels: map[string]string{"mark": "m"}}) {
			if object.GetName() == "" || object.GetKind() == "" || object.GetLabels()["mark"] != "m" {
				t.Fatalf("%s is not marked and identified", inventory.IDOf(object))
			}
			line, err := json.Marshal(object.Object)
			if err != nil {
				t.Fatalf("%s cannot be written: %v", inventory.IDOf(object), err)
			}
			written.Write(append(line, '\n'))
		}
		again, err := Parse(strings.NewReader(written.String()), 1<<24)
		if err != nil || !reflect.DeepEqual(rendertest.Identities(again), rendertest.Identities(normal)) {
			t.Fatalf("read back %v as %v: %v", rendertest.Identities(normal), rendertest.Identities(again), err)
		}
	})
}
