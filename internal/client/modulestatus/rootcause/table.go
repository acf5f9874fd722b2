package rootcause

import "github.com/kyma-project/lifecycle-manager/api/v1beta2"

// The reasons of causes that are found in objects below a module. Those of Kymas and Manifests have the reasons of the API.
const (
	ImageNotFound            = "ImageNotFound"
	ImageUnauthorized        = "ImageUnauthorized"
	ImageRegistryUnreachable = "ImageRegistryUnreachable"
	ImagePullFailed          = "ImagePullFailed"
	Crashing                 = "Crashing"
	OutOfMemory              = "OutOfMemory"
	InitContainerFailing     = "InitContainerFailing"
	ContainerNotStarted      = "ContainerNotStarted"
	ConfigMissing            = "ConfigMissing"
	LivenessProbeFailing     = "LivenessProbeFailing"
	ReadinessProbeFailing    = "ReadinessProbeFailing"
	NotReadyYet              = "NotReadyYet"
	Starting                 = "Starting"
	SandboxFailed            = "SandboxFailed"
	VolumeNotMounted         = "VolumeNotMounted"
	Evicted                  = "Evicted"
	NoNodeMatches            = "NoNodeMatches"
	TaintNotTolerated        = "TaintNotTolerated"
	InsufficientResources    = "InsufficientResources"
	NoNodes                  = "NoNodes"
	NotScheduled             = "NotScheduled"
	QuotaExceeded            = v1beta2.ReasonQuotaExceeded
	ServiceAccountMissing    = "ServiceAccountMissing"
	PodSecurityRefused       = "PodSecurityRefused"
	AdmissionDenied          = v1beta2.ReasonAdmissionDenied
	WebhookUnreachable       = "WebhookUnreachable"
	PermissionDenied         = "PermissionDenied"
	PodsRefused              = "PodsRefused"
	NoPods                   = "NoPods"
	PodsNotReadable          = "PodsNotReadable"
	JobFailed                = "JobFailed"
	NoStorageClass           = "NoStorageClass"
	NoProvisioner            = "NoProvisioner"
	ProvisioningFailed       = "ProvisioningFailed"
	VolumeClaimPending       = "VolumeClaimPending"
	VolumeClaimLost          = "VolumeClaimLost"
	FinalizerHolds           = "FinalizerHolds"
	ObjectNotReady           = "ObjectNotReady"
	NotReady                 = "NotReady"
)

// Row is one line of the table of causes. docs/spec/causes.md shows it; a test compares.
type Row struct{ Reason, Means, Remedy string }

// Table has the causes that are found in objects below a module.
var Table = []Row{
	{ImageNotFound, "the registry does not have the image of a container, or its name is invalid",
		"Correct the image in the module's content, or publish it."},
	{ImageUnauthorized, "the registry refuses to hand out the image",
		"Give the pods a pull Secret for the registry: imagePullSecrets of the ServiceAccount, or --skr-image-pull-secret of the manager."},
	{ImageRegistryUnreachable, "the node does not reach the registry of the image",
		"Check DNS, firewall and proxy between the nodes and the registry, and the registry's certificate. The pull is repeated automatically."},
	{ImagePullFailed, "the image cannot be pulled for another reason", "Follow the message; the pull is repeated automatically."},
	{Crashing, "a container ends again and again, or its pod has failed; with its exit code and the last line of its log",
		"Read the rest of the log with kubectl logs --previous; correct the configuration that it names, or choose another version."},
	{OutOfMemory, "a container needs more memory than its limit", "Raise the memory limit of the container, or reduce what it works on."},
	{InitContainerFailing, "an init container fails, so that the others do not start",
		"Read its log with kubectl logs -c; what it waits for or sets up is missing."},
	{ContainerNotStarted, "the node cannot start a container: its command, its mounts or its settings",
		"Correct what the message names in the pod's template."},
	{ConfigMissing, "a ConfigMap, a Secret or a key of it that the pod needs does not exist",
		"Create what the message names; the pod starts automatically then."},
	{LivenessProbeFailing, "a container is restarted because its liveness or startup probe fails",
		"See why the probe fails; give the container more time or resources, or correct the probe."},
	{ReadinessProbeFailing, "a container runs, and its readiness probe fails", "Look at the container's log: it says what it waits for."},
	{NotReadyYet, "a container runs, and its readiness probe has not succeeded yet", "Wait. If it lasts: look at the container's log."},
	{Starting, "the containers of a pod do not run yet", "Wait. If it lasts: look at the events of the pod."},
	{SandboxFailed, "the node cannot set up the pod's network", "Check the network plug-in of the node."},
	{VolumeNotMounted, "a volume of the pod cannot be attached or mounted",
		"Follow the message: the volume is in use elsewhere, or its driver fails."},
	{Evicted, "the node has evicted the pod because it ran out of a resource",
		"Free the resource on the node, or set requests and limits."},
	{NoNodeMatches, "no node has the labels that the pod selects, or fits its affinity",
		"Label a node, add one that matches, or change the selector or the affinity of the pod."},
	{TaintNotTolerated, "the pod does not tolerate the taints of the nodes",
		"Remove the taint of a node, or add a toleration to the pod."},
	{InsufficientResources, "no node has enough CPU, memory or another resource left",
		"Add a node, free resources, or lower the requests of the pod."},
	{NoNodes, "the cluster has no node, or none that takes new pods", "Add a node, or open one with kubectl uncordon."},
	{NotScheduled, "the pod has no node for another reason", "Check that the scheduler runs, and what the message names."},
	{QuotaExceeded, "a quota of the namespace is used up", "Raise the quota of the namespace, or free some of it."},
	{ServiceAccountMissing, "the ServiceAccount of the pods does not exist",
		"Create the ServiceAccount, or correct its name in the module's content."},
	{PodSecurityRefused, "the namespace enforces a Pod Security Standard that the pods violate",
		"Change the security context of the pods, or the label pod-security.kubernetes.io/enforce of the namespace."},
	{AdmissionDenied, "an admission webhook or policy denies an object",
		"Change the module, or the webhook or policy of the runtime that denies the object."},
	{WebhookUnreachable, "an admission webhook does not answer, so that objects cannot be written",
		"Repair the Service and the pods behind the webhook, or delete its configuration if what it belongs to is gone."},
	{PermissionDenied, "a controller or the manager lacks a permission in the cluster", "Grant the permission that the message names."},
	{PodsRefused, "the cluster refuses to create the pods for another reason", "Follow the message; creation is repeated automatically."},
	{NoPods, "a workload has no pods, and its controller has created none", "Check that the controller manager of the cluster runs."},
	{PodsNotReadable, "a workload is not ready, and its pods may not or cannot be read",
		"Ask an administrator for permission to list pods, ReplicaSets and events in the namespace."},
	{JobFailed, "a Job has failed for good",
		"Read the log of its pods; correct the cause, and delete the Job so that it is created again."},
	{NoStorageClass, "a PersistentVolumeClaim names no StorageClass or one that does not exist",
		"Create the StorageClass, mark one as default, or name another one in the claim."},
	{NoProvisioner, "the provisioner of the StorageClass has not created the volume",
		"Check that the storage driver of the StorageClass runs."},
	{ProvisioningFailed, "the provisioner cannot create the volume", "Follow the message of the provisioner."},
	{VolumeClaimPending, "a PersistentVolumeClaim has no volume, or the pod cannot use it where it may run",
		"Look at the events of the claim; create a volume that fits, or check its StorageClass."},
	{VolumeClaimLost, "the volume of a PersistentVolumeClaim is gone", "Restore the volume, or delete the claim to get a new one."},
	{FinalizerHolds, "an object is being deleted, and a finalizer holds it",
		"Repair the controller that owns the finalizer. Remove the finalizer by hand only if that controller is gone for good."},
	{ObjectNotReady, "an object of the module is not ready, and nothing below it says why",
		"Look at the status and the events of the object."},
	{NotReady, "the module is not ready, and its status gives no reason", "Look at the status of its Manifest and of its own resource."},
}
