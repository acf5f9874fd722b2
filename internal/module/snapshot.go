package module

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// Snapshot holds all input of the decisions. It is read before they start, and none of them changes it.
type Snapshot struct {
	// Kyma that the decisions are about, with its previous status.
	Kyma *v1beta2.Kyma
	// Releases of the Kyma's namespace by name. Those of the modules in the Kyma's spec are enough.
	Releases map[string]*v1beta2.ModuleReleaseMeta
	// Release is the KymaRelease that the Kyma names; nil when it names none, or one that does not exist.
	Release *v1beta2.KymaRelease
	// Mandatory are the releases of the Kyma's namespace for modules that every Kyma has, including those that are being deleted. The list
	// must be complete: a mandatory module whose release is missing here is removed.
	Mandatory []*v1beta2.ModuleReleaseMeta
	// Templates of the Kyma's namespace by object name. Those of the modules in the Kyma's spec and status and of mandatory ones are
	// enough, in all versions.
	Templates map[string]*v1beta2.ModuleTemplate
	// Manifests that belong to this Kyma (controller reference or label kyma-name) and, so that a conflict is found before the Manifest is
	// overwritten, any other that has one of the names of Names(Snapshot).
	Manifests []v1beta2.Manifest
	// Components that were read. One that Needed returns and that is absent here counts as being read for the first time.
	Components map[ComponentKey]Component
	// Cluster is what NeededFacts asks for.
	Cluster ClusterFacts
	// Values is what the objects hold that entries of the spec take values from, with their keys filled in. One that is absent counts as what
	// the module's Manifest knows of it.
	Values map[v1beta2.ValuesReference]ReferredValues
	// RefusedValues is what RefusedOnHub returns, where the Kyma has a spec that was merged with the runtime's. Nil: the values of the Kyma's
	// own spec are judged.
	RefusedValues map[string]string
	// Windows define when upgrades with downtime may start; nil when no policy is in force.
	Windows *WindowPolicy
	// Rollouts of the Kyma's namespace by module, those of marked releases. A marked release without one here has a rollout that is not known:
	// no Kyma gets another version of the module.
	Rollouts map[string]*v1beta2.ModuleRollout
	// Approvals says which versions need consent, beside those of modules with upgradeStrategy Manual; nil when no policy is in force.
	Approvals *ApprovalPolicy
	// RuntimeConsent is what the entries of the runtime's Kyma say about consent, by module. RuntimeUnread is true while that is not known.
	RuntimeConsent map[string]EntryConsent
	RuntimeUnread  bool
	// Changes that were found out. One that NeededChanges returns and that is absent here counts as being found out.
	Changes map[ChangeKey]Change
	// Progress is for how long upgrades that are under way have been observed, by the name of their Manifest. The status of a Manifest that is
	// not in it may be from before an outage: its upgrade is not judged.
	Progress map[string]time.Duration
	// Restricted are the modules of flag --restricted-default-modules: they are for the Kymas that their release selects.
	Restricted []string
	// Unpinnable are the modules whose version the runtime's user pins without being allowed to.
	Unpinnable map[string]bool
	// Behind reports whether the hub's spec changed since it was last merged with the runtime's, and cannot be merged in this pass. The
	// previous effective spec applies: nothing is reported for this generation, and nothing is removed because of it.
	Behind bool
	// Now is the time that lastOperation and conditions get.
	Now metav1.Time
}

// ComponentKey names a component version.
type ComponentKey struct{ Name, Version string }

// Component describes how to install a component version.
type Component struct {
	// Source of its resource raw-manifest.
	Source *v1beta2.ImageSpec
	// LocalizedImages are the images of its ociArtifact resources.
	LocalizedImages []string
	// Extras is the content that it installs beside Source.
	Extras Extras
	// Requires is what it needs before it is installed, beside what its ModuleTemplate says.
	Requires []requirements.Requirement
	// Pending is true while it is being read for the first time.
	Pending bool
	// Reason (one of the API's) and Message describe why it cannot be read.
	Reason, Message string
	// Warning describes a problem that does not prevent the installation.
	Warning string
}

// Extras is the content of a component version beside its first installation; most versions have none.
type Extras struct {
	// Additional are installed after the first one, in order.
	Additional []v1beta2.InstallInfo
	// Config is the layer with values, CRDs the one with definitions that are applied first; nil when there is none.
	Config, CRDs *v1beta2.ImageSpec
}

// Result is the result of the writes of one module in this pass.
type Result struct {
	// Reason (ManifestRefused, ManifestConflict, ManifestPending or Internal) and Message describe why a write failed; empty when it
	// succeeded. ManifestPending is for a temporary failure, such as a conflict with another writer.
	Reason, Message string
	// Manifest as the API server returned it, nil when none was written. With it, the status of this pass already names the written
	// generation, which saves a second write.
	Manifest *v1beta2.Manifest
}
