package kymaedit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// WayBack is how a module goes back.
type WayBack struct {
	// Avoid is the reference of the version that it leaves.
	Avoid string
	// To is the revision whose version it gets. Number is that revision's where a user chose it, 0 otherwise.
	To     v1beta2.Revision
	Number int64
	// Already means that the module has that version.
	Already bool
	// Unvouched says why the author of the version that it leaves does not vouch for the way; empty when the author does.
	Unvouched string
}

// NoWayBackError says why a module cannot go back.
type NoWayBackError struct{ Module, Why string }

// Error returns a sentence.
func (e *NoWayBackError) Error() string {
	return fmt.Sprintf("module %s cannot go back: %s", e.Module, e.Why)
}

// FindWayBack returns the way back of a module from what its Manifest asks for, or, once it went back, from what it avoids. With a number
// it leads to that revision, otherwise to the last one that succeeded, as the lifecycle manager chooses it. The error is a *NoWayBackError.
func (s *KymaContext) FindWayBack(name string, manifest *v1beta2.Manifest, number int64) (WayBack, error) {
	none := func(format string, values ...any) (WayBack, error) {
		return WayBack{}, &NoWayBackError{name, fmt.Sprintf(format, values...)}
	}
	if manifest == nil || len(manifest.Status.Revisions) == 0 {
		return none("there is no history of it yet")
	}
	history, now := manifest.Status.Revisions, revision.Of(&manifest.Spec)
	running := revision.Reference(now.Version, now.Digest)
	way, leaves := WayBack{Avoid: running, Number: number}, now
	if avoided, key := s.avoided(name); avoided != running && moduleversion.IsLower(now.Version, key.Version) {
		way.Avoid, leaves = avoided, key
	}
	kept := slices.ContainsFunc(history, func(r v1beta2.Revision) bool { return r.Number == number })
	switch back, found := revision.WayBack(history, leaves, way.Avoid, number); {
	case number != 0 && !kept:
		return none("revision %d is not kept; it has %s", number, numbers(history))
	case number != 0 && !found:
		return none("revision %d is the version %s that it leaves", number, back.Version)
	case number != 0:
		way.To = back
	case way.Avoid != running:
		way.To, way.Already = v1beta2.Revision{Version: now.Version, Digest: now.Digest}, true
		return way, nil
	case !found:
		return none("no earlier version of it succeeded here")
	default:
		way.To = back
	}
	way.Already = revision.ReferenceOf(way.To) == running
	if !way.Already && s.Template(name, way.To.Version) == nil {
		return none("there is no ModuleTemplate of version %s any more", way.To.Version)
	}
	way.Unvouched = s.unvouched(name, way)
	return way, nil
}

// avoided returns the reference that a module avoids, because a person asked for that or by itself, and what it names; both are empty when
// there is none.
func (s *KymaContext) avoided(name string) (reference string, key revision.Key) {
	if status := s.StatusOf(name); status != nil {
		reference = status.Avoid
	}
	if entry := Entry(&s.Kyma.Spec, name); entry != nil && entry.Avoid != "" {
		reference = entry.Avoid
	}
	key.Version, key.Digest, _ = revision.ParseReference(reference)
	return reference, key
}

// unvouched says why the author of a version does not vouch for a way back from it.
func (s *KymaContext) unvouched(name string, way WayBack) string {
	version, _, _ := strings.Cut(way.Avoid, "@")
	template := s.Template(name, version)
	switch {
	case template == nil:
		return fmt.Sprintf("there is no ModuleTemplate of version %s that could say whether %s can take over from it", version, way.To.Version)
	case template.Spec.RollbackTo == "":
		return fmt.Sprintf("the ModuleTemplate of version %s does not say whether %s can take over from it", version, way.To.Version)
	}
	if covered, err := moduleversion.Satisfies(way.To.Version, template.Spec.RollbackTo); err != nil || !covered {
		return fmt.Sprintf("the ModuleTemplate of version %s says that only %q can take over from it, which does not include %s",
			version, template.Spec.RollbackTo, way.To.Version)
	}
	return ""
}

// numbers lists the revisions of a history, the newest first.
func numbers(history []v1beta2.Revision) string {
	var all []string
	for _, r := range slices.Backward(history) {
		all = append(all, strconv.FormatInt(r.Number, 10)+" ("+r.Version+")")
	}
	return strings.Join(all, ", ")
}

// GoBack lets a module avoid the version that it leaves.
func GoBack(spec *v1beta2.KymaSpec, name string, way WayBack) Change {
	return edit(spec, name, func(entry *v1beta2.Module) { entry.Avoid, entry.BackTo = way.Avoid, way.Number })
}

// Retry lets a module avoid nothing, and try again what it went back from by itself. Without a history there is nothing of that.
func Retry(spec *v1beta2.KymaSpec, name string, history []v1beta2.Revision) Change {
	return edit(spec, name, func(entry *v1beta2.Module) {
		entry.Avoid, entry.BackTo = "", 0
		if held, ok := revision.Holding(history, entry.Retry); ok {
			entry.Retry = held.Number
		}
	})
}

// edit edits the entry of a module.
func edit(spec *v1beta2.KymaSpec, name string, do func(*v1beta2.Module)) Change {
	entry := find(spec, name)
	if entry == nil {
		return Change{Module: name, Action: Unchanged}
	}
	before := *entry.DeepCopy()
	do(entry)
	return compareEntry(Changed, &before, entry)
}

// NothingHeldError is a retry of a module that avoids nothing.
type NothingHeldError struct{ Module string }

// Error returns a sentence.
func (e *NothingHeldError) Error() string {
	return fmt.Sprintf("module %s avoids no version: there is nothing to try again", e.Module)
}
