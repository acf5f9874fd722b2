package ownedobjects

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	configMaps  = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
)

// settings creates a ConfigMap that an object owns.
func (p *place) settings(name string, owner *unstructured.Unstructured) *unstructured.Unstructured {
	p.Helper()
	o := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: p.name, Name: name}, Data: map[string]string{"secret": "value"}}
	if owner != nil {
		o.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID()}}
	}
	if err := p.Create(p.Context(), o); err != nil {
		p.Fatal(err)
	}
	made := &unstructured.Unstructured{}
	made.SetGroupVersionKind(configMaps)
	made.SetName(name)
	made.SetUID(o.UID)
	return made
}

func TestMade_FollowsOwnersInAnyOrder(t *testing.T) {
	p := newPlace(t, "made")
	root := p.settings("zz-root", nil)
	first := p.settings("mm-first", root)
	second := p.add("apps/v1", "Deployment", "aa-second", "x", first)
	p.settings("bb-third", second)
	p.settings("alone", nil)
	places := []Place{{Kind: deployments, Namespace: p.name}, {Kind: configMaps, Namespace: p.name, Metadata: true}}
	found := Made(t.Context(), p, []*unstructured.Unstructured{root}, places, 0)
	if got, want := names(found.Objects), "ConfigMap/bb-third ConfigMap/mm-first Deployment/aa-second"; got != want {
		t.Errorf("found %s, want %s", got, want)
	}
	if len(found.Looked) != 2 || len(found.Unread) != 0 || found.Cut {
		t.Errorf("looked at %v, unread %v, cut %v", found.Looked, found.Unread, found.Cut)
	}
	for _, o := range found.Objects {
		if text := fmt.Sprint(o.Object); o.GetKind() == "ConfigMap" && strings.Contains(text, "value") {
			t.Errorf("the content of %s was read: %s", o.GetName(), text)
		}
	}
}

func TestMade_SaysWhatItDidNotSee(t *testing.T) {
	p := newPlace(t, "made-part")
	root := p.settings("root", nil)
	for i := range 5 {
		p.settings(fmt.Sprint("owned-", i), root)
	}
	gone := schema.GroupVersionKind{Group: "gone.example.com", Version: "v1", Kind: "Gone"}
	places := []Place{{Kind: configMaps, Namespace: p.name}, {Kind: deployments, Namespace: p.name}, {Kind: gone, Namespace: p.name}}
	found := Made(t.Context(), blind{p, "Deployment"}, []*unstructured.Unstructured{root}, places, 3)
	if !found.Cut || len(found.Objects) != 3 || len(found.Unread) != 1 || !found.Unread[0].Forbidden || len(found.Looked) != 1 {
		t.Errorf("found %s, cut %v, unread %v, looked at %v", names(found.Objects), found.Cut, found.Unread, found.Looked)
	}
}
