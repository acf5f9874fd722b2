package causereader

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus/rootcause"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// place is a namespace of an API server, with the module greeter in it.
type place struct {
	*testing.T
	client.Client

	name   string
	access Access
	// requests counts those of access, which is the user's.
	requests *atomic.Int64
	synced   []v1beta2.Resource
}

func newPlace(t *testing.T, name, user string) *place {
	t.Helper()
	apiserver.Need(t)
	p := &place{T: t, Client: apiserver.Client(t), name: name, requests: &atomic.Int64{}}
	p.add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	config, err := apiserver.Start()
	if err != nil {
		t.Fatal(err)
	}
	config = rest.CopyConfig(config)
	config.QPS, config.Impersonate.UserName = -1, user
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return sending(func(r *http.Request) (*http.Response, error) {
			if !strings.HasSuffix(r.URL.Path, "/v1") && strings.Count(r.URL.Path, "/") > 2 { // discovery happens once
				p.requests.Add(1)
			}
			return next.RoundTrip(r)
		})
	})
	reader, err := client.New(config, client.Options{Scheme: p.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	p.access.Reader = reader
	p.access.Logs, err = LogsOf(config)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

type sending func(*http.Request) (*http.Response, error)

func (f sending) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// add creates an object, and writes its status.
func (p *place) add(o client.Object) {
	p.Helper()
	asked := o.DeepCopyObject().(client.Object)
	if err := p.Create(p.Context(), o); err != nil {
		p.Fatal(err)
	}
	asked.SetResourceVersion(o.GetResourceVersion())
	asked.SetUID(o.GetUID())
	asked.SetGeneration(o.GetGeneration())
	switch is := o.(type) {
	case *corev1.Pod:
		is.Status = asked.(*corev1.Pod).Status
	case *appsv1.Deployment:
		is.Status = asked.(*appsv1.Deployment).Status
		is.Status.ObservedGeneration = is.Generation
	case *appsv1.ReplicaSet:
		is.Status = asked.(*appsv1.ReplicaSet).Status
		is.Status.ObservedGeneration = is.Generation
	default:
		return
	}
	if err := p.Status().Update(p.Context(), o); err != nil {
		p.Fatal(err)
	}
}

// installed lists objects in the inventory of the module.
func (p *place) installed(group, kind string, names ...string) {
	for _, name := range names {
		p.synced = append(p.synced, v1beta2.Resource{
			Name: name, Namespace: p.name, Group: group, Version: "v1", Kind: kind, Hash: "h",
		})
	}
}

// deployed adds the Deployment greeter, which is not available, and its ReplicaSet.
func (p *place) deployed(change ...func(*appsv1.ReplicaSet)) *appsv1.ReplicaSet {
	p.Helper()
	labels := map[string]string{"app": "greeter"}
	template := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "manager", Image: "greeter:1"}}},
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: "greeter"}}
	d.Spec.Selector, d.Spec.Template = &metav1.LabelSelector{MatchLabels: labels}, template
	d.Status.Replicas, d.Status.UnavailableReplicas = 1, 1
	p.add(d)
	p.installed("apps", "Deployment", "greeter")
	r := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: "greeter-7d9", Labels: labels, OwnerReferences: owned(d, "Deployment")}}
	r.Spec.Selector, r.Spec.Template, r.Status.Replicas = d.Spec.Selector, template, 1
	for _, f := range change {
		f(r)
	}
	p.add(r)
	return r
}

func owned(by client.Object, kind string) []metav1.OwnerReference {
	return []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: by.GetName(), UID: by.GetUID(), Controller: new(true)}}
}

// pod adds the pod of a ReplicaSet, whose container has a status.
func (p *place) pod(of *appsv1.ReplicaSet, status corev1.ContainerStatus, change ...func(*corev1.Pod)) *corev1.Pod {
	p.Helper()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: p.name, Name: of.Name + "-x", Labels: of.Labels, OwnerReferences: owned(of, "ReplicaSet"),
	}}
	pod.Spec = corev1.PodSpec{NodeName: "node", Containers: []corev1.Container{{Name: "manager", Image: "greeter:1"}}}
	status.Name, status.Image = "manager", "greeter:1"
	pod.Status = corev1.PodStatus{Phase: corev1.PodPending, ContainerStatuses: []corev1.ContainerStatus{status}, Conditions: []corev1.PodCondition{
		{Type: corev1.ContainersReady, Status: corev1.ConditionFalse, LastTransitionTime: ago(34)},
	}}
	for _, f := range change {
		f(pod)
	}
	p.add(pod)
	return pod
}

// ago returns a time some minutes ago.
func ago(minutes int) metav1.Time {
	return metav1.Time{Time: time.Now().Add(-time.Duration(minutes)*time.Minute - time.Second)}
}

// event adds a warning about an object.
func (p *place) event(kind string, of client.Object, reason, message string) {
	p.Helper()
	at := ago(1)
	p.add(&corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: p.name, GenerateName: "e-"},
		InvolvedObject: corev1.ObjectReference{Kind: kind, Namespace: p.name, Name: of.GetName(), UID: of.GetUID()},
		Type:           corev1.EventTypeWarning, Reason: reason, Message: message, FirstTimestamp: at, LastTimestamp: at, Count: 2,
	})
}

// inputs returns the module and what was read of it before: its Manifest with the inventory.
func (p *place) inputs(state modulestatus.State) (modulestatus.Inputs, *modulestatus.Module) {
	manifest := v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: "greeter"}}
	manifest.Status.Synced = p.synced
	return modulestatus.Inputs{Manifests: []v1beta2.Manifest{manifest}}, &modulestatus.Module{
		Name: "greeter", State: state, Manifest: &modulestatus.Key{Namespace: p.name, Name: "greeter"},
		Installation: modulestatus.Installation{
			State: modulestatus.Installed, Unready: true, Reason: v1beta2.ReasonWaitingForObjects, Message: "Deployment greeter: not ready",
		},
	}
}

// cause reads the evidence as the user, and concludes the cause of it.
func (p *place) cause() *modulestatus.Cause {
	p.Helper()
	in, m := p.inputs(modulestatus.Processing)
	p.requests.Store(0)
	c := rootcause.Of(Read(p.Context(), p.access, &in, m), time.Now())
	if n := p.requests.Load(); n > MostRequests {
		p.Errorf("%d requests, more than %d", n, MostRequests)
	}
	if c == nil {
		p.Fatal("there is no cause")
	}
	return c
}

// printing returns logs with a text.
func printing(text string) Logs {
	return func(context.Context, string, string, string, bool) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(text)), nil
	}
}

// allow gives a user rights in the namespace.
func (p *place) allow(user string, rules ...rbacv1.PolicyRule) {
	p.Helper()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: user}, Rules: rules}
	p.add(role)
	p.add(&rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: user}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: user},
		Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: user}},
	})
	apiserver.Allowed(p.T, p.Client, user, p.name, rules[len(rules)-1])
}

var errRefused = errors.New("refused")
