package setup

// What the manager may do on the hub; `make manifests` writes it to config/rbac/role.yaml. Upstream's rules are the ceiling,
// there is no wildcard, and nothing outside the namespace. Leases, by which replicas share the work, stand in
// config/rbac/leader_election_role.yaml; what installing into the hub itself needs in config/components/local,
// and Kymas in every namespace in config/components/all-namespaces.
//
// Kymas are made and deleted by users: the manager sets finalizers and status.
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=kymas,verbs=get;list;watch;patch;update
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=kymas/status,verbs=get;patch;update
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=kymas/finalizers,verbs=update
//
// Manifests are the manager's own.
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=manifests,verbs=get;list;watch;create;patch;update;delete;deletecollection
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=manifests/status,verbs=get;patch;update
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=manifests/finalizers,verbs=update
//
// What modules exist is published by others; the release of a mandatory module is held by a finalizer (never patched).
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=modulereleasemetas;moduletemplates,verbs=get;list;watch
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=modulereleasemetas,verbs=update
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=modulereleasemetas/finalizers,verbs=update
//
// Secrets with access to runtimes and registries are read; large inventories are written (never patched).
// +kubebuilder:rbac:groups="",namespace=kcp-system,resources=secrets,verbs=get;list;watch;create;update;delete
//
// ConfigMaps are read where a Manifest installs from them. What the content server needs stands in config/components/content.
// +kubebuilder:rbac:groups="",namespace=kcp-system,resources=configmaps,verbs=get
//
// +kubebuilder:rbac:groups=events.k8s.io,namespace=kcp-system,resources=events,verbs=create;patch
