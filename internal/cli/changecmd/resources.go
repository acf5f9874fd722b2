package changecmd

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/await"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/edit"
	"github.com/kyma-project/lifecycle-manager/internal/follow"
	"github.com/kyma-project/lifecycle-manager/internal/view"
)

// userObject is one that somebody made with a module.
type userObject struct {
	module string
	ref    view.Ref
	object follow.Object
}

// resources finds what people made with the modules, shows it where it is to be deleted, and refuses to go on where it is not. What is in
// another cluster cannot be seen here: there the lifecycle manager looks, and waits.
func (d *deleting) resources(ctx context.Context, s *session, modules []string) ([]userObject, error) {
	if d.keep {
		return nil, nil
	}
	if !s.modulesHere() {
		if d.cascade != "false" {
			return nil, console.Usage("--cascade: the modules of Kyma %s are in another cluster", s.key()).
				With("call kyma delete --cascade in that cluster, for Kyma %s/%s", v1beta2.RuntimeNamespace, v1beta2.RuntimeKymaName)
		}
		return nil, nil
	}
	var all []userObject
	for _, name := range modules {
		users, unread := s.usersOf(ctx, name)
		if err := d.next(name, users, unread); err != nil {
			return nil, err
		}
		all = append(all, users...)
	}
	if len(all) > 0 || d.cascade == "preview" {
		return all, d.preview(s, all)
	}
	return nil, nil
}

// preview shows what is to be deleted: as data when that is all that was asked for, else for people.
func (d *deleting) preview(s *session, users []userObject) error {
	if d.cascade != "preview" {
		d.console.Sayf("To be deleted first:")
		for _, u := range users {
			d.console.Sayf("  %s (module %s)", u.ref, u.module)
		}
		return nil
	}
	type previewed struct {
		Module string   `json:"module"`
		Object view.Ref `json:"object"`
	}
	data := struct {
		console.Versioned
		Kyma  string      `json:"kyma,omitempty"`
		Items []previewed `json:"items"`
	}{Versioned: console.Kind("DeletionPreview"), Items: []previewed{}}
	if s.kyma != nil {
		data.Kyma = s.key().String()
	}
	document := console.Document{
		Columns: []console.Column{{Name: "MODULE"}, {Name: "KIND"}, {Name: "NAMESPACE"}, {Name: "NAME"}},
		Empty:   "Nothing was made with the modules: nothing else would be deleted.",
	}
	for _, u := range users {
		data.Items = append(data.Items, previewed{u.module, u.ref})
		document.Rows = append(document.Rows, []string{u.module, u.ref.Kind, u.ref.Namespace, u.ref.Name})
		document.Names = append(document.Names, u.object.Kind.Kind+"/"+u.ref.Name)
	}
	document.Data = data
	return d.console.Print(d.output.Format, document)
}

// cascadeNow deletes what was shown, and nothing else: every object by its UID. Then it waits until all of it is gone.
func (d *deleting) cascadeNow(ctx context.Context, s *session, users []userObject) error {
	if d.dry() || len(users) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	leaving := make([]follow.Object, 0, len(users))
	for _, u := range users {
		object := &unstructured.Unstructured{} // what finalizers hold is answered as a whole, which metadata alone cannot read
		object.SetGroupVersionKind(u.object.Kind)
		object.SetNamespace(u.object.Key.Namespace)
		object.SetName(u.object.Key.Name)
		err := s.Delete(ctx, object, client.Preconditions{UID: &u.object.UID})
		switch {
		case apierrors.IsConflict(err) || apierrors.IsNotFound(err): // gone, and another one of its name was not shown
		case err != nil:
			return err
		default:
			leaving = append(leaving, u.object)
		}
	}
	return await.Gone(ctx, d.console, s.WithWatch, leaving)
}

// usersOf finds the custom resources that people made with a module: those of the kinds that its template calls associated, and of the
// kind of its default custom resource, which itself the operator takes along unless the policy is Ignore. What another object owns goes
// with that.
func (s *session) usersOf(ctx context.Context, name string) ([]userObject, []view.Unread) {
	template := s.installedTemplate(name)
	if template == nil {
		return nil, nil
	}
	kinds := associated(template)
	var users []userObject
	var unread []view.Unread
	for _, kind := range kinds {
		found, problem := s.listKind(ctx, kind)
		if problem != nil {
			unread = append(unread, *problem)
		}
		for i := range found {
			if metav1.GetControllerOf(&found[i]) != nil || s.takenAlong(name, template, &found[i]) {
				continue
			}
			users = append(users, userOf(name, &found[i]))
		}
	}
	return users, unread
}

// installedTemplate is that of the version that is installed, or else of the one that is asked for.
func (s *session) installedTemplate(name string) *v1beta2.ModuleTemplate {
	if installed := status(s.kyma, name); installed != nil && installed.Version != "" {
		return s.template(name, installed.Version)
	}
	return s.template(name, s.version(&s.asked, name))
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
	for _, kind := range kinds {
		if !slices.ContainsFunc(distinct, func(other schema.GroupVersionKind) bool { return other.GroupKind() == kind.GroupKind() }) {
			distinct = append(distinct, kind)
		}
	}
	return distinct
}

// listKind reads all objects of a kind, in whatever version the cluster serves. A kind that the cluster does not know has none.
func (s *session) listKind(ctx context.Context, kind schema.GroupVersionKind) ([]metav1.PartialObjectMetadata, *view.Unread) {
	mapping, err := s.RESTMapper().RESTMapping(kind.GroupKind())
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	list := &metav1.PartialObjectMetadataList{}
	if err == nil {
		kind = mapping.GroupVersionKind
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err = s.List(ctx, list)
	}
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, &view.Unread{GroupKind: kind.GroupKind(), Forbidden: apierrors.IsForbidden(err), Text: err.Error()}
	}
	for i := range list.Items {
		list.Items[i].SetGroupVersionKind(kind)
	}
	return list.Items, nil
}

// takenAlong says whether an object is the default custom resource that the operator deletes with the module.
func (s *session) takenAlong(name string, template *v1beta2.ModuleTemplate, object client.Object) bool {
	entry, data := edit.Entry(&s.asked, name), template.Spec.Data
	if entry == nil || data == nil || entry.CustomResourcePolicy == v1beta2.CustomResourcePolicyIgnore ||
		data.GroupVersionKind().GroupKind() != object.GetObjectKind().GroupVersionKind().GroupKind() {
		return false
	}
	if known := status(s.kyma, name); known != nil && known.Resource != nil && known.Resource.Name != "" {
		return known.Resource.Name == object.GetName() && known.Resource.Namespace == object.GetNamespace()
	}
	namespace := data.GetNamespace()
	if namespace == "" && object.GetNamespace() != "" {
		namespace = v1beta2.RuntimeNamespace
	}
	return data.GetName() == object.GetName() && namespace == object.GetNamespace()
}

func userOf(module string, object *metav1.PartialObjectMetadata) userObject {
	kind := object.GroupVersionKind()
	return userObject{
		module: module,
		ref:    view.Ref{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Namespace: object.Namespace, Name: object.Name},
		object: follow.Object{Kind: kind, Key: client.ObjectKeyFromObject(object), UID: object.UID},
	}
}
