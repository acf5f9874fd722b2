package communitycatalog

import (
	"maps"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
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
		there[known[i].ModuleName()] = true
	}
	byName := map[string][]string{}
	for i := range c.Templates {
		name := c.Templates[i].ModuleName()
		byName[name] = append(byName[name], c.Templates[i].ModuleVersion())
	}
	all := []Module{}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		versions := byName[name]
		slices.SortFunc(versions, func(a, b string) int { return moduleversion.Compare(b, a) })
		all = append(all, Module{Name: name, Versions: slices.Compact(versions), New: !there[name]})
	}
	return all
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
