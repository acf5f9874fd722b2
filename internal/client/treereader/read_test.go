package treereader

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
	p.add(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
	return p
}

func (p *place) add(o client.Object) {
	p.Helper()
	if err := p.Create(p.Context(), o); err != nil {
		p.Fatal(err)
	}
}

// object creates an object that another one owns.
func (p *place) object(apiVersion, kind, name string, owner *unstructured.Unstructured, fields map[string]any) *unstructured.Unstructured {
	p.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{}}
	if fields != nil {
		o.Object["spec"] = fields
	}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace(p.name)
	o.SetName(name)
	o.SetLabels(map[string]string{"app": "x"})
	if owner != nil {
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID()}})
	}
	p.add(o)
	return o
}

// workload returns the fields of a Deployment or a ReplicaSet.
func workload() map[string]any {
	labels := map[string]any{"app": "x"}
	return map[string]any{"selector": map[string]any{"matchLabels": labels}, "template": map[string]any{
		"metadata": map[string]any{"labels": labels}, "spec": pod(),
	}}
}

func pod() map[string]any {
	return map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}}
}

// resource returns the custom resource of a module, of a kind that the API server need not know: it is never read here.
func resource(namespace string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetAPIVersion("operator.example.com/v1")
	o.SetKind("Greeter")
	o.SetNamespace(namespace)
	o.SetName("default")
	o.SetUID("uid-greeter")
	return o
}

func names(found Found) string {
	var all []string
	for _, o := range found.Objects {
		all = append(all, o.GetKind()+"/"+o.GetName())
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

func TestRead_WhatTheOperatorMadeAndWhatItsWorkloadsRun(t *testing.T) {
	p := newPlace(t, "operator")
	custom := resource(p.name)
	d := p.object("apps/v1", "Deployment", "worker", custom, workload())
	r := p.object("apps/v1", "ReplicaSet", "worker-1", d, workload())
	p.object("v1", "Pod", "worker-1-x", r, pod())
	p.object("v1", "ConfigMap", "settings", custom, nil)
	p.object("v1", "Secret", "token", custom, nil)
	p.object("v1", "ConfigMap", "unowned", nil, nil)
	said := []schema.GroupVersionKind{{Group: "not.served.example.com", Version: "v1", Kind: "Gone"}}
	found := Read(t.Context(), p, p.RESTMapper(), []*unstructured.Unstructured{custom}, said)
	if got, want := names(found), "ConfigMap/settings Deployment/worker Pod/worker-1-x ReplicaSet/worker-1 Secret/token"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	if len(found.Unread) != 0 || len(found.Cuts) != 0 || found.Requests == 0 || found.Requests > MostRequests {
		t.Errorf("unread %v, cut %v, %d requests", found.Unread, found.Cuts, found.Requests)
	}
}

func TestRead_NothingIsListedWithoutAnythingThatCouldOwn(t *testing.T) {
	p := newPlace(t, "idle")
	settings := p.object("v1", "ConfigMap", "settings", nil, nil)
	if found := Read(t.Context(), p, p.RESTMapper(), []*unstructured.Unstructured{settings}, nil); found.Requests != 0 || len(found.Objects) != 0 {
		t.Errorf("%d requests for a ConfigMap", found.Requests)
	}
}

func TestRead_EndpointSlicesAndClaims(t *testing.T) {
	p := newPlace(t, "network")
	s := p.object("v1", "Service", "web", nil, map[string]any{"ports": []any{map[string]any{"port": int64(80)}}})
	slice := &unstructured.Unstructured{Object: map[string]any{"addressType": "IPv4", "endpoints": []any{}}}
	slice.SetAPIVersion("discovery.k8s.io/v1")
	slice.SetKind("EndpointSlice")
	slice.SetNamespace(p.name)
	slice.SetName("web-x")
	slice.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "Service", Name: "web", UID: s.GetUID()}})
	p.add(slice)
	if found := Read(t.Context(), p, p.RESTMapper(), []*unstructured.Unstructured{s}, nil); names(found) != "EndpointSlice/web-x" || found.Requests != 1 {
		t.Errorf("found %s with %d requests", names(found), found.Requests)
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

func TestRead_WhatMayNotBeReadIsTold(t *testing.T) {
	p := newPlace(t, "part")
	custom := resource(p.name)
	p.object("apps/v1", "Deployment", "worker", custom, workload())
	found := Read(t.Context(), blind{p, "Pod"}, p.RESTMapper(), []*unstructured.Unstructured{custom}, nil)
	if len(found.Unread) != 1 || !found.Unread[0].Forbidden || found.Unread[0].Kind != "Pod" || names(found) != "Deployment/worker" {
		t.Errorf("found %s, unread %v", names(found), found.Unread)
	}
}

func TestRead_IsBounded(t *testing.T) {
	p := newPlace(t, "bounds")
	var roots []*unstructured.Unstructured
	for i := range 2 * mostWorkloads {
		roots = append(roots, p.object("apps/v1", "ReplicaSet", fmt.Sprint("r", i), nil, workload()))
	}
	for i := range 10 {
		custom := resource(fmt.Sprint("elsewhere-", i))
		roots = append(roots, custom)
	}
	found := Read(t.Context(), p, p.RESTMapper(), roots, nil)
	if found.Requests > MostRequests {
		t.Errorf("%d requests", found.Requests)
	}
	var reasons []string
	for _, c := range found.Cuts {
		reasons = append(reasons, string(c.Reason))
	}
	if strings.Join(reasons, " ") != "Objects Places Requests" {
		t.Errorf("cut: %v", found.Cuts)
	}
	for _, u := range found.Unread {
		if strings.Contains(u.Text, errSpent.Error()) {
			t.Errorf("what was not asked counts as refused: %v", u)
		}
	}
}

func TestBounded_Bytes(t *testing.T) {
	p := newPlace(t, "bytes")
	p.add(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: "large"}, Data: map[string]string{"a": strings.Repeat("x", 5000)}})
	b := &bounded{Reader: p, requests: 10, bytes: 4000}
	list := func() error {
		all := &unstructured.UnstructuredList{}
		all.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMapList"})
		return b.List(t.Context(), all, client.InNamespace(p.name))
	}
	if err := list(); err != nil {
		t.Fatal(err)
	}
	if err := list(); err == nil || !b.spent() || b.left() != 9 {
		t.Errorf("more is read than the bound: %v", err)
	}
}
