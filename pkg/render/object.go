package render

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const listSuffix = "List"

// serverFields of metadata are written by an API server alone. In content they are left-overs of an export; a resourceVersion or uid
// would make every apply a conflict.
var serverFields = []string{
	"creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "generation", "managedFields", "resourceVersion",
	"selfLink", "uid",
}

// listItems returns the items of a list such as v1 List or ConfigMapList. An object of a kind that merely ends in "List" has a name.
func listItems(fields map[string]any) (items []any, isList bool) {
	kind, _ := fields["kind"].(string)
	if !strings.HasSuffix(kind, listSuffix) {
		return nil, false
	}
	if name, found, _ := unstructured.NestedString(fields, "metadata", "name"); found && name != "" {
		return nil, false
	}
	items, isList = fields["items"].([]any)
	if !isList && kind == listSuffix && fields["apiVersion"] == "v1" && fields["items"] == nil {
		return nil, true
	}
	return items, isList
}

// inheritKind gives an item of a typed list what the list says about it: items of a ConfigMapList need not repeat that they are
// ConfigMaps.
func inheritKind(list, item map[string]any) {
	kind, _ := list["kind"].(string)
	if kind == listSuffix || item["kind"] != nil || item["apiVersion"] != nil {
		return
	}
	item["apiVersion"] = list["apiVersion"]
	item["kind"] = strings.TrimSuffix(kind, listSuffix)
}

// tidy checks that the object can be identified and brings its metadata into the form that the rest of the program relies on.
func tidy(object *unstructured.Unstructured) error {
	kind, err := required(object.Object, "kind")
	if err != nil {
		return err
	}
	version, err := required(object.Object, "apiVersion")
	if err != nil {
		return err
	}
	if _, err := schema.ParseGroupVersion(version); err != nil || strings.HasSuffix(version, "/") {
		return fmt.Errorf("apiVersion %q of %s is neither \"version\" nor \"group/version\"", version, kind)
	}
	metadata, ok := object.Object["metadata"].(map[string]any)
	if !ok {
		return fmt.Errorf("%s has no metadata: give it a metadata.name", kind)
	}
	if err := tidyMetadata(metadata); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return nil
}

func tidyMetadata(metadata map[string]any) error {
	if metadata["name"] == nil && metadata["generateName"] != nil {
		return errors.New("metadata.generateName is not accepted, because every apply would create one more: use metadata.name")
	}
	name, err := required(metadata, "name")
	if err != nil {
		return fmt.Errorf("metadata.%w", err)
	}
	if problems := content.IsPathSegmentName(name); len(problems) > 0 {
		return fmt.Errorf("metadata.name %q %s", name, strings.Join(problems, " and "))
	}
	if err := tidyNamespace(metadata); err != nil {
		return err
	}
	for _, field := range serverFields {
		delete(metadata, field)
	}
	return errors.Join(tidyStrings(metadata, "labels"), tidyStrings(metadata, "annotations"))
}

func tidyNamespace(metadata map[string]any) error {
	switch namespace := metadata["namespace"].(type) {
	case nil:
		delete(metadata, "namespace")
	case string:
		if namespace == "" {
			delete(metadata, "namespace")
			return nil
		}
		if problems := content.IsPathSegmentName(namespace); len(problems) > 0 {
			return fmt.Errorf("metadata.namespace %q %s", namespace, strings.Join(problems, " and "))
		}
	default:
		return fmt.Errorf("metadata.namespace is %s: put it in quotes", TypeName(namespace))
	}
	return nil
}

// tidyStrings makes a map of strings out of labels or annotations. A value that is null is an empty one, as for the API server; other
// values are refused here, because the accessors of unstructured objects take a map with one of them for empty.
func tidyStrings(metadata map[string]any, field string) error {
	if metadata[field] == nil {
		delete(metadata, field)
		return nil
	}
	values, ok := metadata[field].(map[string]any)
	if !ok {
		return fmt.Errorf("metadata.%s is %s and not a map", field, TypeName(metadata[field]))
	}
	for key, value := range values {
		switch value.(type) {
		case string:
		case nil:
			values[key] = ""
		default:
			return fmt.Errorf("metadata.%s: the value of %q is %s: put it in quotes", field, key, TypeName(value))
		}
	}
	return nil
}

// required returns a field that must be there and be text.
func required(fields map[string]any, field string) (string, error) {
	switch value := fields[field].(type) {
	case string:
		if strings.TrimSpace(value) != "" {
			return value, nil
		}
		return "", fmt.Errorf("%s is empty", field)
	case nil:
		return "", fmt.Errorf("%s is missing", field)
	default:
		return "", fmt.Errorf("%s is %s: put it in quotes", field, TypeName(value))
	}
}
