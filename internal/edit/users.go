package edit

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/view"
)

// Users are the objects that people made with a module of the Kyma, in the cluster that its modules are in, as far as they can be seen:
//
//  1. Those of the kinds that the module's template calls associated, and of the kind of its default custom resource.
//  2. Not the default one itself, which the lifecycle manager takes along unless the policy is Ignore.
//  3. Not what another object owns, which goes with that.
func (s *Stand) Users(ctx context.Context, c client.Client, name string) ([]metav1.PartialObjectMetadata, []view.Unread) {
	template := s.Installed(name)
	if template == nil {
		return nil, nil
	}
	var found []metav1.PartialObjectMetadata
	var unread []view.Unread
	for _, kind := range Associated(template) {
		objects, problem := listed(ctx, c, kind)
		if problem != nil {
			unread = append(unread, *problem)
		}
		for i := range objects {
			if metav1.GetControllerOf(&objects[i]) == nil && !s.TakenAlong(name, template, &objects[i]) {
				found = append(found, objects[i])
			}
		}
	}
	return found, unread
}

// Associated are the kinds of which people make objects with a module, each once.
func Associated(template *v1beta2.ModuleTemplate) []schema.GroupVersionKind {
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

// TakenAlong says whether an object is the default custom resource that the lifecycle manager deletes with the module: the one that the
// status names, else the one that the template does.
func (s *Stand) TakenAlong(name string, template *v1beta2.ModuleTemplate, object client.Object) bool {
	entry, data := Entry(&s.Asked, name), template.Spec.Data
	if entry == nil || data == nil || entry.CustomResourcePolicy == v1beta2.CustomResourcePolicyIgnore ||
		data.GroupVersionKind().GroupKind() != object.GetObjectKind().GroupVersionKind().GroupKind() {
		return false
	}
	if known := s.StatusOf(name); known != nil && known.Resource != nil && known.Resource.Name != "" {
		return known.Resource.Name == object.GetName() && known.Resource.Namespace == object.GetNamespace()
	}
	namespace := data.GetNamespace()
	if namespace == "" && object.GetNamespace() != "" {
		namespace = v1beta2.RuntimeNamespace
	}
	return data.GetName() == object.GetName() && namespace == object.GetNamespace()
}

// listed reads all objects of a kind, in whatever version the cluster serves. A kind that the cluster does not know has none.
func listed(ctx context.Context, c client.Client, kind schema.GroupVersionKind) ([]metav1.PartialObjectMetadata, *view.Unread) {
	mapping, err := c.RESTMapper().RESTMapping(kind.GroupKind())
	all := &metav1.PartialObjectMetadataList{}
	if err == nil {
		kind = mapping.GroupVersionKind
		all.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err = c.List(ctx, all)
	}
	switch {
	case unserved(err):
		return nil, nil
	case err != nil:
		return nil, &view.Unread{GroupKind: kind.GroupKind(), Forbidden: apierrors.IsForbidden(err), Text: err.Error()}
	}
	for i := range all.Items {
		all.Items[i].SetGroupVersionKind(kind)
	}
	return all.Items, nil
}

// Community says whether there are templates of a module in a cluster that nobody manages. Who may not look sees none.
func Community(ctx context.Context, reader client.Reader, name string) bool {
	var list v1beta2.ModuleTemplateList
	if err := reader.List(ctx, &list); err != nil {
		return false
	}
	for i := range list.Items {
		if view.ModuleOf(&list.Items[i]) == name && list.Items[i].Labels[v1beta2.LabelManagedBy] == "" {
			return true
		}
	}
	return false
}
