package rootcause

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	image   = "Container manager of Pod greeter-7d9-x has been waiting for its image for 33 min: "
	pending = "Pod greeter-7d9-x has been Pending for 34 min: "
	crashes = "Container manager of Pod greeter-7d9-x has been crashing for 33 min: "
)

// TestPods has a sentence for every cause in a pod.
func TestPods(t *testing.T) {
	for name, c := range map[string]struct {
		of             Evidence
		reason, wanted string
	}{
		"an image that does not exist": {running(waiting("ImagePullBackOff", `Back-off pulling image "registry.example/greeter:1": ErrImagePull: `+
			`rpc error: code = NotFound desc = failed to pull: registry.example/greeter:1: not found`)),
			ImageNotFound, image + "image registry.example/greeter:1 is not in its registry"},
		"a pull that needs a login": {running(waiting("ErrImagePull", "failed to authorize: 401 Unauthorized")),
			ImageUnauthorized, image + "image registry.example/greeter:1 may not be pulled"},
		"a registry that nothing resolves": {running(waiting("ErrImagePull", "dial tcp: lookup registry.example: no such host")),
			ImageRegistryUnreachable, image + "the registry of image registry.example/greeter:1 cannot be reached"},
		"a back-off whose reason is in an event": {running(waiting("ImagePullBackOff", "Back-off pulling image")).with(
			event("Pod", "greeter-7d9-x", "Failed", "Failed to pull image: manifest unknown")),
			ImageNotFound, image + "image registry.example/greeter:1 is not in its registry"},
		"a registry that does not say which": {running(waiting("ErrImagePull", "pull access denied, repository does not exist or may require login")),
			ImageUnauthorized, image + "image registry.example/greeter:1 does not exist, or may not be pulled without a login"},
		"a pull that fails by now for another reason": {running(waiting("ImagePullBackOff", "ErrImagePull: not found")).with(
			event("Pod", "greeter-7d9-x", "Failed", "Failed to pull image: dial tcp: i/o timeout")),
			ImageNotFound, image + "image registry.example/greeter:1 is not in its registry"},
		"a pull that fails otherwise": {running(waiting("ErrImagePull", "disk quota")), ImagePullFailed,
			image + "image registry.example/greeter:1 cannot be pulled: disk quota"},
		"a name that is no image": {running(waiting("InvalidImageName", "")), ImageNotFound,
			image + "image registry.example/greeter:1 is no valid name"},
		"an image that is never pulled": {running(waiting("ErrImageNeverPull", "")), ImageNotFound,
			image + "image registry.example/greeter:1 is not on the node, and its pull policy is Never"},
		"a crash loop": {running(crashed(1, "Error", 7)).logged("starting", "panic: no config.", " "), Crashing,
			crashes + "exit code 1 after 7 restarts, the last line of its log: panic: no config"},
		"a crash loop without a log": {running(crashed(2, "Error", 1)), Crashing, crashes + "exit code 2 after 1 restart"},
		"a container that ends with success": {running(crashed(0, "Completed", 3)), Crashing,
			"Container manager of Pod greeter-7d9-x has been ending again and again for 33 min: exit code 0 after 3 restarts"},
		"a container without enough memory": {running(crashed(137, "OOMKilled", 2), func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")}
		}), OutOfMemory, "Container manager of Pod greeter-7d9-x has been killed for lack of memory for 33 min: " +
			"it needs more memory than its limit of 64Mi"},
		"a liveness probe": {running(crashed(137, "Error", 2)).with(
			event("Pod", "greeter-7d9-x", "Unhealthy", "Liveness probe failed: HTTP probe failed with statuscode: 500")), LivenessProbeFailing,
			"Container manager of Pod greeter-7d9-x has been restarted again and again for 33 min: " +
				"its liveness probe fails: HTTP probe failed with statuscode: 500"},
		"a crash that is older than the last one": {running(crashed(1, "Error", 7)).with(Event{
			Object: event("Pod", "greeter-7d9-x", "", "").Object, Warning: true, Reason: "BackOff", First: before(90).Time, Last: before(1).Time}),
			Crashing, "Container manager of Pod greeter-7d9-x has been crashing for 1 h: exit code 1 after 7 restarts"},
		"an init container": {running(func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "migrate", State: corev1.ContainerState{
				Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Message: "no database"}}}}
		}, waiting("PodInitializing", "")), InitContainerFailing,
			"Init container migrate of Pod greeter-7d9-x has been failing for 33 min: exit code 3, its last message: no database"},
		"a ConfigMap that is missing": {running(waiting("CreateContainerConfigError", `configmap "settings" not found`)), ConfigMissing,
			"Container manager of Pod greeter-7d9-x cannot be started for 33 min: ConfigMap settings does not exist"},
		"a key that is missing": {running(waiting("CreateContainerConfigError", "couldn't find key url in Secret kyma-system/login")), ConfigMissing,
			"Container manager of Pod greeter-7d9-x cannot be started for 33 min: Secret kyma-system/login has no key url"},
		"a Secret of a volume that is missing": {running(waiting("ContainerCreating", "")).with(event("Pod", "greeter-7d9-x", "FailedMount",
			`MountVolume.SetUp failed for volume "cert" : secret "webhook-cert" not found`)), ConfigMissing,
			"Pod greeter-7d9-x has not started for 33 min: Secret webhook-cert does not exist"},
		"a volume in use": {running(waiting("ContainerCreating", "")).with(event("Pod", "greeter-7d9-x", "FailedAttachVolume",
			"Multi-Attach error for volume pvc-1")), VolumeNotMounted,
			"Pod greeter-7d9-x has not started for 33 min: Multi-Attach error for volume pvc-1"},
		"a network that is not set up": {running(waiting("ContainerCreating", "")).with(event("Pod", "greeter-7d9-x", "FailedCreatePodSandBox",
			"plugin type=cni failed")), SandboxFailed, "Pod greeter-7d9-x has not started for 33 min: plugin type=cni failed"},
		"a command that does not exist": {running(waiting("RunContainerError", `exec: "greet": not found in $PATH`)), ContainerNotStarted,
			`Container manager of Pod greeter-7d9-x cannot be started for 33 min: exec: "greet": not found in $PATH`},
		"a pod that starts": {running(waiting("ContainerCreating", "")), Starting,
			"Pod greeter-7d9-x has been starting for 33 min: its containers do not run yet"},
		"a readiness probe": {running(func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning }, container(func(s *corev1.ContainerStatus) {
			s.State.Running = &corev1.ContainerStateRunning{}
		})).with(event("Pod", "greeter-7d9-x", "Unhealthy", "Readiness probe failed: dial tcp 10.0.0.1:8081: connect: connection refused")),
			ReadinessProbeFailing, "Container manager of Pod greeter-7d9-x has run without being ready for 33 min: " +
				"its readiness probe fails: dial tcp 10.0.0.1:8081: connect: connection refused"},
		"an evicted pod": {running(func(p *corev1.Pod) {
			p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "Evicted", "The node was low on resource: memory."
		}), Evicted, "Pod greeter-7d9-x was evicted 33 min ago: The node was low on resource: memory"},
		"a selector that no node matches": {running(unscheduled("0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. " +
			"preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.")), NoNodeMatches,
			pending + "no node matches its selector"},
		"taints": {running(unscheduled("0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }.")),
			TaintNotTolerated, pending + "it does not tolerate the taints of any node"},
		"too little CPU": {running(unscheduled("0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, preemption: 0/2")),
			InsufficientResources, pending + "no node has enough cpu left"},
		"different nodes": {running(unscheduled("0/3 nodes are available: 1 node(s) had untolerated taint {a: b}, 2 Insufficient memory.")),
			InsufficientResources, pending + "of 3 nodes, 1 have a taint that it does not tolerate, 2 have too little memory left"},
		"no nodes":              {running(unscheduled("no nodes available to schedule pods")), NoNodes, pending + "the cluster has no node for pods"},
		"a message of its own":  {running(unscheduled("the moon is full")), NotScheduled, pending + "the moon is full"},
		"a pod without a claim": {running(unscheduled("0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.")), VolumeClaimPending, pending + "a volume that it needs is not there"},
		"a scheduler that is off": {running(func(p *corev1.Pod) { p.Spec.NodeName, p.Status.Conditions = "", nil }), NotScheduled,
			pending + "no scheduler has looked at it"},
	} {
		t.Run(name, func(t *testing.T) {
			got := cause(t, c.of)
			if got.Sentence != c.wanted || got.Reason != c.reason {
				t.Errorf("%s: %q\nwant %s: %q", got.Reason, got.Sentence, c.reason, c.wanted)
			}
			if got.Remedy == "" || got.Object.Kind != "Pod" || got.Object.Name != "greeter-7d9-x" || got.Object.Namespace != ns || got.Since == nil {
				t.Errorf("incomplete: %+v", got)
			}
			if chain := got.Evidence[0].Text; chain != "Deployment greeter > ReplicaSet greeter-7d9 > Pod greeter-7d9-x" {
				t.Errorf("owners: %q", chain)
			}
		})
	}
}
