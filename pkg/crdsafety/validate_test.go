package crdsafety_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
)

// widget reads an object with numbers as a cluster's client decodes them.
func widget(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &u.Object); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return u
}

func TestValidate(t *testing.T) {
	const secret = "hunter2"
	for _, test := range []struct {
		name, schema, spec string
		want               []string // the first word of a message, "Widget default/a", is left out
	}{
		{"an object that fits", "{type: object, properties: {a: {type: string}}}", "{a: b}", nil},
		{"a field that is missing", "{type: object, required: [a], properties: {a: {type: string}}}", "{}",
			[]string{"v1 spec.a: lacks the field"}},
		{"a field that a default fills in is not missing", "{type: object, required: [a], properties: {a: {type: string, default: b}}}", "{}", nil},
		{"a default must fit itself", "{type: object, properties: {a: {type: string, default: b, maxLength: 0}}}", "{}",
			[]string{"v1 spec.a: has a value that is refused: may not be more than 0 bytes"}},
		{"an unknown field is dropped first", "{type: object, maxProperties: 1, properties: {a: {type: string}}}", "{a: b, c: d}", nil},
		{"a field that is kept counts", "{type: object, maxProperties: 1, x-kubernetes-preserve-unknown-fields: true}", "{a: b, c: d}",
			[]string{"v1 spec: has a value that is refused: must have at most 1 item"}},
		{"null is dropped where it is not accepted", "{type: object, properties: {a: {type: string}}}", "{a: null}", nil},
		{"another type", "{type: object, properties: {a: {type: integer}}}", "{a: hunter2}",
			[]string{"v1 spec.a: has a value that must be of type integer"}},
		{"another type, where the value looks like a sentence", "{type: object, properties: {a: {type: string, format: date}}}",
			"{a: 'hunter2: must be of type x'}", []string{"v1 spec.a: has a value that must be of type date"}},
		{"another format does not quote the value", "{type: object, properties: {a: {type: string, format: ipv4}}}", "{a: hunter2}",
			[]string{"v1 spec.a: has a value that must be of type ipv4"}},
		{"an enum names the accepted values", "{type: object, properties: {a: {type: string, enum: [b, c]}}}", "{a: hunter2}",
			[]string{`v1 spec.a: has a value that is refused: supported values: "b", "c"`}},
		{"a pattern", "{type: object, properties: {a: {type: string, pattern: '^b$'}}}", "{a: hunter2}",
			[]string{"v1 spec.a: has a value that is refused: should match '^b$'"}},
		{"bounds", "{type: object, properties: {a: {type: integer, maximum: 5}, b: {type: array, items: {type: string}, minItems: 2}}}", "{a: 6, b: [c]}",
			[]string{"v1 spec.a: has a value that is refused: should be less than or equal to 5", "v1 spec.b: has a value that is refused: should have at least 2 items"}},
		{"a list that is a set", "{type: object, properties: {a: {type: array, items: {type: string}, x-kubernetes-list-type: set}}}", "{a: [hunter2, hunter2]}",
			[]string{"v1 spec.a[1]: has the item more than once"}},
		{"a list that is a map", "{type: object, properties: {a: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k]," +
			" items: {type: object, required: [k], properties: {k: {type: string}}}}}}", "{a: [{k: hunter2}, {k: hunter2}]}",
			[]string{"v1 spec.a[1]: has the item more than once"}},
		{"a combination", "{type: object, properties: {a: {type: string}}, oneOf: [{required: [a]}, {required: [b]}]}", "{}",
			[]string{`v1: has a value that is refused: "spec" must validate one and only one schema (oneOf). Found none valid`,
				"v1 spec.a: lacks the field"}},
		{"an embedded resource", "{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}", "{apiVersion: a/b/hunter2, kind: B}",
			[]string{"v1 spec.apiVersion: has a value that is refused: this is no valid part of an embedded resource"}},
		{"a rule has its own message", "{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: self.a != 'hunter2', message: a is taken}]}", "{a: hunter2}",
			[]string{"v1 spec: has a value that is refused: a is taken"}},
		{"a rule without a message is quoted", "{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: self.a == 'b'}]}", "{a: hunter2}",
			[]string{"v1 spec: has a value that is refused: failed rule: self.a == 'b'"}},
		{"a rule cannot quote a value", "{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: self.a == 'b', messageExpression: self.a}]}", "{a: hunter2}",
			[]string{"v1 spec: has a value that is refused: failed rule: self.a == 'b'"}},
		{"a rule deep inside cannot quote a value", "{type: object, properties: {a: {type: array, items: {type: object, additionalProperties: {type: string," +
			" x-kubernetes-validations: [{rule: self == 'b', message: c, messageExpression: self}]}}}}}", "{a: [{x: hunter2}]}",
			[]string{"v1 spec.a[0][x]: has a value that is refused: c"}},
		{"a rule that fails does not quote a value", "{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: int(self.a) == 1}]}", "{a: hunter2}",
			[]string{"v1 spec: has a value that is refused: a rule cannot be evaluated: int(self.a) == 1"}},
		{"a transition rule is skipped", "{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [{rule: self.a != oldSelf.a}]}", "{a: b}", nil},
		{"rules are checked only when the schema holds", "{type: object, properties: {a: {type: integer}}, x-kubernetes-validations: [{rule: self.a == 1}]}", "{a: b}",
			[]string{"v1 spec.a: has a value that must be of type integer"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, err := crdsafety.NewValidator(widgets(t, test.schema))
			if err != nil {
				t.Fatal(err)
			}
			obj := widget(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a, namespace: default}, spec: "+test.spec+"}")
			before := obj.DeepCopy()
			var got []string
			for _, finding := range v.Validate(obj) {
				if finding.Rule != crdsafety.ObjectInvalid || !strings.HasPrefix(finding.Message, "Widget default/a ") {
					t.Errorf("got %v", finding)
				}
				if strings.Contains(finding.String(), secret) && !strings.Contains(test.schema, secret) {
					t.Errorf("a value is quoted: %v", finding)
				}
				got = append(got, strings.TrimPrefix(strings.Replace(finding.String(), "Widget default/a ", "", 1), "ObjectInvalid: "))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, obj); diff != "" {
				t.Errorf("the object was changed: %s", diff)
			}
		})
	}
}

// TestValidateVersions checks in which version an object is judged.
func TestValidateVersions(t *testing.T) {
	const crd = `
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {plural: widgets, kind: Widget}
  versions:
  - {name: v1, served: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: string}}}}}
  - {name: v2, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: integer}}}}}
  - {name: v3}
`
	for _, test := range []struct{ name, crd, object, want string }{
		{"in the version in which it was read", crd, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: x}, a: b}", ""},
		{"in another version in which it was read", crd, "{apiVersion: example.com/v2, kind: Widget, metadata: {name: x}, a: b}",
			"ObjectInvalid: v2 a: Widget x has a value that must be of type integer"},
		{"a version without a schema accepts everything", crd, "{apiVersion: example.com/v3, kind: Widget, metadata: {name: x}, a: b}", ""},
		{"in the storage version when its own version is gone", crd, "{apiVersion: example.com/v0, kind: Widget, metadata: {name: x}, a: b}",
			"ObjectInvalid: v2 a: Widget x has a value that must be of type integer"},
		{"not at all when a webhook would have to convert it", crd + "  conversion: {strategy: Webhook}\n", "{apiVersion: example.com/v0, kind: Widget, metadata: {name: x}, a: b}",
			"ObjectInvalid: v0: Widget x cannot be checked: only the webhook of the new definition converts it from this version"},
		{"another kind is reported", crd, "{apiVersion: example.com/v1, kind: Gadget, metadata: {name: x}}", "ObjectInvalid: v1: Gadget x is not of kind Widget.example.com"},
		{"another group is reported", crd, "{apiVersion: v1, kind: Widget, metadata: {name: x}}", "ObjectInvalid: v1: Widget x is not of kind Widget.example.com"},
		{"fields are kept where the definition preserves them", crd + "  preserveUnknownFields: true\n", "{apiVersion: example.com/v1, kind: Widget, metadata: {name: x}, a: b, c: d}", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, err := crdsafety.NewValidator(definition(t, test.crd))
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, finding := range v.Validate(widget(t, test.object)) {
				got = append(got, finding.String())
			}
			if diff := cmp.Diff(test.want, strings.Join(got, "\n")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestValidateTrustsNothing(t *testing.T) {
	v, err := crdsafety.NewValidator(widgets(t, "{type: object, additionalProperties: {type: integer}}"))
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Validate(nil); got != nil {
		t.Errorf("got %v for no object", got)
	}
	strange := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "spec": struct{}{}}}
	if got := v.Validate(strange); len(got) != 1 || got[0].Message != "Widget  cannot be read" {
		t.Errorf("got %v for an object that is no JSON", got)
	}
	spec := map[string]any{}
	for letter := range strings.SplitSeq("abcdefghijklmnopqrstuvwxyz", "") {
		spec[letter] = "no number"
	}
	many := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "spec": spec}}
	first := v.Validate(many)
	if len(first) != 10 {
		t.Errorf("got %d findings for one object", len(first))
	}
	var group sync.WaitGroup
	for range 4 { // the same for every caller, in the same order
		group.Go(func() {
			if diff := cmp.Diff(first, v.Validate(many)); diff != "" {
				t.Error(diff)
			}
		})
	}
	group.Wait()
}

func TestNewValidatorNamesTheSchemaThatCannotBeUsed(t *testing.T) {
	for _, test := range []struct{ name, schema, want string }{
		{"a list without items", "{type: array}", "items: Required value: must be specified"},
		{"a keyword that definitions may not have", "{type: object, patternProperties: {a: {type: string}}}", "patternProperties"},
		{"no type", "{}", "must not be empty for specified object fields"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := crdsafety.NewValidator(widgets(t, test.schema))
			if err == nil || !strings.Contains(err.Error(), test.want) ||
				!strings.HasPrefix(err.Error(), "CustomResourceDefinition widgets.example.com: the schema of version v1 cannot be used, correct it: ") {
				t.Errorf("got %v", err)
			}
		})
	}
}
