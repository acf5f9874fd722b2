package server

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/resourcetree"
	"github.com/kyma-project/lifecycle-manager/pkg/excerpt"
	"github.com/kyma-project/lifecycle-manager/pkg/fielddiff"
)

const (
	// mostObjectEvents bounds the events of an object, and mostEventText their messages.
	mostObjectEvents, mostEventText = 50, 1024
)

// objectDetail is one object of a cluster.
type objectDetail struct {
	Ref modulestatus.Ref `json:"ref"`
	ID  string           `json:"id"`
	// Resource is the name of the kind for kubectl: "deployments.apps".
	Resource   string                   `json:"resource,omitempty"`
	Presence   resourcetree.Presence    `json:"presence"`
	State      modulestatus.State       `json:"state,omitempty"`
	Reason     string                   `json:"reason,omitempty"`
	Message    string                   `json:"message,omitempty"`
	UID        types.UID                `json:"uid,omitempty"`
	Created    *metav1.Time             `json:"created,omitempty"`
	Deleting   bool                     `json:"deleting"`
	Owners     []resourcetree.Owner     `json:"owners"`
	Conditions []resourcetree.Condition `json:"conditions"`
	Containers []resourcetree.Container `json:"containers"`
	Events     []Event                  `json:"events"`
	Unread     []Unread                 `json:"unread"`
	Live       map[string]any           `json:"live"`
	Notes      []string                 `json:"notes"`
	Wanted     *wantedObject            `json:"wanted"`
}

// objectFound is an object as it was read.
type objectFound struct {
	outcome  outcomeOfRead
	resource string
	object   *unstructured.Unstructured
	events   []Event
	unread   []Unread
}

// object answers .../object?apiVersion=&kind=&namespace=&name=: one object of the cluster of the module. The rights of the requesting user
// decide what may be read. The kind is looked up in what the cluster serves, so that the address leads nowhere else.
func (s *Server) object(ctx context.Context, u *User, r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := known(query, "apiVersion", "kind", "namespace", "name", "managedFields", "wanted"); err != nil {
		return nil, err
	}
	ref, err := refIn(query)
	if err != nil {
		return nil, err
	}
	o, err := s.named(ctx, u, r)
	if err != nil {
		return nil, err
	}
	from, err := s.connectionOf(ctx, u, o.kyma)
	if err != nil {
		return nil, acted(err)
	}
	beyond(ctx)
	id := o.module.Kyma + " " + o.module.Name + " " + ref.APIVersion + " " + resourcetree.IDOf(ref)
	found, err := recalledLarge(ctx, u, "object", id, recallLasts, func(ctx context.Context) (objectFound, error) {
		return readObject(ctx, from, ref)
	})
	if err != nil {
		return nil, err
	}
	d := detailOf(ref, found)
	hide := fielddiff.Secrets{}
	if query.Get("wanted") == "true" {
		d.Wanted, hide = s.wanted(u, o, d.Ref, found.object)
	}
	if found.object != nil {
		d.Live, d.Notes = resourcetree.Show(found.object, resourcetree.Options{ManagedFields: query.Get("managedFields") == "true", Hide: hide})
		d.Notes = append([]string{}, d.Notes...)
	}
	return d, nil
}

// refIn returns the object that a query names. Names that are no part of a path are refused here already.
func refIn(query url.Values) (modulestatus.Ref, error) {
	ref := modulestatus.Ref{
		APIVersion: cmp.Or(query.Get("apiVersion"), "v1"), Kind: query.Get("kind"), Namespace: query.Get("namespace"), Name: query.Get("name"),
	}
	if ref.Kind == "" || ref.Name == "" {
		return ref, fail(http.StatusBadRequest, WhyInvalid,
			"an object has a kind and a name: give kind and name, and namespace where it is in one")
	}
	for name, value := range map[string]string{"kind": ref.Kind, "namespace": ref.Namespace, "name": ref.Name} {
		if wrong := content.IsPathSegmentName(value); value != "" && (len(wrong) > 0 || len(value) > 253) {
			return ref, fail(http.StatusBadRequest, WhyInvalid, "%q is no %s of an object", clip(value, 100), name)
		}
	}
	if _, err := schema.ParseGroupVersion(ref.APIVersion); err != nil || len(ref.APIVersion) > 253 {
		return ref, fail(http.StatusBadRequest, WhyInvalid, "%q is no apiVersion: give group/version", clip(ref.APIVersion, 100))
	}
	return ref, nil
}

// readObject reads one object and its events.
func readObject(ctx context.Context, from *connection, ref modulestatus.Ref) (objectFound, error) {
	found := objectFound{events: []Event{}, unread: []Unread{}}
	kind := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	mapping, err := from.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		found.outcome = outcomeOf(ref, err)
		return found, nil
	} else if err != nil {
		return found, err
	}
	found.resource = mapping.Resource.GroupResource().String()
	if scoped := mapping.Scope.Name() == meta.RESTScopeNameNamespace; scoped != (ref.Namespace != "") {
		what := "is in no namespace"
		if scoped {
			what = "is in a namespace: name it"
		}
		return found, fail(http.StatusBadRequest, WhyInvalid, "a %s %s", clip(ref.Kind, 100), what)
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	err = from.Get(ctx, client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, object)
	switch found.outcome = outcomeOf(ref, err); {
	case err == nil:
		found.object = object
	case !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err):
		return found, err
	case apierrors.IsForbidden(err):
		return found, nil // its events are not for this user either
	}
	if found.events, err = eventsAbout(ctx, from, ref, found.object); err != nil {
		found.events, found.unread = []Event{}, withUnread(nil, "Event", ref.Namespace, err)
	}
	return found, nil
}

// eventsAbout reads the events of one object, the newest first. Those of an object of the same name that is gone are left out.
func eventsAbout(ctx context.Context, from client.Reader, ref modulestatus.Ref, object *unstructured.Unstructured) ([]Event, error) {
	var list corev1.EventList
	err := from.List(ctx, &list, client.InNamespace(cmp.Or(ref.Namespace, corev1.NamespaceDefault)), client.Limit(eventsAtOnce),
		client.MatchingFieldsSelector{Selector: fields.AndSelectors(fields.OneTermEqualSelector("involvedObject.kind", ref.Kind),
			fields.OneTermEqualSelector("involvedObject.name", ref.Name))})
	if err != nil {
		return nil, err
	}
	all := []Event{}
	for i := range list.Items {
		e := &list.Items[i]
		if of := e.InvolvedObject.UID; object != nil && of != "" && of != object.GetUID() {
			continue
		}
		all = append(all, eventOf(e))
	}
	slices.SortStableFunc(all, func(a, b Event) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
	})
	all = all[:min(len(all), mostObjectEvents)]
	hide := resourcetree.HiderOf(object)
	for i := range all {
		all[i].Message = excerpt.Cut(hide.Hide(all[i].Message), mostEventText)
	}
	return all, nil
}

// detailOf returns what is shown of an object, but for its fields.
func detailOf(ref modulestatus.Ref, found objectFound) objectDetail {
	d := objectDetail{
		Ref: ref, ID: resourcetree.IDOf(ref), Resource: found.resource, Presence: found.outcome.presence, Message: found.outcome.message,
		Events: found.events, Unread: found.unread, Notes: []string{},
		Owners: []resourcetree.Owner{}, Conditions: []resourcetree.Condition{}, Containers: []resourcetree.Container{},
	}
	o := found.object
	if o == nil {
		return d
	}
	is := modulestatus.ObjectState(o)
	d.State, d.Reason, d.Message = is.State, is.Reason, is.Message
	d.UID, d.Created, d.Deleting = o.GetUID(), resourcetree.CreatedOf(o), o.GetDeletionTimestamp() != nil
	d.Owners, d.Conditions, d.Containers = resourcetree.OwnersOf(o), resourcetree.ConditionsOf(o), resourcetree.ContainersOf(o)
	return d
}

// describe returns a reference for a sentence.
func describe(ref modulestatus.Ref) string {
	return fmt.Sprintf("%s %s", clip(ref.Kind, 100), clip(ref.Name, 253))
}
