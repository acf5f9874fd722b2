package rootcause

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// noon is the time of all tests.
var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// before returns a time some minutes before noon.
func before(minutes int) metav1.Time {
	return metav1.Time{Time: noon.Add(-time.Duration(minutes) * time.Minute)}
}

const ns = "kyma-system"

// greeter returns the module, which waits for its objects.
func greeter(change ...func(*modulestatus.Module)) *modulestatus.Module {
	since := before(40)
	m := &modulestatus.Module{
		Name: "greeter", Kyma: "kcp-system/alice", State: modulestatus.Processing, Since: &since,
		Manifest: &modulestatus.Key{Namespace: "kcp-system", Name: "alice-greeter"},
		Installation: modulestatus.Installation{
			State: modulestatus.Installed, Unready: true, Reason: v1beta2.ReasonWaitingForObjects, Message: "Deployment greeter: Available: 0/1",
		},
		Module: modulestatus.Condition{State: modulestatus.NotConfigured, Reason: modulestatus.WhyNoKind},
	}
	for _, f := range change {
		f(m)
	}
	return m
}

// refused returns the module with a reason and a message of its installation, in state Error.
func refused(reason, message string) *modulestatus.Module {
	return greeter(func(m *modulestatus.Module) {
		m.State, m.Installation = modulestatus.Error, modulestatus.Installation{State: modulestatus.Failed, Reason: reason, Message: message}
	})
}

func meta(name string, owner ...metav1.Object) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Namespace: ns, Name: name, UID: types.UID("uid-" + name), CreationTimestamp: before(34), Generation: 1}
	for _, o := range owner {
		m.OwnerReferences = append(m.OwnerReferences, metav1.OwnerReference{Name: o.GetName(), UID: o.GetUID(), Controller: new(bool)})
	}
	return m
}

// deployment returns the Deployment greeter without an available pod.
func deployment() *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: meta("greeter"),
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 1, Replicas: 1, UnavailableReplicas: 1, Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionFalse, LastTransitionTime: before(34)},
			},
		},
	}
}

func replicas(of *appsv1.Deployment) *appsv1.ReplicaSet {
	one := int32(1)
	return &appsv1.ReplicaSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "ReplicaSet"}, ObjectMeta: meta("greeter-7d9", of),
		Spec: appsv1.ReplicaSetSpec{Replicas: &one}, Status: appsv1.ReplicaSetStatus{ObservedGeneration: 1, Replicas: 1},
	}
}

// pod returns a pod of an owner that has a node.
func pod(owner metav1.Object, change ...func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: meta("greeter-7d9-x", owner),
		Spec: corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "manager", Image: "registry.example/greeter:1"}}},
		Status: corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: before(33)},
			{Type: corev1.ContainersReady, Status: corev1.ConditionFalse, LastTransitionTime: before(33)},
		}},
	}
	for _, f := range change {
		f(p)
	}
	return p
}

// unscheduled is a pod without a node, for a reason that the scheduler gives.
func unscheduled(message string) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Spec.NodeName = ""
		p.Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: message,
			LastTransitionTime: before(34),
		}}
	}
}

// waiting is a pod whose container waits.
func waiting(reason, message string) func(*corev1.Pod) {
	return container(func(s *corev1.ContainerStatus) {
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: reason, Message: message}
	})
}

// crashed is a pod whose container ended with a code.
func crashed(code int32, reason string, restarts int32) func(*corev1.Pod) {
	return container(func(s *corev1.ContainerStatus) {
		s.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 5m0s restarting failed container"}
		s.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: code, Reason: reason}
		s.RestartCount = restarts
	})
}

// container sets the status of the container manager.
func container(change func(*corev1.ContainerStatus)) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		s := corev1.ContainerStatus{Name: "manager", Image: "registry.example/greeter:1"}
		change(&s)
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, s)
	}
}

func event(kind, name, reason, message string) Event {
	return Event{
		Object: modulestatus.Ref{Kind: kind, Namespace: ns, Name: name}, Warning: true, Reason: reason, Message: message, Count: 3,
		First: before(30).Time, Last: before(1).Time,
	}
}

// seen returns the evidence about a module and objects, whose kinds were all listed.
func seen(m *modulestatus.Module, objects ...runtime.Object) Evidence {
	e := Evidence{Module: m}
	for _, kind := range []schema.GroupKind{{Kind: "Pod"}, {Group: "apps", Kind: "ReplicaSet"}, {Group: "batch", Kind: "Job"}} {
		e.Looked = append(e.Looked, modulestatus.ListedKind{GroupKind: kind, Namespace: ns})
	}
	for _, o := range objects {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
		if err != nil {
			panic(err)
		}
		e.Objects = append(e.Objects, &unstructured.Unstructured{Object: fields})
	}
	return e
}

// running returns the evidence about the module with its Deployment, ReplicaSet and one pod.
func running(change ...func(*corev1.Pod)) Evidence {
	d := deployment()
	r := replicas(d)
	return seen(greeter(), d, r, pod(r, change...))
}

// with adds events to evidence.
func (e Evidence) with(events ...Event) Evidence {
	e.Events = append(e.Events, events...)
	return e
}

// logged adds the log of the container manager.
func (e Evidence) logged(lines ...string) Evidence {
	e.Logs = append(e.Logs, Log{ns, "greeter-7d9-x", "manager", lines})
	return e
}

// cause returns the cause, and fails without one.
func cause(t *testing.T, e Evidence) *modulestatus.Cause {
	t.Helper()
	c := Of(e, noon)
	if c == nil {
		t.Fatal("there is no cause")
	}
	return c
}
