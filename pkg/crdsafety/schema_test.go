package crdsafety_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
)

// definition reads a CustomResourceDefinition of which only the relevant part is written down.
func definition(t testing.TB, spec string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(spec), crd); err != nil {
		t.Fatalf("%v in %s", err, spec)
	}
	return crd
}

// widgets returns a definition with one version whose spec has that schema.
func widgets(t testing.TB, schema string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	return definition(t, `
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: `+schema+`}}}}
`)
}

// places returns the findings without their messages.
func places(findings []crdsafety.Finding) []string {
	var all []string
	for _, f := range findings {
		f.Message = ""
		all = append(all, f.String())
	}
	return all
}

// TestFieldRules checks each case forward, and backward with the findings of the reverse change.
func TestFieldRules(t *testing.T) {
	for _, test := range []struct {
		name, before, after string
		forward, backward   []string
	}{
		{"the same schema is not a change", "{type: object, properties: {a: {type: string}}}", "{type: object, properties: {a: {type: string}}}", nil, nil},
		{"descriptions, titles and examples are free", "{type: object, description: a}",
			"{type: object, description: b, title: c, example: {d: 1}, externalDocs: {url: e}}", nil, nil},
		{"an optional field may be added, not removed", "{type: object, properties: {a: {type: string}}}",
			"{type: object, properties: {a: {type: string}, b: {type: object, required: [c], properties: {c: {type: string}}}}}",
			nil, []string{"FieldRemoved: v1 spec.b: "}},
		{"a field is found wherever it is",
			"{type: array, items: {type: object, additionalProperties: {type: object, properties: {'x/y': {type: string}}}}}",
			"{type: array, items: {type: object, additionalProperties: {type: object, properties: {}}}}",
			[]string{`FieldRemoved: v1 spec[*].*["x/y"]: `}, nil},
		{"another type is one finding, whatever is below it", "{type: object, required: [a], properties: {a: {type: string}}}", "{type: array, items: {type: string}, maxItems: 1}",
			[]string{"TypeChanged: v1 spec: "}, []string{"TypeChanged: v1 spec: "}},
		{"integer and number are two types, because clients decode them", "{type: integer}", "{type: number}",
			[]string{"TypeChanged: v1 spec: "}, []string{"TypeChanged: v1 spec: "}},
		{"int-or-string is a type", "{type: string}", "{x-kubernetes-int-or-string: true}",
			[]string{"TypeChanged: v1 spec: "}, []string{"TypeChanged: v1 spec: "}},
		{"both ways to write int-or-string are one", "{x-kubernetes-int-or-string: true}",
			"{x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}", nil, nil},
		{"an enum may grow, not shrink", "{type: string, enum: [a, b]}", "{type: string, enum: [c, b, a]}",
			nil, []string{"EnumNarrowed: v1 spec: "}},
		{"an enum may be removed, not added", "{type: string, enum: [a]}", "{type: string}", nil, []string{"EnumNarrowed: v1 spec: "}},
		{"values of an enum are compared by meaning", `{type: object, x-kubernetes-preserve-unknown-fields: true, enum: [{a: 1, b: 2}]}`,
			`{type: object, x-kubernetes-preserve-unknown-fields: true, enum: [{b: 2, a: 1}]}`, nil, nil},
		{"large integers of an enum are not rounded", "{type: integer, enum: [9007199254740992]}", "{type: integer, enum: [9007199254740993]}",
			[]string{"EnumNarrowed: v1 spec: "}, []string{"EnumNarrowed: v1 spec: "}},
		{"a maximum may rise", "{type: integer, maximum: 1}", "{type: integer, maximum: 2}", nil, []string{"BoundNarrowed: v1 spec: "}},
		{"a maximum may be removed", "{type: integer, maximum: 1}", "{type: integer}", nil, []string{"BoundNarrowed: v1 spec: "}},
		{"a maximum may become inclusive", "{type: integer, maximum: 1, exclusiveMaximum: true}", "{type: integer, maximum: 1}",
			nil, []string{"BoundNarrowed: v1 spec: "}},
		{"a maximum that rises may become exclusive", "{type: integer, maximum: 1}", "{type: integer, maximum: 2, exclusiveMaximum: true}",
			nil, []string{"BoundNarrowed: v1 spec: "}},
		{"a minimum may fall", "{type: number, minimum: 1.5}", "{type: number, minimum: 1.4}", nil, []string{"BoundNarrowed: v1 spec: "}},
		{"a minimum of zero is a bound", "{type: integer}", "{type: integer, minimum: 0}", []string{"BoundNarrowed: v1 spec: "}, nil},
		{"a minimum may become inclusive", "{type: integer, minimum: 1, exclusiveMinimum: true}", "{type: integer, minimum: 1}",
			nil, []string{"BoundNarrowed: v1 spec: "}},
		{"lengths have bounds", "{type: string, minLength: 2, maxLength: 3}", "{type: string, minLength: 1, maxLength: 4}",
			nil, []string{"BoundNarrowed: v1 spec: ", "BoundNarrowed: v1 spec: "}},
		{"a minimum length of zero is not a bound", "{type: string}", "{type: string, minLength: 0}", nil, nil},
		{"lists have bounds", "{type: array, items: {type: string}, minItems: 2, maxItems: 3}", "{type: array, items: {type: string}}",
			nil, []string{"BoundNarrowed: v1 spec: ", "BoundNarrowed: v1 spec: "}},
		{"maps have bounds", "{type: object, additionalProperties: {type: string}, minProperties: 2, maxProperties: 3}",
			"{type: object, additionalProperties: {type: string}, maxProperties: 9}",
			nil, []string{"BoundNarrowed: v1 spec: ", "BoundNarrowed: v1 spec: "}},
		{"a factor may be divided", "{type: integer, multipleOf: 6}", "{type: integer, multipleOf: 3}", nil, []string{"BoundNarrowed: v1 spec: "}},
		{"a factor may be removed", "{type: integer, multipleOf: 6}", "{type: integer}", nil, []string{"BoundNarrowed: v1 spec: "}},
		{"of two factors that do not divide each other, each is narrower", "{type: integer, multipleOf: 4}", "{type: integer, multipleOf: 6}",
			[]string{"BoundNarrowed: v1 spec: "}, []string{"BoundNarrowed: v1 spec: "}},
		{"of two patterns, each is narrower", "{type: string, pattern: a}", "{type: string, pattern: b}",
			[]string{"BoundNarrowed: v1 spec: "}, []string{"BoundNarrowed: v1 spec: "}},
		{"a pattern may be removed", "{type: string, pattern: a}", "{type: string}", nil, []string{"BoundNarrowed: v1 spec: "}},
		{"a format may be removed", "{type: string, format: date}", "{type: string}", nil, []string{"BoundNarrowed: v1 spec: "}},
		{"int32 may become int64", "{type: integer, format: int32}", "{type: integer, format: int64}", nil, []string{"BoundNarrowed: v1 spec: "}},
		{"a field may become optional", "{type: object, required: [a], properties: {a: {type: string}}}",
			"{type: object, properties: {a: {type: string}}}", nil, []string{"RequiredAdded: v1 spec.a: "}},
		{"a new field may be required when it has a default", "{type: object, properties: {}}",
			"{type: object, required: [a], properties: {a: {type: string, default: b}}}", nil, []string{"FieldRemoved: v1 spec.a: "}},
		{"a default of null is no default for a required field", "{type: object, properties: {}}",
			"{type: object, required: [a], properties: {a: {type: string, nullable: true, default: null}}}",
			[]string{"RequiredAdded: v1 spec.a: "}, []string{"FieldRemoved: v1 spec.a: "}},
		{"an existing field may not get or lose a default", "{type: string}", "{type: string, default: a}",
			[]string{"DefaultChanged: v1 spec: "}, []string{"DefaultChanged: v1 spec: "}},
		{"a default is compared by meaning", "{type: object, default: {a: 1, b: 2}}", "{type: object, default: {b: 2, a: 1}}", nil, nil},
		{"a default may not change", "{type: object, default: {a: 1}}", "{type: object, default: {a: 2}}",
			[]string{"DefaultChanged: v1 spec: "}, []string{"DefaultChanged: v1 spec: "}},
		{"a field that every object has may get a default, not lose it", "{type: object, required: [a], properties: {a: {type: string}}}",
			"{type: object, required: [a], properties: {a: {type: string, default: b}}}", nil, []string{"DefaultChanged: v1 spec.a: "}},
		{"a rule may be removed", "{type: string, x-kubernetes-validations: [{rule: self == 'a'}, {rule: size(self) == 1}]}",
			"{type: string, x-kubernetes-validations: [{rule: size(self) == 1}]}", nil, []string{"ValidationRuleAdded: v1 spec: "}},
		{"two new rules are two findings", "{type: string}", "{type: string, x-kubernetes-validations: [{rule: self == 'a'}, {rule: size(self) == 1}]}",
			[]string{"ValidationRuleAdded: v1 spec: ", "ValidationRuleAdded: v1 spec: "}, nil},
		{"the message of a rule is free", "{type: string, x-kubernetes-validations: [{rule: self == 'a', message: b}]}",
			"{type: string, x-kubernetes-validations: [{rule: self == 'a', messageExpression: self, reason: FieldValueForbidden, fieldPath: .x}]}", nil, nil},
		{"a rule that also applies without an old object is another rule", "{type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}",
			"{type: string, x-kubernetes-validations: [{rule: self == oldSelf, optionalOldSelf: true}]}",
			[]string{"ValidationRuleAdded: v1 spec: "}, []string{"ValidationRuleAdded: v1 spec: "}},
		{"null may be allowed, not disallowed", "{type: string}", "{type: string, nullable: true}", nil, []string{"NullableRemoved: v1 spec: "}},
		{"a list may not merge differently", "{type: array, items: {type: string}}", "{type: array, items: {type: string}, x-kubernetes-list-type: set}",
			[]string{"ListTypeChanged: v1 spec: "}, []string{"ListTypeChanged: v1 spec: "}},
		{"the order of a list's keys is free, and atomic is the default",
			"{type: array, x-kubernetes-list-type: atomic, x-kubernetes-list-map-keys: [a, b], items: {type: object}}",
			"{type: array, x-kubernetes-list-map-keys: [b, a], items: {type: object}}", nil, nil},
		{"a list may not get another key", "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: {type: object}}",
			"{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [b], items: {type: object}}",
			[]string{"ListTypeChanged: v1 spec: "}, []string{"ListTypeChanged: v1 spec: "}},
		{"a map may not merge differently", "{type: object, x-kubernetes-map-type: granular}", "{type: object, x-kubernetes-map-type: atomic}",
			[]string{"ListTypeChanged: v1 spec: "}, []string{"ListTypeChanged: v1 spec: "}},
		{"a combination may be removed, not added", "{type: object, oneOf: [{required: [a]}, {required: [b]}]}", "{type: object}",
			nil, []string{"UnknownChange: v1 spec: "}},
		{"combinations are not compared", "{type: string, anyOf: [{minLength: 1}], allOf: [{minLength: 1}], not: {pattern: a}}",
			"{type: string, anyOf: [{minLength: 0}], allOf: [{minLength: 0}], not: {pattern: b}}",
			[]string{"UnknownChange: v1 spec: ", "UnknownChange: v1 spec: ", "UnknownChange: v1 spec: "},
			[]string{"UnknownChange: v1 spec: ", "UnknownChange: v1 spec: ", "UnknownChange: v1 spec: "}},
		{"a keyword that no rule covers fails closed", "{type: object, $ref: a}", "{type: object, $ref: b, uniqueItems: true}",
			[]string{"UnknownChange: v1 spec: "}, []string{"UnknownChange: v1 spec: "}},
		{"a schema of items may not be added or removed", "{type: array}", "{type: array, items: {type: string}}",
			[]string{"UnknownChange: v1 spec: "}, []string{"UnknownChange: v1 spec: "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, after := widgets(t, test.before), widgets(t, test.after)
			if diff := cmp.Diff(test.forward, places(crdsafety.Compare(before, after))); diff != "" {
				t.Errorf("forward: %s", diff)
			}
			if diff := cmp.Diff(test.backward, places(crdsafety.Compare(after, before))); diff != "" {
				t.Errorf("backward: %s", diff)
			}
		})
	}
}
