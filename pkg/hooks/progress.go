package hooks

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// Progress is how far the hooks of one source have got. It moves from an event before the objects to the one after them as soon as the
// hooks of the first have completed, so the event alone says whether the objects may be written.
type Progress struct {
	// Release identifies what the source declares, and Revision counts its releases: one that comes again runs its hooks again.
	Release  string `json:"release"`
	Revision int64  `json:"revision"`
	// Event whose hooks run, or have run last.
	Event Event `json:"event"`
	// Done of Total hooks of the event have completed.
	Done  int `json:"done"`
	Total int `json:"total"`
	// OnDelete: there are hooks for the removal, which therefore needs the content.
	OnDelete bool `json:"onDelete,omitempty"`
}

// Blocks reports whether the objects of the release must wait for hooks.
func (p Progress) Blocks() bool { return after[p.Event] != "" }

// Complete reports whether the release has nothing more to run.
func (p Progress) Complete() bool { return !p.Blocks() && p.Done >= p.Total }

// Open reports whether an installation, an upgrade or a way back has hooks left to run.
func (p Progress) Open() bool { return !p.Event.OfDeletion() && !p.Complete() }

// Ticket is what the object of a hook carries that is written now.
func (p Progress) Ticket() string { return p.ticketOf(p.Event) }

func (p Progress) ticketOf(event Event) string {
	return string(event) + "/" + strconv.FormatInt(p.Revision, 10) + "-" + p.Release
}

// Situation decides at which events the hooks of a new release run, where its Progress does not.
type Situation struct {
	// Installed: the source was installed before, and had no hooks; or by another installer, whose place this one takes.
	Installed bool
	// GoesBack: the release was installed before the one that it follows.
	GoesBack bool
}

// Begin returns the progress of a release; nil where it has no hooks. known is that of the source so far. The rules, of which the first
// that holds decides:
//
//  1. the same release                 -> where it is
//  2. the source is being removed      -> the hooks of that event, from the first
//  3. never installed, or not to the end -> pre-install: what an installation was to bring about is not there yet
//  4. it goes back                     -> pre-rollback
//  5. otherwise                        -> pre-upgrade
func (s Set) Begin(known *Progress, release string, now Situation) *Progress {
	if len(s) == 0 {
		return nil
	}
	next := Progress{Release: release, Revision: 1, OnDelete: len(s.At(PreDelete))+len(s.At(PostDelete)) > 0}
	if known != nil {
		next.Revision = known.Revision + 1
	}
	switch {
	case known != nil && known.Release == release:
		next.Event, next.Done, next.Revision = known.Event, known.Done, known.Revision
	case known != nil && known.Event.OfDeletion():
		next.Event = known.Event
	case known == nil && !now.Installed, known != nil && known.installs() && !known.Complete():
		next.Event = PreInstall
	case now.GoesBack:
		next.Event = PreRollback
	default:
		next.Event = PreUpgrade
	}
	next = s.settle(next)
	return &next
}

func (p Progress) installs() bool { return p.Event == PreInstall || p.Event == PostInstall }

// Remove returns the progress of a release that is being removed.
func (s Set) Remove(p Progress) Progress {
	if !p.Event.OfDeletion() {
		p.Event, p.Done = PreDelete, 0
	}
	return s.settle(p)
}

// Next returns the next hook; false where the event has no more.
func (s Set) Next(p Progress) (Hook, bool) {
	of := s.At(p.Event)
	if p.Done >= len(of) {
		return Hook{}, false
	}
	return of[p.Done], true
}

// Advance returns the progress after the next hook has completed.
func (s Set) Advance(p Progress) Progress {
	p.Done++
	return s.settle(p)
}

// settle counts the hooks of the event, and passes over an event before the objects that has no more of them.
func (s Set) settle(p Progress) Progress {
	p.Total = len(s.At(p.Event))
	if next, blocks := after[p.Event]; blocks && p.Done >= p.Total {
		p.Event, p.Done, p.Total = next, 0, len(s.At(next))
	}
	return p
}

// Plan returns the record with what the event still has to write, and whether that is news: it must be stored before the first write, so
// that a crash leaks nothing.
func (s Set) Plan(p Progress, recorded []inventory.Entry) (planned []inventory.Entry, news bool) {
	known := make(map[inventory.ID]inventory.Entry, len(recorded))
	for _, entry := range recorded {
		known[entry.ID] = entry
	}
	var open []inventory.Entry
	for _, hook := range s.At(p.Event)[p.Done:] {
		entry, found := known[hook.ID()]
		if found && entry.IsHook() && (entry.Hash == "" || entry.Hash == p.Ticket()) {
			continue
		}
		open = append(open, EntryOf(hook.Object, "", entry))
	}
	return inventory.Merge(recorded, open, nil), len(open) > 0
}

// EntryOf returns the record of a hook that was written with a ticket; without one it is only planned. known is what was recorded before.
func EntryOf(object *unstructured.Unstructured, ticket string, known inventory.Entry) inventory.Entry {
	entry := inventory.Entry{
		ID: inventory.IDOf(object), Version: object.GroupVersionKind().Version, UID: cmp.Or(object.GetUID(), known.UID), Hash: ticket,
	}
	return entry.AsHook()
}

// Leftover returns the recorded hooks that are to be deleted: of the events that are over those with the policy for that, and once the
// release is complete also those that were planned, for an event that never came to them.
func (s Set) Leftover(p Progress, recorded []inventory.Entry) []inventory.Entry {
	var over []string
	if pre, isAfter := before[p.Event]; isAfter {
		over = append(over, p.ticketOf(pre))
	}
	if p.Complete() {
		over = append(over, p.Ticket(), "")
	}
	var left []inventory.Entry
	for _, hook := range s {
		for _, entry := range recorded {
			if entry.ID == hook.ID() && entry.IsHook() && (hook.drops || entry.Hash == "") && slices.Contains(over, entry.Hash) {
				left = append(left, entry)
			}
		}
	}
	return left
}

// ReleaseOf identifies what a source declares: 16 hex digits over its objects and hooks, whatever their order.
func ReleaseOf(namespace string, objects []*unstructured.Unstructured) string {
	sums := make([]string, 0, len(objects))
	for _, object := range objects {
		sums = append(sums, inventory.ContentHash(object))
	}
	slices.Sort(sums)
	digest := sha256.New()
	digest.Write([]byte(namespace))
	for _, sum := range sums {
		digest.Write([]byte(sum))
	}
	return hex.EncodeToString(digest.Sum(nil))[:16]
}
