package server

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

const (
	// mostEvents bounds how many events are shown at once.
	mostEvents = 100
	// eventsAtOnce and mostPages bound how many events of one kind in one namespace are read.
	eventsAtOnce, mostPages = 500, 10
	// mostPlaces bounds how many pairs of kind and namespace are read one by one.
	mostPlaces = 12
)

// Event is an event as pages show it.
type Event struct {
	Type    string           `json:"type"`
	Reason  string           `json:"reason"`
	Message string           `json:"message"`
	Object  modulestatus.Ref `json:"object"`
	Count   int32            `json:"count"`
	Last    time.Time        `json:"last"`

	// source is what reported it.
	source string
}

// eventsOf answers GET /api/v1/events: the events of Kymas, Manifests and records of direct installations.
func (s *Server) eventsOf(ctx context.Context, u *User, r *http.Request) (any, error) {
	query := r.URL.Query()
	if err := known(query, "kyma"); err != nil {
		return nil, err
	}
	p, err := pageOf(query)
	if err != nil {
		return nil, err
	}
	now, err := s.snapshot(ctx, u)
	if err != nil {
		return nil, err
	}
	about := now.reported(query.Get("kyma"))
	all, err := events(ctx, u, about)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(e Event) bool {
		return !p.has(strings.ToLower(strings.Join([]string{e.Object.String(), e.Reason, e.Message, e.Type}, " ")))
	})
	return listOf(all, p, now.unread), nil
}

// reported returns the objects that events may be about: those of one Kyma, or of all.
func (s *snapshot) reported(kyma string) []modulestatus.Ref {
	var about []modulestatus.Ref
	for i := range s.kymas {
		k := modulestatus.Key{Namespace: s.kymas[i].Namespace, Name: s.kymas[i].Name}
		if kyma == "" || kyma == k.String() {
			about = append(about, modulestatus.Ref{Kind: "Kyma", Namespace: k.Namespace, Name: k.Name})
		}
	}
	for i := range s.modules {
		if m := &s.modules[i]; kyma == "" || kyma == m.Kyma {
			about = append(about, refsOf(m)...)
		}
	}
	return about
}

// refsOf returns the Manifest and the record of a module, as far as it has them.
func refsOf(m *modulestatus.Module) []modulestatus.Ref {
	var all []modulestatus.Ref
	for kind, key := range map[string]*modulestatus.Key{"Manifest": m.Manifest, "Secret": m.Record} {
		if key != nil {
			all = append(all, modulestatus.Ref{Kind: kind, Namespace: key.Namespace, Name: key.Name})
		}
	}
	return all
}

// eventPlace is a kind in a namespace.
type eventPlace struct{ namespace, kind string }

// events returns the events about some objects, newest first, read as the requesting user: for each kind in each namespace, or for whole
// namespaces where there are many. They are read on demand: clusters have many events, and watching them all would cost more than it is
// worth.
func events(ctx context.Context, u *User, about []modulestatus.Ref) ([]Event, error) {
	beyond(ctx)
	wanted := map[corev1.ObjectReference]bool{}
	places := map[eventPlace]bool{}
	for _, ref := range about {
		wanted[corev1.ObjectReference{Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}] = true
		places[eventPlace{cmp.Or(ref.Namespace, corev1.NamespaceDefault), ref.Kind}] = true
	}
	if len(places) > mostPlaces {
		whole := map[eventPlace]bool{}
		for at := range places {
			whole[eventPlace{namespace: at.namespace}] = true
		}
		places = whole
	}
	if len(places) > mostPlaces {
		places = map[eventPlace]bool{{}: true}
	}
	found := []Event{}
	for at := range places {
		read, err := recalled(ctx, u, "events "+at.namespace+" "+at.kind, func(ctx context.Context) ([]corev1.Event, error) {
			return eventsAt(ctx, u.Client, at)
		})
		if err != nil {
			return nil, err
		}
		for i := range read {
			of := &read[i].InvolvedObject
			if wanted[corev1.ObjectReference{Kind: of.Kind, Namespace: of.Namespace, Name: of.Name}] {
				found = append(found, eventOf(&read[i]))
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Event) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Object.String(), b.Object.String()), cmp.Compare(a.Reason, b.Reason))
	})
	return found[:min(len(found), mostEvents)], nil
}

// eventsAt reads events page by page.
func eventsAt(ctx context.Context, from client.Reader, at eventPlace) ([]corev1.Event, error) {
	options := []client.ListOption{client.InNamespace(at.namespace), client.Limit(eventsAtOnce)}
	if at.kind != "" {
		options = append(options, client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("involvedObject.kind", at.kind)})
	}
	var all []corev1.Event
	next := ""
	for range mostPages {
		var list corev1.EventList
		if err := from.List(ctx, &list, append(options, client.Continue(next))...); err != nil {
			return nil, err
		}
		all = append(all, list.Items...)
		if next = list.Continue; next == "" {
			break
		}
	}
	return all, nil
}

// eventOf converts both forms of event: those with a count, and those with a series.
func eventOf(e *corev1.Event) Event {
	last, count := e.LastTimestamp.Time, max(e.Count, 1)
	if e.Series != nil {
		last, count = e.Series.LastObservedTime.Time, max(count, e.Series.Count)
	}
	for _, other := range []time.Time{e.EventTime.Time, e.CreationTimestamp.Time} {
		if last.IsZero() {
			last = other
		}
	}
	of := &e.InvolvedObject
	return Event{
		source: cmp.Or(e.ReportingController, e.Source.Component),
		Type:   e.Type, Reason: e.Reason, Message: e.Message, Count: count, Last: last.UTC(),
		Object: modulestatus.Ref{APIVersion: of.APIVersion, Kind: of.Kind, Namespace: of.Namespace, Name: of.Name},
	}
}
