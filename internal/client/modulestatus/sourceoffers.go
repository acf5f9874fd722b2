package modulestatus

import (
	"cmp"
	"slices"

	"github.com/Masterminds/semver/v3"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// Stock is what a source held when it was read last.
type Stock struct {
	// Source is its name.
	Source    string
	Templates []v1beta2.ModuleTemplate
	Releases  []v1beta2.ModuleReleaseMeta
}

// OffersOf returns the modules of a source, sorted by name. here are the offers of the cluster: what the lifecycle manager manages there is
// no community module because a source has it. installed are the modules that came from the source.
func OffersOf(stock Stock, here []Offer, installed []Module) []Offer {
	in := Inputs{Templates: Unplaced(stock.Templates), Releases: slices.Clone(stock.Releases)}
	for i := range in.Releases {
		in.Releases[i].Namespace = ""
	}
	managed := map[string]bool{}
	for i := range here {
		managed[here[i].Name] = managed[here[i].Name] || here[i].Type == Manageable
	}
	offers := Catalog(in)
	for i := range offers {
		o := &offers[i]
		o.Source, o.Mandatory = stock.Source, ""
		if managed[o.Name] {
			o.Type = Manageable
		}
		for j := range installed {
			if m := &installed[j]; m.Name == o.Name {
				o.Installed = append(o.Installed, OfferInstance{Kyma: m.Kyma, Version: cmp.Or(m.Version.Installed, m.Version.Desired), State: m.State})
			}
		}
	}
	return offers
}

// Unplaced returns the templates of a catalog without namespaces, which mean nothing there.
func Unplaced(templates []v1beta2.ModuleTemplate) []v1beta2.ModuleTemplate {
	all := slices.Clone(templates)
	for i := range all {
		all[i].Namespace = ""
	}
	return all
}

// CopiedFrom reports whether all versions of an offer of the cluster are copies of versions that a source offers: installing from a source
// puts the template into the cluster. urlOf returns the addresses that the templates of the offer were taken from.
func CopiedFrom(offer *Offer, urlOf func(Key) string, url string, there *Offer) bool {
	if there == nil || len(offer.Versions) == 0 || len(offer.Channels) > 0 || offer.Name != there.Name {
		return false
	}
	return !slices.ContainsFunc(offer.Versions, func(v OfferVersion) bool {
		return urlOf(v.Template) != url || !slices.ContainsFunc(there.Versions, func(o OfferVersion) bool { return o.Version == v.Version })
	})
}

// NewestFor returns the version that an installed one is upgraded to, by the versions of the place that it came from: the newest that is no
// pre-release, unless the installed one is one. Texts that are no versions do not count; "" if none is left.
func NewestFor(versions []string, installed string) string {
	before, err := semver.NewVersion(installed)
	early := err == nil && before.Prerelease() != ""
	newest := ""
	for _, text := range versions {
		version, err := semver.NewVersion(text)
		if err == nil && (early || version.Prerelease() == "") && (newest == "" || moduleversion.Compare(text, newest) > 0) {
			newest = text
		}
	}
	return newest
}

// WithAvailable returns modules whose available versions are those of the sources that they came from, by the record of their
// installation. The modules of others are the same; changed is false if all are.
func WithAvailable(modules []Module, available map[Key]string) (all []Module, changed bool) {
	for i := range modules {
		m := &modules[i]
		if m.Record == nil || m.Kyma != "" || available[*m.Record] == "" || available[*m.Record] == m.Version.Available {
			continue
		}
		if !changed {
			all, changed = slices.Clone(modules), true
		}
		all[i].Version.Available = available[*m.Record]
		all[i].Version = all[i].Version.finish()
	}
	if !changed {
		return modules, false
	}
	return all, true
}

// ProvenanceOf returns the provenance of a version as far as its template states it; component reports whether its release names one.
func ProvenanceOf(template *v1beta2.ModuleTemplate, component bool) *Provenance {
	said := describedBy(template)
	return said.provenance(template, component)
}
