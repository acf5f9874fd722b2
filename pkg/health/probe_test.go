package health_test

import (
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
)

func TestProbe(t *testing.T) {
	const body = `
metadata: {name: a, generation: 2, creationTimestamp: "2026-01-02T03:04:05Z", labels: {tier: gold}}
spec: {size: 3, ratio: 0.5, wanted: true, cpu: 500m, password: hunter2, names: [a, b], nothing: null}
status: {observedGeneration: 2, readyReplicas: 3, phase: Running, conditions: [{type: Ready, status: "True"}]}
`
	for _, test := range []struct {
		name, expression string
		ok               bool
		message          string
	}{
		{"a field that has the value", "self.status.phase == 'Running'", true, ""},
		{"a field that has another value", "self.status.phase == 'Idle'", false, "is not true yet: self.status.phase == 'Idle'"},
		{"numbers are compared whatever their type", "self.spec.size == self.status.readyReplicas && self.spec.size == 3.0 && self.spec.ratio < 1", true, ""},
		{"a field that is a boolean is an answer", "self.spec.wanted", true, ""},
		{"a field that is no boolean", "self.spec.size", false, "is neither true nor false, compare it with something: self.spec.size"},
		{"a list is searched", "self.status.conditions.exists(c, c.type == 'Ready' && c.status == 'True')", true, ""},
		{"a field that may be missing", "has(self.status.reason) ? self.status.reason == 'A' : true", true, ""},
		{"a field that is optional", "self.?status.?reason.orValue('none') == 'none'", true, ""},
		{"a field that is missing is not true yet", "self.status.reason == 'A'", false,
			`cannot be answered yet, there is no field "reason": self.status.reason == 'A'`},
		{"a label that is missing is not true yet", "self.metadata.labels['other'] == 'A'", false,
			`cannot be answered yet, there is no field "other": self.metadata.labels['other'] == 'A'`},
		{"a field that only the object names is not repeated", "self.metadata.labels[self.spec.password] == 'A'", false,
			"cannot be answered yet, a field is missing: self.metadata.labels[self.spec.password] == 'A'"},
		{"a list that is too short is not true yet", "self.spec.names[2] == 'c'", false,
			"cannot be answered yet, a list is too short: self.spec.names[2] == 'c'"},
		{"a result that is clear without the missing field", "self.spec.wanted || self.status.reason == 'A'", true, ""},
		{"null is a value", "self.spec.nothing == null", true, ""},
		{"Kubernetes' quantities", "quantity(self.spec.cpu).isLessThan(quantity('1'))", true, ""},
		{"Kubernetes' lists, strings, regular expressions", "self.spec.names.isSorted() && self.status.phase.lowerAscii() == 'running' && self.status.phase.find('[A-Z]') == 'R'", true, ""},
		{"times are compared with times in the object", "timestamp(self.metadata.creationTimestamp) < timestamp('2027-01-01T00:00:00Z')", true, ""},
		{"types that do not fit", "self.spec.size + self.spec.password == 'A'", false,
			"does not fit the types that the fields have: self.spec.size + self.spec.password == 'A'"},
		{"a value that cannot be converted is not repeated", "int(self.spec.password) == 1", false,
			"cannot be answered for this object: int(self.spec.password) == 1"},
		{"a division by nothing", "1 / (self.spec.size - 3) == 1", false, "cannot be answered for this object: 1 / (self.spec.size - 3) == 1"},
		{"an expression that is too costly is stopped",
			"[0,1,2,3,4,5,6,7,8,9].all(a, [0,1,2,3,4,5,6,7,8,9].all(b, [0,1,2,3,4,5,6,7,8,9].all(c, [0,1,2,3,4,5,6,7,8,9].all(d, [0,1,2,3,4,5,6,7,8,9].all(e, [0,1,2,3,4,5,6,7,8,9].all(f, [0,1,2,3,4,5,6,7,8,9].all(g, true)))))))",
			false, "is too costly for this object, make it simpler: [0,1,2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			probe, err := health.CompileProbe(test.expression)
			if err != nil {
				t.Fatal(err)
			}
			u := object(t, "apiVersion: a/v1\nkind: B\n"+body)
			ok, message := probe.Check(u)
			if ok != test.ok || !strings.HasPrefix(message, test.message) || (test.message == "") != (message == "") {
				t.Errorf("got %t, %q; want %t, %q", ok, message, test.ok, test.message)
			}
			if strings.Contains(message, "hunter2") {
				t.Errorf("a value is repeated: %s", message)
			}
		})
	}
}

func TestProbeWithoutObject(t *testing.T) {
	probe, err := health.CompileProbe("true")
	if err != nil {
		t.Fatal(err)
	}
	if ok, message := probe.Check(nil); ok || message != "there is no object" {
		t.Errorf("got %t, %q", ok, message)
	}
	if ok, message := probe.Check(&unstructured.Unstructured{}); !ok {
		t.Errorf("got %q for an empty object and an expression that does not read it", message)
	}
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if ok, message := probe.Check(object(t, "kind: A")); !ok {
				t.Error(message)
			}
		})
	}
	group.Wait()
}

func TestCompileProbeRefuses(t *testing.T) {
	for _, test := range []struct{ name, expression, want string }{
		{"nothing", " \n", "the expression of a probe is empty; write a CEL expression about self that is true or false"},
		{"too much", "true" + strings.Repeat(" ", 4096), "the expression of a probe has 4100 bytes, more than 4096; split it into several probes"},
		{"invalid CEL", "self.a ==", "the expression of a probe is not valid CEL about self: Syntax error: mismatched input '<EOF>'"},
		{"other variables", "true && object.a", "the expression of a probe is not valid CEL about self: undeclared reference to 'object' (in container '') (line 1, column 9)"},
		{"an old object, which does not exist here", "self.a == oldSelf.a", "the expression of a probe is not valid CEL about self: undeclared reference to 'oldSelf'"},
		{"the current time, to which it has no access", "now() > timestamp('2027-01-01T00:00:00Z')", "the expression of a probe is not valid CEL about self: undeclared reference to 'now'"},
		{"a number", "1 + 1", "the expression of a probe gives int; compare it with something, so that it is true or false"},
		{"a text", "'a'", "the expression of a probe gives string; compare it with something, so that it is true or false"},
		{"an invalid regular expression", "'a'.matches('(')", "the expression of a probe is not valid CEL about self: invalid matches argument"},
		{"nesting without end", strings.Repeat("(", 2000) + "true" + strings.Repeat(")", 2000), "the expression of a probe is not valid CEL about self: "},
	} {
		t.Run(test.name, func(t *testing.T) {
			probe, err := health.CompileProbe(test.expression)
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v, %v; want %s", probe, err, test.want)
			}
		})
	}
}

// FuzzProbe: for any expression and any object there is an answer, and it is bounded.
func FuzzProbe(f *testing.F) {
	for _, expression := range []string{"self.a == 1", "self.a", "self.a[0].b.exists(c, c == 'd')", "has(self.a) && self.?b.orValue(true)",
		"int(self.a) == quantity('1')", "self", "self.all(k, k != self[k])", "url(self.a).getHost() == ''", "((", "'\xff'"} {
		f.Add(expression, `{"a":[{"b":["d"]}],"b":null,"c":1.5}`)
	}
	f.Fuzz(func(t *testing.T, expression, text string) {
		probe, err := health.CompileProbe(expression)
		if err != nil {
			if probe != nil || err.Error() == "" || len(err.Error()) > 8<<10 {
				t.Fatalf("refused with %v, %v", probe, err)
			}
			return
		}
		u := &unstructured.Unstructured{}
		if json.Unmarshal([]byte(text), &u.Object) != nil {
			return
		}
		ok, message := probe.Check(u)
		if ok != (message == "") || utf8.RuneCountInString(message) > conditions.MessageLimit || !utf8.ValidString(message) {
			t.Fatalf("got %t, %q", ok, message)
		}
		if again, same := probe.Check(u); again != ok || same != message {
			t.Fatalf("got %t, %q and then %t, %q", ok, message, again, same)
		}
	})
}
