package crdsafety_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
)

// TestUnknownFieldsAndMaps: fields that a schema keeps without naming them.
func TestUnknownFieldsAndMaps(t *testing.T) {
	const keeps = "x-kubernetes-preserve-unknown-fields: true"
	for _, test := range []struct {
		name, before, after string
		forward, backward   []string
	}{
		{"keeping unknown fields is free, no longer keeping them is not", "{type: object}", "{type: object, " + keeps + "}",
			nil, []string{"PreserveUnknownFieldsRemoved: v1 spec: "}},
		{"no longer keeping unknown fields is one finding, whatever the schema names now", "{type: object, " + keeps + "}",
			"{type: object, properties: {a: {type: string}}}", []string{"PreserveUnknownFieldsRemoved: v1 spec: "},
			[]string{"TypeChanged: v1 spec.a: "}},
		{"a field that may hold anything already may not get a type", "{type: object, " + keeps + "}",
			"{type: object, " + keeps + ", properties: {a: {type: string}}}",
			[]string{"TypeChanged: v1 spec.a: "}, []string{"TypeChanged: v1 spec.a: "}},
		{"a field that may hold anything already may be named", "{type: object, " + keeps + "}",
			"{type: object, " + keeps + ", properties: {a: {" + keeps + "}}}", nil, nil},
		{"a list that keeps unknown fields keeps those of its items", "{type: array, " + keeps + ", items: {type: object}}",
			"{type: array, " + keeps + ", items: {type: object, properties: {a: {type: string}}}}",
			[]string{"TypeChanged: v1 spec[*].a: "}, []string{"TypeChanged: v1 spec[*].a: "}},
		{"the values of a map are compared", "{type: object, additionalProperties: {type: string}}",
			"{type: object, additionalProperties: {type: string, maxLength: 1}}", []string{"BoundNarrowed: v1 spec.*: "}, nil},
		{"fields may become values of a map that accepts them", "{type: object, properties: {a: {type: string}}}",
			"{type: object, additionalProperties: {type: string}}", nil, []string{"FieldRemoved: v1 spec.*: "}},
		{"fields may not become values of a map that does not", "{type: object, properties: {a: {type: string}}}",
			"{type: object, additionalProperties: {type: integer}}", []string{"TypeChanged: v1 spec.a: "},
			[]string{"TypeChanged: v1 spec.a: ", "FieldRemoved: v1 spec.*: "}},
		{"a map of anything may not get a type", "{type: object, additionalProperties: true}",
			"{type: object, additionalProperties: {type: string}}",
			[]string{"TypeChanged: v1 spec.*: "}, []string{"TypeChanged: v1 spec.*: "}},
		{"a map of anything drops the content of its values, so it keeps less than preserve-unknown-fields",
			"{type: object, " + keeps + "}", "{type: object, additionalProperties: true}",
			[]string{"PreserveUnknownFieldsRemoved: v1 spec: "}, nil},
		{"a map that keeps unknown fields may not type them", "{type: object, " + keeps + "}",
			"{type: object, " + keeps + ", additionalProperties: {type: string}}",
			[]string{"TypeChanged: v1 spec.*: "}, []string{"TypeChanged: v1 spec.*: "}},
		{"a new field with a default may not conflict with a limit on fields", "{type: object, maxProperties: 1, properties: {a: {type: string}}}",
			"{type: object, maxProperties: 1, properties: {a: {type: string}, b: {type: string, default: c}}}",
			[]string{"UnknownChange: v1 spec.b: "}, []string{"FieldRemoved: v1 spec.b: "}},
		{"metadata of an embedded resource is implicit",
			"{type: object, x-kubernetes-embedded-resource: true, " + keeps + "}",
			"{type: object, x-kubernetes-embedded-resource: true, " + keeps + ", required: [apiVersion, kind, metadata]," +
				" properties: {apiVersion: {type: string}, kind: {type: string}, metadata: {type: object}}}", nil, nil},
		{"metadata of an embedded resource may not be narrowed",
			"{type: object, x-kubernetes-embedded-resource: true, " + keeps + "}",
			"{type: object, x-kubernetes-embedded-resource: true, " + keeps + ", properties: {metadata: {type: object, properties: {name: {type: string, maxLength: 1}}}}}",
			[]string{"BoundNarrowed: v1 spec.metadata.name: "}, nil},
		{"becoming an embedded resource fails closed", "{type: object, " + keeps + "}",
			"{type: object, x-kubernetes-embedded-resource: true, " + keeps + "}",
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

// TestRoot: apiVersion, kind and metadata exist whether or not a schema names them.
func TestRoot(t *testing.T) {
	schema := func(root string) string {
		return "{metadata: {name: a}, spec: {group: g, scope: Cluster, names: {plural: p, kind: K}, versions: [{name: v1, served: true, storage: true" + root + "}]}}"
	}
	const bare = ", schema: {openAPIV3Schema: {type: object}}"
	for _, test := range []struct {
		name, before, after string
		want                []string
	}{
		{"they may be named", bare, ", schema: {openAPIV3Schema: {type: object, required: [metadata, kind, apiVersion], properties:" +
			" {apiVersion: {type: string}, kind: {type: string, description: a}, metadata: {type: object}}}}", nil},
		{"they may no longer be named", ", schema: {openAPIV3Schema: {type: object, properties: {apiVersion: {type: string}}}}", bare, nil},
		{"a name may not get a bound", bare,
			", schema: {openAPIV3Schema: {type: object, properties: {metadata: {type: object, properties: {name: {type: string, maxLength: 9}}}}}}",
			[]string{"BoundNarrowed: v1 metadata.name: "}},
		{"without a schema everything was kept", "", bare, []string{"PreserveUnknownFieldsRemoved: v1: "}},
		{"without a schema everything is kept", bare, "", nil},
		{"a field of the root may become required only with a default", bare,
			", schema: {openAPIV3Schema: {type: object, required: [spec, mode], properties: {spec: {type: object}, mode: {type: string, default: a}}}}",
			[]string{"RequiredAdded: v1 spec: "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := crdsafety.Compare(definition(t, schema(test.before)), definition(t, schema(test.after)))
			if diff := cmp.Diff(test.want, places(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
