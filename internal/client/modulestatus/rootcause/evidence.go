package rootcause

import (
	"cmp"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// Evidence is what was read about one module. Only Module is required.
type Evidence struct {
	Module *modulestatus.Module
	// Objects are the module's objects and what these own: ReplicaSets, Pods, Jobs, PersistentVolumeClaims.
	Objects []*unstructured.Unstructured
	// Missing are objects of the module that were looked for and do not exist.
	Missing []modulestatus.Ref
	// Looked are the kinds below the module's objects that were listed: there are no others.
	Looked []modulestatus.ListedKind
	Events []Event
	Logs   []Log
	// Unread has what could not be read, as sentences.
	Unread []Unread
}

// Event is an event about an object.
type Event struct {
	Object      modulestatus.Ref
	UID         types.UID
	Warning     bool
	Reason      string
	Message     string
	Count       int32
	First, Last time.Time
}

// Log has the last lines of a container that ended.
type Log struct {
	Namespace, Pod, Container string
	Lines                     []string
}

// Unread is something that could not be read.
type Unread struct {
	// Kind and Namespace of what was requested; Kind is empty if a whole cluster cannot be read.
	Kind, Namespace string
	Text            string
}

// The kinds of which this package knows more than package health does.
const (
	kindPod         = "Pod"
	kindReplicaSet  = "ReplicaSet"
	kindDeployment  = "Deployment"
	kindStatefulSet = "StatefulSet"
	kindDaemonSet   = "DaemonSet"
	kindJob         = "Job"
	kindCronJob     = "CronJob"
	kindClaim       = "PersistentVolumeClaim"
	kindSecret      = "Secret"
	kindNamespace   = "Namespace"
)

// mostOwners bounds how far the owners of an object are followed.
const mostOwners = 5

// mostObjects bounds how many objects are looked at.
const mostObjects = 1000

// index is the evidence, by object and owner.
type index struct {
	Evidence
	now    time.Time
	texts  *cleaner
	byUID  map[types.UID]thing
	things []thing
	owned  map[types.UID][]thing
}

func newIndex(e Evidence, now time.Time) *index {
	s := &index{Evidence: e, now: now, texts: newCleaner(e.Objects), byUID: map[types.UID]thing{}, owned: map[types.UID][]thing{}}
	for _, o := range e.Objects[:min(len(e.Objects), mostObjects)] {
		if o == nil || o.Object == nil {
			continue
		}
		s.things = append(s.things, thing{o})
	}
	slices.SortStableFunc(s.things, func(a, b thing) int { // the order of the inputs does not matter
		return cmp.Or(cmp.Compare(a.ref().String(), b.ref().String()), cmp.Compare(a.GetUID(), b.GetUID()))
	})
	for _, t := range s.things {
		if uid := t.GetUID(); uid != "" {
			s.byUID[uid] = t
		}
		for _, owner := range t.owners() {
			s.owned[owner] = append(s.owned[owner], t)
		}
	}
	s.Events = slices.Clone(s.Events)
	slices.SortStableFunc(s.Events, func(a, b Event) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Message, b.Message))
	})
	return s
}

// chain returns an object and its owners among the evidence, the topmost first.
func (s *index) chain(t thing) []thing {
	links := []thing{t}
	for range mostOwners {
		owners := links[0].owners()
		at := slices.IndexFunc(owners, func(uid types.UID) bool { _, known := s.byUID[uid]; return known })
		if at < 0 {
			break
		}
		links = slices.Insert(links, 0, s.byUID[owners[at]])
	}
	return links
}

// eventsOf returns the warnings about an object, the newest first. An event of an object of the same name that is gone does not count.
func (s *index) eventsOf(t thing) []Event {
	var all []Event
	for i := range s.Events {
		e := &s.Events[i]
		same := e.Object.Kind == t.GetKind() && e.Object.Name == t.GetName() && e.Object.Namespace == t.GetNamespace()
		if e.Warning && same && (e.UID == "" || t.GetUID() == "" || e.UID == t.GetUID()) {
			all = append(all, *e)
		}
	}
	return all
}

// logOf returns the last lines of a container, nil if they were not read.
func (s *index) logOf(pod thing, container string) []string {
	for i := range s.Logs {
		l := &s.Logs[i]
		if l.Namespace == pod.GetNamespace() && l.Pod == pod.GetName() && l.Container == container {
			return l.Lines
		}
	}
	return nil
}

// unreadOf returns why objects of a kind in a namespace were not read, nil if they were or were not requested.
func (s *index) unreadOf(kind, namespace string) *Unread {
	for i := range s.Unread {
		if u := &s.Unread[i]; u.Kind == kind && (u.Namespace == "" || u.Namespace == namespace) {
			return u
		}
	}
	return nil
}

// listed reports whether all objects of a kind in a namespace were listed.
func (s *index) listed(group, kind, namespace string) bool {
	return slices.ContainsFunc(s.Looked, func(l modulestatus.ListedKind) bool {
		return l.GroupKind == schema.GroupKind{Group: group, Kind: kind} && (l.Namespace == "" || l.Namespace == namespace)
	})
}

// moment returns a time for a cause, nil if it is not known.
func moment(at time.Time) *metav1.Time {
	if at.IsZero() {
		return nil
	}
	return &metav1.Time{Time: at.UTC().Truncate(time.Second)}
}
