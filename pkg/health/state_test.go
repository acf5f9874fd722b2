package health_test

import (
	"encoding/json"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/health"
)

func TestMapState(t *testing.T) {
	const body = `
status:
  phase: up
  ready: true
  count: 3
  ratio: 0.5
  large: 9007199254740993
  nothing: null
  parts: [{name: a, state: up}, {name: b, state: up}]
  mixed: [{state: up}, {state: down}]
  conditions: [{type: Ready, status: "True"}, {type: Synced, status: "False"}]
  "odd.key": odd
`
	for _, test := range []struct {
		name  string
		path  string
		value string
		found bool
	}{
		{"as kubectl writes it", "{.status.phase}", "up", true},
		{"with a dot", ".status.phase", "up", true},
		{"without a dot", "status.phase", "up", true},
		{"from the root", "$.status.phase", "up", true},
		{"with spaces around it", " .status.phase ", "up", true},
		{"in brackets", "['status']['phase']", "up", true},
		{"a key with a dot", `.status.odd\.key`, "odd", true},
		{"another value", ".status.phase", "down", false},
		{"case counts", ".status.phase", "Up", false},
		{"a field that is missing", ".status.nowhere", "", false},
		{"a field below a missing one", ".nowhere.phase", "up", false},
		{"a field of a scalar", ".status.phase.more", "up", false},
		{"a boolean", ".status.ready", "true", true},
		{"an integer", ".status.count", "3", true},
		{"a fraction", ".status.ratio", "0.5", true},
		{"a large integer is not rounded", ".status.large", "9007199254740993", true},
		{"null is not a value", ".status.nothing", "", false},
		{"an object is not a value", ".status", "map[]", false},
		{"a list is not a value", ".status.parts", "[]", false},
		{"an item of a list", ".status.parts[1].state", "up", true},
		{"the last item of a list", ".status.parts[-1:].name", "b", true},
		{"an item that is not there", ".status.parts[5].state", "up", false},
		{"all items, when all are the same", ".status.parts[*].state", "up", true},
		{"all items, when one is not", ".status.mixed[*].state", "up", false},
		{"the item that a filter finds", `.status.conditions[?(@.type=="Ready")].status`, "True", true},
		{"an item that a filter does not find", `.status.conditions[?(@.type=="Lost")].status`, "True", false},
		{"a filter on a scalar", `.status.phase[?(@.type=="Ready")].status`, "True", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			check := health.StateCheck{JSONPath: test.path, Value: test.value, State: "Ready"}
			if err := check.Validate(); err != nil {
				t.Fatal(err)
			}
			state, found := health.MapState(object(t, "apiVersion: a/v1\nkind: B\n"+body), []health.StateCheck{check})
			if found != test.found || found != (state == "Ready") {
				t.Errorf("got %q, %t; want %t", state, found, test.found)
			}
		})
	}
}

func TestMapStateTakesTheFirstCheckThatHolds(t *testing.T) {
	checks := []health.StateCheck{
		{JSONPath: ".status.phase", Value: "broken", State: "Error"},
		{JSONPath: "..", Value: "up", State: "Never"},
		{JSONPath: ".status.phase", Value: "up", State: "Ready"},
		{JSONPath: ".status.busy", Value: "true", State: "Processing"},
		{JSONPath: ".status.phase", Value: "up", State: "Second"},
	}
	for _, test := range []struct{ name, body, state string }{
		{"the first of two that hold", "status: {phase: up, busy: true}", "Ready"},
		{"a later one", "status: {phase: else, busy: true}", "Processing"},
		{"trouble", "status: {phase: broken}", "Error"},
		{"none", "status: {phase: else}", ""},
		{"no status", "spec: {}", ""},
		{"Ready of an older generation is Processing", "metadata: {generation: 2}\nstatus: {phase: up, observedGeneration: 1}", "Processing"},
		{"trouble of an older generation stays", "metadata: {generation: 2}\nstatus: {phase: broken, observedGeneration: 1}", "Error"},
		{"Ready is Deleting when the resource is being deleted", "metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}\nstatus: {phase: up}", "Deleting"},
		{"trouble stays when the resource is being deleted", "metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}\nstatus: {phase: broken}", "Error"},
	} {
		t.Run(test.name, func(t *testing.T) {
			state, found := health.MapState(object(t, "apiVersion: a/v1\nkind: B\n"+test.body), checks)
			if state != test.state || found != (test.state != "") {
				t.Errorf("got %q, %t; want %q", state, found, test.state)
			}
		})
	}
	if state, found := health.MapState(nil, checks); found || state != "" {
		t.Errorf("got %q for no object", state)
	}
	if state, found := health.MapState(object(t, "kind: A"), nil); found || state != "" {
		t.Errorf("got %q for no checks", state)
	}
}

func TestStateCheckValidate(t *testing.T) {
	for _, test := range []struct{ name, path, want string }{
		{"nothing", " ", "the JSONPath of a state check is empty; name a field, such as .status.phase"},
		{"too much", strings.Repeat(".a", 600), "the JSONPath of a state check has 1200 bytes, more than 1024"},
		{"an unclosed bracket", ".a[0", `".a[0" is not a valid JSONPath: `},
		{"an unclosed brace", "{.a", `"{.a" is not a valid JSONPath: `},
		{"a search through everything", "..phase", `the JSONPath "..phase" of a state check has ".."; name one field by its path, such as .status.phase`},
		{"a search within a filter", ".a[?(@..b=='c')]", `the JSONPath ".a[?(@..b=='c')]" of a state check has ".."`},
		{"a union", ".a[0,1]", `the JSONPath ".a[0,1]" of a state check has a union`},
		{"a range", "{range .a[*]}{.b}{end}", `the JSONPath "{range .a[*]}{.b}{end}" of a state check has text, or several paths`},
		{"an unclosed range", "{range .a[*]}", `the JSONPath "{range .a[*]}" of a state check has a range`},
		{"text around it", "a {.b}", `"a {.b}" is not a valid JSONPath: `},
		{"two paths", "{.a}{.b}", `the JSONPath "{.a}{.b}" of a state check has text, or several paths`},
	} {
		t.Run(test.name, func(t *testing.T) {
			check := health.StateCheck{JSONPath: test.path, Value: "a", State: "Ready"}
			if err := check.Validate(); err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
			if _, found := health.MapState(object(t, "a: a"), []health.StateCheck{check}); found {
				t.Error("it maps all the same")
			}
		})
	}
}

// FuzzMapState: for any path and any object nothing panics, and only a valid check maps.
func FuzzMapState(f *testing.F) {
	for _, path := range []string{".a", "{.a[0].b}", "$.a[-1:]['b']", `.a[?(@.b=="d")].b`, ".a[?(@.b)]", ".*", "[*][*]", ".a[::2]", "{..}", "{.a}}", "{true}", "{1.5}",
		`{"a"}`, `.a[?(1==1)]`} {
		f.Add(path, "d", `{"a":[{"b":"d"},null],"c":{"d":[1.5]}}`)
	}
	f.Fuzz(func(t *testing.T, path, value, text string) {
		check := health.StateCheck{JSONPath: path, Value: value, State: "Mapped"}
		invalid := check.Validate()
		u := &unstructured.Unstructured{}
		if json.Unmarshal([]byte(text), &u.Object) != nil {
			return
		}
		state, found := health.MapState(u, []health.StateCheck{check})
		if found != (state == "Mapped") || found && invalid != nil {
			t.Fatalf("got %q, %t from a check with %v", state, found, invalid)
		}
	})
}
