package module

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Names of the entries of status.lastSeen.overruled.
const (
	entryChannel = "channel"
	entrySkip    = "skipMaintenanceWindows"
	entryModule  = "module "
)

// namedEntries is the number of entries that the condition's message names.
const namedEntries = 10

// MergeInput holds the two specs of a remote Kyma and their last known state.
type MergeInput struct {
	// Hub is what the Kyma on the hub requests.
	Hub v1beta2.SeenSpec
	// Runtime is what the Kyma in the runtime requests; nil when there is none.
	Runtime *v1beta2.SeenSpec
	// Last is what both requested when they were last read; nil at first contact.
	Last *v1beta2.LastSeen
}

// Merged is the result of merging the two specs.
type Merged struct {
	// Effective is the spec that applies. Its modules are in the runtime's order, with additions at the end.
	Effective v1beta2.SeenSpec
	// Write reports whether the Kyma in the runtime must be created or patched so that its spec becomes Effective.
	Write bool
	// Seen must be stored in the status once Effective is written, not before.
	Seen v1beta2.LastSeen
	// Refused says why the merged spec is not accepted, and who can change that; empty when it is. Then the spec that was merged last stays in
	// force: nothing of this merge must be applied, written or stored.
	Refused string
}

// Merge merges the specs of the hub and the runtime, which two users edit: the effective spec is the runtime's with the hub's changes on
// top.
//
// An entry is a module (by name), the channel, or skipMaintenanceWindows. These rules apply to each; the first that matches decides:
//
//  1. First contact: a Kyma that exists in the runtime is the base, and nothing is written; otherwise one with the hub's spec is created.
//  2. Both sides are the same: there is nothing to decide.
//  3. The hub's entry is unchanged: the runtime's counts.
//  4. A module that is not in the runtime, and was not at the last merge, had been removed by the runtime's user: an edit of the hub's
//     entry is overruled and does not bring it back. Only an entry that is new on the hub is added.
//  5. Only the hub's entry changed: it is written to the runtime.
//  6. Both changed, and differ: the runtime's counts, the hub's is overruled.
//
// An overruled entry is remembered until the hub's entry changes again or the two are the same. When the Kyma in the runtime has been
// deleted, its last known spec counts, with every module of the hub that it did not name: deleting the copy, or its definition, uninstalls
// nothing.
//
// Two specs that are accepted may have too many values together. Then they are not merged: a Kyma in the runtime that holds more than is
// accepted would be refused from then on, and no edit of the hub could shorten it.
//
// The Kyma in the runtime must be written with the resourceVersion that was read, and Seen is stored after that. A pass that is interrupted
// between the two leaves both sides the same, and the next one continues from there.
func Merge(s MergeInput) Merged {
	at := newMerge(s)
	var overruled []string
	effective := v1beta2.SeenSpec{
		Channel: agreed(at, &overruled, entryChannel, func(seen *v1beta2.SeenSpec) string { return seen.Channel }),
		SkipMaintenanceWindows: agreed(at, &overruled, entrySkip, func(seen *v1beta2.SeenSpec) bool {
			return seen.SkipMaintenanceWindows
		}),
	}
	effective.Modules = at.modules(&overruled)
	hub, runtime := sorted(at.hub), sorted(effective)
	return Merged{
		Effective: effective,
		Write:     s.Runtime == nil || !sameSeen(effective, at.runtime),
		Seen:      v1beta2.LastSeen{Hub: hub.DeepCopy(), Runtime: runtime.DeepCopy(), Overruled: overruled},
		Refused:   at.tooLarge(&effective),
	}
}

// merge holds the four specs, normalised, while Merge runs.
type merge struct {
	hub, lastHub, runtime, lastRuntime v1beta2.SeenSpec
	// before are the entries that were overruled so far.
	before []string
}

// newMerge fills in specs that were never seen, so that the rules need not check for them: at first contact nothing has changed. A record
// of only one side does not count: it shows no change, and nothing is removed because of it.
func newMerge(s MergeInput) *merge {
	at := &merge{hub: normal(s.Hub)}
	last := v1beta2.LastSeen{}
	if s.Last != nil {
		last = *s.Last
	}
	switch {
	case s.Runtime != nil:
		at.runtime = normal(*s.Runtime)
	case last.Runtime != nil:
		at.runtime = normal(*last.Runtime)
	default:
		at.runtime = at.hub
	}
	at.lastHub, at.lastRuntime = at.hub, at.runtime
	if last.Hub != nil && last.Runtime != nil {
		at.lastHub, at.lastRuntime = normal(*last.Hub), normal(*last.Runtime)
	}
	if s.Runtime == nil {
		at.restore()
	}
	at.before = last.Overruled
	return at
}

// restore adds the hub's modules that the last known spec of the runtime did not name to the copy that must be recreated.
func (at *merge) restore() {
	known := byName(at.runtime.Modules)
	for i := range at.hub.Modules {
		if known[at.hub.Modules[i].Name] == nil {
			at.runtime.Modules = append(at.runtime.Modules, at.hub.Modules[i])
		}
	}
}

// agreed decides about an entry that always exists.
func agreed[T comparable](at *merge, overruled *[]string, name string, of func(*v1beta2.SeenSpec) T) T {
	hub, lastHub, runtime, lastRuntime := of(&at.hub), of(&at.lastHub), of(&at.runtime), of(&at.lastRuntime)
	switch {
	case hub == runtime:
	case hub == lastHub:
		at.remember(overruled, name)
	case runtime == lastRuntime:
		return hub
	default:
		*overruled = append(*overruled, name)
	}
	return runtime
}

// modules decides about every module that either side names, in the runtime's order and then the hub's.
func (at *merge) modules(overruled *[]string) []v1beta2.SeenModule {
	hub, lastHub := byName(at.hub.Modules), byName(at.lastHub.Modules)
	runtime, lastRuntime := byName(at.runtime.Modules), byName(at.lastRuntime.Modules)
	names := make([]string, 0, len(hub)+len(runtime))
	for i := range at.runtime.Modules {
		names = append(names, at.runtime.Modules[i].Name)
	}
	for i := range at.hub.Modules {
		if name := at.hub.Modules[i].Name; runtime[name] == nil {
			names = append(names, name)
		}
	}
	var effective []v1beta2.SeenModule
	var lost []string
	for _, name := range names {
		entry := at.module(&lost, name, hub[name], lastHub[name], runtime[name], lastRuntime[name])
		if entry != nil {
			effective = append(effective, *entry.DeepCopy())
		}
	}
	slices.Sort(lost)
	*overruled = append(*overruled, lost...)
	return effective
}

// module decides about one module; nil stands for an absent entry.
func (at *merge) module(overruled *[]string, name string, hub, lastHub, runtime, lastRuntime *v1beta2.SeenModule) *v1beta2.SeenModule {
	removed := runtime == nil && lastRuntime == nil && lastHub != nil
	switch {
	case sameModule(hub, runtime):
	case sameModule(hub, lastHub):
		at.remember(overruled, entryModule+name)
	case sameModule(runtime, lastRuntime) && !removed:
		return hub
	default:
		*overruled = append(*overruled, entryModule+name)
	}
	return runtime
}

// tooLarge says why the values of the merged spec are not accepted, and who has to shorten which; empty when they are. Neither side has too
// many alone, so that there are always some that the hub adds to what was merged last.
func (at *merge) tooLarge(effective *v1beta2.SeenSpec) string {
	size := sizeOfValues(effective)
	if size <= maxValues {
		return ""
	}
	hub, before := byName(at.hub.Modules), byName(at.lastRuntime.Modules)
	added, names := 0, []string{}
	for i := range effective.Modules {
		if entry := &effective.Modules[i]; entry.Values != "" && sameModule(entry, hub[entry.Name]) && !sameModule(entry, before[entry.Name]) {
			added += len(entry.Values)
			names = append(names, entry.Name)
		}
	}
	slices.Sort(names)
	return fmt.Sprintf("hub and runtime together have %d bytes of values, and at most %d are accepted: shorten the values of %s (%d bytes) "+
		"in the hub's Kyma, or others in the runtime's; until then edits of both wait, and what was merged last stays",
		size, maxValues, firstOf(names), added)
}

// firstOf lists the first names, and counts the others.
func firstOf(names []string) string {
	listed := strings.Join(names[:min(len(names), namedEntries)], ", ")
	if more := len(names) - namedEntries; more > 0 {
		listed += fmt.Sprintf(" and %d more", more)
	}
	return listed
}

// remember keeps an entry overruled that was overruled before.
func (at *merge) remember(overruled *[]string, name string) {
	if slices.Contains(at.before, name) {
		*overruled = append(*overruled, name)
	}
}

// SpecSyncOutcome returns condition SpecSync for the last known specs; seen is nil when the runtime's Kyma was not read yet.
func SpecSyncOutcome(seen *v1beta2.LastSeen) (holds bool, reason, message string) {
	switch {
	case seen == nil || seen.Runtime == nil:
		return false, v1beta2.ReasonSyncPending, v1beta2.MessageSpecsUnknown
	case len(seen.Overruled) == 0:
		return true, v1beta2.ReasonSynced, v1beta2.MessageSpecsAgree
	}
	return false, v1beta2.ReasonOverruled, v1beta2.MessageSpecsDiffer + firstOf(seen.Overruled)
}
