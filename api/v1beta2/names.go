package v1beta2

// OperatorPrefix is the prefix of the labels, annotations and finalizers below.
const OperatorPrefix = "operator.kyma-project.io/"

// Labels.
const (
	// LabelKymaName names the Kyma that a Manifest or an access Secret belongs to.
	LabelKymaName = OperatorPrefix + "kyma-name"
	// LabelModuleName names the module that a Manifest installs.
	LabelModuleName = OperatorPrefix + "module-name"
	// LabelChannel is the channel that a Manifest's version came from; absent for a pinned version.
	LabelChannel = OperatorPrefix + "channel"
	// LabelControllerName is copied from a ModuleTemplate to its Manifests.
	LabelControllerName = OperatorPrefix + "controller-name"
	// LabelRenderer on a resource of a component version says how it is rendered: "kustomize", "bundle" or another type of a source.
	LabelRenderer = OperatorPrefix + "renderer"
	// LabelManagedBy marks what the operator manages: ManagedByLifecycleManager on the hub, ManagedByKyma in a runtime.
	LabelManagedBy = OperatorPrefix + "managed-by"
	// LabelSkipReconciliation set to "true" leaves an object alone until the label goes.
	LabelSkipReconciliation = OperatorPrefix + "skip-reconciliation"
	// LabelBeta on a ModuleTemplate shows it only to Kymas that carry the same label.
	LabelBeta = OperatorPrefix + "beta"
	// LabelInternal on a ModuleTemplate shows it only to Kymas that carry the same label.
	LabelInternal = OperatorPrefix + "internal"
	// LabelMandatoryModule marks the Manifest of a mandatory module.
	LabelMandatoryModule = OperatorPrefix + "mandatory-module"
	// LabelSync set to "false" on a Kyma keeps Kyma, catalog and definitions out of its runtime: only modules go there.
	LabelSync = OperatorPrefix + "sync"
	// LabelWatchedBy marks the Kyma in a runtime; upstream's webhook selected by it.
	LabelWatchedBy = OperatorPrefix + "watched-by"
	// LabelInventory names the Manifest that an inventory shard belongs to.
	LabelInventory = OperatorPrefix + "inventory-of"
	// LabelValues set to "true" on a Secret or a ConfigMap lets entries of Kymas in its namespace take values from it.
	LabelValues = OperatorPrefix + "values"
	// LabelComponent and LabelPartOf are the recommended labels that every module object gets.
	LabelComponent = "app.kubernetes.io/component"
	LabelPartOf    = "app.kubernetes.io/part-of"

	// ManagedByLifecycleManager and ManagedByKyma are the values of LabelManagedBy.
	ManagedByLifecycleManager = "lifecycle-manager"
	ManagedByKyma             = "kyma"
	// PartOfKyma is the value of LabelPartOf.
	PartOfKyma = "Kyma"
	// EnabledValue switches a boolean label or annotation on.
	EnabledValue = "true"
)

// Annotations.
const (
	// AnnotationOwnedBy is the owner mark on every object that a Manifest installed: "<namespace>/<name>" of the Manifest.
	AnnotationOwnedBy = "deprecated-operator.kyma-project.io/owned-by"
	// AnnotationModuleVersion has the version of a module in templates of older releases, which have no spec.version.
	AnnotationModuleVersion = OperatorPrefix + "module-version"
	// AnnotationOCMComponentName tells which component version a Manifest came from.
	AnnotationOCMComponentName = OperatorPrefix + "ocm-component-name"
	// AnnotationFQDN is upstream's older name for AnnotationOCMComponentName; both are written.
	AnnotationFQDN = OperatorPrefix + "fqdn"
	// AnnotationIsClusterScoped on a ModuleTemplate says that its default CR has no namespace.
	AnnotationIsClusterScoped = OperatorPrefix + "is-cluster-scoped"
	// AnnotationRawManifestDigest on a ModuleTemplate is the digest of what its link rawManifest leads to: "sha256:" and 64 hex digits in
	// lower case. Nothing else is installed from that link.
	AnnotationRawManifestDigest = OperatorPrefix + "raw-manifest-digest"
	// AnnotationDescription describes the module of a ModuleTemplate to users, in a few sentences of plain text.
	AnnotationDescription = OperatorPrefix + "description"
	// AnnotationIsUnmanaged on a Manifest makes it let go of its objects and leave them running.
	AnnotationIsUnmanaged = OperatorPrefix + "is-unmanaged"
	// AnnotationSkipDeleteHooks on a Manifest removes it without the hooks that its charts have for their removal: EnabledValue is its value.
	AnnotationSkipDeleteHooks = OperatorPrefix + "skip-delete-hooks"
	// AnnotationInjectData on a Secret of the module "deployer" asks for the data of the hub's Secret of the same name.
	AnnotationInjectData = OperatorPrefix + "inject-data-from-kcp"
	// AnnotationLoginHosts on a Secret of type kubernetes.io/basic-auth or kubernetes.io/ssh-auth names the hosts that its login is for:
	// host[:port], with commas between them.
	AnnotationLoginHosts = OperatorPrefix + "hosts"
	// AnnotationRollout on a ModuleReleaseMeta says that the ModuleRollout of its name decides who gets what its channels name: its value is
	// the UID of that ModuleRollout. While that one is not known, no Kyma gets another version.
	AnnotationRollout = OperatorPrefix + "rollout"
	// AnnotationRollback on a Manifest says why its spec asks for something earlier than before, and is written together with that spec:
	// ReasonProgressDeadlineExceeded when the module went back by itself, ReasonRequested when a person asked, ReasonRollout when a
	// ModuleRollout did. Absent means ReasonRequested.
	AnnotationRollback = OperatorPrefix + "rollback"
	// AnnotationRequires on a ModuleTemplate, and as a label of a component version, is a JSON list of Requirements: the same as
	// spec.requires, which clients of another lifecycle manager drop.
	AnnotationRequires = OperatorPrefix + "requires"
	// AnnotationRollbackMessage on a Manifest says what was wrong with the version that it went back from by itself.
	AnnotationRollbackMessage = OperatorPrefix + "rollback-message"
	// AnnotationReadiness on a Manifest is the Readiness of its module, where that is another one than ReadinessWorkloads: with it, a revision
	// succeeds only with the module's own custom resource.
	AnnotationReadiness = OperatorPrefix + "readiness"
	// AnnotationProgressDeadline on a Manifest is how long an upgrade of its module may take before the module goes back by itself, as a Go
	// duration; absent where it does not.
	AnnotationProgressDeadline = OperatorPrefix + "progress-deadline"
	// AnnotationUpgradeStrategy on a Manifest is UpgradeManual where new versions of its module wait for a person; absent otherwise. It
	// outlives the entry of a module that is taken out of the spec, and is upgraded while its deletion is blocked.
	AnnotationUpgradeStrategy = OperatorPrefix + "upgrade-strategy"
	// AnnotationPlan on a Manifest is what its first pass may apply, as the entries of an inventory in base64 of their shard's format. It
	// stands for status.synced until a pass has written a status.
	AnnotationPlan = OperatorPrefix + "plan"
	// AnnotationHub on the namespace RuntimeNamespace of a runtime is the identity of the hub that manages the runtime: no other one writes
	// there. The Kyma in the runtime shows it, too.
	AnnotationHub = OperatorPrefix + "hub"
	// AnnotationTakeOverFrom on a Kyma is the identity of another hub, from which its runtime is taken over once; then it is removed.
	AnnotationTakeOverFrom = OperatorPrefix + "take-over-from"
	// AnnotationExportedFrom is on Kymas, ModuleRollouts and Manifests of an exported hub, and on no object of a cluster: "<hub>/<uid>" are
	// the identity of that hub and the UID that the object, or the Kyma of a Manifest, had there.
	AnnotationExportedFrom = OperatorPrefix + "exported-from"
	// AnnotationImport is on an object whose import into a hub is under way: ImportPending is its value. LabelSkipReconciliation suspends it
	// meanwhile.
	AnnotationImport = OperatorPrefix + "import"
	// ImportPending is the value of AnnotationImport.
	ImportPending = "pending"
	// AnnotationDisclaimer warns users who look at a module's object.
	AnnotationDisclaimer = OperatorPrefix + "managed-by-reconciler-disclaimer"
	// DisclaimerText is the value of AnnotationDisclaimer.
	DisclaimerText = "DO NOT EDIT - This resource is managed by Kyma.\n" +
		"Any modifications are discarded and the resource is reverted to the original state."
)

// Finalizers.
const (
	// FinalizerKyma holds a Kyma until its Manifests are gone.
	FinalizerKyma = OperatorPrefix + "Kyma"
	// FinalizerManifest holds a Manifest until what it installed is gone.
	FinalizerManifest = "declarative.kyma-project.io/finalizer"
	// FinalizerLabelRemoval holds a Manifest until its objects were released, when it becomes unmanaged.
	FinalizerLabelRemoval = "label-removal-finalizer"
	// FinalizerModuleCR was set by upstream on a Manifest with a default CR; it is only removed here.
	FinalizerModuleCR = "resource.kyma-project.io/finalizer"
	// FinalizerMandatoryModule holds the ModuleReleaseMeta of a mandatory module until its Manifests are gone.
	FinalizerMandatoryModule = OperatorPrefix + "mandatory-module"
	// FinalizerRollout holds a ModuleRollout until every version that its channels name is released to every Kyma.
	FinalizerRollout = OperatorPrefix + "rollout"
	// FinalizerPurge was set by upstream before 1.21 and is only removed here.
	FinalizerPurge = OperatorPrefix + "purge-finalizer"
	// FinalizerWatcher was set by upstream for its watcher and is only removed here.
	FinalizerWatcher = OperatorPrefix + "watcher"
)

// Field managers. Takeover from upstream depends on these names.
const (
	// FieldManagerHub writes Kymas and Manifests on the hub.
	FieldManagerHub = "lifecycle-manager"
	// FieldManagerModule writes a module's objects in a runtime.
	FieldManagerModule = "declarative.kyma-project.io/applier"
	// FieldManagerModuleCR writes a module's default CR in a runtime.
	FieldManagerModuleCR = "resource.kyma-project.io/finalizer"
	// FieldManagerCatalog writes templates and releases in a runtime; what carries it there is ours to remove.
	FieldManagerCatalog = "catalog-sync"
	// FieldManagerSync writes the namespace and the metadata of the Kyma in a runtime.
	FieldManagerSync = "kyma-sync-context"
)

// Well-known places.
const (
	// DefaultNamespace is where Kymas, templates, releases and access Secrets live on a hub.
	DefaultNamespace = "kcp-system"
	// RuntimeNamespace is where modules go in a runtime.
	RuntimeNamespace = "kyma-system"
	// DefaultChannel is taken where neither Kyma nor module says one.
	DefaultChannel = "regular"
	// RuntimeKymaName is the name of the Kyma in a runtime.
	RuntimeKymaName = "default"
	// NoChannel is refused as a channel.
	NoChannel = "none"
	// AccessSecretKey is the key of an access Secret that holds the kubeconfig.
	AccessSecretKey = "config"
)
