package causereader

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus/rootcause"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
)

// mostEvents bounds how many events of one object are read.
const mostEvents = 100

// events adds the events of what fails, the deepest objects first.
func (r *reading) events(ctx context.Context) {
	about := r.failing()
	about = about[:min(len(about), mostTold)]
	r.each(len(about), func(i int) { r.eventsOf(ctx, about[i]) })
}

// failing returns the objects whose events may tell the cause: pods and claims, what creates them, and what is being deleted; of each kind
// only some, since many fail alike.
func (r *reading) failing() []*unstructured.Unstructured {
	few := map[string]int{"Pod": 3, "PersistentVolumeClaim": 2, "ReplicaSet": 2, "Job": 1}
	var all []*unstructured.Unstructured
	for _, kind := range []string{"Pod", "PersistentVolumeClaim", "ReplicaSet", "Job", ""} {
		var some []*unstructured.Unstructured
		for _, o := range r.Objects {
			_, listed := few[o.GetKind()]
			if o.GetKind() == kind || kind == "" && !listed {
				if bad := o.GetDeletionTimestamp() != nil || health.Of(o).Status != health.Ready; bad && o.GetKind() != "Secret" {
					some = append(some, o)
				}
			}
		}
		slices.SortFunc(some, func(a, b *unstructured.Unstructured) int { return cmp.Compare(refTo(a).String(), refTo(b).String()) })
		if most, listed := few[kind]; listed {
			some = some[:min(len(some), most)]
		}
		all = append(all, some...)
	}
	return all
}

// eventsOf reads the events of one object.
func (r *reading) eventsOf(ctx context.Context, o *unstructured.Unstructured) {
	namespace := o.GetNamespace()
	if namespace == "" {
		namespace = corev1.NamespaceDefault
	}
	var list corev1.EventList
	err := r.access.Reader.List(ctx, &list, client.InNamespace(namespace), client.Limit(mostEvents), client.MatchingFieldsSelector{
		Selector: fields.AndSelectors(fields.OneTermEqualSelector("involvedObject.kind", o.GetKind()),
			fields.OneTermEqualSelector("involvedObject.name", o.GetName())),
	})
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err != nil {
		r.unread = append(r.unread, modulestatus.Unread{
			GroupKind: schema.GroupKind{Kind: "Event"}, Namespace: namespace, Forbidden: apierrors.IsForbidden(err), Text: err.Error(),
		})
		return
	}
	for i := range list.Items[:min(len(list.Items), mostEvents)] {
		r.Events = append(r.Events, eventOf(&list.Items[i]))
	}
}

// eventOf converts both forms of event: those with a count, and those with a series.
func eventOf(e *corev1.Event) rootcause.Event {
	first, last, count := e.FirstTimestamp.Time, e.LastTimestamp.Time, max(e.Count, 1)
	if e.Series != nil {
		last, count = e.Series.LastObservedTime.Time, max(count, e.Series.Count)
	}
	for _, other := range []time.Time{e.EventTime.Time, e.CreationTimestamp.Time} {
		if first.IsZero() {
			first = other
		}
		if last.IsZero() {
			last = other
		}
	}
	of := &e.InvolvedObject
	return rootcause.Event{
		Object: modulestatus.Ref{APIVersion: of.APIVersion, Kind: of.Kind, Namespace: of.Namespace, Name: of.Name}, UID: of.UID,
		Warning: e.Type != corev1.EventTypeNormal, Reason: e.Reason, Message: e.Message, Count: count, First: first, Last: last,
	}
}
