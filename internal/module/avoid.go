package module

import (
	"cmp"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// avoided returns why the target is not installed, empty when it may be.
func (u *upgrade) avoided() string {
	switch {
	case u.requested():
		return v1beta2.ReasonRequested
	case u.heldRevision() != nil || u.inFlight():
		return v1beta2.ReasonProgressDeadlineExceeded
	case u.taken:
		return v1beta2.ReasonRollout
	}
	return ""
}

// is reports whether a revision is for the target.
func (u *upgrade) is(one *v1beta2.Revision) bool {
	return one.Version == u.key.Version && (u.key.Digest == "" || one.Digest == u.key.Digest) &&
		(u.key.Template == "" || one.Template == u.key.Template)
}

// requested reports whether a person asked to avoid the target.
func (u *upgrade) requested() bool {
	if u.entry.Avoid == "" {
		return false
	}
	return u.entry.Avoid == revision.Reference(u.key.Version, u.key.Digest) ||
		u.key.Digest == "" && versionOf(u.entry.Avoid) == u.key.Version
}

// heldRevision returns the revision because of which the target is held, nil when it is not: the last one for it went back by itself, and
// no retry releases it.
func (u *upgrade) heldRevision() *v1beta2.Revision {
	for i := len(u.history) - 1; i >= 0; i-- {
		if one := &u.history[i]; u.is(one) {
			if wentBackByItself(one) && !u.retried(one) {
				return one
			}
			return nil
		}
	}
	return nil
}

// held is heldRevision while the key has only the version.
func (u *upgrade) held() *v1beta2.Revision {
	for i := range u.history {
		if one := &u.history[i]; one.Version == u.key.Version && wentBackByItself(one) && !u.retried(one) {
			return one
		}
	}
	return nil
}

// retried reports whether a person had a revision tried again.
func (u *upgrade) retried(one *v1beta2.Revision) bool {
	return revision.Retried(u.history, one.Number, u.entry.Retry)
}

func wentBackByItself(one *v1beta2.Revision) bool {
	return one.Outcome == v1beta2.RevisionRolledBack && one.Reason == v1beta2.ReasonProgressDeadlineExceeded
}

// inFlight reports whether the way back from the target is written and the Manifest's history does not show it yet. It leads to another
// version; a mark on other content of the same one was left behind by an earlier way back.
func (u *upgrade) inFlight() bool {
	newest := u.newest()
	return newest != nil && u.is(newest) && !ended(newest) && u.manifest.Spec.Version != newest.Version &&
		u.manifest.Annotations[v1beta2.AnnotationRollback] == v1beta2.ReasonProgressDeadlineExceeded
}

// newest returns the last revision, nil when there is none.
func (u *upgrade) newest() *v1beta2.Revision {
	if len(u.history) == 0 {
		return nil
	}
	return &u.history[len(u.history)-1]
}

// ended reports whether nothing can become of a revision any more by itself.
func ended(one *v1beta2.Revision) bool {
	return one.Outcome != "" && one.Outcome != v1beta2.RevisionFailed
}

// stays reports whether what is installed takes the place of the target: it is another version, and no person wants to leave it.
func (u *upgrade) stays() bool {
	if u.have.Version == "" || u.have.Version == u.key.Version || u.have.Version == versionOf(u.entry.Avoid) {
		return false
	}
	return u.entry.BackTo == 0 || u.entry.Avoid == "" || !u.chosenElsewhere()
}

// chosenElsewhere reports whether a person chose a revision to go back to that is another version than the installed one.
func (u *upgrade) chosenElsewhere() bool {
	chosen := u.chosen()
	return chosen != nil && chosen.Version != u.have.Version
}

// chosen returns the revision that a person chose to go back to, nil when none was or it is not kept any more.
func (u *upgrade) chosen() *v1beta2.Revision {
	at := slices.IndexFunc(u.history, func(one v1beta2.Revision) bool { return u.entry.BackTo != 0 && one.Number == u.entry.BackTo })
	if at < 0 || u.entry.Avoid == "" {
		return nil
	}
	return &u.history[at]
}

// detail says in parentheses what was wrong with the target, as far as it is still known.
func (u *upgrade) detail() string {
	if u.manifest == nil {
		return "it was not ready in time"
	}
	detail := u.manifest.Annotations[v1beta2.AnnotationRollbackMessage]
	if newest := u.newest(); newest != nil && u.is(newest) && !u.inFlight() {
		detail = u.fault()
	}
	return cmp.Or(conditions.Note(detail), "it was not ready in time")
}

// versionOf returns the version of a reference.
func versionOf(reference string) string {
	version, _, _ := strings.Cut(reference, "@")
	return version
}

// unvouched says why the author of the target does not vouch for a way back, empty when the author does.
func (u *upgrade) unvouched(to way) string {
	template := u.target.Template
	switch {
	case to.revision.Version == "":
		return ""
	case template == nil:
		return "the ModuleTemplate of version " + u.key.Version + ", which alone can vouch for a way back, does not exist any more"
	}
	return Unvouched(template, to.revision.Version)
}

// Unvouched says why a version that goes by a template cannot be replaced by an earlier one unless a person asks for that; empty when its
// author vouches for it.
func Unvouched(template *v1beta2.ModuleTemplate, earlier string) string {
	covered, err := moduleversion.Satisfies(earlier, template.Spec.RollbackTo)
	switch {
	case template.Spec.RollbackTo == "":
		return `ModuleTemplate "` + template.Name + `" has no rollbackTo, so that only a person can go back to ` + earlier
	case err != nil:
		return `rollbackTo of ModuleTemplate "` + template.Name + `" is no range of versions: ` + err.Error()
	case !covered:
		return `rollbackTo of ModuleTemplate "` + template.Name + `" does not include ` + earlier
	}
	return ""
}
