package crdsafety

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// servedVersion compares a version that both definitions have.
//
//  1. The schemas are compared from the root.
//  2. Without the status subresource, controllers that write to it fail; the same holds for scale and its paths, on which autoscalers
//     depend. Adding one is free.
//  3. Removing a selectable field breaks clients that select by it.
func (c *comparison) servedVersion(before, after *apiextensionsv1.CustomResourceDefinitionVersion) {
	c.schemas(before, after)
	c.subresources(before.Subresources, after.Subresources)
	for _, field := range before.SelectableFields {
		if !slices.Contains(after.SelectableFields, field) {
			c.addf(UnknownChange, "", "%s can no longer be selected by", quoted(field.JSONPath))
		}
	}
}

func (c *comparison) subresources(before, after *apiextensionsv1.CustomResourceSubresources) {
	if before == nil {
		return
	}
	if after == nil {
		after = &apiextensionsv1.CustomResourceSubresources{}
	}
	if before.Status != nil && after.Status == nil {
		c.addf(UnknownChange, "", "the status subresource is gone, so that controllers that write to it fail")
	}
	switch {
	case before.Scale == nil:
	case after.Scale == nil:
		c.addf(UnknownChange, "", "the scale subresource is gone, so that autoscalers fail")
	case !same(before.Scale, after.Scale):
		c.addf(UnknownChange, "", "the scale subresource reads other fields")
	}
}

// root returns the schema of a version as the API server interprets it: without a schema everything is kept, and metadata, apiVersion and
// kind exist whether or not the schema names them.
func root(version *apiextensionsv1.CustomResourceDefinitionVersion) *apiextensionsv1.JSONSchemaProps {
	if version.Schema == nil || version.Schema.OpenAPIV3Schema == nil {
		return withTypeAndMetadata(&apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: new(true)})
	}
	return withTypeAndMetadata(version.Schema.OpenAPIV3Schema)
}

// withTypeAndMetadata spells out what holds for the root of a resource, and for an embedded one, unless the schema narrows it.
func withTypeAndMetadata(schema *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	full := *schema
	full.Properties = maps.Clone(schema.Properties)
	if full.Properties == nil {
		full.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
	}
	always := []string{"apiVersion", "kind"}
	assume(full.Properties, always...)
	metadata := full.Properties["metadata"]
	metadata.Type = "object"
	metadata.XPreserveUnknownFields = new(true)
	metadata.Properties = maps.Clone(metadata.Properties)
	if metadata.Properties == nil {
		metadata.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
	}
	assume(metadata.Properties, "name", "generateName")
	full.Properties["metadata"] = metadata
	full.Required = slices.DeleteFunc(slices.Clone(schema.Required), func(name string) bool {
		return name == "metadata" || slices.Contains(always, name)
	})
	return &full
}

// assume adds string fields that the schema does not mention.
func assume(properties map[string]apiextensionsv1.JSONSchemaProps, names ...string) {
	for _, name := range names {
		if _, found := properties[name]; !found {
			properties[name] = apiextensionsv1.JSONSchemaProps{Type: "string"}
		}
	}
}
