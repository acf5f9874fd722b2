package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

var errMayNotList = errors.New("you may not list it")

// reading is the client.Reader for internal/client/statusreader: the shared watches, restricted to what one user may list. It records the
// scopes of each list, so that the result can be shown to other users with the same permissions, and a part is not mistaken for the
// whole.
type reading struct {
	client.Reader
	watches *watches
	user    *User

	mutex  sync.Mutex
	scopes map[place]scope
}

func newReading(w *watches, u *User) *reading {
	return &reading{watches: w, user: u, scopes: map[place]scope{}}
}

// Get always fails: gathering needs lists only.
func (*reading) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errors.New("single objects are not read from the shared watches")
}

// List fills a list from the streams.
func (r *reading) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	kind, err := apiutil.GVKForObject(into, scheme())
	if err != nil {
		return err
	}
	var asked client.ListOptions
	asked.ApplyOptions(options)
	at := place{GroupVersionKind: kind.GroupVersion().WithKind(strings.TrimSuffix(kind.Kind, "List")), namespace: asked.Namespace}
	if asked.LabelSelector != nil {
		at.labels = asked.LabelSelector.String()
	}
	objects, may, err := r.watches.list(ctx, r.user, at)
	if err == nil || apierrors.IsForbidden(err) {
		r.mutex.Lock()
		r.scopes[at] = may
		r.mutex.Unlock()
	}
	if err != nil {
		return err
	}
	slices.SortFunc(objects, func(a, b client.Object) int {
		return strings.Compare(a.GetNamespace()+"/"+a.GetName(), b.GetNamespace()+"/"+b.GetName())
	})
	return fill(into, objects)
}

// fill puts objects into a list. They are not copied: readers must not change them.
func fill(into client.ObjectList, objects []client.Object) error {
	switch list := into.(type) {
	case *v1beta2.KymaList:
		return fillOf(&list.Items, objects)
	case *v1beta2.ManifestList:
		return fillOf(&list.Items, objects)
	case *v1beta2.ModuleTemplateList:
		return fillOf(&list.Items, objects)
	case *v1beta2.ModuleReleaseMetaList:
		return fillOf(&list.Items, objects)
	case *v1beta2.ModuleRolloutList:
		return fillOf(&list.Items, objects)
	case *corev1.SecretList:
		return fillOf(&list.Items, objects)
	case *unstructured.UnstructuredList:
		return fillUnstructured(list, objects)
	}
	return fmt.Errorf("%T is not read from the shared watches", into)
}

func fillOf[T any](items *[]T, objects []client.Object) error {
	*items = make([]T, 0, len(objects))
	for _, o := range objects {
		one, is := any(o).(*T)
		if !is {
			return fmt.Errorf("%T is not what was asked for", o)
		}
		*items = append(*items, *one)
	}
	return nil
}

// partial returns the kinds that the user may list in some namespaces only.
func (r *reading) partial() map[schema.GroupKind][]string {
	found := map[schema.GroupKind][]string{}
	for at, may := range r.scopes {
		if at.namespace == "" && !may.all && !may.none() {
			found[at.GroupKind()] = may.namespaces
		}
	}
	return found
}

// narrowed corrects inputs from a user who may list some namespaces only: missing objects may exist.
func narrowed(in modulestatus.Inputs, partial map[schema.GroupKind][]string) modulestatus.Inputs {
	in.Looked = slices.DeleteFunc(in.Looked, func(l modulestatus.ListedKind) bool { return l.Namespace == "" && partial[l.GroupKind] != nil })
	for kind, namespaces := range partial {
		for _, namespace := range namespaces {
			in.Looked = append(in.Looked, modulestatus.ListedKind{GroupKind: kind, Namespace: namespace})
		}
		in.Unread = append(in.Unread, modulestatus.Unread{
			GroupKind: kind, Forbidden: true, Text: "it may be listed in some namespaces only: " + some(namespaces, 5),
		})
	}
	return in
}

func some(names []string, most int) string {
	text := strings.Join(names[:min(len(names), most)], ", ")
	if left := len(names) - most; left > 0 {
		text += fmt.Sprintf(" and %d more", left)
	}
	return text
}

// Unread is a kind that could not be read, as responses show it.
type Unread struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Reason    string `json:"reason"`
	Message   string `json:"message"`
}

// unreadOf returns the kinds that could not be read, sorted.
func unreadOf(in *modulestatus.Inputs, partial map[schema.GroupKind][]string) []Unread {
	all := []Unread{}
	for _, u := range in.Unread {
		one := Unread{Kind: u.GroupKind.String(), Namespace: u.Namespace, Reason: u.Reason(), Message: u.Message()}
		if namespaces := partial[u.GroupKind]; namespaces != nil && u.Namespace == "" {
			one.Message = fmt.Sprintf("you may list %s only in %s", u.GroupKind, some(namespaces, 5))
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Unread) int { return strings.Compare(a.Kind+"/"+a.Namespace, b.Kind+"/"+b.Namespace) })
	return all
}

func fillUnstructured(list *unstructured.UnstructuredList, objects []client.Object) error {
	for _, o := range objects {
		one, is := o.(*unstructured.Unstructured)
		if !is {
			made, err := toUnstructured(o)
			if err != nil {
				return err
			}
			one = made
		}
		list.Items = append(list.Items, *one)
	}
	return nil
}
