package revision

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// recent is how many revisions are kept whatever became of them.
const recent = 3

// Begin returns the history with a revision for the key, unless the newest is for it already. The one before gets its outcome:
//
//  1. The key has an earlier version: RolledBack, whatever it had been. So it is where the two versions cannot be compared, the history
//     shows the key, and a rollback was asked for. The reason says who asked: the value of AnnotationRollback, which may be empty.
//  2. It has an outcome: that stays.
//  3. Otherwise Superseded.
//
// Other content or another template of the same version takes nothing back: the annotation stays on a Manifest as long as the version does
// that it brought, so that it says nothing about what is published or edited under that version since, not even when that is what the
// history shows already.
//
// The history that was passed is not changed.
func Begin(history []v1beta2.Revision, key Key, before v1beta2.State, reason string, now time.Time) []v1beta2.Revision {
	begun := v1beta2.Revision{
		Number: 1, Version: key.Version, Digest: key.Digest, Template: key.Template,
		At: metav1.NewTime(now).Rfc3339Copy(), Before: before,
	}
	if len(history) == 0 {
		return []v1beta2.Revision{begun}
	}
	next := slices.Clone(history)
	last := &next[len(next)-1]
	if KeyOf(*last) == key {
		return history
	}
	switch {
	case goesBack(history, key, reason):
		last.Outcome, last.Reason = v1beta2.RevisionRolledBack, whoAsked(reason)
	case last.Outcome == "":
		last.Outcome = v1beta2.RevisionSuperseded
	}
	begun.Number, last.Since = last.Number+1, nil
	return keep(append(next, begun))
}

// goesBack reports whether a key takes the newest revision back. Of two versions that cannot be compared only the history tells which came
// first.
func goesBack(history []v1beta2.Revision, key Key, reason string) bool {
	last := history[len(history)-1]
	switch {
	case last.Version == key.Version:
		return false
	case moduleversion.IsLower(key.Version, last.Version):
		return true
	}
	return reason != "" && !moduleversion.IsLower(last.Version, key.Version) &&
		slices.ContainsFunc(history, func(r v1beta2.Revision) bool { return KeyOf(r) == key })
}

// whoAsked returns the reason of a rollback. An annotation can hold anything; what the operator did not write, a person did.
func whoAsked(reason string) string {
	switch reason {
	case v1beta2.ReasonProgressDeadlineExceeded, v1beta2.ReasonRollout:
		return reason
	}
	return v1beta2.ReasonRequested
}

// End returns the history with an outcome of its newest revision: Succeeded, or Failed with a reason. The first outcome stays, but
// Succeeded takes the place of Failed. The history that was passed is not changed.
func End(history []v1beta2.Revision, outcome v1beta2.RevisionOutcome, reason string) []v1beta2.Revision {
	if len(history) == 0 {
		return history
	}
	had := history[len(history)-1].Outcome
	succeeds := outcome == v1beta2.RevisionSucceeded && (had == "" || had == v1beta2.RevisionFailed)
	fails := outcome == v1beta2.RevisionFailed && had == ""
	if !succeeds && !fails {
		return history
	}
	if succeeds {
		reason = ""
	}
	next := slices.Clone(history)
	last := &next[len(next)-1]
	last.Outcome, last.Reason = outcome, reason
	if succeeds {
		last.Since = nil
	}
	return next
}

// keep returns the revisions that are worth their bytes, at most five:
//
//  1. The last three.
//  2. The newest that succeeded: it is the way back. Without it a module that changes often, and never becomes ready, would have none.
//  3. The one that is held, since forgetting it would install it again; without one, the newest that failed or was gone back from.
//
// Where both are older than the last three, both are kept: without the way back a person has nothing to go back to, and without the one
// that failed the same failure is installed again. Five take no more than 1.3 KiB, since at most one of them has the longest reason.
func keep(history []v1beta2.Revision) []v1beta2.Revision {
	if len(history) <= recent {
		return history
	}
	wanted := map[int64]bool{}
	for _, r := range history[len(history)-recent:] {
		wanted[r.Number] = true
	}
	if found, ok := newest(history, succeeded); ok {
		wanted[found.Number] = true
	}
	found, ok := holding(history, 0)
	if !ok {
		found, ok = newest(history, failed)
	}
	if ok {
		wanted[found.Number] = true
	}
	return slices.DeleteFunc(history, func(r v1beta2.Revision) bool { return !wanted[r.Number] })
}

func newest(history []v1beta2.Revision, is func(v1beta2.Revision) bool) (v1beta2.Revision, bool) {
	for _, r := range slices.Backward(history) {
		if is(r) {
			return r, true
		}
	}
	return v1beta2.Revision{}, false
}

func succeeded(r v1beta2.Revision) bool { return r.Outcome == v1beta2.RevisionSucceeded }

func failed(r v1beta2.Revision) bool {
	return r.Outcome == v1beta2.RevisionFailed || r.Outcome == v1beta2.RevisionRolledBack
}
