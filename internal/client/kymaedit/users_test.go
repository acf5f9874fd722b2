package kymaedit

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// The preview names the objects that block the deletion: those of every kind whose definition goes with the module, and no others.
func TestUsersAreWhatBlocksTheDeletion(t *testing.T) {
	c := connect(t)
	const owner = "kcp-system/demo-notes-1"
	kind := func(name, plural string, marks map[string]string) {
		definition := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
			"spec": map[string]any{
				"group": "users.example.com", "scope": "Namespaced", "names": map[string]any{"kind": name, "plural": plural},
				"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{
					"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true},
				}}},
			},
		}}
		definition.SetName(plural + ".users.example.com")
		definition.SetLabels(map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma})
		definition.SetAnnotations(marks)
		created(t, c, definition)
	}
	kind("Note", "notes", map[string]string{v1beta2.AnnotationOwnedBy: owner})
	kind("Page", "pages", map[string]string{v1beta2.AnnotationOwnedBy: owner})
	kind("Pen", "pens", map[string]string{v1beta2.AnnotationOwnedBy: "kcp-system/other"})
	kind("Ink", "inks", nil)
	standard := made(t, c, "Note", "default", nil)
	made(t, c, "Page", "mine", nil)
	made(t, c, "Page", "brought", func(o *unstructured.Unstructured) {
		o.SetAnnotations(map[string]string{v1beta2.AnnotationOwnedBy: owner})
	})
	made(t, c, "Page", "collected", func(o *unstructured.Unstructured) {
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "users.example.com/v1", Kind: "Note", Name: "default", UID: standard}})
	})
	made(t, c, "Pen", "elsewhere", nil)
	made(t, c, "Ink", "associated", nil)

	s := stand(false, v1beta2.Module{Name: "notes"}).runs("1.0.0")
	s.Kyma.Status.Modules[0].Manifest = &v1beta2.TrackingObject{PartialMeta: v1beta2.PartialMeta{Namespace: "kcp-system", Name: "demo-notes-1"}}
	template := s.Template("notes", "1.0.0")
	template.Spec.AssociatedResources = []metav1.GroupVersionKind{{Group: "users.example.com", Version: "v1", Kind: "Ink"}}
	template.Spec.Data = &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "users.example.com/v1", "kind": "Note", "metadata": map[string]any{"name": "default", "namespace": "default"},
	}}
	objects, unread := s.Users(t.Context(), c, "notes")
	if len(unread) > 0 {
		t.Errorf("unread: %+v", unread)
	}
	var names []string
	for i := range objects {
		names = append(names, objects[i].Kind+" "+objects[i].Name)
	}
	slices.Sort(names)
	if diff := cmp.Diff([]string{"Ink associated", "Page mine"}, names); diff != "" {
		t.Errorf("what blocks (-want +got):\n%s", diff)
	}
}

func TestUsers_TheOwnerMarkOfAModule(t *testing.T) {
	s := stand(true, v1beta2.Module{Name: "notes"})
	if got := s.ownerOf("notes"); got != "" {
		t.Errorf("nothing is known of it: %q", got)
	}
	s.runs("1.0.0")
	s.Kyma.Status.Modules[0].OCMComponentName = "kyma-project.io/module/template-operator"
	s.Kyma.Status.Modules[0].Name = "template-operator"
	s.Kyma.Annotations = map[string]string{v1beta2.AnnotationOwnedBy: "kcp-system/kyma-sample"}
	if got := s.ownerOf("template-operator"); got != "kcp-system/kyma-sample-template-operator-2235966007" {
		t.Errorf("in a runtime: %q", got)
	}
	s.Kyma.Status.Modules[0].Manifest = &v1beta2.TrackingObject{PartialMeta: v1beta2.PartialMeta{Name: "as-it-is-named"}}
	if got := s.ownerOf("template-operator"); got != "kcp-system/as-it-is-named" {
		t.Errorf("on the hub: %q", got)
	}
}

// made creates an object of a kind whose definition was created just before.
func made(t *testing.T, c client.Client, kind, name string, change func(*unstructured.Unstructured)) types.UID {
	t.Helper()
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "users.example.com/v1", "kind": kind}}
	object.SetNamespace("default")
	object.SetName(name)
	if change != nil {
		change(object)
	}
	created(t, c, object)
	return object.GetUID()
}

func created(t *testing.T, c client.Client, object *unstructured.Unstructured) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		last = c.Create(ctx, object)
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), last)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.WithoutCancel(t.Context()), object); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	})
}
