package ownedobjects

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// place is a namespace in which a test makes objects.
type place struct {
	*testing.T
	client.Client

	name string
}

func newPlace(t *testing.T, name string) *place {
	t.Helper()
	apiserver.Need(t)
	p := &place{t, apiserver.Client(t), name}
	if err := p.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
		t.Fatal(err)
	}
	return p
}

// add creates an object of a kind that runs pods with a label, owned by another one.
func (p *place) add(apiVersion, kind, name, label string, owner *unstructured.Unstructured) *unstructured.Unstructured {
	p.Helper()
	labels := map[string]any{"app": label}
	pod := map[string]any{"restartPolicy": "Never", "containers": []any{map[string]any{"name": "c", "image": "i"}}}
	template := map[string]any{"metadata": map[string]any{"labels": labels}, "spec": pod}
	spec := map[string]any{"selector": map[string]any{"matchLabels": labels}, "template": template}
	switch kind {
	case "Pod":
		spec = pod
	case "CronJob":
		spec = map[string]any{"schedule": "0 0 * * *", "jobTemplate": map[string]any{"spec": map[string]any{"template": template}}}
	case "Job":
		spec = map[string]any{"template": template, "manualSelector": true, "selector": map[string]any{"matchLabels": labels}}
	default:
		pod["restartPolicy"] = "Always"
	}
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind, "spec": spec, "metadata": map[string]any{
		"namespace": p.name, "name": name, "labels": labels,
	}}}
	if owner != nil {
		o.SetOwnerReferences([]metav1.OwnerReference{{
			APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(), Controller: new(true),
		}})
	}
	if err := p.Create(p.Context(), o); err != nil {
		p.Fatal(err)
	}
	return o
}

func names(all []*unstructured.Unstructured) string {
	var found []string
	for _, o := range all {
		found = append(found, o.GetKind()+"/"+o.GetName())
	}
	slices.Sort(found)
	return strings.Join(found, " ")
}

func TestBelow_OwnersDecideAndNotLabels(t *testing.T) {
	p := newPlace(t, "below")
	d := p.add("apps/v1", "Deployment", "greeter", "greeter", nil)
	r := p.add("apps/v1", "ReplicaSet", "greeter-1", "greeter", d)
	p.add("v1", "Pod", "greeter-1-x", "greeter", r)
	p.add("v1", "Pod", "alone", "greeter", nil)  // the same labels, without an owner
	p.add("v1", "Pod", "relabelled", "other", r) // found with the other workload, and owned by this one
	s := p.add("apps/v1", "ReplicaSet", "other", "other", nil)
	p.add("v1", "Pod", "other-x", "other", s)
	found := Below(t.Context(), p, []*unstructured.Unstructured{d, s}, Bounds{})
	if got, want := names(found.Objects), "Pod/greeter-1-x Pod/other-x Pod/relabelled ReplicaSet/greeter-1"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	if len(found.Unread) != 0 || found.Cut || len(found.Looked) != 3 {
		t.Errorf("looked at %v, unread %v, cut %v", found.Looked, found.Unread, found.Cut)
	}
}

func TestBelow_TheLastJobOfACronJob(t *testing.T) {
	p := newPlace(t, "jobs")
	c := p.add("batch/v1", "CronJob", "nightly", "nightly", nil)
	first := p.add("batch/v1", "Job", "nightly-1", "one", c)
	p.add("v1", "Pod", "nightly-1-x", "one", first)
	last := p.add("batch/v1", "Job", "nightly-2", "two", c)
	p.add("v1", "Pod", "nightly-2-x", "two", last)
	found := Below(t.Context(), p, []*unstructured.Unstructured{c}, Bounds{})
	if got, want := names(found.Objects), "Job/nightly-1 Job/nightly-2 Pod/nightly-2-x"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
}

func TestBelow_IsBounded(t *testing.T) {
	p := newPlace(t, "bounds")
	r := p.add("apps/v1", "ReplicaSet", "many", "many", nil)
	for i := range 5 {
		p.add("v1", "Pod", fmt.Sprintf("many-%d", i), "many", r)
	}
	found := Below(t.Context(), p, []*unstructured.Unstructured{r}, Bounds{Objects: 3})
	if len(found.Objects) != 3 || !found.Cut || len(found.Looked) != 0 {
		t.Errorf("found %d, cut %v, looked at %v: a part is no whole", len(found.Objects), found.Cut, found.Looked)
	}
	other := p.add("apps/v1", "ReplicaSet", "other", "other", nil)
	if found = Below(t.Context(), p, []*unstructured.Unstructured{other, r}, Bounds{Roots: 1}); len(found.Objects) != 0 || !found.Cut {
		t.Errorf("found %s below more than one object", names(found.Objects))
	}
}

// blind may not list a kind.
type blind struct {
	client.Reader

	kind string
}

func (b blind) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	if list.GetObjectKind().GroupVersionKind().Kind == b.kind+"List" {
		return apierrors.NewForbidden(schema.GroupResource{Resource: b.kind}, "", nil)
	}
	return b.Reader.List(ctx, list, options...)
}

func TestBelow_PodsOfADeploymentWithoutItsReplicaSets(t *testing.T) {
	p := newPlace(t, "blind")
	d := p.add("apps/v1", "Deployment", "greeter", "greeter", nil)
	p.add("v1", "Pod", "greeter-1-x", "greeter", p.add("apps/v1", "ReplicaSet", "greeter-1", "greeter", d))
	found := Below(t.Context(), blind{p, "ReplicaSet"}, []*unstructured.Unstructured{d}, Bounds{})
	if names(found.Objects) != "Pod/greeter-1-x" || len(found.Unread) != 1 || !found.Unread[0].Forbidden {
		t.Errorf("found %s, unread %v", names(found.Objects), found.Unread)
	}
	found = Below(t.Context(), blind{p, "Pod"}, []*unstructured.Unstructured{d}, Bounds{})
	if names(found.Objects) != "ReplicaSet/greeter-1" || len(found.Unread) != 1 || len(found.Looked) != 1 {
		t.Errorf("found %s, unread %v, looked at %v", names(found.Objects), found.Unread, found.Looked)
	}
}

func TestAbove(t *testing.T) {
	p := newPlace(t, "above")
	d := p.add("apps/v1", "Deployment", "greeter", "greeter", nil)
	r := p.add("apps/v1", "ReplicaSet", "greeter-1", "greeter", d)
	pod := p.add("v1", "Pod", "greeter-1-x", "greeter", r)
	owners, err := Above(t.Context(), p, pod)
	if err != nil || len(owners) != 2 || owners[0].GetName() != "greeter-1" || owners[1].GetName() != "greeter" {
		t.Errorf("owners %s, %v", names(owners), err)
	}
	pod.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "greeter-1", UID: "another", Controller: new(true)}})
	if owners, err = Above(t.Context(), p, pod); err != nil || len(owners) != 0 {
		t.Errorf("an object of the same name owns it: %s, %v", names(owners), err)
	}
	pod.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "gone", UID: "u", Controller: new(true)}})
	if owners, err = Above(t.Context(), p, pod); err != nil || len(owners) != 0 {
		t.Errorf("an owner that is gone: %s, %v", names(owners), err)
	}
}
