package task

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/edit"
	"github.com/kyma-project/lifecycle-manager/internal/view"
)

// made are the objects that people made with a module of a Kyma, as far as they can be seen.
//
//  1. Those of the kinds that the module's template calls associated, and of the kind of its default custom resource.
//  2. Not the default one itself, which the lifecycle manager takes along unless the policy is Ignore.
//  3. Not what another object owns, which goes with that.
func (s *scene) made(ctx context.Context, c *cluster, name string) ([]Blocking, []view.Unread) {
	template := s.installed(name)
	if template == nil {
		return nil, nil
	}
	var found []Blocking
	var unread []view.Unread
	for _, kind := range associated(template) {
		objects, problem := c.list(ctx, kind)
		if problem != nil {
			unread = append(unread, *problem)
		}
		for i := range objects {
			if metav1.GetControllerOf(&objects[i]) == nil && !s.takenAlong(name, template, &objects[i]) {
				found = append(found, blockingOf(&objects[i]))
			}
		}
	}
	return found, unread
}

func blockingOf(object *metav1.PartialObjectMetadata) Blocking {
	b := Blocking{
		Ref: view.Ref{APIVersion: object.APIVersion, Kind: object.Kind, Namespace: object.Namespace, Name: object.Name},
		UID: object.UID, Deleting: object.DeletionTimestamp != nil, Finalizers: object.Finalizers,
	}
	if b.Finalizers == nil {
		b.Finalizers = []string{}
	}
	return b
}

// associated are the kinds of which people make objects with a module.
func associated(template *v1beta2.ModuleTemplate) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, kind := range template.Spec.AssociatedResources {
		kinds = append(kinds, schema.GroupVersionKind(kind))
	}
	if data := template.Spec.Data; data != nil && data.GetKind() != "" {
		kinds = append(kinds, data.GroupVersionKind())
	}
	var distinct []schema.GroupVersionKind
	known := map[schema.GroupKind]bool{}
	for _, kind := range kinds {
		if !known[kind.GroupKind()] {
			known[kind.GroupKind()] = true
			distinct = append(distinct, kind)
		}
	}
	return distinct
}

// list reads all objects of a kind, in whatever version the cluster serves. A kind that the cluster does not know has none.
func (c *cluster) list(ctx context.Context, kind schema.GroupVersionKind) ([]metav1.PartialObjectMetadata, *view.Unread) {
	mapping, err := c.RESTMapper().RESTMapping(kind.GroupKind())
	if unserved(err) {
		return nil, nil
	}
	all := &metav1.PartialObjectMetadataList{}
	if err == nil {
		kind = mapping.GroupVersionKind
		all.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err = c.List(ctx, all)
	}
	if err != nil && !unserved(err) {
		return nil, &view.Unread{GroupKind: kind.GroupKind(), Forbidden: apierrors.IsForbidden(err), Text: err.Error()}
	}
	for i := range all.Items {
		all.Items[i].SetGroupVersionKind(kind)
	}
	return all.Items, nil
}

// takenAlong says whether an object is the default custom resource that the lifecycle manager deletes with the module.
func (s *scene) takenAlong(name string, template *v1beta2.ModuleTemplate, object client.Object) bool {
	entry, data := edit.Entry(&s.asked, name), template.Spec.Data
	if entry == nil || data == nil || entry.CustomResourcePolicy == v1beta2.CustomResourcePolicyIgnore ||
		data.GroupVersionKind().GroupKind() != object.GetObjectKind().GroupVersionKind().GroupKind() {
		return false
	}
	if known := s.status(name); known != nil && known.Resource != nil && known.Resource.Name != "" {
		return known.Resource.Name == object.GetName() && known.Resource.Namespace == object.GetNamespace()
	}
	namespace := data.GetNamespace()
	if namespace == "" && object.GetNamespace() != "" {
		namespace = v1beta2.RuntimeNamespace
	}
	return data.GetName() == object.GetName() && namespace == object.GetNamespace()
}

// refs are the references of objects.
func refs(blocking []Blocking) []view.Ref {
	all := make([]view.Ref, 0, len(blocking))
	for i := range blocking {
		all = append(all, blocking[i].Ref)
	}
	return all
}

// notShown are those that a preview did not show: they came after it, or are others of the same name.
func notShown(blocking []Blocking, shown []Shown) []Blocking {
	type key struct {
		kind      schema.GroupKind
		namespace string
		name, uid string
	}
	keyOf := func(ref view.Ref, uid string) key {
		return key{schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind).GroupKind(), ref.Namespace, ref.Name, uid}
	}
	known := map[key]bool{}
	for _, one := range shown {
		known[keyOf(one.Ref, string(one.UID))] = true
	}
	var left []Blocking
	for _, b := range blocking {
		if !known[keyOf(b.Ref, string(b.UID))] {
			left = append(left, b)
		}
	}
	return left
}
