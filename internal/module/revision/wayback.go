package revision

import (
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Reference returns "<version>@<digest>".
func Reference(version, digest string) string { return version + "@" + digest }

// ReferenceOf returns the reference of a revision.
func ReferenceOf(r v1beta2.Revision) string { return Reference(r.Version, r.Digest) }

// ParseReference returns version and digest of a reference; ok is false when it is none.
func ParseReference(reference string) (version, digest string, ok bool) {
	version, digest, _ = strings.Cut(reference, "@")
	if version == "" || !contentDigest.MatchString(digest) {
		return "", "", false
	}
	return version, digest, true
}

// WayBack returns the newest revision that succeeded, is none of those to avoid, and was not gone back from later; ok is false when there
// is none. That may be the newest revision itself: then what is installed is the way back already.
//
// A later revision with the same content that only failed does not count against it. If it did, a module that went back and reports a
// failure there would go back further, and up again when the failure passes.
func WayBack(history []v1beta2.Revision, avoid ...string) (way v1beta2.Revision, ok bool) {
	left := slices.Clone(avoid)
	for _, r := range slices.Backward(history) {
		switch {
		case r.Outcome == v1beta2.RevisionRolledBack:
			left = append(left, ReferenceOf(r))
		case succeeded(r) && !slices.Contains(left, ReferenceOf(r)):
			return r, true
		}
	}
	return v1beta2.Revision{}, false
}

// Held returns the reference of the version that went back by itself last and is not released by a retry of a revision's number, empty
// when there is none.
func Held(history []v1beta2.Revision, retry int64) string {
	if held, ok := Holding(history, retry); ok {
		return ReferenceOf(held)
	}
	return ""
}

// Holding returns the revision that Held names. It holds for its whole key: another template is another try.
func Holding(history []v1beta2.Revision, retry int64) (held v1beta2.Revision, ok bool) {
	return holding(history, retry)
}

// holding looks at the newest revision of each key only: a later one with the same key means that it was tried again, and what became of
// that counts. So a retry that is taken out of the spec afterwards does not take back what it led to.
//
// Only what went back by itself is held here. What a person went back from stands in Kyma.spec.modules[].avoid, and what a rollout took
// back is admitted again by that rollout alone.
func holding(history []v1beta2.Revision, retry int64) (held v1beta2.Revision, ok bool) {
	later := map[Key]bool{}
	for _, r := range slices.Backward(history) {
		if Retried(history, r.Number, retry) {
			break
		}
		byItself := r.Outcome == v1beta2.RevisionRolledBack && r.Reason == v1beta2.ReasonProgressDeadlineExceeded
		if byItself && !later[KeyOf(r)] {
			return r, true
		}
		later[KeyOf(r)] = true
	}
	return v1beta2.Revision{}, false
}

// Retried reports whether a retry of a number releases the revision with another. A number that the history has not reached is from before
// the module was installed anew, or a slip: if it counted, it would switch the hold off for good, and a version that fails were installed
// again and again.
func Retried(history []v1beta2.Revision, number, retry int64) bool {
	return len(history) > 0 && retry <= history[len(history)-1].Number && number <= retry
}
