package module

import (
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Rule is one line of the table verdict -> state, reason, message, remedy. docs/spec/kyma.md shows the same table; a test compares.
type Rule struct {
	// Kinds of the verdicts that the rule is for; none means any.
	Kinds []Kind
	// State that the module gets; empty means the state that the installed version reports.
	State v1beta2.State
	// Reason as it appears in the Kyma's condition Ready.
	Reason string
	// Message of the module's status, with {placeholders}.
	Message string
	// Remedy is what a user can do; empty when there is nothing to do.
	Remedy string
}

// rule is an index of the table.
type rule int

const (
	ruleReady rule = iota
	ruleManifestPending
	ruleProcessing
	ruleWarning
	ruleError
	ruleModuleCR
	ruleManifestRefused
	ruleManifestConflict
	ruleInternal
	ruleComponentPending
	ruleReinstall
	ruleDisabled
	ruleSucceeded
	ruleKymaDeleting
	ruleUnmanaged
	ruleChannelAndVersion
	ruleChannelNone
	ruleVersionNotAllowed
	ruleReleaseMissing
	ruleMandatory
	ruleComponentNameMissing
	ruleChannelMissing
	ruleKymaReleaseMissing
	ruleNotInRelease
	ruleTemplateMissing
	ruleTemplateOther
	ruleInternalModule
	ruleBetaModule
	ruleNotListed
	ruleNoSelector
	ruleNotSelected
	ruleSelectorUseless
	ruleValuesInvalid
	ruleValuesNotFound
	ruleDowngrade
	ruleComponentMissing
	ruleComponentInvalid
	ruleRegistryUnreachable
	ruleRegistryUnauthorized
	ruleSignatureMissing
	ruleSignatureInvalid
	ruleSignatureUntrusted
	ruleSignatureRevoked
	ruleWindowClosed
	ruleWindowUnknown
	ruleRolledBack
	ruleAvoided
	ruleTakenBack
	ruleRollbackUnavailable
	ruleRollbackUnsafe
	ruleRolloutWaits
	ruleRolloutAborted
	ruleApprovalRequired
	ruleRequirementMissing
	ruleRequirementComing
	ruleRequirementAbsent
	ruleRequirementInvalid
	ruleRequirementCycle
	ruleWouldBreak
	ruleBreaksNoMore
	ruleStillRequired
	ruleRemovedAfter
)

var (
	refusedKinds = []Kind{Refused, Keep}
	running      = []Kind{Run}
	inPlace      = []Kind{Run, Keep}
)

// rules is the table. The installed version of a refused module stays installed, unless this Kyma is no longer allowed to have it: the two
// rules of reason NotAllowed, and the selector of a restricted module.
var rules = [...]Rule{
	ruleReady: {Kinds: running, State: v1beta2.StateReady, Reason: v1beta2.ReasonReady},
	ruleManifestPending: {Kinds: running, State: v1beta2.StateProcessing, Reason: v1beta2.ReasonManifestPending,
		Message: `Manifest "{manifest}" was written and is being applied`,
		Remedy: "Wait. If it lasts: see whether the operator runs, and whether the Manifest carries the label " +
			"`operator.kyma-project.io/skip-reconciliation`."},
	ruleProcessing: {Kinds: running, State: v1beta2.StateProcessing, Reason: v1beta2.ReasonModuleProcessing,
		Message: `{detail}`,
		Remedy:  "Wait. If it lasts: check the object that the message names, in the runtime."},
	ruleWarning: {Kinds: []Kind{Run, Removed}, State: v1beta2.StateWarning, Reason: v1beta2.ReasonModuleWarning,
		Message: `{detail}`,
		Remedy:  "The message is the Manifest's; docs/spec/manifest.md has the remedy for its reason."},
	ruleError: {Kinds: []Kind{Run, Keep, Removed}, State: v1beta2.StateError, Reason: v1beta2.ReasonModuleError,
		Message: `{detail}`,
		Remedy:  "The message is the Manifest's; docs/spec/manifest.md has the remedy for its reason."},
	ruleModuleCR: {Kinds: running, Reason: v1beta2.ReasonModuleCRNotReady,
		Message: `the module's own resource reports {detail}`,
		Remedy:  "Look at the resource in the runtime: the module's operator reports there what is missing."},
	ruleManifestRefused: {State: v1beta2.StateError, Reason: v1beta2.ReasonManifestRefused,
		Message: `Manifest "{manifest}" was refused by the API server: {detail}`,
		Remedy: "Correct what the message names, most often `spec.data` or `spec.manager` of the ModuleTemplate; " +
			"or look for an admission policy."},
	ruleManifestConflict: {State: v1beta2.StateError, Reason: v1beta2.ReasonManifestConflict,
		Message: `Manifest "{manifest}" exists and does not belong to this module of this Kyma`,
		Remedy:  "Delete or rename that Manifest if it is not needed, or give one of the two Kymas or components a shorter name."},
	ruleInternal: {State: v1beta2.StateError, Reason: v1beta2.ReasonInternal,
		Message: `an unexpected error occurred: {detail}`,
		Remedy:  "Look at the operator's log, and report it."},
	ruleComponentPending: {Kinds: []Kind{Waiting}, State: v1beta2.StateProcessing, Reason: v1beta2.ReasonComponentPending,
		Message: `component {component}:{version} is being read`,
		Remedy:  "Wait."},
	ruleReinstall: {Kinds: []Kind{Waiting}, State: v1beta2.StateDeleting, Reason: v1beta2.ReasonModuleDeleting,
		Message: `the module is installed again when its previous installation is gone`,
		Remedy:  "Wait. If it lasts: the condition Ready of Manifest names the cause, most often custom resources that still exist."},
	ruleDisabled: {Kinds: []Kind{Removed}, State: v1beta2.StateDeleting, Reason: v1beta2.ReasonModuleDeleting,
		Message: `the module is being removed`,
		Remedy:  "Wait. If it lasts: the message names the cause, most often custom resources that still exist."},
	ruleSucceeded: {Kinds: []Kind{Removed}, State: v1beta2.StateDeleting, Reason: v1beta2.ReasonModuleDeleting,
		Message: `module {module} replaces this module, which is removed once the objects of {module} are recorded`,
		Remedy: "Wait. If it lasts: see what holds the other module, whose message says it; or take that one out of the spec, too, to have " +
			"both removed."},
	ruleKymaDeleting: {Kinds: []Kind{Removed}, State: v1beta2.StateDeleting, Reason: v1beta2.ReasonDeleting,
		Message: `the Kyma is being deleted`,
		Remedy:  "Wait. If it lasts: the message names the modules that are left."},
	ruleUnmanaged: {Kinds: []Kind{Unmanaged}, State: v1beta2.StateUnmanaged, Reason: v1beta2.ReasonUnmanaged,
		Message: `the module is not managed: its objects are left as they are`,
		Remedy:  "None needed. Set `managed: true` to have it managed again."},
	ruleChannelAndVersion: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonChannelAndVersion,
		Message: `channel and version are both set, to "{channel}" and "{version}"`,
		Remedy:  "Remove one of them from the module."},
	ruleChannelNone: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonChannelInvalid,
		Message: `channel "{channel}" is not allowed`,
		Remedy:  "Name a channel that the ModuleReleaseMeta offers, for the module or for the Kyma."},
	ruleVersionNotAllowed: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonVersionNotAllowed,
		Message: `version "{version}" is pinned in the runtime, which is not allowed`,
		Remedy:  "Follow a channel; or have the version pinned on the hub, or the operator started with `--allow-runtime-versions`."},
	ruleReleaseMissing: {Kinds: refusedKinds, State: v1beta2.StateWarning, Reason: v1beta2.ReasonReleaseNotFound,
		Message: `no ModuleReleaseMeta found for module "{module}" in namespace "{namespace}"`,
		Remedy:  "Correct the module's name (the ModuleReleaseMeta's name, not its component's), or apply the ModuleReleaseMeta."},
	ruleMandatory: {Kinds: refusedKinds, State: v1beta2.StateWarning, Reason: v1beta2.ReasonModuleMandatory,
		Message: `no templates were found: module "{module}" is mandatory and cannot be enabled`,
		Remedy:  "Remove it from the spec: mandatory modules come by themselves."},
	ruleComponentNameMissing: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonComponentNameMissing,
		Message: `ModuleReleaseMeta "{module}" has no ocmComponentName`,
		Remedy:  "Set `spec.ocmComponentName` of the ModuleReleaseMeta."},
	ruleChannelMissing: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonChannelNotFound,
		Message: `no version found for channel "{channel}" in ModuleReleaseMeta "{module}"`,
		Remedy:  "Name a channel that the ModuleReleaseMeta offers, or add that channel to it."},
	ruleKymaReleaseMissing: {Kinds: refusedKinds, State: v1beta2.StateWarning, Reason: v1beta2.ReasonKymaReleaseNotFound,
		Message: `KymaRelease "{release}" was not found in namespace "{namespace}"`,
		Remedy: "Correct `spec.release` of the Kyma, or apply the KymaRelease. What runs is kept until then. A manager that says at its start " +
			"that it reads no KymaReleases needs their definition and its rights first."},
	ruleNotInRelease: {Kinds: refusedKinds, State: v1beta2.StateWarning, Reason: v1beta2.ReasonNotInRelease,
		Message: `KymaRelease "{release}" does not have module "{module}"`,
		Remedy: "Give the module a channel or a version of its own, name a release that has it (`kyma kyma set-release`), or remove the " +
			"module from the spec. What runs is kept until then."},
	ruleTemplateMissing: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonTemplateNotFound,
		Message: `failed to get module template: ModuleTemplate.operator.kyma-project.io "{template}" not found`,
		Remedy:  "Apply the ModuleTemplate of that version, or choose another channel or version."},
	ruleTemplateOther: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonTemplateInvalid,
		Message: `ModuleTemplate "{template}" is for another module or version: {detail}`,
		Remedy:  "Correct `spec.moduleName` and `spec.version` of the ModuleTemplate; its name is `<moduleName>-<version>`."},
	ruleInternalModule: {Kinds: []Kind{Refused, Removed}, State: v1beta2.StateError, Reason: v1beta2.ReasonNotAllowed,
		Message: `module template not allowed: internal module`,
		Remedy:  "Label the Kyma `operator.kyma-project.io/internal: \"true\"`, or remove the module from the spec."},
	ruleBetaModule: {Kinds: []Kind{Refused, Removed}, State: v1beta2.StateError, Reason: v1beta2.ReasonNotAllowed,
		Message: `module template not allowed: beta module`,
		Remedy:  "Label the Kyma `operator.kyma-project.io/beta: \"true\"`, or remove the module from the spec."},
	ruleNotListed: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonModuleRestricted,
		Message: `module template not allowed: module has kymaSelector but is not in restricted modules list`,
		Remedy:  "Add the module to the operator's flag `--restricted-default-modules`, or remove the selector from the ModuleReleaseMeta."},
	ruleNoSelector: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonModuleRestricted,
		Message: `module template not allowed: module is in restricted modules list but has no kymaSelector`,
		Remedy:  "Set `spec.kymaSelector` of the ModuleReleaseMeta."},
	ruleNotSelected: {Kinds: []Kind{Refused, Removed}, State: v1beta2.StateError, Reason: v1beta2.ReasonModuleRestricted,
		Message: `module template not allowed: restricted module not allowed for this Kyma`,
		Remedy:  "Label the Kyma as `spec.kymaSelector` of the ModuleReleaseMeta asks, or remove the module from the spec."},
	ruleSelectorUseless: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonModuleRestricted,
		Message: `module template not allowed: restricted module not allowed for this Kyma: ` +
			`the kymaSelector of the ModuleReleaseMeta is empty or invalid`,
		Remedy: "Correct `spec.kymaSelector` of the ModuleReleaseMeta: an empty one selects no Kyma."},
	ruleValuesInvalid: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonValuesInvalid,
		Message: `the values of the module's entry cannot be used: {detail}`,
		Remedy:  "Correct `values` of the entry, or put them into a Secret or ConfigMap and name that in `valuesFrom`."},
	ruleValuesNotFound: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonValuesNotFound,
		Message: `values of the module's entry are missing: {detail}`,
		Remedy: "Create what the message names in the namespace of the Kyma on the hub, with the label " +
			"`operator.kyma-project.io/values: \"true\"`, or correct `valuesFrom` of the entry. What runs keeps its values."},
	ruleDowngrade: {Kinds: refusedKinds, State: v1beta2.StateWarning, Reason: v1beta2.ReasonDowngrade,
		Message: `module template update not allowed: ignore channel skew (from {from} to {to}), ` +
			`as a higher version ({installed}) of the module was previously installed`,
		Remedy: "Choose a channel or version that is not lower; or disable the module, wait until it is gone, and enable it again."},
	ruleComponentMissing: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonComponentNotFound,
		Message: `component {component}:{version} was not found: {detail}`,
		Remedy:  "Publish the component version to the operator's registry, or choose another version."},
	ruleComponentInvalid: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonComponentInvalid,
		Message: `component {component}:{version} cannot be installed: {detail}`,
		Remedy: "Publish a corrected version of the component; it needs a resource `raw-manifest`, a chart, " +
			"or a resource with the label `operator.kyma-project.io/renderer`."},
	ruleRegistryUnreachable: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonRegistryUnreachable,
		Message: `the registry of component {component}:{version} does not answer: {detail}`,
		Remedy: "See whether the registry of flag `--oci-registry-host` is up and can be reached from the operator; " +
			"it is retried automatically."},
	ruleRegistryUnauthorized: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonRegistryUnauthorized,
		Message: `the registry of component {component}:{version} refuses the credentials: {detail}`,
		Remedy:  "Correct the Secret of flag `--oci-registry-cred-secret`."},
	ruleSignatureMissing: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonSignatureMissing,
		Message: `component {component}:{version} must be signed and is not: {detail}`,
		Remedy:  "Sign the component version, or correct the file of flag `--signatures-file` (docs/spec/signatures.md)."},
	ruleSignatureInvalid: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonSignatureInvalid,
		Message: `the signature does not match component {component}:{version}: {detail}`,
		Remedy: "Find out who changed the component version in the registry. If that was meant to be: " +
			"publish a new version, and sign it with the digests of all its resources."},
	ruleSignatureUntrusted: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonSignatureUntrusted,
		Message: `the signature of component {component}:{version} is not by a trusted signer: {detail}`,
		Remedy: "Sign the component version with a key or certificate of the file of flag `--signatures-file`, " +
			"or add the signer's to it (docs/spec/signatures.md)."},
	ruleSignatureRevoked: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonSignatureRevoked,
		Message: `the key that signed component {component}:{version} is revoked: {detail}`,
		Remedy: "Sign the component version with another key, or publish a new version if the old one may come from a holder of " +
			"the key. What is installed stays (docs/spec/signatures.md)."},
	ruleWindowClosed: {Kinds: []Kind{Waiting}, Reason: v1beta2.ReasonWaitingForMaintenanceWindow,
		Message: `version {version} needs downtime and waits for the maintenance window that opens at {opens}`,
		Remedy:  "Wait, or set `spec.skipMaintenanceWindows` of the Kyma."},
	ruleWindowUnknown: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonMaintenanceWindowUnknown,
		Message: `version {version} needs downtime, and no maintenance window is known: {detail}`,
		Remedy: "Correct the file of flag `--maintenance-policy-file` (docs/spec/maintenance-windows.md), " +
			"or set `spec.skipMaintenanceWindows` of the Kyma."},
	ruleRolledBack: {Kinds: inPlace, Reason: v1beta2.ReasonRolledBack,
		Message: `version {version} failed here ({detail}) and {installed} is installed; it is tried again with "kyma retry {module}", ` +
			`or when another version is offered`,
		Remedy: "Publish a corrected version. A new version, or a corrected template or component, is installed automatically; " +
			"`kyma retry` tries the same once more."},
	ruleAvoided: {Kinds: inPlace, Reason: v1beta2.ReasonRolledBack,
		Message: `version {version} is avoided, as the spec asks, and {installed} is installed`,
		Remedy:  "None needed. A new version is installed automatically; `kyma retry`, or removing `avoid` from the entry, installs this one."},
	ruleTakenBack: {Kinds: inPlace, Reason: v1beta2.ReasonRolledBack,
		Message: `the rollout of version {version} rolled it back, and {installed} is installed`,
		Remedy:  "See `kyma rollout status` for what failed. The version comes again when the rollout is resumed."},
	ruleRollbackUnavailable: {Kinds: inPlace, State: v1beta2.StateWarning, Reason: v1beta2.ReasonRollbackUnavailable,
		Message: `version {version} stays, although the module should go back from it: {detail}`,
		Remedy: "Apply the earlier ModuleTemplate as it was, or offer a corrected version. Where only the author's word is missing, " +
			"`kyma rollback` goes back."},
	ruleRollbackUnsafe: {Kinds: running, State: v1beta2.StateError, Reason: v1beta2.ReasonRollbackUnsafe,
		Message: `{detail}`,
		Remedy: "What runs stays as it is. Offer a corrected version; or take the newer one again with `kyma retry`, " +
			"which also removes `avoid`."},
	ruleRolloutWaits: {Kinds: []Kind{Waiting}, Reason: v1beta2.ReasonWaitingForRollout,
		Message: `version {version} waits {detail}`,
		Remedy: "Wait. The ModuleRollout of the module's name, on the hub, says how far it is and what it waits for " +
			"(docs/spec/modulerollout.md). To have the version now, pin it: a pinned version waits for no rollout."},
	ruleRolloutAborted: {Kinds: []Kind{Keep}, Reason: v1beta2.ReasonRolloutAborted,
		Message: `version {installed} stays installed: its rollout was aborted, and the channel now offers version {version}`,
		Remedy: "None needed: the module follows its channel again with the next higher version. " +
			"`kyma rollback` goes back to the version before."},
	ruleApprovalRequired: {Kinds: []Kind{Waiting}, Reason: v1beta2.ReasonApprovalRequired,
		Message: `version {version} waits for consent{detail}`,
		Remedy: "Look at what it asks for with `kyma permissions MODULE`, and agree with `kyma approve MODULE`. Where the message names " +
			"the hub, only its operator can."},
	ruleRequirementMissing: {Kinds: []Kind{Waiting}, Reason: v1beta2.ReasonRequirementMissing,
		Message: `version {version} needs {detail}`,
		Remedy:  "Add what is missing; the version is installed at once when it is there. `kyma requirements MODULE` lists all of it."},
	ruleRequirementComing: {Kinds: []Kind{Waiting}, State: v1beta2.StateProcessing, Reason: v1beta2.ReasonRequirementMissing,
		Message: `version {version} needs {detail}`,
		Remedy: "Wait: what is missing is on its way, or is being looked for. If it lasts: see the module or the cluster that the " +
			"message names."},
	ruleRequirementAbsent: {Kinds: []Kind{Waiting}, State: v1beta2.StateWarning, Reason: v1beta2.ReasonRequirementMissing,
		Message: `version {version} needs {detail}`,
		Remedy:  "Add what the message names; the version is installed at once when it is there. `kyma requirements MODULE` lists all of it."},
	ruleRequirementInvalid: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonTemplateInvalid,
		Message: `what ModuleTemplate "{template}" requires cannot be read: {detail}`,
		Remedy: "Correct `spec.requires` of the ModuleTemplate, or its annotation `operator.kyma-project.io/requires` " +
			"(docs/spec/requirements.md)."},
	ruleRequirementCycle: {Kinds: refusedKinds, State: v1beta2.StateError, Reason: v1beta2.ReasonRequirementCycle,
		Message: `version {version} cannot be installed: the modules {detail} require each other`,
		Remedy:  "Offer a version of one of them that does not require the next one."},
	ruleWouldBreak: {Kinds: refusedKinds, State: v1beta2.StateWarning, Reason: v1beta2.ReasonWouldBreak,
		Message: `version {version} is not installed: {detail}`,
		Remedy:  "Upgrade or remove the modules that the message names first, or offer a version that they work with."},
	ruleBreaksNoMore: {Kinds: []Kind{Waiting}, Reason: v1beta2.ReasonWouldBreak,
		Message: `version {version} waits until {detail}`,
		Remedy:  "Wait. If it lasts: see the modules that the message names, which this version would break as they are."},
	ruleStillRequired: {Kinds: []Kind{Keep}, State: v1beta2.StateWarning, Reason: v1beta2.ReasonStillRequired,
		Message: `the module is not removed: {detail}`,
		Remedy:  "Remove the modules that the message names first, or together with it (`kyma delete --cascade`)."},
	ruleRemovedAfter: {Kinds: []Kind{Removed}, State: v1beta2.StateDeleting, Reason: v1beta2.ReasonModuleDeleting,
		Message: `the module is removed after {detail}`,
		Remedy:  "Wait. If it lasts: the status of the modules that the message names says what holds them."},
}

// Rules returns the table verdict -> state, reason, message, remedy.
func Rules() []Rule {
	table := slices.Clone(rules[:])
	for i := range table {
		table[i].Kinds = slices.Clone(table[i].Kinds)
	}
	return table
}

// message fills the rule's message with pairs of placeholder (without braces) and value.
func (r rule) message(pairs ...string) string {
	filled := slices.Clone(pairs)
	for i := 0; i < len(filled); i += 2 {
		filled[i] = "{" + filled[i] + "}"
	}
	return strings.NewReplacer(filled...).Replace(rules[r].Message)
}

// failure returns the rule for a reason that comes from elsewhere: from reading the component or from the API server.
func failure(reason string) rule {
	switch reason {
	case v1beta2.ReasonManifestRefused:
		return ruleManifestRefused
	case v1beta2.ReasonManifestConflict:
		return ruleManifestConflict
	case v1beta2.ReasonManifestPending:
		return ruleManifestPending
	case v1beta2.ReasonComponentNotFound:
		return ruleComponentMissing
	case v1beta2.ReasonComponentInvalid:
		return ruleComponentInvalid
	case v1beta2.ReasonRegistryUnreachable:
		return ruleRegistryUnreachable
	case v1beta2.ReasonRegistryUnauthorized:
		return ruleRegistryUnauthorized
	case v1beta2.ReasonSignatureMissing:
		return ruleSignatureMissing
	case v1beta2.ReasonSignatureInvalid:
		return ruleSignatureInvalid
	case v1beta2.ReasonSignatureUntrusted:
		return ruleSignatureUntrusted
	case v1beta2.ReasonSignatureRevoked:
		return ruleSignatureRevoked
	default:
		return ruleInternal
	}
}
