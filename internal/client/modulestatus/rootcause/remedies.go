package rootcause

import (
	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// RemedyOf returns what a user can do about a reason, "" if there is nothing to do:
//
//  1. for a reason of this package, the remedy in its table
//  2. for a module of a Kyma, the remedy of the rule with the same reason
//  3. for a reason of a Manifest, the remedy in docs/spec/manifest.md
//  4. for a reason of package modulestatus, the remedy below
func RemedyOf(reason string) string {
	for i := range Table {
		if Table[i].Reason == reason {
			return Table[i].Remedy
		}
	}
	for _, rule := range module.Rules() {
		if rule.Reason == reason && reason != v1beta2.ReasonModuleError && reason != v1beta2.ReasonModuleWarning {
			return rule.Remedy
		}
	}
	return remedies[reason]
}

var remedies = map[string]string{
	v1beta2.ReasonPending:               "Wait. If it persists, check whether the manager is running.",
	v1beta2.ReasonApplying:              "Wait. If it lasts: the message names the cause.",
	v1beta2.ReasonWaitingForCRDs:        "Wait. If it lasts: check the conditions of the definition.",
	v1beta2.ReasonWaitingForObjects:     "Look at the pods and events of the object that the message names.",
	v1beta2.ReasonWaitingForInstall:     "Look at the pods and events of the object that the message names.",
	v1beta2.ReasonWaitingForProbe:       "Look at the object that the message names, or correct spec.probes of the Manifest.",
	v1beta2.ReasonRuntimeConnecting:     "Wait: the runtime is being contacted for the first time.",
	v1beta2.ReasonObjectFailed:          "Check the object that the message names; fix the module, or choose another version.",
	v1beta2.ReasonObjectRefused:         "Fix the module: the message repeats why the cluster refuses the object. The others were applied.",
	v1beta2.ReasonAdmissionDenied:       "Change the module, or the webhook or policy of the runtime that denies the object.",
	v1beta2.ReasonQuotaExceeded:         "Raise the quota of the namespace, or free some of it.",
	v1beta2.ReasonFieldImmutable:        "Delete the object, and it is recreated; or keep the field in the module.",
	v1beta2.ReasonCRDChangeRefused:      "Publish a compatible version, fix the objects it names, or allow the rules in allowCRDChanges.",
	v1beta2.ReasonKindUnknown:           "Install what brings this kind into the runtime.",
	v1beta2.ReasonOwnershipConflict:     "Delete or rename the object of the other owner, or set ownership in the Manifest.",
	v1beta2.ReasonNamespaceTerminating:  "Wait until the namespace is gone.",
	v1beta2.ReasonRegistryUnreachable:   "Restore the registry; it is retried automatically.",
	v1beta2.ReasonRegistryUnauthorized:  "Correct the Secret with the login of the registry.",
	v1beta2.ReasonContentNotFound:       "Publish the content, or correct the source.",
	v1beta2.ReasonDigestMismatch:        "Find out who changed the content: nothing of it was applied.",
	v1beta2.ReasonContentNotCovered:     "Install what the component version holds and sign that, or correct the signatures file.",
	v1beta2.ReasonContentTooLarge:       "Make the content smaller.",
	v1beta2.ReasonContentInvalid:        "Correct the content at the place that the message names.",
	v1beta2.ReasonArchiveRefused:        "Pack the archive again with regular files only.",
	v1beta2.ReasonSourceInvalid:         "Correct the field that the message names.",
	v1beta2.ReasonSourceUnsupported:     "Choose one of the types of sources that the message lists.",
	v1beta2.ReasonValuesInvalid:         "Correct the values, the config layer or its set strings.",
	v1beta2.ReasonValuesNotFound:        "Create the object that the message names, with its label, or correct valuesFrom of the entry.",
	v1beta2.ReasonNonDeterministic:      "Follow the message about the field: the chart renders it differently each time.",
	v1beta2.ReasonGeneratedValuesLost:   "Restore the Secret that the message names, or create it without data to have all values made anew.",
	v1beta2.ReasonWaitingForHook:        "Look at the pods of the Job that the message names.",
	v1beta2.ReasonChartHookFailed:       "Look at the pods of the Job in the message; delete it to try again, or offer a corrected version.",
	v1beta2.ReasonHooksRefused:          "Set the values that the message names, or let the module's operator do what the hooks do.",
	v1beta2.ReasonRemoteBaseRefused:     "Copy what the message names into the content.",
	v1beta2.ReasonProbeInvalid:          "Correct the expression of the probe, or the path of the customStateCheck.",
	v1beta2.ReasonAccessSecretNotFound:  "Create the access Secret of the Kyma: kyma kyma connect.",
	v1beta2.ReasonAccessSecretAmbiguous: "Delete all access Secrets of the Kyma but one.",
	v1beta2.ReasonKubeconfigInvalid:     "Correct the kubeconfig in the access Secret.",
	v1beta2.ReasonKubeconfigRefused:     "Make a kubeconfig with inline data, without programs, files and proxies.",
	v1beta2.ReasonRuntimeUnreachable:    "See whether the runtime's API server runs and can be reached from the manager.",
	v1beta2.ReasonRuntimeReplaced:       "The access Secret leads to another cluster than before: docs/spec/runtime.md describes what to do.",
	v1beta2.ReasonRuntimeClaimed:        "Another hub manages the runtime: take it over as the message says, or delete this Kyma.",
	v1beta2.ReasonRuntimeUnauthorized:   "Renew the kubeconfig in the access Secret.",
	v1beta2.ReasonMissingPermissions:    "Give the ServiceAccount the rights that the message names.",
	v1beta2.ReasonRuntimeForbidden:      "Give the credentials in the access Secret the rights that the message names.",
	v1beta2.ReasonHubSecretUnusable:     "Correct the Secret of the hub that the message names.",
	v1beta2.ReasonLocalAccessMissing:    "Apply config/components/local, which lets the manager install into the hub.",
	v1beta2.ReasonLocalNamespaceRefused: "Name a ServiceAccount of the namespace in spec.serviceAccountName; or the namespace in the " +
		"manager's flag --local-namespaces, if all who may write there may do everything.",
	v1beta2.ReasonDeletionBlocked:     "Delete the custom resources that the message names, or the module with everything made with it.",
	v1beta2.ReasonWaitingForDeletion:  "Wait. If it lasts: see why the owner of the finalizer in the message does not release the object.",
	v1beta2.ReasonForeignFinalizers:   "Remove other owners' finalizers from the Manifest if they are not needed.",
	v1beta2.ReasonInventoryUnreadable: "Restore the Secret with the rest of the inventory: nothing is changed until then.",
	v1beta2.ReasonReferenceMoved:      "Ask for another reference to follow it, and find out who moved it.",
	v1beta2.ReasonModuleError:         "The message names the problem; the Manifest has more.",
	v1beta2.ReasonModuleWarning:       "The message names what differs from the request.",
	modulestatus.WhyForbidden:         "Ask an administrator of the cluster for permission to read it.",
	modulestatus.WhyReadFailed:        "Check why the cluster does not serve it; it is read again automatically.",
	modulestatus.WhyKymaGone:          "Delete the Manifest when its objects are no longer needed.",
	modulestatus.WhyInterrupted:       "Repeat what was interrupted: it continues where it stopped.",
	modulestatus.WhyManagerMissing:    "Install the module again: the object that runs its operator is gone.",
	modulestatus.WhyManagerNotReady:   "Look at the pods and events of the module's operator.",
	modulestatus.WhyMissing:           "Install the module again, or see who deleted the object.",
}
