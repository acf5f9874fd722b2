package crdsafety

import (
	"maps"
	"regexp"
	"slices"
	"strconv"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// fieldSchema is the schema of one field, of the items of a list or of the values of a map.
type fieldSchema = apiextensionsv1.JSONSchemaProps

// schema compares the schemas of one field.
//
//  1. A changed type is one finding, and nothing below it is compared: the rest follows from it.
//  2. Then restrictions of the value itself: null, enum, bounds, rules, combinations of schemas.
//  3. Then its handling: default, merging of lists and maps.
//  4. Then its parts: fields, values of a map, items of a list.
//  5. Everything that none of these compared must be equal.
func (c *comparison) schema(path string, before, after *fieldSchema) {
	if old, changed := typeOf(before), typeOf(after); old != changed {
		c.changef(TypeChanged, path, "the type changes from %s to %s", old, changed)
		return
	}
	if before.Nullable && !after.Nullable {
		c.addf(NullableRemoved, path, "null is no longer accepted")
	}
	c.enum(path, before, after)
	c.bounds(path, before, after)
	c.validations(path, before, after)
	c.combinations(path, before, after)
	c.defaults(path, before, after)
	c.merging(path, before, after)
	if before.XEmbeddedResource && after.XEmbeddedResource {
		before, after = withTypeAndMetadata(before), withTypeAndMetadata(after)
	}
	c.required(path, before, after)
	c.members(path, before, after)
	c.items(path, before, after)
	c.remainder(path, before, after)
}

// typeOf returns the type in a word that is familiar to users.
func typeOf(schema *fieldSchema) string {
	switch {
	case schema.XIntOrString:
		return "int-or-string"
	case schema.Type == "":
		return "anything"
	}
	return schema.Type
}

// required reports fields that an object must now have. A field with a default is no finding: it is filled in on reading.
func (c *comparison) required(path string, before, after *fieldSchema) {
	for _, name := range after.Required {
		if slices.Contains(before.Required, name) {
			continue
		}
		field := after.Properties[name]
		if field.Default == nil || canonical(field.Default) == "null" {
			c.addf(RequiredAdded, child(path, name), "the field is required now and has no default")
		}
	}
}

// members compares the fields of an object and the values of a map.
//
//  1. When unknown fields are no longer kept, that is the one finding for all of them; only fields that the old schema names are compared.
//  2. A field that the new schema neither names nor keeps is gone.
//  3. A field that the old schema did not keep cannot be in any object, so it is free.
//     A default adds it to all of them, though, so it must not conflict with restrictions on which fields there may be.
//  4. Every other field is compared, even if it was a value of a map before, or anything.
//     A field that every object had to have has no use for a new default.
func (c *comparison) members(path string, before, after *fieldSchema) {
	if preserves(before) && !preserves(after) {
		c.addf(PreserveUnknownFieldsRemoved, path, "fields that the schema does not name are dropped at the next write")
		known := *before
		known.XPreserveUnknownFields = nil
		before = &known
	}
	names := maps.Clone(before.Properties)
	if names == nil {
		names = map[string]fieldSchema{}
	}
	maps.Copy(names, after.Properties)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old, changed := member(before, name), member(after, name)
		if old == nil && changed.Default != nil && looksAtFields(after) {
			c.addf(UnknownChange, child(path, name), "the new field has a default, so every object has it, which the restrictions of %s"+
				" may not accept", orWhole(path))
		}
		if old != nil && changed != nil && old.Default == nil && slices.Contains(before.Required, name) {
			changed = withoutDefault(changed)
		}
		c.member(child(path, name), old, changed)
	}
	if before.AdditionalProperties != nil || after.AdditionalProperties != nil {
		c.member(path+".*", others(before), others(after))
	}
}

func (c *comparison) member(path string, before, after *fieldSchema) {
	switch {
	case before == nil:
	case after == nil:
		c.addf(FieldRemoved, path, "the field is gone, its values are dropped at the next write")
	default:
		c.schema(path, before, after)
	}
}

func withoutDefault(schema *fieldSchema) *fieldSchema {
	bare := *schema
	bare.Default = nil
	return &bare
}

// looksAtFields reports whether a schema restricts which fields may be present together.
func looksAtFields(schema *fieldSchema) bool {
	return schema.MaxProperties != nil || len(schema.Enum) > 0 || schema.Not != nil ||
		len(schema.AllOf)+len(schema.AnyOf)+len(schema.OneOf) > 0
}

// member returns the schema of a field; nil when the field is dropped.
func member(schema *fieldSchema, name string) *fieldSchema {
	if field, found := schema.Properties[name]; found {
		return &field
	}
	return others(schema)
}

// others returns the schema of fields that the given schema does not name; nil when it drops them.
func others(schema *fieldSchema) *fieldSchema {
	switch additional := schema.AdditionalProperties; {
	case additional != nil && additional.Schema != nil:
		return additional.Schema
	case preserves(schema):
		return &fieldSchema{XPreserveUnknownFields: new(true)}
	case additional != nil && additional.Allows:
		return &fieldSchema{}
	}
	return nil
}

func preserves(schema *fieldSchema) bool {
	return schema.XPreserveUnknownFields != nil && *schema.XPreserveUnknownFields
}

// items compares the items of a list. It handles only the form that definitions may have: one schema for all items.
func (c *comparison) items(path string, before, after *fieldSchema) {
	old, changed := itemsOf(before), itemsOf(after)
	switch {
	case old == nil && changed == nil:
	case old == nil || changed == nil:
		c.addf(UnknownChange, path, "the schema of its items is added or removed")
	default:
		c.schema(path+"[*]", old, changed)
	}
}

// itemsOf returns the schema of the items. A list that keeps unknown fields also keeps those of its items, as in the API server.
func itemsOf(schema *fieldSchema) *fieldSchema {
	if schema.Items == nil || schema.Items.Schema == nil {
		return nil
	}
	items := *schema.Items.Schema
	if preserves(schema) {
		items.XPreserveUnknownFields = new(true)
	}
	return &items
}

// plain matches field names that need no quotes in a path.
var plain = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$-]*$`)

func child(path, name string) string {
	switch {
	case !plain.MatchString(name):
		return path + "[" + strconv.Quote(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

func orWhole(path string) string {
	if path == "" {
		return "the whole object"
	}
	return path
}
