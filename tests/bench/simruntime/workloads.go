package simruntime

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// scripts are the kinds whose status is looked after: what it says of n replicas, once they run and before.
var scripts = map[schema.GroupResource]func(n int64, runs bool) map[string]any{
	{Group: "apps", Resource: "deployments"}: func(n int64, runs bool) map[string]any {
		if !runs {
			return map[string]any{"replicas": n, "updatedReplicas": n, "unavailableReplicas": n, "conditions": []any{
				state("Available", "False", "MinimumReplicasUnavailable"), state("Progressing", "True", "ReplicaSetUpdated"),
			}}
		}
		return map[string]any{"replicas": n, "updatedReplicas": n, "readyReplicas": n, "availableReplicas": n, "conditions": []any{
			state("Available", "True", "MinimumReplicasAvailable"), state("Progressing", "True", "NewReplicaSetAvailable"),
		}}
	},
	{Group: "apps", Resource: "replicasets"}: func(n int64, runs bool) map[string]any {
		if !runs {
			return map[string]any{"replicas": n, "fullyLabeledReplicas": n}
		}
		return map[string]any{"replicas": n, "fullyLabeledReplicas": n, "readyReplicas": n, "availableReplicas": n}
	},
	{Group: "apps", Resource: "statefulsets"}: func(n int64, runs bool) map[string]any {
		status := map[string]any{"replicas": n, "currentReplicas": n, "updatedReplicas": n, "currentRevision": "1", "updateRevision": "1"}
		if runs {
			status["readyReplicas"], status["availableReplicas"] = n, n
		}
		return status
	},
	{Group: "apps", Resource: "daemonsets"}: func(_ int64, runs bool) map[string]any {
		status := map[string]any{
			"desiredNumberScheduled": int64(1), "currentNumberScheduled": int64(1), "updatedNumberScheduled": int64(1),
			"numberMisscheduled": int64(0), "numberReady": int64(0),
		}
		if runs {
			status["numberReady"], status["numberAvailable"] = int64(1), int64(1)
		}
		return status
	},
	{Group: "batch", Resource: "jobs"}: func(_ int64, runs bool) map[string]any {
		if !runs {
			return map[string]any{"active": int64(1), "ready": int64(1)}
		}
		return map[string]any{"succeeded": int64(1), "conditions": []any{state("Complete", "True", "CompletionsReached")}}
	},
}

func state(name, status, reason string) any {
	return map[string]any{"type": name, "status": status, "reason": reason, "lastTransitionTime": now(), "lastUpdateTime": now()}
}

// scheduleRunLocked has a workload run after a while, whenever its generation is one that no one has seen. The caller holds the lock.
func (r *Runtime) scheduleRunLocked(k *kind, o *object, d *document) {
	gr := k.gr()
	if scripts[gr] == nil || r.ready < 0 || o.leaving {
		return
	}
	seen, _, _ := unstructured.NestedInt64(d.Object, "status", "observedGeneration")
	generation := d.GetGeneration()
	if _, told := d.Object["status"]; seen >= generation || told && gr.Group == "batch" {
		return
	}
	at, took := place{o.namespace, o.name}, r.ready
	if len(r.broken) > 0 && r.broken[imageOf(d)] {
		r.later(0, func() { r.reportLocked(gr, at, generation, false) })
		return
	}
	if took == 0 {
		r.later(0, func() { r.reportLocked(gr, at, generation, true) })
		return
	}
	if gr.Group != "batch" {
		r.later(0, func() { r.reportLocked(gr, at, generation, false) })
	}
	r.later(took, func() { r.reportLocked(gr, at, generation, true) })
}

// imageOf returns the image of the first container of a workload's pods, empty where there is none.
func imageOf(d *document) string {
	containers, _, _ := unstructured.NestedSlice(d.Object, "spec", "template", "spec", "containers")
	if len(containers) == 0 {
		return ""
	}
	first, _ := containers[0].(map[string]any)
	image, _ := first["image"].(string)
	return image
}

// later does something with the runtime after a while.
func (r *Runtime) later(after time.Duration, do func()) {
	if r.timers == nil {
		r.timers = make(map[*time.Timer]struct{})
	}
	var timer *time.Timer
	timer = time.AfterFunc(after, func() {
		defer r.lock()()
		delete(r.timers, timer)
		do()
	})
	r.timers[timer] = struct{}{}
}

// reportLocked writes the status of a workload, if it is still the one that was requested. The caller holds the lock.
func (r *Runtime) reportLocked(gr schema.GroupResource, at place, generation int64, runs bool) {
	t := r.findLocked(gr)
	live := t.objects[at]
	if live == nil || live.leaving {
		return
	}
	d, err := live.open()
	if err != nil || d.GetGeneration() != generation {
		return
	}
	n := int64(1)
	if wanted, found, err := unstructured.NestedInt64(d.Object, "spec", "replicas"); found && err == nil {
		n = wanted
	}
	status := scripts[gr](n, runs)
	if gr.Group == "apps" {
		status["observedGeneration"] = generation
	}
	r.sayLocked(t, at, status)
}
