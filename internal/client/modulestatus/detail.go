package modulestatus

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Provenance is the origin that a ModuleTemplate states for a version. It is a claim, and not verified before it is shown.
type Provenance struct {
	State string `json:"state"`
	// By are the names of the signatures, without duplicates. Only the manager can decide which key of that name is trusted.
	By []string `json:"by,omitempty"`
	// Digest that the content behind the template's link must have.
	Digest string `json:"digest,omitempty"`
}

// The states of Vouched.
const (
	// VouchedSigned: the descriptor in the template has signatures.
	VouchedSigned = "Signed"
	// VouchedPinned: the template names the digest of its content.
	VouchedPinned = "Pinned"
	// VouchedNot: the template names its content, but has neither signatures nor a digest.
	VouchedNot = "Unsigned"
	// VouchedUnknown: the template does not name its content. Only the registry shows whether it is signed.
	VouchedUnknown = "Unknown"
)

const (
	// annotationDocURL points to the documentation in templates without spec.info.
	annotationDocURL = v1beta2.OperatorPrefix + "doc-url"
	// mostImages limits how many images of one version are listed.
	mostImages = 100
)

// ManifestLinks returns the accepted names of the link to a module's content.
func ManifestLinks() []string { return []string{"rawManifest", "raw-manifest"} }

// Detailed returns an offer with all details that its templates have about each version. Lists omit them, since descriptors are long.
func Detailed(offer Offer, templates []v1beta2.ModuleTemplate) Offer {
	byKey := map[Key]*v1beta2.ModuleTemplate{}
	for i := range templates {
		byKey[Key{templates[i].Namespace, templates[i].Name}] = &templates[i]
	}
	offer.Versions = slices.Clone(offer.Versions)
	for i := range offer.Versions {
		if template := byKey[offer.Versions[i].Template]; template != nil {
			offer.Versions[i].tell(template, offer.Component != "")
		}
	}
	return offer
}

// tell fills in the details of one template.
func (v *OfferVersion) tell(template *v1beta2.ModuleTemplate, component bool) {
	said := describedBy(template)
	v.Images, v.Vouched = said.images(), said.provenance(template, component)
	v.ClusterScoped = template.Annotations[v1beta2.AnnotationIsClusterScoped] == v1beta2.EnabledValue
	v.Documentation, v.Changelog = template.Annotations[annotationDocURL], changelogOf(template.Spec.Resources)
	if info := template.Spec.Info; info != nil {
		v.Documentation = cmp.Or(info.Documentation, v.Documentation)
	}
}

// claims are the part of a component descriptor, of either schema, that is shown to users.
type claims struct {
	Component  claimedComponent `json:"component"`
	Metadata   claimedComponent `json:"metadata"`
	Spec       claimedComponent `json:"spec"`
	Signatures []struct {
		Name string `json:"name"`
	} `json:"signatures"`
}

type claimedComponent struct {
	Name      string `json:"name"`
	Resources []struct {
		Access struct {
			ImageReference string `json:"imageReference"`
		} `json:"access"`
	} `json:"resources"`
}

// describedBy reads the descriptor in a template. One that cannot be parsed is treated as missing: the manager reads the registry's.
func describedBy(template *v1beta2.ModuleTemplate) claims {
	var of claims
	if json.Unmarshal(template.Spec.Descriptor.Raw, &of) != nil {
		return claims{}
	}
	return of
}

// says reports whether there is a descriptor at all.
func (c *claims) says() bool { return c.Component.Name != "" || c.Metadata.Name != "" }

// images returns the images of the descriptor, without duplicates, in its order.
func (c *claims) images() []string {
	var all []string
	for _, r := range slices.Concat(c.Component.Resources, c.Spec.Resources) {
		image := r.Access.ImageReference
		if image != "" && !slices.Contains(all, image) && len(all) < mostImages {
			all = append(all, image)
		}
	}
	return all
}

// provenance returns the provenance of a version, as far as its template states it:
//
//  1. the signatures of the descriptor in it
//  2. the digest of its link, unless the release has a component, whose content is in a registry
//  3. a descriptor without signatures, and a link without a digest, have no provenance
//  4. a template with neither has an unknown one
func (c *claims) provenance(template *v1beta2.ModuleTemplate, component bool) *Provenance {
	var names []string
	for _, s := range c.Signatures {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	linked := !component && slices.ContainsFunc(template.Spec.Resources, func(link v1beta2.Named) bool {
		return slices.Contains(ManifestLinks(), link.Name)
	})
	digest := template.Annotations[v1beta2.AnnotationRawManifestDigest]
	switch {
	case len(names) > 0 && c.says():
		return &Provenance{State: VouchedSigned, By: slices.Compact(names)}
	case linked && digest != "":
		return &Provenance{State: VouchedPinned, Digest: digest}
	case linked, c.says():
		return &Provenance{State: VouchedNot}
	}
	return &Provenance{State: VouchedUnknown}
}

// changelogOf returns the first link whose name indicates a changelog or release notes.
func changelogOf(links []v1beta2.Named) string {
	for _, link := range links {
		name := strings.NewReplacer("-", "", "_", "", " ", "").Replace(strings.ToLower(link.Name))
		if strings.Contains(name, "changelog") || strings.Contains(name, "releasenotes") {
			return link.Link
		}
	}
	return ""
}
