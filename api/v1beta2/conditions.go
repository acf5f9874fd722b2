package v1beta2

// Condition types. Ready is ours and sums up; the others are upstream's and keep their messages.
const (
	// ConditionReady of a Kyma and a Manifest: everything that the current spec asks for was observed running.
	ConditionReady = "Ready"
	// ConditionModules of a Kyma: all modules are ready.
	ConditionModules = "Modules"
	// ConditionModuleCatalog of a Kyma: the runtime holds the templates and releases that it may see.
	ConditionModuleCatalog = "ModuleCatalog"
	// ConditionCRDsSync of a Kyma: the runtime holds the CustomResourceDefinitions that its users need.
	ConditionCRDsSync = "CRDsSync"
	// ConditionImagePullSecret of a Kyma: the runtime holds the image pull Secret; only with --skr-image-pull-secret.
	ConditionImagePullSecret = "SKRImagePullSecretSync" //nolint:gosec // no secret
	// ConditionSpecSync of a Kyma: what was requested on the hub and in the runtime does not contradict.
	ConditionSpecSync = "SpecSync"
	// ConditionMandatoryModules of a Kyma: the modules that every Kyma has are ready; they do not count for its state.
	ConditionMandatoryModules = "MandatoryModules"
	// ConditionResources of a Manifest: the content was fetched, verified and parsed.
	ConditionResources = "Resources"
	// ConditionInstallation of a Manifest: the objects were applied and are ready.
	ConditionInstallation = "Installation"
	// ConditionModuleCR of a Manifest: the default custom resource was created.
	ConditionModuleCR = "ModuleCR"
	// ConditionArmed of a ModuleRollout: its release is marked, so that every Kyma knows of it.
	ConditionArmed = "Armed"
	// ConditionProgressing of a ModuleRollout: a wave gets the target, or soaks. Its message says how far all channels are.
	ConditionProgressing = "Progressing"
	// ConditionHalted of a ModuleRollout: too many Kymas failed with a target.
	ConditionHalted = "Halted"
	// ConditionCompleted of a ModuleRollout: every Kyma may have what the channels name.
	ConditionCompleted = "Completed"
	// ConditionSigned of a Manifest: a signature that the policy trusts covers all that it installs. Of a Kyma: that holds for each of its
	// modules. There is none where no policy asks for it.
	ConditionSigned = "Signed"
	// ConditionReconciling of a Kyma, a Manifest and a ModuleRollout is there, and True, while the object is on its way. kstatus reads it.
	ConditionReconciling = "Reconciling"
	// ConditionStalled of the same kinds is there, and True, where something failed. kstatus reads it. There is never one beside the other.
	ConditionStalled = "Stalled"
)

// Messages of upstream's condition types.
const (
	MessageModulesReady         = "all modules are in ready state"
	MessageModulesNotReady      = "not all modules are in ready state"
	MessageModulesUnknown       = "modules state is unknown"
	MessageCatalogSynced        = "module templates are synchronized"
	MessageCatalogNotSynced     = "module templates are out of sync and need to be resynchronized"
	MessageCatalogUnknown       = "module templates synchronization state is unknown"
	MessageCRDsSynced           = "CRDs are synchronized to the SKR"
	MessageCRDsNotSynced        = "CRDs are not synchronized to the SKR"
	MessagePullSecretSynced     = "skr image pull secret is synchronized"                               //nolint:gosec // no secret
	MessagePullSecretNotSynced  = "skr image pull secret is out of sync and needs to be resynchronized" //nolint:gosec // no secret
	MessageSpecsAgree           = "hub and runtime agree, or one of them takes precedence"
	MessageSpecsDiffer          = "hub and runtime changed the same entry, and the runtime takes precedence:  "
	MessageEditPending          = "the last change of the spec waits until it can be merged with what the runtime asks for"
	MessageSpecsUnknown         = "the Kyma in the runtime was not read yet"
	MessageResourcesParsed      = "resources are parsed and ready for use"
	MessageResourcesNotParsed   = "resources not parsed"
	MessageInstallationReady    = "installation is ready and resources can be used"
	MessageInstallationNotReady = "installation is not ready"
	// MessageNotSeenYet ends the message about an object that was not looked at yet, as after a restart.
	MessageNotSeenYet           = "its status was not seen yet"
	MessageModuleCRCreated      = "module CR was created"
	MessageModuleCRNotCreated   = "module CR has not been created to SKR"
	MessageSignatureVerified    = "trusted signatures cover everything that is installed"
	MessageSignatureNotRequired = "the policy asks for no signature; everything is content of the component version"
)

// Values of lastOperation.operation that upstream's users know.
const (
	OperationStarted          = "started processing"
	OperationKymaReady        = "kyma is ready"
	OperationWaitingModules   = "waiting for all modules to become ready"
	OperationWaitingDeletion  = "waiting for modules to be deleted"
	OperationResourcesReady   = "resources are ready"
	OperationWaitingResources = "waiting for resources to become ready"
	OperationWaitingModuleCRs = "waiting for module crs deletion"
	OperationSetDeleting      = ".status.State set to Deleting"
	OperationDeleting         = "deletion is not yet finished"
)

// Reasons that a Kyma or one of its modules gives. docs/spec/kyma.md has the remedy for each.
const (
	// ReasonReady: everything that was requested runs.
	ReasonReady = "Ready"
	// ReasonNoModules: the spec names no module; there is nothing to do.
	ReasonNoModules = "NoModules"
	// ReasonModuleProcessing: a module is being installed or upgraded.
	ReasonModuleProcessing = "ModuleProcessing"
	// ReasonModuleDeleting: a module that is no longer wanted is being removed.
	ReasonModuleDeleting = "ModuleDeleting"
	// ReasonModuleError: the installation of a module failed; the message names it.
	ReasonModuleError = "ModuleError"
	// ReasonModuleWarning: a module runs, but not as asked; the message names it.
	ReasonModuleWarning = "ModuleWarning"
	// ReasonUnmanaged: the module was let go of and its objects were left running.
	ReasonUnmanaged = "Unmanaged"
	// ReasonDeleting: the object is being deleted.
	ReasonDeleting = "Deleting"
	// ReasonReleaseNotFound: there is no ModuleReleaseMeta of that name.
	ReasonReleaseNotFound = "ReleaseNotFound"
	// ReasonChannelNotFound: the ModuleReleaseMeta does not offer that channel.
	ReasonChannelNotFound = "ChannelNotFound"
	// ReasonChannelInvalid: the literal channel "none" was requested.
	ReasonChannelInvalid = "ChannelInvalid"
	// ReasonChannelAndVersion: channel and version were both set.
	ReasonChannelAndVersion = "ChannelAndVersion"
	// ReasonKymaReleaseNotFound: the Kyma names a release that does not exist; what runs is kept.
	ReasonKymaReleaseNotFound = "KymaReleaseNotFound"
	// ReasonNotInRelease: the Kyma's release does not have the module; what runs is kept.
	ReasonNotInRelease = "NotInRelease"
	// ReasonTemplateNotFound: the ModuleTemplate of that version does not exist.
	ReasonTemplateNotFound = "TemplateNotFound"
	// ReasonTemplateInvalid: the ModuleTemplate names another module or version than its release.
	ReasonTemplateInvalid = "TemplateInvalid"
	// ReasonModuleMandatory: mandatory modules come by themselves and cannot be enabled.
	ReasonModuleMandatory = "ModuleMandatory"
	// ReasonNotAllowed: this Kyma may not have the module (beta or internal); an installed one is removed.
	ReasonNotAllowed = "NotAllowed"
	// ReasonModuleRestricted: the module is restricted to Kymas that its release selects, and this Kyma is not one of them.
	ReasonModuleRestricted = "ModuleRestricted"
	// ReasonDowngrade: the version is lower than the installed one, which is kept.
	ReasonDowngrade = "Downgrade"
	// ReasonComponentNameMissing: the ModuleReleaseMeta has no ocmComponentName.
	ReasonComponentNameMissing = "ComponentNameMissing"
	// ReasonComponentNotFound: the registry does not have that component version.
	ReasonComponentNotFound = "ComponentNotFound"
	// ReasonComponentInvalid: the component version cannot be read or holds nothing that can be installed.
	ReasonComponentInvalid = "ComponentInvalid"
	// ReasonComponentPending: the component version is being read for the first time.
	ReasonComponentPending = "ComponentPending"
	// ReasonManifestRefused: the API server refused the Manifest; the message repeats why.
	ReasonManifestRefused = "ManifestRefused"
	// ReasonManifestConflict: a Manifest of that name exists and does not belong to this Kyma.
	ReasonManifestConflict = "ManifestConflict"
	// ReasonManifestPending: the Manifest controller has not yet seen or not yet applied the current spec.
	ReasonManifestPending = "ManifestPending"
	// ReasonSynced: the runtime holds what it must hold.
	ReasonSynced = "Synced"
	// ReasonSyncPending: what the runtime must hold is on its way.
	ReasonSyncPending = "SyncPending"
	// ReasonSyncFailed: what the runtime must hold could not be written; the message repeats why.
	ReasonSyncFailed = "SyncFailed"
	// ReasonOverruled: hub and runtime changed the same entry; the runtime's user takes precedence.
	ReasonOverruled = "Overruled"
	// ReasonRuntimeSpecRefused: the Kyma in the runtime asks for something that is not accepted; what was seen last counts.
	ReasonRuntimeSpecRefused = "RuntimeSpecRefused"
	// ReasonVersionNotAllowed: the runtime's user pins a version, which the operator's flags do not allow.
	ReasonVersionNotAllowed = "VersionNotAllowed"
	// ReasonRuntimeReplaced: the access Secret suddenly leads to another cluster than before.
	ReasonRuntimeReplaced = "RuntimeReplaced"
	// ReasonRuntimeClaimed: another hub manages the runtime; this one writes nothing there.
	ReasonRuntimeClaimed = "RuntimeClaimed"
	// ReasonWaitingForMaintenanceWindow: an upgrade with downtime waits for the window that the message names.
	ReasonWaitingForMaintenanceWindow = "WaitingForMaintenanceWindow"
	// ReasonMaintenanceWindowUnknown: an upgrade needs a maintenance window and no policy names one.
	ReasonMaintenanceWindowUnknown = "MaintenanceWindowUnknown"
	// ReasonSignatureMissing: the component version must be signed and is not.
	ReasonSignatureMissing = "SignatureMissing"
	// ReasonSignatureInvalid: the signature does not fit the component version.
	ReasonSignatureInvalid = "SignatureInvalid"
	// ReasonSignatureUntrusted: no signer that the policy trusts made the signature, or the certificate has expired.
	ReasonSignatureUntrusted = "SignatureUntrusted"
	// ReasonSignatureRevoked: the key that made the signature is revoked, or that of an authority of its certificate.
	ReasonSignatureRevoked = "SignatureRevoked"
	// ReasonWaitingForRollout: the version waits until a ModuleRollout lets this Kyma have it.
	ReasonWaitingForRollout = "WaitingForRollout"
	// ReasonApprovalRequired: the version waits for consent.
	ReasonApprovalRequired = "ApprovalRequired"
	// ReasonRequirementMissing: the version needs something that the Kyma or its cluster does not have.
	ReasonRequirementMissing = "RequirementMissing"
	// ReasonRequirementCycle: modules require each other in a circle.
	ReasonRequirementCycle = "RequirementCycle"
	// ReasonWouldBreak: the version is not one that another module of the Kyma works with.
	ReasonWouldBreak = "WouldBreak"
	// ReasonStillRequired: the module is not removed, since other modules of the Kyma need it.
	ReasonStillRequired = "StillRequired"
	// ReasonRolloutAborted: the module has a version that its channel no longer offers, since the rollout of it was aborted.
	ReasonRolloutAborted = "RolloutAborted"
	// ReasonRolledBack: the version that the channel offers failed here or was gone back from; the version before is installed.
	ReasonRolledBack = "RolledBack"
	// ReasonRollbackUnavailable: there is no earlier version that the module could go back to.
	ReasonRollbackUnavailable = "RollbackUnavailable"
	// ReasonRollbackUnsafe: the earlier version cannot take over from this one, so that this one stays.
	ReasonRollbackUnsafe = "RollbackUnsafe"
	// ReasonModuleCRNotReady: the module's own CR reports another state than Ready.
	ReasonModuleCRNotReady = "ModuleCRNotReady"
)

// Reasons of events about a version that waited for consent, beside ReasonApprovalRequired. docs/spec/approvals.md explains them.
const (
	// ReasonApproved: all who had to consent have.
	ReasonApproved = "Approved"
	// ReasonApprovalForced: the channel does not let the version wait any longer.
	ReasonApprovalForced = "ApprovalForced"
)

// Reasons of a revision that was gone back from, beside ReasonProgressDeadlineExceeded.
const (
	// ReasonRequested: a person asked for an earlier version.
	ReasonRequested = "Requested"
	// ReasonRollout: the ModuleRollout of the module took the version back.
	ReasonRollout = "Rollout"
)

// Reasons that a Manifest gives. docs/spec/manifest.md has the remedy for each.
const (
	// ReasonPending: the Manifest was not looked at yet.
	ReasonPending = "Pending"
	// ReasonParsed: the content was fetched, verified and parsed.
	ReasonParsed = "Parsed"
	// ReasonCreated: the default CR was created.
	ReasonCreated = "Created"
	// ReasonApplying: objects are being applied.
	ReasonApplying = "Applying"
	// ReasonWaitingForCRDs: CustomResourceDefinitions are not yet established.
	ReasonWaitingForCRDs = "WaitingForCRDs"
	// ReasonWaitingForObjects: objects were applied and are not yet ready; the message names the first.
	ReasonWaitingForObjects = "WaitingForObjects"
	// ReasonObjectFailed: an object reports that it failed; the message names it.
	ReasonObjectFailed = "ObjectFailed"
	// ReasonObjectRefused: the API server refused an object; the message repeats why.
	ReasonObjectRefused = "ObjectRefused"
	// ReasonKindUnknown: the runtime does not know the kind of an object.
	ReasonKindUnknown = "KindUnknown"
	// ReasonOwnershipConflict: an object exists and has another owner.
	ReasonOwnershipConflict = "OwnershipConflict"
	// ReasonNamespaceTerminating: the namespace of an object is being deleted.
	ReasonNamespaceTerminating = "NamespaceTerminating"
	// ReasonRegistryUnreachable: the registry does not answer; what runs is kept.
	ReasonRegistryUnreachable = "RegistryUnreachable"
	// ReasonRegistryUnauthorized: the registry refuses the credentials.
	ReasonRegistryUnauthorized = "RegistryUnauthorized"
	// ReasonContentNotFound: the registry does not have that content.
	ReasonContentNotFound = "ContentNotFound"
	// ReasonContentNotCovered: the signature of the component version does not cover something that must be installed.
	ReasonContentNotCovered = "ContentNotCovered"
	// ReasonVerified: trusted signatures cover everything that is installed.
	ReasonVerified = "Verified"
	// ReasonSignatureNotRequired: the policy has a rule that asks for no signature of the component.
	ReasonSignatureNotRequired = "SignatureNotRequired"
	// ReasonDigestMismatch: the registry served other bytes than the digest names.
	ReasonDigestMismatch = "DigestMismatch"
	// ReasonContentTooLarge: the content exceeds the size caps.
	ReasonContentTooLarge = "ContentTooLarge"
	// ReasonContentInvalid: the content is no valid YAML or holds something that is no object.
	ReasonContentInvalid = "ContentInvalid"
	// ReasonArchiveRefused: the archive holds links, parent paths or other entries that are not accepted.
	ReasonArchiveRefused = "ArchiveRefused"
	// ReasonSourceInvalid: spec.install.source is incomplete or contradictory.
	ReasonSourceInvalid = "SourceInvalid"
	// ReasonSourceUnsupported: this version cannot install that type of source or field.
	ReasonSourceUnsupported = "SourceUnsupported"
	// ReasonValuesInvalid: values, config layer or set strings cannot be read, or do not fit the chart's schema. SpecSync: hub and runtime
	// have too many values together.
	ReasonValuesInvalid = "ValuesInvalid"
	// ReasonValuesNotFound: a Secret or ConfigMap that an entry of a Kyma takes values from is not there, or does not hold them any more.
	ReasonValuesNotFound = "ValuesNotFound"
	// ReasonNonDeterministic: the chart renders differently each time, by other things than generated values (dates).
	ReasonNonDeterministic = "NonDeterministic"
	// ReasonGeneratedValuesLost: the values that a chart has generated in this runtime are gone, or were changed to what cannot be used.
	ReasonGeneratedValuesLost = "GeneratedValuesLost"
	// ReasonHooksRefused: the chart has hooks that cannot be run; the message names them.
	ReasonHooksRefused = "HooksRefused"
	// ReasonRemoteBaseRefused: a kustomization refers to something that is not part of its content.
	ReasonRemoteBaseRefused = "RemoteBaseRefused"
	// ReasonCRDChangeRefused: the content would change a CustomResourceDefinition in a way that breaks its users.
	ReasonCRDChangeRefused = "CRDChangeRefused"
	// ReasonAdmissionDenied: an admission webhook or policy of the runtime denies an object.
	ReasonAdmissionDenied = "AdmissionDenied"
	// ReasonQuotaExceeded: a quota of the runtime is used up.
	ReasonQuotaExceeded = "QuotaExceeded"
	// ReasonFieldImmutable: a field that cannot be changed differs; the object must be deleted first.
	ReasonFieldImmutable = "FieldImmutable"
	// ReasonProbeInvalid: a probe's expression cannot be compiled.
	ReasonProbeInvalid = "ProbeInvalid"
	// ReasonWaitingForProbe: a probe is not yet true; the message names it and its object.
	ReasonWaitingForProbe = "WaitingForProbe"
	// ReasonWaitingForInstall: a later installation waits until the ones before it are ready.
	ReasonWaitingForInstall = "WaitingForInstall"
	// ReasonWaitingForHook: a hook of a chart has not completed yet; what comes after it waits.
	ReasonWaitingForHook = "WaitingForHook"
	// ReasonChartHookFailed: a hook of a chart failed, and is not tried again by itself; what runs stays as it is.
	ReasonChartHookFailed = "ChartHookFailed"
	// ReasonReferenceMoved: a tag or version names other content by now; what is installed stays.
	ReasonReferenceMoved = "ReferenceMoved"
	// ReasonFieldsPutBack: (event) declared fields were changed, and were put back.
	ReasonFieldsPutBack = "FieldsPutBack"
	// ReasonKept: (event) an object was left behind on purpose; the message says why.
	ReasonKept = "Kept"
	// ReasonWebhookRemoved: (event) a webhook of a version that failed did not answer, stood in the way of the version before, and was
	// removed.
	ReasonWebhookRemoved = "WebhookRemoved"
	// ReasonAccessSecretNotFound: there is no Secret with access to the runtime.
	ReasonAccessSecretNotFound = "AccessSecretNotFound"
	// ReasonAccessSecretAmbiguous: there is more than one such Secret.
	ReasonAccessSecretAmbiguous = "AccessSecretAmbiguous"
	// ReasonKubeconfigInvalid: the kubeconfig cannot be read.
	ReasonKubeconfigInvalid = "KubeconfigInvalid"
	// ReasonKubeconfigRefused: the kubeconfig would run a program or read a file, which is not accepted.
	ReasonKubeconfigRefused = "KubeconfigRefused"
	// ReasonRuntimeConnecting: the runtime is being contacted for the first time; nothing has failed.
	ReasonRuntimeConnecting = "RuntimeConnecting"
	// ReasonRuntimeUnreachable: the runtime's API server does not answer.
	ReasonRuntimeUnreachable = "RuntimeUnreachable"
	// ReasonRuntimeUnauthorized: the runtime does not accept the credentials.
	ReasonRuntimeUnauthorized = "RuntimeUnauthorized"
	// ReasonRuntimeForbidden: the credentials do not allow what the module needs.
	ReasonRuntimeForbidden = "RuntimeForbidden"
	// ReasonMissingPermissions: the ServiceAccount that installs lacks rights; nothing is written or deleted without them.
	ReasonMissingPermissions = "MissingPermissions"
	// ReasonHubSecretUnusable: a Secret of the hub whose data the content asks for is missing, not meant for the module, or empty.
	ReasonHubSecretUnusable = "HubSecretUnusable" //nolint:gosec // no secret
	// ReasonLocalAccessMissing: installing into the hub itself needs the kustomize component "local".
	ReasonLocalAccessMissing = "LocalAccessMissing"
	// ReasonLocalNamespaceRefused: the operator's flag --local-namespaces does not let this namespace install into the hub itself.
	ReasonLocalNamespaceRefused = "LocalNamespaceRefused"
	// ReasonDeletionBlocked: custom resources of the module still exist; the message names them.
	ReasonDeletionBlocked = "DeletionBlocked"
	// ReasonWaitingForDeletion: objects are being deleted and not yet gone.
	ReasonWaitingForDeletion = "WaitingForDeletion"
	// ReasonForeignFinalizers: finalizers of others hold the Manifest.
	ReasonForeignFinalizers = "ForeignFinalizers"
	// ReasonInventoryUnreadable: the record of what was installed cannot be read, so nothing is changed.
	ReasonInventoryUnreadable = "InventoryUnreadable"
	// ReasonInternal: something unforeseen; the operator's log has more.
	ReasonInternal = "Internal"
)

// Reasons that the condition Ready of a KymaRelease gives. docs/spec/kymarelease.md has the remedy for each.
const (
	// ReasonComplete: every template of the release exists, and its modules require nothing that it does not have.
	ReasonComplete = "Complete"
	// ReasonTemplatesMissing: the release names versions without a ModuleTemplate.
	ReasonTemplatesMissing = "TemplatesMissing"
	// ReasonRequirementsUnmet: modules of the release require others that it does not have, or has in another version.
	ReasonRequirementsUnmet = "RequirementsUnmet"
)

// Reasons that a ModuleRollout gives. docs/spec/modulerollout.md has the remedy for each.
const (
	// ReasonArmed: the release is marked.
	ReasonArmed = "Armed"
	// ReasonReleaseUnmarked: the release is not marked yet.
	ReasonReleaseUnmarked = "ReleaseUnmarked"
	// ReasonWaveUpdating: Kymas of the current wave are upgrading or about to.
	ReasonWaveUpdating = "WaveUpdating"
	// ReasonWaveSoaking: the wave is ready and is observed.
	ReasonWaveSoaking = "WaveSoaking"
	// ReasonWaveEmpty: the wave has no Kyma that can become ready.
	ReasonWaveEmpty = "WaveEmpty"
	// ReasonWaveApproval: the wave waits for approval.
	ReasonWaveApproval = "WaveApproval"
	// ReasonPaused: spec.paused stops admissions.
	ReasonPaused = "Paused"
	// ReasonTooManyFailed: more Kymas failed than the wave allows.
	ReasonTooManyFailed = "TooManyFailed"
	// ReasonNoneFailed: no wave has more failures than it allows.
	ReasonNoneFailed = "NoneFailed"
	// ReasonRollingBack: those that have the target go back.
	ReasonRollingBack = "RollingBack"
	// ReasonAborted: a person ended the rollout, or the channel was set back.
	ReasonAborted = "Aborted"
	// ReasonCompleted: every Kyma may have the target.
	ReasonCompleted = "Completed"
	// ReasonUnderway: a rollout is not through yet.
	ReasonUnderway = "Underway"
	// ReasonSpecInvalid: the plan cannot be carried out; the message says why.
	ReasonSpecInvalid = "SpecInvalid"
	// ReasonProgressDeadlineExceeded: a Kyma was not ready within progressDeadline.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
	// ReasonNotBegun: a Kyma was admitted for progressDeadline and its upgrade did not begin.
	ReasonNotBegun = "NotBegun"
	// ReasonRuntimeLost: the runtime of a Kyma stopped answering after its upgrade began.
	ReasonRuntimeLost = "RuntimeLost"
	// ReasonUnreadyInSoak: a Kyma that was ready with the target has not been ready for five minutes.
	ReasonUnreadyInSoak = "UnreadyInSoak"
)
