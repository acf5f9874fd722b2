package crdsafety_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
)

// weighed returns the places of the remaining findings when these objects exist, read in version v1.
func weighed(t *testing.T, before, after *apiextensionsv1.CustomResourceDefinition, specs ...string) []string {
	t.Helper()
	evidence := crdsafety.NewEvidence(before, after, "v1", crdsafety.Compare(before, after))
	for _, spec := range specs {
		evidence.Add(widget(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: a}, spec: "+spec+"}"))
	}
	return places(evidence.Weigh())
}

// TestEvidence_WithoutAnObject: rules about values do not count then; findings about the definition itself stay.
func TestEvidence_WithoutAnObject(t *testing.T) {
	v1 := "versions: [" + version("v1", "a", ", storage: true") + "]"
	for _, test := range []struct {
		name, before, after string
		want                []string
	}{
		{"a field may be removed", v1, "versions: [" + version("v1", "b", ", storage: true") + "]", nil},
		{"the storage version may change", v1, "versions: [" + version("v1", "a", "") + ", " + version("v2", "b", ", storage: true") + "]", nil},
		{"the old way to keep unknown fields may be turned off", v1 + "\npreserveUnknownFields: true", v1, nil},
		{"the scope may not change", "scope: Namespaced\n" + v1, "scope: Cluster\n" + v1, []string{"ScopeChanged: "}},
		{"names may not change", names + "\n" + v1, "names: {plural: widgets, kind: Gadget}\n" + v1, []string{"NamesChanged: "}},
		{"a version that clients use may not be removed", "versions: [" + version("v1", "a", ", storage: true") + ", " + version("v2", "a", "") + "]", v1,
			[]string{"VersionRemoved: v2: "}},
		{"a subresource may not be removed", "versions: [" + version("v1", "a", ", storage: true, subresources: {status: {}}") + "]", v1,
			[]string{"UnknownChange: v1: "}},
		{"a version in which objects may be stored may not be removed, and everything counts then",
			"versions: [" + version("v1", "a", ", storage: true") + ", " + version("v2", "a", "") + "]",
			"versions: [" + version("v2", "b", ", storage: true") + "]",
			[]string{"StoredVersionRemoved: v1: ", "VersionRemoved: v1: ", "FieldRemoved: v2 a: "}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, after := definition(t, "spec:\n"+indent(test.before)), definition(t, "spec:\n"+indent(test.after))
			if diff := cmp.Diff(test.want, weighed(t, before, after)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEvidence_EveryRuleOfASchemaIsAboutValues(t *testing.T) {
	before := widgets(t, "{type: object, nullable: true, properties: {a: {type: string}, b: {type: integer}, c: {type: array, items: {type: string}}}}")
	after := widgets(t, "{type: object, required: [d], oneOf: [{required: [b]}], x-kubernetes-validations: [{rule: has(self.b)}], properties:"+
		" {b: {type: integer, maximum: 1, enum: [1], default: 1}, c: {type: array, x-kubernetes-list-type: set, items: {type: integer}}, d: {type: string}}}")
	findings := crdsafety.Compare(before, after)
	rules := map[string]bool{}
	for _, finding := range findings {
		rules[finding.Rule] = true
	}
	if len(rules) != 10 {
		t.Errorf("%d rules: %v", len(rules), rules)
	}
	if left := weighed(t, before, after); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	if left := weighed(t, before, after, "{b: 1}"); len(left) != len(findings)-1 {
		t.Errorf("of %d findings, %d are left with an object that fits: all but the default should be", len(findings), len(left))
	}
}

// TestDefaultsThatObjectsDependOn: a default counts where it can change the meaning of an existing object.
func TestDefaultsThatObjectsDependOn(t *testing.T) {
	const (
		field   = "{type: object, properties: {a: {type: object, properties: {b: {type: string}}}}}"
		asked   = "{type: object, properties: {a: {type: object, properties: {b: {type: string, default: x}}}}}"
		another = "{type: object, properties: {a: {type: object, properties: {b: {type: string, default: y}}}}}"
		list    = "{type: object, properties: {l: {type: array, items: {type: object, properties: {b: {type: string}}}}}}"
		listed  = "{type: object, properties: {l: {type: array, items: {type: object, properties: {b: {type: string, default: x}}}}}}"
		values  = "{type: object, additionalProperties: {type: object, properties: {b: {type: string}}}}"
		valued  = "{type: object, additionalProperties: {type: object, properties: {b: {type: string, default: x}}}}"
		whole   = "{type: object, properties: {a: {type: object, default: {b: x}, properties: {b: {type: string}, c: {type: string}}}}}"
		wholes  = "{type: object, properties: {a: {type: object, default: {b: y}, properties: {b: {type: string}, c: {type: string}}}}}"
	)
	counts := func(path string) []string { return []string{"DefaultChanged: v1 spec" + path + ": "} }
	for _, test := range []struct {
		name, before, after string
		specs               []string
		want                []string
	}{
		{"every object has the field", field, asked, []string{"{a: {b: z}}", "{a: {b: x}}"}, nil},
		{"no object has the parent of the field", field, asked, []string{"{}"}, nil},
		{"one object omits the field", field, asked, []string{"{a: {b: z}}", "{a: {}}"}, counts(".a.b")},
		{"null is filled in", field, asked, []string{"{a: {b: null}}"}, counts(".a.b")},
		{"another default, and objects have their own values", asked, another, []string{"{a: {b: z}}"}, nil},
		{"another default, and an object may have the old one", asked, another, []string{"{a: {b: x}}"}, counts(".a.b")},
		{"a default is removed, and objects have their own values", asked, field, []string{"{a: {b: z}}"}, nil},
		{"a default is removed that an object may have", asked, field, []string{"{a: {b: x}}"}, counts(".a.b")},
		{"items of a list", list, listed, []string{"{l: [{b: z}, {b: x}]}"}, nil},
		{"an item of a list omits it", list, listed, []string{"{l: [{b: z}, {}]}"}, counts(".l[*].b")},
		{"values of a map", values, valued, []string{"{k: {b: z}}"}, nil},
		{"a value of a map omits it", values, valued, []string{"{k: {}}"}, counts(".*.b")},
		{"an object may consist of the default and more", whole, wholes, []string{"{a: {b: x, c: z}}"}, counts(".a")},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, weighed(t, widgets(t, test.before), widgets(t, test.after), test.specs...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDefaultsThatObjectsDoNotShow: a default is not cleared when objects are stored or written in a version other than the one read.
func TestDefaultsThatObjectsDoNotShow(t *testing.T) {
	crd := func(storage, value string) *apiextensionsv1.CustomResourceDefinition {
		one := func(name string) string {
			more := ""
			if name == storage {
				more = ", storage: true"
			}
			return "{name: " + name + ", served: true" + more + ", schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object," +
				" properties: {a: {type: string" + value + "}}}}}}}"
		}
		return definition(t, "spec:\n  group: example.com\n  names: {plural: widgets, kind: Widget}\n  versions: ["+one("v1")+", "+one("v2")+"]")
	}
	if diff := cmp.Diff([]string{"DefaultChanged: v2 spec.a: "}, weighed(t, crd("v1", ""), crd("v1", ", default: x"), "{a: z}")); diff != "" {
		t.Errorf("the other version: %s", diff)
	}
	if diff := cmp.Diff([]string{"DefaultChanged: v1 spec.a: ", "DefaultChanged: v2 spec.a: "},
		weighed(t, crd("v2", ""), crd("v2", ", default: x"), "{a: z}")); diff != "" {
		t.Errorf("read in a version that is not stored: %s", diff)
	}
}
