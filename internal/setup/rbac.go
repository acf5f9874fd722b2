package setup

// What the manager may do on the hub; `make manifests` writes it to config/rbac/role.yaml. Upstream's rules are the ceiling,
// and there is no wildcard. Leases stand in config/rbac/leader_election_role.yaml, and what installing into the hub itself
// needs in config/components/local.
//
// Kymas are made and deleted by people: the manager sets finalizers and status.
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=kymas,verbs=get;list;watch;patch;update
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=kymas/status,verbs=get;patch;update
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=kymas/finalizers,verbs=update
//
// Manifests are the manager's own.
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=manifests,verbs=get;list;watch;create;patch;update;delete;deletecollection
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=manifests/status,verbs=get;patch;update
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=manifests/finalizers,verbs=update
//
// What modules exist is published by others.
// +kubebuilder:rbac:groups=operator.kyma-project.io,namespace=kcp-system,resources=modulereleasemetas;moduletemplates,verbs=get;list;watch
//
// Secrets with access to runtimes and registries are read; large inventories are written (never patched).
// +kubebuilder:rbac:groups="",namespace=kcp-system,resources=secrets,verbs=get;list;watch;create;update;delete
//
// +kubebuilder:rbac:groups=events.k8s.io,namespace=kcp-system,resources=events,verbs=create;patch
//
// Outside the namespace only our own CRDs: status.storedVersions is cleaned up at start (--drop-crd-stored-version-map).
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=kymas.operator.kyma-project.io;manifests.operator.kyma-project.io;modulereleasemetas.operator.kyma-project.io;moduletemplates.operator.kyma-project.io,verbs=get
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions/status,resourceNames=kymas.operator.kyma-project.io;manifests.operator.kyma-project.io;modulereleasemetas.operator.kyma-project.io;moduletemplates.operator.kyma-project.io,verbs=update
