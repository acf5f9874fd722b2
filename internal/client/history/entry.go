package history

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Kind is where an entry comes from.
type Kind string

// The kinds of entries.
const (
	// Operation: a user asked the dashboard for it.
	Operation Kind = "Operation"
	// Edit: a client wrote fields of the Kyma; only the last edit of each client is recorded.
	Edit Kind = "Edit"
	// Revision: the Manifest of the module asked for another version or content.
	Revision Kind = "Revision"
	// Condition: what is reported of the module or the Kyma became another state.
	Condition Kind = "Condition"
	// Event: an event of Kubernetes.
	Event Kind = "Event"
	// Rollout: a wave of the rollout of the module's channel began.
	Rollout Kind = "Rollout"
)

// Kinds lists all kinds, in the order of entries of the same moment.
func Kinds() []Kind { return []Kind{Operation, Edit, Revision, Rollout, Condition, Event} }

// Actor is what kind of name Who is.
type Actor string

// The kinds of names.
const (
	// User is a user of the cluster, as the dashboard knew the person.
	User Actor = "User"
	// Client is the name that a client gave its edits, such as kubectl-edit: which user ran it is not recorded.
	Client Actor = "Client"
	// Component is what reported an event.
	Component Actor = "Component"
)

// Entry is one thing that happened.
type Entry struct {
	At   time.Time `json:"at"`
	Kind Kind      `json:"kind"`
	// What happened, in a sentence without its end.
	What string `json:"what"`
	// Who did it, and what kind of name that is; both are empty where it is not known.
	Who   string `json:"who,omitempty"`
	WhoIs Actor  `json:"whoIs,omitempty"`
	// Object that it is about, such as "Manifest kcp-system/demo-notes".
	Object string `json:"object,omitempty"`
	// Module that it is about; empty for the Kyma itself.
	Module string `json:"module,omitempty"`
	// Fields are old and new values, or, without values, fields that a client holds.
	Fields []Field `json:"fields,omitempty"`
	// State is a word such as Ready, Failed or Warning.
	State string `json:"state,omitempty"`
	// Reason is that of a condition or an event.
	Reason string `json:"reason,omitempty"`
	// Count is how often it happened, where that is more than once.
	Count int32 `json:"count,omitempty"`
	// OperationID, Number of a revision and RolloutKey (NAMESPACE/NAME) lead to more.
	OperationID string `json:"operation,omitempty"`
	Number      int64  `json:"revision,omitempty"`
	RolloutKey  string `json:"rollout,omitempty"`
	// End is when an operation ended; zero while it runs.
	End time.Time `json:"end,omitzero"`
}

// Field is a field with its old and its new value.
type Field struct {
	Path string `json:"path"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

const (
	// Most bounds how many entries Merge returns: the newest ones.
	Most = 1000
	// sameChange is how far apart two sources may tell of the same change: conditions and events have whole seconds.
	sameChange = 2 * time.Second
)

// Merge returns entries in one order: the newest first, and a total order for those of one moment. Of entries that tell of the same change,
// one is left:
//
//  1. of entries that are equal, one
//  2. an event is left out where a condition of the same object has its reason and its words at that time, as they are or after the state
//  3. an edit by the client of the dashboard is left out where an operation ran at that time; own names that client
//
// Entries without a time are left out: they could stand anywhere.
func Merge(own string, sources ...[]Entry) []Entry {
	all := slices.Concat(sources...)
	all = slices.DeleteFunc(all, func(e Entry) bool { return e.At.IsZero() })
	slices.SortFunc(all, compare)
	all = slices.CompactFunc(all, func(a, b Entry) bool { return compare(a, b) == 0 })
	conditions, operations := map[[2]string][]Entry{}, []Entry{}
	for i := range all {
		switch e := &all[i]; e.Kind {
		case Condition:
			key := [2]string{e.Object, e.Reason}
			conditions[key] = append(conditions[key], *e)
		case Operation:
			operations = append(operations, *e)
		default: // nothing else takes the place of another one
		}
	}
	kept := []Entry{}
	for _, e := range all {
		if !repeats(&e, own, conditions, operations) && len(kept) < Most {
			kept = append(kept, e)
		}
	}
	return kept
}

// repeats implements rules 2 and 3 of Merge.
func repeats(e *Entry, own string, conditions map[[2]string][]Entry, operations []Entry) bool {
	switch e.Kind {
	case Event:
		return slices.ContainsFunc(conditions[[2]string{e.Object, e.Reason}], func(c Entry) bool { return tells(e, &c) })
	case Edit:
		return e.Who == own && slices.ContainsFunc(operations, func(o Entry) bool { return during(e.At, &o) })
	default:
		return false
	}
}

// tells reports whether an event has the words of a condition, at the time of its change.
func tells(event, condition *Entry) bool {
	same := event.What == condition.What || strings.HasSuffix(event.What, ": "+condition.What)
	return same && event.At.Sub(condition.At).Abs() <= sameChange
}

// during reports whether a time is within an operation; managed fields have whole seconds.
func during(at time.Time, o *Entry) bool {
	return !at.Before(o.At.Add(-sameChange)) && (o.End.IsZero() || !at.After(o.End.Add(sameChange)))
}

// compare orders entries: the newest first, and those of one moment by kind and then by everything else that is shown.
func compare(a, b Entry) int {
	return cmp.Or(
		b.At.Compare(a.At), cmp.Compare(slices.Index(Kinds(), a.Kind), slices.Index(Kinds(), b.Kind)), cmp.Compare(b.Number, a.Number),
		cmp.Compare(a.Module, b.Module), cmp.Compare(a.Object, b.Object), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.What, b.What),
		cmp.Compare(a.Who, b.Who), cmp.Compare(a.WhoIs, b.WhoIs), cmp.Compare(a.State, b.State), cmp.Compare(a.OperationID, b.OperationID),
		cmp.Compare(a.RolloutKey, b.RolloutKey), cmp.Compare(a.Count, b.Count), a.End.Compare(b.End),
		slices.CompareFunc(a.Fields, b.Fields, func(a, b Field) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
		}),
	)
}
