package crdsafety

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// remainder fails closed: keywords that no rule compared and that are not free must be equal. A keyword that a later Kubernetes adds to
// schemas is covered automatically.
func (c *comparison) remainder(path string, before, after *fieldSchema) {
	before, after = unjudged(before), unjudged(after)
	if !same(before, after) {
		c.addf(UnknownChange, path, "%s changes; whether that is safe cannot be decided here", strings.Join(differing(before, after), ", "))
	}
}

// differing names the keywords in which two schemas differ.
func differing(before, after *fieldSchema) []string {
	old, changed := keywords(before), keywords(after)
	all := maps.Clone(old)
	maps.Copy(all, changed)
	names := slices.Sorted(maps.Keys(all))
	return slices.DeleteFunc(names, func(name string) bool { return bytes.Equal(old[name], changed[name]) })
}

func keywords(schema *fieldSchema) map[string]json.RawMessage {
	fields := map[string]json.RawMessage{}
	data, err := json.Marshal(schema)
	if err == nil {
		err = json.Unmarshal(data, &fields)
	}
	if err != nil { // it holds invalid JSON
		return map[string]json.RawMessage{"the schema": json.RawMessage(err.Error())}
	}
	return fields
}

// unjudged returns a schema without the keywords that the rules compare and those that are free.
func unjudged(schema *fieldSchema) *fieldSchema {
	s := *schema
	// Free.
	s.Description, s.Title, s.ExternalDocs, s.Example = "", "", nil, nil
	// The value itself.
	s.Type, s.XIntOrString, s.Nullable, s.Enum = "", false, false, nil
	s.Maximum, s.ExclusiveMaximum, s.Minimum, s.ExclusiveMinimum, s.MultipleOf = nil, false, nil, false, nil
	s.MaxLength, s.MinLength, s.Pattern, s.Format = nil, nil, "", ""
	s.MaxItems, s.MinItems, s.MaxProperties, s.MinProperties = nil, nil, nil, nil
	s.XValidations, s.AllOf, s.AnyOf, s.OneOf, s.Not = nil, nil, nil, nil, nil
	s.Default, s.XListType, s.XListMapKeys, s.XMapType = nil, nil, nil, nil
	// The parts below it.
	s.Required, s.Properties, s.AdditionalProperties, s.XPreserveUnknownFields = nil, nil, nil, nil
	if s.Items != nil && len(s.Items.JSONSchemas) == 0 {
		s.Items = nil
	}
	return &s
}

// same compares by meaning: the order of keys and white space do not matter.
func same(before, after any) bool {
	old, ok := encode(before)
	changed, okToo := encode(after)
	if ok && okToo {
		return old == changed
	}
	return reflect.DeepEqual(before, after)
}

// canonical returns a value in the form in which messages show it and values are compared. Invalid JSON is returned as it is.
func canonical(value any) string {
	if text, ok := encode(value); ok {
		return text
	}
	switch value := value.(type) {
	case apiextensionsv1.JSON:
		return string(value.Raw)
	case *apiextensionsv1.JSON:
		return string(value.Raw)
	}
	return "?"
}

// encode writes JSON with sorted keys and without white space. It distinguishes integers that are equal as float64.
func encode(value any) (text string, ok bool) {
	data, err := json.Marshal(value)
	if err != nil {
		return "", false
	}
	var read any
	if utiljson.Unmarshal(data, &read) != nil {
		return string(data), true
	}
	data, err = json.Marshal(read)
	return string(data), err == nil
}

// number writes a bound as JSON; "" for none.
func number(bound any) string {
	if text := canonical(bound); text != "null" {
		return text
	}
	return ""
}

// values lists the first values of an enum.
func values(all []apiextensionsv1.JSON) string {
	const named = 5
	var texts []string
	for _, value := range all[:min(len(all), named)] {
		texts = append(texts, quoted(canonical(value)))
	}
	if len(all) > named {
		texts = append(texts, "…")
	}
	return strings.Join(texts, ", ")
}
