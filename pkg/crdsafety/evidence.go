package crdsafety

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Evidence is what the existing objects reveal about a change of their definition. Findings cover all objects that the old definition
// accepts; some of them break nothing once the existing objects are known.
type Evidence struct {
	findings      []Finding
	version       string       // in which the objects are read
	before, after *fieldSchema // nil when no default needs to be checked
	objects       bool
	affected      map[string]bool // paths whose default changes the meaning of an existing object
}

// NewEvidence returns the evidence about the findings of [Compare] before any object is added. version is the one in which the objects are
// read.
func NewEvidence(before, after *apiextensionsv1.CustomResourceDefinition, version string, findings []Finding) *Evidence {
	e := &Evidence{findings: findings, version: version, affected: map[string]bool{}}
	old, changed := versionOf(&before.Spec, version), versionOf(&after.Spec, version)
	// If the objects were stored in another version, findings of this one might come from the comparison of the two.
	if old == nil || changed == nil || !old.Storage || !slices.ContainsFunc(findings, e.depends) {
		return e
	}
	e.before, e.after = root(old), root(changed)
	return e
}

// depends reports whether a finding is about a default that the objects can clear.
func (e *Evidence) depends(f Finding) bool { return f.Rule == DefaultChanged && f.Version == e.version }

// Add records an existing object, as the API server returned it with the old definition.
func (e *Evidence) Add(object *unstructured.Unstructured) {
	e.objects = true
	if e.before != nil {
		e.look("", object.Object, e.before, e.after)
	}
}

// Weigh returns the findings that count. Call it only after Add received every existing object: an object that was not checked may break.
//
//  1. While there is no object, findings about values do not count, unless a version is removed in which objects may be stored.
//  2. A default counts where an object omits the field, or has the value that the old default may have filled in.
func (e *Evidence) Weigh() []Finding {
	stored := slices.ContainsFunc(e.findings, func(f Finding) bool { return f.Rule == StoredVersionRemoved })
	return slices.DeleteFunc(slices.Clone(e.findings), func(f Finding) bool {
		if !e.objects {
			return f.Values && !stored
		}
		return e.before != nil && e.depends(f) && !e.affected[f.Path]
	})
}

// look walks an object along the schemas, as their comparison does.
func (e *Evidence) look(path string, value any, before, after *fieldSchema) {
	switch value := value.(type) {
	case map[string]any:
		if before.XEmbeddedResource && after.XEmbeddedResource {
			before, after = withTypeAndMetadata(before), withTypeAndMetadata(after)
		}
		e.fields(path, value, before, after)
	case []any:
		old, changed := itemsOf(before), itemsOf(after)
		if old == nil || changed == nil {
			return // which is a finding of its own
		}
		for _, item := range value {
			e.field(path+"[*]", item, old, changed)
		}
	}
}

func (e *Evidence) fields(path string, object map[string]any, before, after *fieldSchema) {
	names := maps.Clone(before.Properties)
	if names == nil {
		names = map[string]fieldSchema{}
	}
	maps.Copy(names, after.Properties)
	for name := range names {
		e.field(child(path, name), object[name], member(before, name), member(after, name))
	}
	for name, value := range object {
		if _, named := names[name]; !named {
			e.field(path+".*", value, others(before), others(after))
		}
	}
}

// field checks one field, an item of a list or a value of a map. value is nil for an omitted field.
func (e *Evidence) field(path string, value any, before, after *fieldSchema) {
	if before == nil || after == nil {
		return
	}
	changes := (before.Default != nil || after.Default != nil) && !same(before.Default, after.Default)
	if changes && decides(before.Default, value) {
		e.affected[path] = true
	}
	e.look(path, value, before, after)
}

// decides reports whether a default replaces an omitted field, or may be the source of its value. A value that is not a scalar may consist
// of the old default and more.
func decides(old *apiextensionsv1.JSON, value any) bool {
	switch value.(type) {
	case nil:
		return true
	case map[string]any, []any:
		return old != nil
	}
	return old != nil && canonical(value) == canonical(old)
}
