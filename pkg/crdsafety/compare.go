package crdsafety

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// comparison collects the findings of one pair of definitions.
type comparison struct {
	findings   []Finding
	seen       map[Finding]bool
	definition string // its name
	version    string // the version being compared
	values     bool   // whether the comparison concerns the values of objects
}

// Compare returns everything that can break when one definition replaces another. before is the definition in the cluster, with its status:
// that lists the versions in which objects are stored. When either is nil, a definition is added or removed, which is another question, and
// there are no findings.
//
//  1. Scope, names and conversion are compared for the definition as a whole.
//  2. A version that is gone, or no longer served, is a finding of its own; adding a version is free.
//  3. A version that both have is compared field by field.
//  4. When objects are from now on stored in another version and no webhook converts them, the old storage schema is compared with the
//     new one too: fields that the new one does not name are dropped at the next write, in whichever version it comes.
func Compare(before, after *apiextensionsv1.CustomResourceDefinition) []Finding {
	if before == nil || after == nil {
		return nil
	}
	c := &comparison{seen: map[Finding]bool{}, definition: after.Name}
	c.whole(&before.Spec, &after.Spec)
	c.removedVersions(before, &after.Spec)
	for i := range before.Spec.Versions {
		old := &before.Spec.Versions[i]
		if changed := versionOf(&after.Spec, old.Name); changed != nil {
			c.version = old.Name
			c.servedVersion(old, changed)
		}
	}
	c.storage(&before.Spec, &after.Spec)
	return c.findings
}

// addf adds a finding, once even if two comparisons produce the same.
func (c *comparison) addf(rule, path, format string, args ...any) {
	finding := Finding{
		Rule: rule, Definition: c.definition, Version: c.version, Path: path, Message: fmt.Sprintf(format, args...), Values: c.values,
	}
	if !c.seen[finding] {
		c.seen[finding] = true
		c.findings = append(c.findings, finding)
	}
}

// schemas compares the schemas of two versions; all findings in there concern values.
func (c *comparison) schemas(before, after *apiextensionsv1.CustomResourceDefinitionVersion) {
	c.values = true
	c.schema("", root(before), root(after))
	c.values = false
}

// whole compares the parts of the definitions outside the versions.
func (c *comparison) whole(before, after *apiextensionsv1.CustomResourceDefinitionSpec) {
	if before.Scope != after.Scope {
		c.addf(ScopeChanged, "", "the scope changes from %s to %s", quoted(string(before.Scope)), quoted(string(after.Scope)))
	}
	c.names(before, after)
	c.values = true
	switch {
	case !before.PreserveUnknownFields:
	case !after.PreserveUnknownFields:
		c.addf(PreserveUnknownFieldsRemoved, "", "fields that no schema names are dropped at the next write")
	case !same(before.Versions, after.Versions): // any field may hold anything, so rules about fields do not apply
		c.addf(UnknownChange, "", "versions change while spec.preserveUnknownFields is true")
	}
	c.values = false
	if converts(before) && !converts(after) && len(after.Versions) > 1 {
		c.addf(UnknownChange, "", "objects are no longer converted by a webhook, so that fields in which versions differ are lost")
	}
}

// names compares with the API server's defaults filled in, because only one of the two definitions comes from there.
func (c *comparison) names(before, after *apiextensionsv1.CustomResourceDefinitionSpec) {
	old, changed := withDefaults(before.Names), withDefaults(after.Names)
	var differ []string
	for _, name := range []struct{ what, old, changed string }{
		{"group", before.Group, after.Group}, {"plural", old.Plural, changed.Plural}, {"singular", old.Singular, changed.Singular},
		{"kind", old.Kind, changed.Kind}, {"list kind", old.ListKind, changed.ListKind},
	} {
		if name.old != name.changed {
			old, changed := contrast(name.old, name.changed)
			differ = append(differ, fmt.Sprintf("the %s changes from %s to %s", name.what, old, changed))
		}
	}
	for _, short := range old.ShortNames {
		if !slices.Contains(changed.ShortNames, short) {
			differ = append(differ, fmt.Sprintf("the short name %s is gone", quoted(short)))
		}
	}
	if len(differ) > 0 {
		c.addf(NamesChanged, "", "%s", strings.Join(differ, ", "))
	}
}

func withDefaults(names apiextensionsv1.CustomResourceDefinitionNames) apiextensionsv1.CustomResourceDefinitionNames {
	if names.Singular == "" {
		names.Singular = strings.ToLower(names.Kind)
	}
	if names.ListKind == "" {
		names.ListKind = names.Kind + "List"
	}
	return names
}

// removedVersions reports removed versions that clients use or that objects are stored in: two findings when a version was both.
func (c *comparison) removedVersions(crd *apiextensionsv1.CustomResourceDefinition, after *apiextensionsv1.CustomResourceDefinitionSpec) {
	for _, name := range storedVersions(crd) {
		if versionOf(after, name) == nil {
			c.version = name
			c.addf(StoredVersionRemoved, "", "objects may be stored in this version and could not be read any more;"+
				" write them again in a version that stays, then drop it from the status of the definition")
		}
	}
	for _, old := range crd.Spec.Versions {
		c.version = old.Name
		changed := versionOf(after, old.Name)
		switch {
		case !old.Served:
		case changed == nil:
			c.addf(VersionRemoved, "", "the version is gone, so that clients that use it fail")
		case !changed.Served:
			c.addf(VersionRemoved, "", "the version is no longer served, so that clients that use it fail")
		}
	}
	c.version = ""
}

// storedVersions returns the versions in the status, and the storage version of the spec: a status may not be written yet.
func storedVersions(crd *apiextensionsv1.CustomResourceDefinition) []string {
	stored := slices.Clone(crd.Status.StoredVersions)
	if storage := storageOf(&crd.Spec); storage != nil && !slices.Contains(stored, storage.Name) {
		stored = append(stored, storage.Name)
	}
	return stored
}

func (c *comparison) storage(before, after *apiextensionsv1.CustomResourceDefinitionSpec) {
	old, changed := storageOf(before), storageOf(after)
	if old == nil || changed == nil || old.Name == changed.Name || converts(after) || after.PreserveUnknownFields {
		return
	}
	c.version = changed.Name
	c.schemas(old, changed)
}

func versionOf(spec *apiextensionsv1.CustomResourceDefinitionSpec, name string) *apiextensionsv1.CustomResourceDefinitionVersion {
	for i := range spec.Versions {
		if spec.Versions[i].Name == name {
			return &spec.Versions[i]
		}
	}
	return nil
}

func storageOf(spec *apiextensionsv1.CustomResourceDefinitionSpec) *apiextensionsv1.CustomResourceDefinitionVersion {
	for i := range spec.Versions {
		if spec.Versions[i].Storage {
			return &spec.Versions[i]
		}
	}
	return nil
}

func converts(spec *apiextensionsv1.CustomResourceDefinitionSpec) bool {
	return spec.Conversion != nil && spec.Conversion.Strategy == apiextensionsv1.WebhookConverter
}
