package communitycatalog

import (
	"cmp"
	"maps"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// The files in which a catalog is published; both have the same content.
const (
	FileYAML = "all-modules.yaml"
	FileJSON = "all-modules.json"
)

// Annotations of the objects of a catalog.
const (
	// AnnotationSource is the address of the catalog that a template came from.
	AnnotationSource = "source"
	// AnnotationOrigin is modulestatus.AnnotationOrigin: how a template in a cluster was taken from its catalog. Catalogs do not have it.
	AnnotationOrigin = v1beta2.OperatorPrefix + "catalog-origin"
	// AnnotationUpdated is the day on which the catalog was built.
	AnnotationUpdated = "lastUpdated"
)

// LinkManifest is the name of the link to a module's objects.
const LinkManifest = "rawManifest"

// annotationVersion has the version in older templates.
const annotationVersion = v1beta2.OperatorPrefix + "module-version"

// Catalog is the content of a catalog, in the order of its file.
type Catalog struct {
	Templates []v1beta2.ModuleTemplate
	Releases  []v1beta2.ModuleReleaseMeta
	// Freshness is the version and expiry of the catalog; they are removed from its objects.
	Freshness Freshness
	// Warning is a message of Fetch for the users of the catalog; empty if there is none.
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

// Modules returns the modules of the catalog, sorted by name. known are the templates of a cluster, which determine what is new there.
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

// ModuleOf returns the module that a template describes; older templates name it in a label.
func ModuleOf(template *v1beta2.ModuleTemplate) string {
	return cmp.Or(template.Spec.ModuleName, template.Labels[v1beta2.LabelModuleName])
}

// VersionOf returns the version that a template describes; older templates have it in an annotation.
func VersionOf(template *v1beta2.ModuleTemplate) string {
	return cmp.Or(template.Spec.Version, template.Annotations[annotationVersion])
}

// linkOf returns the link to the module's objects, and its index; "" and -1 when there is none.
func linkOf(template *v1beta2.ModuleTemplate) (link string, index int) {
	for i, named := range template.Spec.Resources {
		if named.Name == LinkManifest || named.Name == "raw-manifest" {
			return named.Link, i
		}
	}
	return "", -1
}

// compareVersions orders versions; an invalid one is below all others, and ordered as text.
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
