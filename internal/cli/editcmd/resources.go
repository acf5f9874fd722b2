package editcmd

import (
	"context"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/await"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
)

// userObject is an object that a user created with a module.
type userObject struct {
	module string
	ref    modulestatus.Ref
	object waitfor.Object
}

// resources finds the objects that users made with the modules, shows those that must be deleted, and refuses to continue if they may not
// be. Objects in another cluster are not visible here: there the lifecycle manager looks for them, and waits.
func (d *deleting) resources(ctx context.Context, s *session, modules []string) ([]userObject, error) {
	if d.keep {
		return nil, nil
	}
	if !s.Here() {
		switch {
		case d.cascade == "preview" && len(d.dependents) > 0:
			return nil, d.preview(s, nil)
		case d.cascade != "false" && len(d.dependents) > 0:
			d.console.Sayf("What users made with these modules is in another cluster: the lifecycle manager waits while there is any.")
		case d.cascade != "false":
			return nil, console.Usage("--cascade: the modules of Kyma %s are in another cluster", s.Key()).
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

// preview shows what must be deleted: as data if only that was requested, and otherwise for users.
func (d *deleting) preview(s *session, users []userObject) error {
	if d.cascade != "preview" {
		d.console.Sayf("To be deleted first:")
		for _, u := range users {
			d.console.Sayf("  %s (module %s)", u.ref, u.module)
		}
		return nil
	}
	type previewed struct {
		Module string           `json:"module"`
		Object modulestatus.Ref `json:"object"`
	}
	type dependent struct {
		Module string   `json:"module"`
		Needs  []string `json:"needs"`
	}
	data := struct {
		console.Versioned
		Kyma string `json:"kyma,omitempty"`
		// Dependents are the modules that need those that are to be deleted, and go with them.
		Dependents []dependent `json:"dependents,omitempty"`
		Items      []previewed `json:"items"`
	}{Versioned: console.Kind("DeletionPreview"), Items: []previewed{}}
	if s.Kyma != nil {
		data.Kyma = s.Key().String()
	}
	document := console.Document{
		Columns: []console.Column{{Name: "MODULE"}, {Name: "KIND"}, {Name: "NAMESPACE"}, {Name: "NAME"}},
		Empty:   "Nothing was made with the modules: nothing else would be deleted.",
	}
	for _, name := range slices.Sorted(maps.Keys(d.dependents)) {
		data.Dependents = append(data.Dependents, dependent{name, d.dependents[name]})
		document.Rows = append(document.Rows, []string{name, "(the module, which needs " + strings.Join(d.dependents[name], ", ") + ")", "", ""})
		document.Names = append(document.Names, "module/"+name)
	}
	for _, u := range users {
		data.Items = append(data.Items, previewed{u.module, u.ref})
		document.Rows = append(document.Rows, []string{u.module, u.ref.Kind, u.ref.Namespace, u.ref.Name})
		document.Names = append(document.Names, u.object.Kind.Kind+"/"+u.ref.Name)
	}
	document.Data = data
	return d.console.Print(d.output.Format, document)
}

// cascadeNow deletes the shown objects, and no others: each by its UID. Then it waits until all of them are gone.
func (d *deleting) cascadeNow(ctx context.Context, s *session, users []userObject) error {
	if d.dry() || len(users) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	leaving := make([]waitfor.Object, 0, len(users))
	for _, u := range users {
		object := &unstructured.Unstructured{} // the response for an object with finalizers is the whole object, not only metadata
		object.SetGroupVersionKind(u.object.Kind)
		object.SetNamespace(u.object.Key.Namespace)
		object.SetName(u.object.Key.Name)
		err := s.Delete(ctx, object, client.Preconditions{UID: &u.object.UID})
		switch {
		case apierrors.IsConflict(err) || apierrors.IsNotFound(err): // gone; another one of its name was not shown
		case err != nil:
			return err
		default:
			leaving = append(leaving, u.object)
		}
	}
	return await.Gone(ctx, d.console, s.WithWatch, leaving)
}

// usersOf returns the custom resources that users made with a module.
func (s *session) usersOf(ctx context.Context, name string) ([]userObject, []modulestatus.Unread) {
	objects, unread := s.Users(ctx, s, name)
	var users []userObject
	for i := range objects {
		users = append(users, userOf(name, &objects[i]))
	}
	return users, unread
}

func userOf(module string, object *metav1.PartialObjectMetadata) userObject {
	kind := object.GroupVersionKind()
	return userObject{
		module: module,
		ref:    modulestatus.Ref{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Namespace: object.Namespace, Name: object.Name},
		object: waitfor.Object{Kind: kind, Key: client.ObjectKeyFromObject(object), UID: object.UID},
	}
}
