package module

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Snapshot is everything that the decisions may look at. It is read before they start and none of them changes it.
type Snapshot struct {
	// Kyma that is decided about, with the status that it had so far.
	Kyma *v1beta2.Kyma
	// Releases of the Kyma's namespace by name. Those that the Kyma's spec names are enough.
	Releases map[string]*v1beta2.ModuleReleaseMeta
	// Mandatory are the releases of the Kyma's namespace for modules that every Kyma has, also those that are being deleted. All of them:
	// a mandatory module whose release is not among them is removed.
	Mandatory []*v1beta2.ModuleReleaseMeta
	// Templates of the Kyma's namespace by object name. Those of the modules in the Kyma's spec and status and of mandatory ones are
	// enough, in all versions.
	Templates map[string]*v1beta2.ModuleTemplate
	// Manifests that belong to this Kyma (controller reference or label kyma-name) and, so that a conflict is seen before it is
	// written over, any other that has one of the names of Names(Snapshot).
	Manifests []v1beta2.Manifest
	// Components that were read. One that Needed asks for and that is absent here counts as being read for the first time.
	Components map[ComponentKey]Component
	// Windows say when upgrades with downtime may start; nil when no policy is in force.
	Windows *WindowPolicy
	// Restricted are the modules of flag --restricted-default-modules: they are for the Kymas that their release selects.
	Restricted []string
	// Unpinnable are the modules whose exact version the runtime's user asks for without being allowed to.
	Unpinnable map[string]bool
	// Behind reports whether the hub's spec changed since what counts was agreed with the runtime, and that no agreement can be reached in
	// this pass: what counts is what counted before, so nothing of it is claimed for this generation, and nothing is taken away for it.
	Behind bool
	// Now is the time that lastOperation and conditions get.
	Now metav1.Time
}

// ComponentKey names a component version.
type ComponentKey struct{ Name, Version string }

// Component is what a component version says about how to install it.
type Component struct {
	// Source of its resource raw-manifest.
	Source *v1beta2.ImageSpec
	// LocalizedImages are the images of its ociArtifact resources.
	LocalizedImages []string
	// Extras are what it installs beside Source.
	Extras Extras
	// Pending is true while it is being read for the first time.
	Pending bool
	// Reason (one of the API's) and Message say why it cannot be read.
	Reason, Message string
	// Warning says what is wrong with it that does not keep it from being installed.
	Warning string
}

// Extras are what a component version holds beside its first installation; most hold nothing.
type Extras struct {
	// Additional are installed after the first one, in order.
	Additional []v1beta2.InstallInfo
	// Config is the layer with values, CRDs the one with definitions that come first; nil when there is none.
	Config, CRDs *v1beta2.ImageSpec
}

// Result is the result of the writes of one module in this pass.
type Result struct {
	// Reason (ManifestRefused, ManifestConflict, ManifestPending or Internal) and Message say why a write did not succeed; empty when it
	// did. ManifestPending is for what will pass by itself, such as a conflict with another writer.
	Reason, Message string
	// Manifest as the API server returned it, nil when none was written. With it the status of this pass already names the
	// generation that was written, which saves the write that would correct it.
	Manifest *v1beta2.Manifest
}
