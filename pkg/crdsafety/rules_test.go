package crdsafety_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
)

// TestRuleNames: the API accepts only names of this form, and every constant is a rule.
func TestRuleNames(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "rules.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok && len(spec.Values) == 1 {
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
				name, _ := strconv.Unquote(literal.Value)
				if name != spec.Names[0].Name {
					t.Errorf("%s is called %q", spec.Names[0].Name, name)
				}
				declared = append(declared, name)
			}
		}
		return true
	})
	if diff := cmp.Diff(declared, crdsafety.Rules()); diff != "" {
		t.Errorf("constants and Rules differ: %s", diff)
	}
	accepted := regexp.MustCompile(`^[A-Za-z]+$`) // api/v1beta2.CRDRule
	for _, rule := range crdsafety.Rules() {
		if !accepted.MatchString(rule) || len(rule) > 64 || !crdsafety.Known(rule) {
			t.Errorf("%s cannot be written into allowCRDChanges", rule)
		}
	}
	for _, name := range []string{"", "fieldremoved", "All", "*"} {
		if crdsafety.Known(name) {
			t.Errorf("%q is known", name)
		}
	}
	crdsafety.Rules()[0] = "changed"
	if crdsafety.Rules()[0] == "changed" {
		t.Error("who asks for the rules can change them")
	}
}

func TestRefuse(t *testing.T) {
	a := crdsafety.Finding{Rule: crdsafety.FieldRemoved, Path: "a"}
	b := crdsafety.Finding{Rule: crdsafety.TypeChanged, Path: "b"}
	c := crdsafety.Finding{Rule: crdsafety.FieldRemoved, Path: "c"}
	for _, test := range []struct {
		name    string
		allowed []string
		want    []crdsafety.Finding
	}{
		{"nothing is allowed by default", nil, []crdsafety.Finding{a, b, c}},
		{"a rule is allowed everywhere", []string{crdsafety.FieldRemoved}, []crdsafety.Finding{b}},
		{"several rules", []string{crdsafety.TypeChanged, crdsafety.FieldRemoved}, nil},
		{"case counts, and there is no wildcard", []string{"fieldRemoved", "*", ""}, []crdsafety.Finding{a, b, c}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, crdsafety.Refuse([]crdsafety.Finding{a, b, c}, test.allowed)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestMessage(t *testing.T) {
	at := func(rule, definition, path, message string) crdsafety.Finding {
		return crdsafety.Finding{Rule: rule, Definition: definition, Version: "v1", Path: path, Message: message}
	}
	gone := "the field is gone"
	for _, test := range []struct {
		name     string
		findings []crdsafety.Finding
		want     string
	}{
		{"no finding", nil, ""},
		{"one definition is named once, and the rules come first", []crdsafety.Finding{
			at(crdsafety.TypeChanged, "widgets.example.com", "spec.a", "the type changes from string to integer"),
			{Rule: crdsafety.ScopeChanged, Definition: "widgets.example.com", Message: "the scope changes from Namespaced to Cluster"},
		}, "the change of CustomResourceDefinition widgets.example.com is not safe; publish a version that changes it compatibly, or allow it" +
			" by name in allowCRDChanges: ScopeChanged, TypeChanged. What runs is kept. ScopeChanged (1): the scope changes from Namespaced to" +
			" Cluster. TypeChanged (1): v1 spec.a: the type changes from string to integer"},
		{"a rule is counted over all definitions, and a shared message appears once", []crdsafety.Finding{
			at(crdsafety.FieldRemoved, "a", "spec.a", gone), at(crdsafety.FieldRemoved, "a", "spec.b", gone),
			at(crdsafety.EnumNarrowed, "a", "spec.c", "no longer accepted: x"), at(crdsafety.FieldRemoved, "b", "spec.d", gone),
			at(crdsafety.EnumNarrowed, "b", "spec.e", "no longer accepted: y"), at(crdsafety.FieldRemoved, "b", "spec.f", gone),
		}, "the change of 2 CustomResourceDefinitions is not safe; publish a version that changes it compatibly, or allow it by name in" +
			" allowCRDChanges: FieldRemoved, EnumNarrowed. What runs is kept. FieldRemoved (4): a v1 spec.a, a v1 spec.b, b v1 spec.d and 1 more:" +
			" the field is gone. EnumNarrowed (2): a v1 spec.c: no longer accepted: x; b v1 spec.e: no longer accepted: y"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, crdsafety.Message(test.findings)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMessageIsCut: whatever the definitions contain, the rules to allow are in the part that a status keeps.
func TestMessageIsCut(t *testing.T) {
	var huge []crdsafety.Finding
	for i, rule := range slices.Repeat(crdsafety.Rules(), 100) {
		huge = append(huge, crdsafety.Finding{
			Rule: rule, Definition: strings.Repeat("ö", 10000), Version: strings.Repeat("ä", 1000), Path: strings.Repeat("\xff", 1000), Message: fmt.Sprint(i),
		})
	}
	got := crdsafety.Message(huge)
	if len(got) > 8<<10 || !utf8.ValidString(got) {
		t.Errorf("%d bytes, valid: %t", len(got), utf8.ValidString(got))
	}
	if kept := conditions.Cut(got); !strings.Contains(kept, strings.Join(crdsafety.Rules(), ", ")) {
		t.Errorf("a status keeps %s", kept)
	}
}

// TestRules_EveryKeywordIsJudged: every keyword of a schema is either free on purpose or its change is a finding, at least in one
// direction.
func TestRules_EveryKeywordIsJudged(t *testing.T) {
	free := []string{"Description", "Title", "ExternalDocs", "Example"}
	// These have no meaning alone.
	with := map[string]apiextensionsv1.JSONSchemaProps{
		"ExclusiveMaximum": {Maximum: new(1.0)}, "ExclusiveMinimum": {Minimum: new(1.0)},
	}
	crd := func(schema apiextensionsv1.JSONSchemaProps) *apiextensionsv1.CustomResourceDefinition {
		made := widgets(t, "{type: object}")
		made.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = schema
		return made
	}
	for field := range reflect.TypeFor[apiextensionsv1.JSONSchemaProps]().Fields() {
		before := with[field.Name]
		after := before
		fill(t, reflect.ValueOf(&after).Elem().FieldByIndex(field.Index))
		findings := len(crdsafety.Compare(crd(before), crd(after))) + len(crdsafety.Compare(crd(after), crd(before)))
		if isFree := slices.Contains(free, field.Name); isFree != (findings == 0) {
			t.Errorf("%s: free %t, %d findings", field.Name, isFree, findings)
		}
	}
}

// fill sets a value to something other than its zero value.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	if v.Type() == reflect.TypeFor[apiextensionsv1.JSON]() {
		v.Set(reflect.ValueOf(apiextensionsv1.JSON{Raw: []byte("1")}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0))
	case reflect.Map:
		element := reflect.New(v.Type().Elem()).Elem()
		fill(t, element)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("a"), element)
	case reflect.Struct: // one field is enough: of a schema its type, of "schema or something" the schema
		for _, name := range []string{"Type", "Schema", "Rule", "Property", "Description"} {
			if field := v.FieldByName(name); field.IsValid() {
				fill(t, field)
				return
			}
		}
		t.Fatalf("how to fill a %s", v.Type())
	default:
		t.Fatalf("how to fill a %s", v.Kind())
	}
}

func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }
