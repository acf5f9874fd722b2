package modulerollout

import (
	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// Digests knows the content of component versions.
type Digests interface {
	// Digest returns the digest of what a component version installs, as in a Manifest's revisions. It is empty unless the manager has read
	// the component for a Kyma already: a rollout asks no registry.
	Digest(component module.ComponentKey) string
}

// Windows is the policy for when upgrades with downtime may start.
type Windows interface {
	// Policy returns the policy in force, nil without one.
	Policy() *module.WindowPolicy
	// OnChange registers a function that is called after another policy took effect.
	OnChange(do func())
}

// Metrics publishes how far rollouts are.
type Metrics interface {
	// ObserveRollout publishes the status of a rollout, in place of what was known of it.
	ObserveRollout(rollout *v1beta2.ModuleRollout)
	// RolloutHalted counts a rollout that halted.
	RolloutHalted(module, channel string)
	// ForgetRollout removes what is published of a rollout.
	ForgetRollout(namespace, name string)
}

// Indexes are the field indexes of the cache that the facts are found by.
type Indexes struct {
	// Module finds Kymas by the name of a module that they have or had.
	Module string
	// Kyma finds Manifests by the name of their Kyma.
	Kyma string
}
