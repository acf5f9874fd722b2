package inventory

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Entry is the record of one object.
type Entry struct {
	ID
	// Version under which the object was last written: the one that a delete can rely on.
	Version string `json:"version"`
	// UID of the object as the last write returned it.
	UID types.UID `json:"uid,omitempty"`
	// Hash is the ContentHash that was applied last. Empty means planned: the object may exist, because an apply may have been interrupted.
	Hash string `json:"hash,omitempty"`
	// Fields is the FieldsHash of the object as the last write returned it.
	Fields string `json:"fields,omitempty"`
}

// leaving is the value of Fields in an entry that is about to be dropped. It is not a FieldsHash.
const leaving = "-"

// Leave returns the entry as one that is about to be dropped. Where installations share objects, this is recorded before any of them checks
// whose object it is: of two that drop it at once, each could otherwise leave it to the other.
func (e Entry) Leave() Entry {
	e.Fields = leaving
	return e
}

// Leaves reports whether the entry is about to be dropped, so that it claims its object only for deletion.
func (e Entry) Leaves() bool { return e.Fields == leaving }

// Share returns the entry as that of an object that another owner has written and is responsible for. It is in order while the mark of that
// owner is on the object. An owner that the object is handed to must write what its own content declares of it.
func (e Entry) Share(owner string) Entry {
	e.Fields = sharedBy(owner) + e.Fields
	return e
}

// hook is the value of Fields in the entry of a hook. It is not a FieldsHash.
const hook = "hook"

// AsHook returns the entry as that of an object that is written at events and left alone in between: what becomes of it is no drift. Its
// Hash says for which event it was written last; empty means planned, as for any other.
func (e Entry) AsHook() Entry {
	e.Fields = hook
	return e
}

// IsHook reports whether the entry is that of a hook.
func (e Entry) IsHook() bool { return e.Fields == hook }

// sharedBy returns the prefix of the FieldsHash in such an entry.
func sharedBy(owner string) string { return "s" + hexOf(hashText(owner)) + ":" }

// stay returns the entry as one that is wanted, at all times.
func (e Entry) stay() Entry {
	if e.Leaves() || e.IsHook() {
		e.Fields = ""
	}
	return e
}

// Planned returns the record to write before the first apply: everything recorded and everything wanted. With it, an interrupted apply
// leaks nothing. Known entries stay as they are, including the version, because that is the one known to be served.
func Planned(recorded []Entry, desired []*unstructured.Unstructured) []Entry {
	planned := make([]Entry, 0, max(len(recorded), len(desired)))
	known := make(map[ID]struct{}, cap(planned))
	add := func(entry Entry) {
		if _, found := known[entry.ID]; !found {
			known[entry.ID] = struct{}{}
			planned = append(planned, entry)
		}
	}
	for _, entry := range recorded {
		add(entry)
	}
	for _, object := range desired {
		add(Entry{ID: IDOf(object), Version: versionOf(object)})
	}
	wanted := make(map[ID]struct{}, len(desired))
	for _, object := range desired {
		wanted[IDOf(object)] = struct{}{}
	}
	for at := range planned {
		if _, again := wanted[planned[at].ID]; again {
			planned[at] = planned[at].stay()
		}
	}
	return sorted(planned)
}

// PlannedFor returns Planned with the entries of steps marked as not yet applied, so that an apply that does not get that far is not
// mistaken for a complete one. store reports whether it must be stored before the first write: when an object is new, since an interrupted
// apply would leak it, and when content changed, since drift does not show which of two contents an object has. What is only put back is
// noticed again.
func PlannedFor(recorded []Entry, desired []*unstructured.Unstructured, steps []Step) (planned []Entry, store bool) {
	planned = Planned(recorded, desired)
	store = len(planned) != len(recorded)
	open := make(map[ID]struct{}, len(steps))
	for _, step := range steps {
		open[step.Entry.ID] = struct{}{}
		store = store || step.Why == WhyChanged
	}
	for i := range planned {
		if _, isOpen := open[planned[i].ID]; isOpen {
			planned[i].Hash = ""
		}
	}
	return planned, store
}

// Merge returns the record after a write: the entries of done replace those with the same identity, those of gone are dropped.
func Merge(entries []Entry, done []Entry, gone []ID) []Entry {
	position := make(map[ID]int, len(entries)+len(done))
	merged := make([]Entry, 0, len(entries)+len(done))
	for _, list := range [2][]Entry{entries, done} {
		for _, entry := range list {
			if at, found := position[entry.ID]; found {
				merged[at] = entry
				continue
			}
			position[entry.ID] = len(merged)
			merged = append(merged, entry)
		}
	}
	if len(gone) > 0 {
		drop := make(map[ID]struct{}, len(gone))
		for _, id := range gone {
			drop[id] = struct{}{}
		}
		merged = slices.DeleteFunc(merged, func(entry Entry) bool { _, found := drop[entry.ID]; return found })
	}
	return sorted(merged)
}

// Same reports whether two records are equal except for Fields. The order does not matter. A changed observation alone is not worth a write
// to the hub: without it, a restart costs at worst one apply that changes nothing.
func Same(a, b []Entry) bool {
	if len(a) != len(b) {
		return false
	}
	if slices.EqualFunc(a, b, sameButFields) {
		return true
	}
	return slices.EqualFunc(sorted(slices.Clone(a)), sorted(slices.Clone(b)), sameButFields)
}

func sameButFields(a, b Entry) bool {
	a.Fields, b.Fields = "", ""
	return a == b
}

// sorted sorts in place; the common case, a list that comes from here, costs one pass.
func sorted(entries []Entry) []Entry {
	byID := func(a, b Entry) int { return a.ID.Compare(b.ID) }
	if !slices.IsSortedFunc(entries, byID) {
		slices.SortStableFunc(entries, byID)
	}
	return entries
}

func versionOf(object *unstructured.Unstructured) string {
	return object.GroupVersionKind().Version
}
