package modulestatus

import (
	"cmp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// Offer is an available module of the catalog.
type Offer struct {
	Name string `json:"name"`
	// Namespace of the release, or without one of the templates.
	Namespace string `json:"namespace,omitempty"`
	Type      Type   `json:"type"`
	// Mandatory is the version of a mandatory module, which is installed automatically.
	Mandatory string          `json:"mandatory,omitempty"`
	Component string          `json:"component,omitempty"`
	Channels  []OfferChannel  `json:"channels,omitempty"`
	Versions  []OfferVersion  `json:"versions,omitempty"`
	Installed []OfferInstance `json:"installed,omitempty"`
	// Restricted reports whether only some Kymas may have it.
	Restricted bool `json:"restricted,omitempty"`
	// Description is what the newest version that has a description says of the module, as one line of plain text.
	Description   string `json:"description,omitempty"`
	Repository    string `json:"repository,omitempty"`
	Documentation string `json:"documentation,omitempty"`
	// Source is the name of the source that offers it; empty for the cluster itself.
	Source string `json:"source,omitempty"`
}

// OfferChannel is the version that a channel offers.
type OfferChannel struct {
	Channel string `json:"channel"`
	Version string `json:"version"`
	// Missing reports that there is no template of that version, so that it cannot be installed.
	Missing bool `json:"missing,omitempty"`
}

// OfferVersion is one version that has a template.
type OfferVersion struct {
	Version          string                    `json:"version"`
	Template         Key                       `json:"template"`
	Channels         []string                  `json:"channels,omitempty"`
	Beta             bool                      `json:"beta,omitempty"`
	Internal         bool                      `json:"internal,omitempty"`
	RequiresDowntime bool                      `json:"requiresDowntime,omitempty"`
	Resource         *Ref                      `json:"resource,omitempty"`
	Manager          string                    `json:"manager,omitempty"`
	Associated       []metav1.GroupVersionKind `json:"associatedResources,omitempty"`
	Links            []v1beta2.Named           `json:"links,omitempty"`
	// Requires lists what the version needs before it is installed.
	Requires []requirements.Requirement `json:"requires,omitempty"`

	// Images, and everything below, is filled in by Detailed alone.
	Images        []string    `json:"images,omitempty"`
	Vouched       *Provenance `json:"vouched,omitempty"`
	ClusterScoped bool        `json:"clusterScoped,omitempty"`
	Documentation string      `json:"documentation,omitempty"`
	Changelog     string      `json:"changelog,omitempty"`
}

// OfferInstance is an existing installation of a module.
type OfferInstance struct {
	Kyma    string `json:"kyma,omitempty"`
	Version string `json:"version,omitempty"`
	State   State  `json:"state"`
}

// Catalog returns the available modules, sorted by name and namespace: every module that a release names or a template describes.
func Catalog(in Inputs) []Offer {
	r := newReader(in)
	return r.catalog(r.modules())
}

// catalog returns the available modules when all installed modules are known.
func (r *reader) catalog(modules []Module) []Offer {
	offers := map[Key]*Offer{}
	at := func(namespace, name string) *Offer {
		key := Key{namespace, name}
		if offers[key] == nil {
			offers[key] = &Offer{Name: name, Namespace: namespace, Type: r.typeOf(name, Community)}
		}
		return offers[key]
	}
	for i := range r.Releases {
		release := &r.Releases[i]
		offer := at(release.Namespace, release.Name)
		offer.Component, offer.Restricted = release.Spec.OCMComponentName, release.Spec.KymaSelector != nil
		if release.Spec.Mandatory != nil {
			offer.Mandatory = release.Spec.Mandatory.Version
		}
		for _, c := range release.Spec.Channels {
			missing := r.template(release.Namespace, release.Name, c.Version) == nil && r.unread(ownKind(kindTemplate), "") == nil
			offer.Channels = append(offer.Channels, OfferChannel{c.Channel, c.Version, missing})
		}
	}
	for name, templates := range r.versions {
		for _, template := range templates {
			at(template.Namespace, name).add(template)
		}
	}
	for i := range modules {
		r.noteInstalled(offers, &modules[i])
	}
	var all []Offer
	for _, offer := range offers {
		all = append(all, *offer)
	}
	slices.SortFunc(all, func(a, b Offer) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	})
	return all
}

// noteInstalled adds a module to the offer that it came from: the one in its namespace, or else every one of its name.
func (r *reader) noteInstalled(offers map[Key]*Offer, m *Module) {
	instance := OfferInstance{Kyma: m.Kyma, Version: cmp.Or(m.Version.Installed, m.Version.Desired), State: m.State}
	namespace, _, _ := strings.Cut(m.Kyma, "/")
	if m.Template != nil {
		namespace = m.Template.Namespace
	}
	if offer := offers[Key{namespace, m.Name}]; offer != nil {
		offer.Installed = append(offer.Installed, instance)
		return
	}
	for key, offer := range offers {
		if key.Name == m.Name {
			offer.Installed = append(offer.Installed, instance)
		}
	}
}

// add adds a template; callers add the newest first.
func (o *Offer) add(template *v1beta2.ModuleTemplate) {
	spec := &template.Spec
	v := OfferVersion{
		Version: template.ModuleVersion(), Template: Key{template.Namespace, template.Name}, RequiresDowntime: spec.RequiresDowntime,
		Beta:     template.Labels[v1beta2.LabelBeta] == v1beta2.EnabledValue,
		Internal: template.Labels[v1beta2.LabelInternal] == v1beta2.EnabledValue,
		Resource: refOf(spec.Data), Associated: spec.AssociatedResources, Links: spec.Resources, Requires: Requires(template),
	}
	if spec.Manager != nil {
		v.Manager = Ref{Kind: spec.Manager.Kind, Namespace: spec.Manager.Namespace, Name: spec.Manager.Name}.String()
	}
	for _, c := range o.Channels {
		if c.Version == v.Version {
			v.Channels = append(v.Channels, c.Channel)
		}
	}
	if o.Description == "" {
		o.Description = DescriptionOf(template)
	}
	if info := spec.Info; info != nil && o.Repository == "" {
		o.Repository, o.Documentation = info.Repository, info.Documentation
	}
	o.Versions = append(o.Versions, v)
}

// Search returns the offers that contain every one of the words in the name, the description, the source, the component, a link or a kind,
// regardless of case.
func Search(offers []Offer, words ...string) []Offer {
	var found []Offer
	for i := range offers {
		text := offers[i].text()
		if !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, strings.ToLower(word)) }) {
			found = append(found, offers[i])
		}
	}
	return found
}

func (o *Offer) text() string {
	words := []string{o.Name, string(o.Type), o.Component, o.Repository, o.Documentation, o.Description, o.Source}
	for _, v := range o.Versions {
		words = append(words, v.Version, v.Manager)
		if v.Resource != nil {
			words = append(words, v.Resource.Kind, v.Resource.APIVersion)
		}
		for _, kind := range v.Associated {
			words = append(words, kind.Kind, kind.Group)
		}
	}
	return strings.ToLower(strings.Join(words, " "))
}
