package communitycatalog

import (
	"cmp"
	"maps"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// The files that a catalog is published as; both hold the same.
const (
	FileYAML = "all-modules.yaml"
	FileJSON = "all-modules.json"
)

// What a catalog notes on everything in it.
const (
	// AnnotationSource is the address of the catalog that a template came from.
	AnnotationSource = "source"
	// AnnotationOrigin is how a template of a cluster was taken out of its catalog: modulestatus.AnnotationOrigin. No catalog has it.
	AnnotationOrigin = v1beta2.OperatorPrefix + "catalog-origin"
	// AnnotationUpdated is the day on which the catalog was made.
	AnnotationUpdated = "lastUpdated"
)

// LinkManifest is the name of the link to a module's objects.
const LinkManifest = "rawManifest"

// annotationVersion is where templates of before have their version.
const annotationVersion = v1beta2.OperatorPrefix + "module-version"

// Catalog is what a catalog offers, in the order of its file.
type Catalog struct {
	Templates []v1beta2.ModuleTemplate
	Releases  []v1beta2.ModuleReleaseMeta
	// Freshness is what the catalog says of itself: its objects do not say it any more.
	Freshness Freshness
	// Warning is what Fetch found out that a user should know who uses the catalog; empty where there is nothing.
	Warning string
}

// Module is one module of a catalog.
type Module struct {
	Name string `json:"name"`
	// Versions from new to old.
	Versions []string `json:"versions"`
	// New reports whether the cluster has no version of the module yet.
	New bool `json:"new"`
}

// Modules returns those of the catalog, by name. known are the templates of a cluster, which say what is new there.
func (c Catalog) Modules(known ...v1beta2.ModuleTemplate) []Module {
	there := map[string]bool{}
	for i := range known {
		there[ModuleOf(&known[i])] = true
	}
	byName := map[string][]string{}
	for i := range c.Templates {
		name := ModuleOf(&c.Templates[i])
		byName[name] = append(byName[name], VersionOf(&c.Templates[i]))
	}
	all := []Module{}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		versions := byName[name]
		slices.SortFunc(versions, func(a, b string) int { return compareVersions(b, a) })
		all = append(all, Module{Name: name, Versions: slices.Compact(versions), New: !there[name]})
	}
	return all
}

// ModuleOf returns the module that a template describes; older ones say it by a label.
func ModuleOf(template *v1beta2.ModuleTemplate) string {
	return cmp.Or(template.Spec.ModuleName, template.Labels[v1beta2.LabelModuleName])
}

// VersionOf returns the version that a template describes; older ones say it by an annotation.
func VersionOf(template *v1beta2.ModuleTemplate) string {
	return cmp.Or(template.Spec.Version, template.Annotations[annotationVersion])
}

// linkOf returns the link to the module's objects, and its field; "" when there is none.
func linkOf(template *v1beta2.ModuleTemplate) (link string, index int) {
	for i, named := range template.Spec.Resources {
		if named.Name == LinkManifest || named.Name == "raw-manifest" {
			return named.Link, i
		}
	}
	return "", -1
}

// compareVersions orders versions; what is none is below all, and ordered as text.
func compareVersions(a, b string) int {
	left, leftErr := semver.NewVersion(a)
	right, rightErr := semver.NewVersion(b)
	switch {
	case leftErr == nil && rightErr == nil:
		return cmp.Or(left.Compare(right), cmp.Compare(a, b))
	case leftErr == nil:
		return 1
	case rightErr == nil:
		return -1
	}
	return cmp.Compare(a, b)
}
