package kymaedit

import (
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// definitionList is the kind for listing the definitions of a cluster by their metadata.
var definitionList = schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinitionList"}

// Users returns the objects that block the deletion of a module of the Kyma, in the cluster of its modules, as far as the user may read
// them: module.Blocks applies the lifecycle manager's own rule to the same kinds. Without permission to list definitions, only the
// lifecycle manager sees the objects of kinds that the template does not name.
func (s *KymaContext) Users(ctx context.Context, c client.Client, name string) ([]metav1.PartialObjectMetadata, []modulestatus.Unread) {
	template := s.Installed(name)
	if template == nil {
		return nil, nil
	}
	var looks []module.Look
	var unread []modulestatus.Unread
	owner, read := s.ownerOf(name), map[inventory.ID]metav1.PartialObjectMetadata{}
	defined := definedBy(ctx, c, owner)
	for _, kind := range Associated(template, defined) {
		objects, problem := listed(ctx, c, kind)
		if problem != nil {
			unread = append(unread, *problem)
		}
		look := module.Look{Kind: kind, Defined: slices.ContainsFunc(defined, func(d schema.GroupVersionKind) bool {
			return d.GroupKind() == kind.GroupKind()
		})}
		for i := range objects {
			seen := objectOf(&objects[i], owner)
			seen.Default = s.DeletedWithModule(name, template, &objects[i])
			read[seen.ID] = objects[i]
			look.Objects = append(look.Objects, seen)
		}
		looks = append(looks, look)
	}
	var found []metav1.PartialObjectMetadata
	for _, kind := range module.Blocks(looks, nil).Kinds {
		for i := range kind.Objects {
			found = append(found, read[kind.Objects[i].ID])
		}
	}
	return found, unread
}

// objectOf converts an object for module.Blocks. Without an inventory, only the owner mark identifies the module's own objects.
func objectOf(object *metav1.PartialObjectMetadata, owner string) module.Object {
	kind, marks := object.GroupVersionKind(), object.Annotations
	seen := module.Object{
		ID:      inventory.ID{Group: kind.Group, Kind: kind.Kind, Namespace: object.Namespace, Name: object.Name},
		UID:     object.UID,
		Content: owner != "" && marks[v1beta2.AnnotationOwnedBy] == owner,
		Kept:    marks[apply.AnnotationKeep] == "true",
	}
	for _, reference := range object.OwnerReferences {
		seen.Owners = append(seen.Owners, reference.UID)
	}
	return seen
}

// Associated returns the kinds whose objects block the deletion of a module, without duplicates.
func Associated(template *v1beta2.ModuleTemplate, defined []schema.GroupVersionKind) []schema.GroupVersionKind {
	var own schema.GroupVersionKind
	if data := template.Spec.Data; data != nil && data.GetKind() != "" {
		own = data.GroupVersionKind()
	}
	return module.BlockingKinds(template.Spec.AssociatedResources, defined, own)
}

// ownerOf returns the owner mark of a module's objects: its Manifest. A runtime has no reference to the Manifest; its name follows from the
// names of the Kyma on the hub and of the component. The result is empty when the name is not known.
func (s *KymaContext) ownerOf(name string) string {
	status := s.StatusOf(name)
	if status == nil {
		return ""
	}
	if status.Manifest != nil && status.Manifest.Name != "" {
		return s.Kyma.Namespace + "/" + status.Manifest.Name
	}
	namespace, hub, marked := strings.Cut(s.Kyma.Annotations[v1beta2.AnnotationOwnedBy], "/")
	if !marked || status.OCMComponentName == "" {
		return ""
	}
	return namespace + "/" + module.ManifestName(hub, status.OCMComponentName, name)
}

// definedBy returns the kinds whose definitions are deleted with an owner mark, as far as the user may list them. Users without that
// permission can still delete a module, since the lifecycle manager checks the definitions itself.
func definedBy(ctx context.Context, c client.Client, owner string) []schema.GroupVersionKind {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(definitionList)
	if owner == "" || c.List(ctx, list, client.MatchingLabels{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma}) != nil {
		return nil
	}
	var kinds []schema.GroupVersionKind
	for i := range list.Items {
		marks := list.Items[i].Annotations
		plural, group, _ := strings.Cut(list.Items[i].Name, ".")
		if marks[v1beta2.AnnotationOwnedBy] != owner || marks[apply.AnnotationKeep] == "true" {
			continue
		}
		if kind, err := c.RESTMapper().KindFor(schema.GroupVersionResource{Group: group, Resource: plural}); err == nil {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// DeletedWithModule reports whether an object is the default custom resource that the lifecycle manager deletes with the module: the one
// that the status names, or else the one of the template. A module whose deletion waits has no entry any more; its status still names the
// object, and names none where the policy was Ignore.
func (s *KymaContext) DeletedWithModule(name string, template *v1beta2.ModuleTemplate, object client.Object) bool {
	entry, data := Entry(&s.Asked, name), template.Spec.Data
	if data == nil || entry != nil && entry.CustomResourcePolicy == v1beta2.CustomResourcePolicyIgnore ||
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
	return entry != nil && data.GetName() == object.GetName() && namespace == object.GetNamespace()
}

// listed reads all objects of a kind, in any version that the cluster serves. A kind that the cluster does not serve has none.
func listed(ctx context.Context, c client.Client, kind schema.GroupVersionKind) ([]metav1.PartialObjectMetadata, *modulestatus.Unread) {
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
		return nil, &modulestatus.Unread{GroupKind: kind.GroupKind(), Forbidden: apierrors.IsForbidden(err), Text: err.Error()}
	}
	for i := range all.Items {
		all.Items[i].SetGroupVersionKind(kind)
	}
	return all.Items, nil
}

// Community reports whether a cluster has unmanaged templates of a module. Without permission to read them it finds none.
func Community(ctx context.Context, reader client.Reader, name string) bool {
	var list v1beta2.ModuleTemplateList
	if err := reader.List(ctx, &list); err != nil {
		return false
	}
	for i := range list.Items {
		if modulestatus.ModuleOf(&list.Items[i]) == name && list.Items[i].Labels[v1beta2.LabelManagedBy] == "" {
			return true
		}
	}
	return false
}
