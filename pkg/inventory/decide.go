package inventory

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Presence is whether an object was seen in the cluster.
type Presence int

const (
	// Unknown: the kind was not listed yet. It is never taken for absence.
	Unknown Presence = iota
	// Absent: the kind was listed and the object is not there.
	Absent
	// Present: the object is there.
	Present
)

// Live is the observed state of an object, from its metadata alone.
type Live struct {
	Presence
	UID types.UID
	// Fields is the FieldsHash of the object for our field manager.
	Fields string
	// Owner is the value of the owner mark on the object.
	Owner string
	// Terminating: it has a deletion timestamp.
	Terminating bool
}

// Why an object must be applied.
type Why string

const (
	// WhyNew: it was never applied, or an apply was planned and its end was not recorded.
	WhyNew Why = "New"
	// WhyChanged: its content differs from what was applied last.
	WhyChanged Why = "Changed"
	// WhyMissing: it was deleted.
	WhyMissing Why = "Missing"
	// WhyReplaced: it was deleted, and another one of the same name was created.
	WhyReplaced Why = "Replaced"
	// WhyDrifted: a field that we own was changed.
	WhyDrifted Why = "Drifted"
	// WhyTakenOver: another program reports that it installed the object for us, so the object is read before it is written. Decide has no
	// knowledge of such programs; its caller sets this reason in place of New.
	WhyTakenOver Why = "TakenOver"
)

// Step is one object to apply.
type Step struct {
	Object *unstructured.Unstructured
	// Entry is the record to write when the apply succeeded, except for UID and Fields: these are still those of the last write, which the
	// apply needs to notice a foreign object, and must be replaced by what the cluster returns.
	Entry Entry
	Why   Why
	// Adds: the content is another one than was applied last, whatever else is the matter.
	Adds bool
}

// Decision lists what an installation needs.
type Decision struct {
	// Apply in the order of the desired objects; StepPhases divides them into phases.
	Apply []Step
	// Prune holds entries that are recorded and no longer desired, in the order of the record.
	Prune []Entry
	// InOrder counts the desired objects that need nothing.
	InOrder int
}

// Decide compares what is recorded, wanted and seen. The rules, of which the first that holds decides:
//
//  1. not recorded, or only planned -> apply, New
//  2. seen to be absent             -> apply, Missing
//  3. seen with another UID         -> apply, Replaced
//  4. other content than recorded   -> apply, Changed
//  5. seen with other owned fields  -> apply, Drifted
//  6. otherwise, and also when its kind was not listed yet -> in order
//
// Differences in the cluster come before differences in content (2 and 3 before 4), because the apply must then create instead of change.
// An object that is wanted twice counts once, the first time. The caller passes a complete render: any recorded object that is missing from
// it must be pruned.
func Decide(recorded []Entry, desired []*unstructured.Unstructured, live func(ID) Live) Decision {
	known := make(map[ID]int, len(recorded))
	for at := range recorded {
		known[recorded[at].ID] = at
	}
	wanted := make(map[ID]struct{}, len(desired))
	var decision Decision
	for _, object := range desired {
		id := IDOf(object)
		if _, twice := wanted[id]; twice {
			continue
		}
		wanted[id] = struct{}{}
		next := Entry{ID: id, Version: versionOf(object), Hash: ContentHash(object)}
		why, adds := WhyNew, true
		if at, found := known[id]; found {
			last := recorded[at].stay()
			why, adds = compare(last, next.Hash, live(id)), last.Hash != next.Hash
			next.UID, next.Fields = last.UID, last.Fields
		}
		if why == "" {
			decision.InOrder++
			continue
		}
		decision.Apply = append(decision.Apply, Step{Object: object, Entry: next, Why: why, Adds: adds})
	}
	for _, entry := range recorded {
		if _, found := wanted[entry.ID]; !found {
			decision.Prune = append(decision.Prune, entry)
		}
	}
	return decision
}

// Drifted reports whether a recorded object must be written again whatever the content is: planned only, missing, replaced, drifted, or
// about to be dropped by a pass that was interrupted. When it is false and the content is known to be the one that was applied, rendering
// can be skipped.
func Drifted(recorded []Entry, live func(ID) Live) bool {
	for _, entry := range recorded {
		if entry.Leaves() || compare(entry, entry.Hash, live(entry.ID)) != "" {
			return true
		}
	}
	return false
}

// compare applies the rules of Decide to one recorded entry; "" means in order.
func compare(last Entry, hash string, live Live) Why {
	switch {
	case last.Hash == "":
		return WhyNew
	case last.IsHook():
		return ""
	case live.Presence == Absent:
		return WhyMissing
	case live.Presence == Present && live.UID != last.UID:
		return WhyReplaced
	case hash != last.Hash:
		return WhyChanged
	case live.Presence == Present && live.Fields != last.Fields && sharedBy(live.Owner)+live.Fields != last.Fields:
		return WhyDrifted
	}
	return ""
}
