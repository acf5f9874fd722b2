package versioncontent

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
	"github.com/kyma-project/lifecycle-manager/pkg/render"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// Version is a version of a module as it would be installed. It is shared: copy what you change.
type Version struct {
	// Module and Version name it.
	Module, Version string
	// Digest of what it installs, as the lifecycle manager computes it: with the values and the target namespace of the Manifest that the
	// version was loaded from or for, else without any.
	Digest string
	// Source is where it was read, for users: "host/path//component:version".
	Source string
	// Template of the version; nil where it was loaded from a Manifest.
	Template *v1beta2.ModuleTemplate
	// Objects in the order of installation, with their namespaces and with the images of the component.
	Objects []*unstructured.Unstructured
	// Conditional objects are those that it would also install, or install differently, in a cluster that serves other APIs or a later
	// version of Kubernetes; Untried is true where they may not be all.
	Conditional []*unstructured.Unstructured
	Untried     bool
	// Images that the objects name, sorted, each once.
	Images []string
	// Requires lists what the version needs before it is installed: by its template and by its component.
	Requires []v1beta2.Requirement
	// Caveats say how it is rendered otherwise than by the lifecycle manager, in words that go after "rendered": such as without values in an
	// object of the hub that cannot be read. Secrets hold the values that come from Secrets of the hub, which must not be shown.
	Caveats []string
	Secrets []*unstructured.Unstructured
	// Spec is the part of a Manifest's spec that the version decides.
	Spec *v1beta2.ManifestSpec

	// component is what the component version itself requires.
	component []requirements.Requirement
}

// Reference returns "<version>@<digest>", as consent names the version.
func (v *Version) Reference() string { return revision.Reference(v.Version, v.Digest) }

// Rights returns what the version may do, in the cluster that it is rendered for and in what that may become.
func (v *Version) Rights() permissions.Report {
	return permissions.AnalyseContent(permissions.Content{Objects: v.Objects, Conditional: v.Conditional, Untried: v.Untried})
}

// Component returns the content as a Snapshot of package module holds it.
func (v *Version) Component() module.Component {
	made := componentOf(v.Spec)
	made.Requires = v.component
	return made
}

// imagesOf returns the images that objects name, sorted, each once.
func imagesOf(objects []*unstructured.Unstructured) []string {
	var all []string
	for _, use := range render.ImageUses(objects) {
		all = append(all, use.Image)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
