package setup

// The permissions of the manager on the hub; `make manifests` writes them to config/rbac/role.yaml. They do not exceed upstream's but for
// kinds that upstream does not have, have no wildcards, and are limited to the namespace. Those for the Leases, by which replicas share
// the work, are in config/rbac/leader_election_role.yaml, those for installing into the hub itself in config/components/local, and those
// for Kymas in every namespace in config/components/all-namespaces.
//
// Users create and delete Kymas: the manager sets finalizers and status.
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=kymas,verbs=get;list;watch;patch;update
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=kymas/status,verbs=get;patch;update
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=kymas/finalizers,verbs=update
//
// Manifests belong to the manager.
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=manifests,verbs=get;list;watch;create;patch;update;delete;deletecollection
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=manifests/status,verbs=get;patch;update
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=manifests/finalizers,verbs=update
//
// Releases and templates are published by others; a finalizer holds the release of a mandatory module (never patched).
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=modulereleasemetas;moduletemplates,verbs=get;list;watch
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=modulereleasemetas,verbs=update
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=modulereleasemetas/finalizers,verbs=update
//
// Users write ModuleRollouts: the manager sets finalizers and status. It starts without these rights.
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=modulerollouts,verbs=get;list;watch;patch;update
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=modulerollouts/status,verbs=get;patch;update
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=modulerollouts/finalizers,verbs=update
//
// Users write KymaReleases: the manager sets their status. It starts without these rights.
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=kymareleases,verbs=get;list;watch
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=kymareleases/status,verbs=get;patch;update
//
// Secrets with access to runtimes and registries are read; large inventories are written (never patched).
// +kubebuilder:rbac:groups="",namespace=kcp-system,resources=secrets,verbs=get;list;watch;create;update;delete
//
// ConfigMaps are read where a Manifest installs from them, and watched where entries of Kymas take values from them: the manager starts
// without that right. The permissions of the content server are in config/components/content.
// +kubebuilder:rbac:groups="",namespace=kcp-system,resources=configmaps,verbs=get;list;watch
//
// The UID of the hub's own namespace is its identity, by which it claims its runtimes. The manager starts without that right.
// +kubebuilder:rbac:groups="",namespace=kcp-system,resources=namespaces,verbs=get
//
// +kubebuilder:rbac:groups=events.k8s.io,namespace=kcp-system,resources=events,verbs=create;patch
