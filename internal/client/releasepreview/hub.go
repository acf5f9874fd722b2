package releasepreview

import (
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// Request is the change that is foretold: a channel of a module offers another version.
type Request struct{ Module, Channel, Version string }

// Hub is what all Kymas of a namespace have in common.
type Hub struct {
	// Releases of the namespace, and its Templates, as they are now.
	Releases  []v1beta2.ModuleReleaseMeta
	Templates []v1beta2.ModuleTemplate
	// Rollout of the module; nil for none.
	Rollout *v1beta2.ModuleRollout
	// Component is what the version installs; nil where it could not be read: then it is taken for one that can be installed.
	Component *module.Component
	// Windows is the maintenance policy, nil for none. WindowsKnown is false where there may be one that could not be read.
	Windows      *module.WindowPolicy
	WindowsKnown bool
	// Approvals says which versions need consent, nil for none.
	Approvals *module.ApprovalPolicy
	// Changes are what the steps of Kymas change, by the digests of both sides. A step that is not among them counts as one that could not be
	// compared: a policy that asks for consent to some changes then asks for it.
	Changes map[module.ChangeKey]module.Change
	// Restricted are the modules of flag --restricted-default-modules. RestrictedKnown is false where the flag could not be read: then a
	// release with a selector counts as restricted.
	Restricted      []string
	RestrictedKnown bool
	// Now is the time.
	Now time.Time
	// Names is how many Kymas of a group are named; 0 means all.
	Names int
}

// Member is a Kyma with the Manifests of the module that it has.
type Member struct {
	Kyma      *v1beta2.Kyma
	Manifests []v1beta2.Manifest
}
