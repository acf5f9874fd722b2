package health_test

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/health"
)

func TestWorkloads_OfDeployment(t *testing.T) {
	const meta = "metadata: {name: a, namespace: kyma-system, generation: 2}\n"
	const counts = "observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2"
	const rolledOut = "{type: Progressing, status: 'True', reason: NewReplicaSetAvailable}"
	const available = "{type: Available, status: 'True', reason: MinimumReplicasAvailable}"
	const spec = "spec: {replicas: 2, progressDeadlineSeconds: 600}\n"
	runHealth(t, "apps/v1", "Deployment", []healthCase{
		{"it is in progress before its controller has seen it", meta + spec, health.InProgress, "was not observed by its controller yet"},
		{"even with zero replicas it waits for its controller", meta + "spec: {replicas: 0}\nstatus: {conditions: [" + available + "]}",
			health.InProgress, "was not observed by its controller yet"},
		{"a new generation is in progress although the old one is available",
			meta + spec + "status: {observedGeneration: 1, replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2, conditions: [" +
				available + ", " + rolledOut + "]}", health.InProgress, "generation 2 was not observed yet, the last one was 1"},
		{"it is in progress while pods are missing", meta + spec + "status: {observedGeneration: 2, replicas: 1, updatedReplicas: 1}",
			health.InProgress, "Replicas: 1/2"},
		{"it is in progress while old pods run", meta + spec + "status: {observedGeneration: 2, replicas: 3, updatedReplicas: 2}",
			health.InProgress, "Pending termination: 1"},
		{"it is in progress while pods are not available",
			meta + spec + "status: {observedGeneration: 2, replicas: 2, updatedReplicas: 2, readyReplicas: 1, availableReplicas: 1}",
			health.InProgress, "Available: 1/2"},
		{"the reason why pods cannot be created is named", meta + spec + `
status:
  observedGeneration: 2
  conditions: [{type: ReplicaFailure, status: "True", reason: FailedCreate, message: "pods \"a-1\" is forbidden: exceeded quota"}]`,
			health.InProgress, `Replicas: 0/2; pods cannot be created: FailedCreate: pods "a-1" is forbidden: exceeded quota`},
		{"a paused rollout is named", meta +
			"spec: {replicas: 2, paused: true}\nstatus: {observedGeneration: 2, replicas: 2, updatedReplicas: 1}",
			health.InProgress, "Updated: 1/2; the rollout is paused by spec.paused"},
		{"it has failed when its deadline has passed", meta + spec + `
status:
  observedGeneration: 2
  replicas: 2
  conditions: [{type: Progressing, status: "False", reason: ProgressDeadlineExceeded, message: ReplicaSet a-1 has timed out progressing.}]`,
			health.Failed,
			"ProgressDeadlineExceeded: ReplicaSet a-1 has timed out progressing; check the pods and events in namespace kyma-system"},
		{"it has failed when a user marks it as stalled", meta + spec +
			"status: {observedGeneration: 2, conditions: [{type: Stalled, status: 'True', message: image is refused}]}",
			health.Failed, "image is refused; check the pods and events in namespace kyma-system"},
		{"it is ready when every replica is available", meta + spec + "status: {" + counts + ", conditions: [" + available + ", " +
			rolledOut + "]}",
			health.Ready, "Deployment is available. Replicas: 2"},
		{"it is not ready without the condition Available", meta + spec + "status: {" + counts + ", conditions: [" + rolledOut + "]}",
			health.InProgress, "Deployment not Available"},
		{"it is ready with zero replicas once its controller has seen them",
			meta + "spec: {replicas: 0, progressDeadlineSeconds: 600}\nstatus: {observedGeneration: 2, conditions: [" + available + ", " +
				rolledOut + "]}",
			health.Ready, "Deployment is available. Replicas: 0"},
		{"it is terminating when it is deleted, however available",
			"metadata: {name: a, generation: 2, deletionTimestamp: '2026-01-01T00:00:00Z'}\nstatus: {" + counts + ", conditions: [" + available +
				"]}",
			health.Terminating, "is being deleted"},
	})
}

func TestWorkloads_OfStatefulSet(t *testing.T) {
	const meta = "metadata: {name: a, generation: 1}\n"
	const onDelete = "spec: {replicas: 2, updateStrategy: {type: OnDelete}}\n"
	runHealth(t, "apps/v1", "StatefulSet", []healthCase{
		{"it is in progress before its controller has seen it", meta + "spec: {replicas: 0}", health.InProgress,
			"was not observed by its controller yet"},
		{"it is in progress while a pod is not ready",
			meta + "spec: {replicas: 2}\nstatus: {observedGeneration: 1, replicas: 2, readyReplicas: 1, currentReplicas: 2}",
			health.InProgress, "Ready: 1/2"},
		{"it is in progress while a revision rolls out", meta +
			"status: {observedGeneration: 1, replicas: 1, readyReplicas: 1, currentReplicas: 1, currentRevision: a-1, updateRevision: a-2}",
			health.InProgress, "Waiting for updated revision to match current"},
		{"it is ready when all pods are of the current revision", meta +
			"status: {observedGeneration: 1, replicas: 1, readyReplicas: 1, currentReplicas: 1, currentRevision: a-1, updateRevision: a-1}",
			health.Ready, "All replicas scheduled as expected. Replicas: 1"},
		{"with OnDelete its pods are still counted", meta + onDelete + "status: {observedGeneration: 1, replicas: 2, readyReplicas: 1}",
			health.InProgress, "Ready: 1/2"},
		{"with OnDelete one replica is the default", meta + "spec: {updateStrategy: {type: OnDelete}}\nstatus: {observedGeneration: 1}",
			health.InProgress, "Ready: 0/1"},
		{"with OnDelete it is ready when its pods are", meta + onDelete + "status: {observedGeneration: 1, replicas: 2, readyReplicas: 2}",
			health.Ready, "StatefulSet is using the ondelete update strategy"},
	})
}

func TestWorkloads_OfDaemonSet(t *testing.T) {
	const meta = "metadata: {name: a, generation: 1}\n"
	const onDelete = "spec: {updateStrategy: {type: OnDelete}}\n"
	runHealth(t, "apps/v1", "DaemonSet", []healthCase{
		{"it is in progress before its controller has seen it", meta, health.InProgress, "DaemonSet status.observedGeneration not found"},
		{"it is in progress while a node has no pod of the new revision", meta +
			"status: {observedGeneration: 1, desiredNumberScheduled: 3, currentNumberScheduled: 3, updatedNumberScheduled: 1}",
			health.InProgress, "Updated: 1/3"},
		{"it is ready when it is available on every node", meta + `
status: {observedGeneration: 1, desiredNumberScheduled: 3, currentNumberScheduled: 3, updatedNumberScheduled: 3,
  numberAvailable: 3, numberReady: 3}`,
			health.Ready, "All replicas scheduled as expected. Replicas: 3"},
		{"with OnDelete it waits for its controller", meta + onDelete, health.InProgress, "was not observed by its controller yet"},
		{"with OnDelete it waits for pods", meta + onDelete + "status: {observedGeneration: 1, desiredNumberScheduled: 3, numberAvailable: 2}",
			health.InProgress, "Available: 2/3"},
		{"with OnDelete it does not wait for updates", meta + onDelete +
			"status: {observedGeneration: 1, desiredNumberScheduled: 3, numberAvailable: 3}",
			health.Ready, "available on every node; pods are updated when they are deleted"},
	})
}

func TestWorkloads_OfReplicaSet(t *testing.T) {
	runHealth(t, "apps/v1", "ReplicaSet", []healthCase{
		{"it is in progress before its controller has seen it", "metadata: {name: a, generation: 1}", health.InProgress,
			"was not observed by its controller yet"},
		{"it is ready when its pods are", `
metadata: {name: a, generation: 1}
status: {observedGeneration: 1, replicas: 1, fullyLabeledReplicas: 1, availableReplicas: 1, readyReplicas: 1}`,
			health.Ready, "ReplicaSet is available. Replicas: 1"},
	})
}

func TestWorkloads_OfJob(t *testing.T) {
	const meta = "metadata: {name: a, namespace: kyma-system, generation: 1}\n"
	runHealth(t, "batch/v1", "Job", []healthCase{
		{"it is in progress before it was started", meta, health.InProgress, "was not started yet"},
		{"it is in progress while it runs", meta + "status: {startTime: '2026-01-01T00:00:00Z', active: 1, failed: 2}",
			health.InProgress, "is running: 1 active, 0 succeeded, 2 failed"},
		{"it is ready when it is complete", meta + "status: {startTime: '2026-01-01T00:00:00Z', conditions: [{type: Complete, status: 'True'}]}",
			health.Ready, "complete"},
		{"it has failed when it has given up", meta + `
status: {conditions: [{type: Failed, status: "True", reason: BackoffLimitExceeded, message: Job has reached the specified backoff limit}]}`,
			health.Failed,
			"BackoffLimitExceeded: Job has reached the specified backoff limit; check the logs of its pods in namespace kyma-system"},
		{"a failure needs no reason and no message", "metadata: {name: a}\nstatus: {conditions: [{type: Failed, status: 'True'}]}",
			health.Failed, "it failed; check the logs of its pods"},
		{"it is ready when it is suspended on purpose", meta + "spec: {suspend: true}\nstatus: {conditions: [{type: Suspended, status: 'True'}]}",
			health.Ready, "suspended, as spec.suspend asks"},
		{"it is in progress when it was resumed just now", meta +
			"spec: {suspend: false}\nstatus: {conditions: [{type: Suspended, status: 'True'}]}",
			health.InProgress, "was not started yet"},
	})
}

func TestWorkloads_OfPod(t *testing.T) {
	runHealth(t, "v1", "Pod", []healthCase{
		{"it is in progress before it was observed", "metadata: {name: a}", health.InProgress, "was not observed yet"},
		{"it is in progress without a node, however long", `
metadata: {name: a, creationTimestamp: "2020-01-01T00:00:00Z"}
status: {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: 0/1 nodes are available}]}`,
			health.InProgress, "has no node: Unschedulable: 0/1 nodes are available"},
		{"a missing node needs no reason", "status: {phase: Pending, conditions: [{type: PodScheduled, status: 'False'}]}",
			health.InProgress, "has no node: it was not scheduled yet"},
		{"it is in progress while its image cannot be pulled", `
status:
  phase: Pending
  initContainerStatuses: [{name: init, state: {waiting: {reason: PodInitializing}}}]
  containerStatuses: [{name: main, state: {waiting: {reason: ImagePullBackOff, message: Back-off pulling image x}}}]`,
			health.InProgress, "container init waits: PodInitializing; container main waits: ImagePullBackOff: Back-off pulling image x"},
		{"it is in progress while it is pending without a reason", "status: {phase: Pending}", health.InProgress, "is pending"},
		{"it is in progress while it runs and is not ready", "status: {phase: Running, containerStatuses: [{name: main, state: {running: {}}}]}",
			health.InProgress, "is running and not ready yet"},
		{"it has failed when a container crashes repeatedly", `
status: {phase: Running, containerStatuses: [{name: main, state: {waiting: {reason: CrashLoopBackOff, message: back-off 5m0s}}}]}`,
			health.Failed, "container main waits: CrashLoopBackOff: back-off 5m0s"},
		{"it is ready when it reports so", "status: {phase: Running, conditions: [{type: Ready, status: 'True'}]}", health.Ready,
			"running and ready"},
		{"it is ready when it has completed", "status: {phase: Succeeded}", health.Ready, "completed"},
		{"it has failed when it was evicted", "status: {phase: Failed, reason: Evicted, message: The node was low on memory}",
			health.Failed, "Evicted: The node was low on memory; check its logs"},
		{"it has failed when its containers did", "status: {phase: Failed}", health.Failed, "its containers failed; check its logs"},
		{"a phase that no one knows is unknown", "status: {phase: Dancing}", health.Unknown, `is in the phase "Dancing"`},
		{"malformed statuses are not read",
			"status: {phase: Running, containerStatuses: [1, {name: 2, state: 3}, {state: {waiting: 4}}]}",
			health.InProgress, "is running and not ready yet"},
	})
}
