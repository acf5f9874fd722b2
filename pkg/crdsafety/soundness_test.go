package crdsafety

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestCompareIsSound: when Compare finds nothing, the new definition accepts every object that the old one accepts, and an object that
// clears the findings about defaults keeps its meaning. The reference is the API server's own validation, defaulting and pruning. Schemas,
// the change and the object are drawn from bytes.
func TestCompareIsSound(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 2))
	judged, weighed := 0, 0
	for range 4000 {
		data := make([]byte, 160)
		for i := range data {
			data[i] = byte(source.Uint32())
		}
		switch ended, cleared := judge(t, data); {
		case cleared:
			weighed++
		case ended:
			judged++
		}
	}
	if judged < 100 || weighed < 10 {
		t.Errorf("only %d draws got as far as the verdict, and %d with a default that the object clears", judged, weighed)
	}
}

func FuzzCompareIsSound(f *testing.F) {
	for seed := range 64 {
		data := make([]byte, 96)
		for i := range data {
			data[i] = byte(seed*131 + i*i*7 + i*seed)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) <= 512 {
			judge(t, data)
		}
	})
}

// judge reports whether there was anything to judge: definitions that are valid and differ, an object that the old one accepts, and a
// change without findings, or with findings that the object clears.
func judge(t *testing.T, data []byte) (judged, cleared bool) {
	d := &draw{data: data}
	old := d.schema(0)
	before, after := d.crd(old), d.crd(d.changed(old))
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "g/v1", "kind": "K", "metadata": map[string]any{"name": "n"}, "spec": d.value(old, 0)}}
	if again := Compare(before, before); len(again) > 0 {
		t.Fatalf("no change, and yet %v in %s", again, encoded(before))
	}
	findings := Compare(before, after)
	if len(Refuse(findings, []string{DefaultChanged})) > 0 || same(before, after) {
		return false, false
	}
	was, err := NewValidator(before)
	if err != nil || !defaultsFit(was) {
		return false, false
	}
	is, err := NewValidator(after)
	if err != nil || !defaultsFit(is) {
		return false, false
	}
	stored := &unstructured.Unstructured{Object: was.asRead(obj, "v1", was.versions["v1"])}
	evidence := NewEvidence(before, after, "v1", findings)
	evidence.Add(stored)
	if len(was.Validate(stored)) > 0 || len(evidence.Weigh()) > 0 {
		return false, false
	}
	if broken := is.Validate(stored); len(broken) > 0 {
		t.Fatalf("Compare found nothing, and yet %v\nbefore %s\nafter  %s\nobject %s", broken, encoded(before), encoded(after), encoded(stored))
	}
	if len(findings) == 0 {
		return true, false
	}
	means := is.asRead(stored, "v1", is.versions["v1"])
	pruning.Prune(means, was.versions["v1"].structural, true) // without the new fields
	if !same(means, stored.Object) {
		t.Fatalf("no default counts, and yet the object means %s\nbefore %s\nafter  %s\nobject %s", encoded(means), encoded(before), encoded(after), encoded(stored))
	}
	return true, true
}

// defaultsFit reports whether the API server would accept the defaults. The API server does not look below additionalProperties, but an
// invalid default there is just as bad.
func defaultsFit(v *Validator) bool {
	fit := true
	visitor := structuralschema.Visitor{Structural: func(s *structuralschema.Structural) bool {
		errs, err := defaulting.ValidateDefaults(endless{}, nil, s, false, true)
		fit = fit && err == nil && len(errs) == 0
		return false
	}}
	visitor.Visit(v.versions["v1"].structural.DeepCopy())
	return fit
}

func encoded(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}

// draw makes decisions from bytes; when the bytes are used up, always the first.
type draw struct{ data []byte }

func (d *draw) next(n int) int {
	if len(d.data) == 0 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return int(b) % n
}

func (d *draw) chance(n int) bool { return d.next(n) == 1 }

func (d *draw) number() *int64 { return new(int64(d.next(4))) }

func (d *draw) crd(spec fieldSchema) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Spec.Group, crd.Spec.Names.Kind = "g", "K"
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &fieldSchema{Type: "object", Properties: map[string]fieldSchema{"spec": spec}}}}}
	return crd
}

func (d *draw) schema(depth int) fieldSchema {
	types := []string{"string", "integer", "boolean", "number", "object", "array", "object", "int-or-string", "anything"}
	if depth > 2 {
		types = types[:4]
	}
	var s fieldSchema
	switch s.Type = types[d.next(len(types))]; s.Type {
	case "int-or-string":
		s.Type, s.XIntOrString = "", true
	case "anything":
		s.Type, s.XPreserveUnknownFields = "", new(true)
	case "array":
		s.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: new(d.schema(depth + 1))}
	case "object":
		if d.chance(3) {
			s.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true}
			if !d.chance(3) {
				s.AdditionalProperties.Schema = new(d.schema(depth + 1))
			}
			break
		}
		s.Properties = map[string]fieldSchema{}
		for _, name := range []string{"a", "b", "c"}[:d.next(4)] {
			s.Properties[name] = d.schema(depth + 1)
		}
	}
	for range d.next(3) {
		d.restrict(&s)
	}
	return s
}

// restrict changes one keyword, often one of another type, which has no effect.
func (d *draw) restrict(s *fieldSchema) {
	scalar := []string{`"a"`, `""`, `1`, `2`, `true`, `0.5`, `{}`, `[]`, `null`, `{"a":1}`}
	switch d.next(26) {
	case 0:
		s.MaxLength = d.number()
	case 1:
		s.MinLength = d.number()
	case 2:
		s.Maximum = new(float64(d.next(4)))
	case 3:
		s.Minimum = new(float64(d.next(4)))
	case 4:
		s.ExclusiveMaximum = !s.ExclusiveMaximum
	case 5:
		s.ExclusiveMinimum = !s.ExclusiveMinimum
	case 6:
		s.MaxItems = d.number()
	case 7:
		s.MinItems = d.number()
	case 8:
		s.MaxProperties = d.number()
	case 9:
		s.MinProperties = d.number()
	case 10:
		s.Required = []string{"a", "b", "c"}[:d.next(4)]
	case 11:
		s.Nullable = !s.Nullable
	case 12:
		if s.XIntOrString {
			scalar = scalar[:3] // the check of defaults accepts any scalar here, the check of objects does not
		}
		s.Default = &apiextensionsv1.JSON{Raw: []byte(scalar[d.next(len(scalar))])}
	case 13:
		s.Enum = append(s.Enum, apiextensionsv1.JSON{Raw: []byte(scalar[d.next(len(scalar))])})
	case 14:
		s.Enum = nil
	case 15:
		s.XPreserveUnknownFields = new(true)
	case 16:
		s.MultipleOf = new(float64(1 + d.next(4)))
	case 17:
		s.Pattern = []string{"", "^a", "b$"}[d.next(3)]
	case 18:
		if formats, found := map[string][]string{"string": {"", "date", "ipv4"}, "integer": {"", "int32", "int64"}}[s.Type]; found {
			s.Format = formats[d.next(3)]
		}
	case 19:
		s.XListType = new([]string{"atomic", "set"}[d.next(2)])
	case 20:
		s.XValidations = append(s.XValidations, apiextensionsv1.ValidationRule{Rule: []string{"self == self", "size(self) < 2", "has(self.a)"}[d.next(3)]})
	case 21:
		s.OneOf = append(s.OneOf, fieldSchema{Required: []string{[]string{"a", "b", "c"}[d.next(3)]}})
	case 22:
		s.Not = &fieldSchema{MaxLength: d.number()}
	case 23:
		s.AdditionalProperties = nil
	case 24:
		s.MaxLength, s.Maximum, s.MaxItems, s.MaxProperties, s.Pattern, s.Format = nil, nil, nil, nil, "", ""
	case 25:
		s.XPreserveUnknownFields = nil
	}
}

// changed returns a schema with a few changes somewhere in it.
func (d *draw) changed(old fieldSchema) fieldSchema {
	s := *old.DeepCopy()
	for range 1 + d.next(3) {
		d.change(&s, 0)
	}
	return s
}

func (d *draw) change(s *fieldSchema, depth int) {
	switch below := d.next(4); {
	case below == 0:
		d.restrict(s)
	case below == 1 && depth > 0:
		*s = d.schema(depth)
	case s.Items != nil:
		d.change(s.Items.Schema, depth+1)
	case s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
		d.change(s.AdditionalProperties.Schema, depth+1)
	case s.Properties != nil:
		name := []string{"a", "b", "c"}[d.next(3)]
		field, found := s.Properties[name]
		switch {
		case !found:
			s.Properties[name] = d.schema(depth + 1)
		case d.chance(4):
			delete(s.Properties, name)
		default:
			d.change(&field, depth+1)
			s.Properties[name] = field
		}
	default:
		d.restrict(s)
	}
}

// value returns a value that often fits.
func (d *draw) value(s fieldSchema, depth int) any {
	if depth > 4 || d.chance(16) {
		return []any{nil, "a", int64(1), true, map[string]any{"a": int64(1)}, []any{"a"}}[d.next(6)]
	}
	switch s.Type {
	case "string":
		return []string{"a", "", "ab", "b", "2024-01-01"}[d.next(5)]
	case "integer":
		return int64(d.next(5))
	case "number":
		return float64(d.next(5)) / 2
	case "boolean":
		return d.chance(2)
	case "array":
		list := []any{}
		for range d.next(4) {
			list = append(list, d.value(*s.Items.Schema, depth+1))
		}
		return list
	}
	object := map[string]any{}
	for _, name := range []string{"a", "b", "c"} {
		if field := member(&s, name); field != nil && d.next(3) > 0 {
			object[name] = d.value(*field, depth+1)
		}
	}
	return object
}
