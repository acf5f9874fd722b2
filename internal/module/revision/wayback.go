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

// WayBack returns the revision that a module goes back to from what it leaves: the one with a chosen number, or else the newest that
// succeeded and was not gone back from later. ok is false when there is none. Where nothing is left, that may be the newest revision: then
// what is installed is the way back already.
//
//   - Neither version and content of what it leaves nor those of avoid, the reference that a person goes back from, are a way back,
//     whatever their template: they have only the one template that they have now. The digest of what it leaves may be unknown.
//   - What was gone back from later bars its whole key. The same version with a corrected template is another try, and can succeed.
//   - A choice counts together with avoid, and as long as it is kept.
//
// A later revision with the same content that only failed does not count against it. If it did, a module that went back and reports a
// failure there would go back further, and up again when the failure passes.
func WayBack(history []v1beta2.Revision, leaves Key, avoid string, chosen int64) (way v1beta2.Revision, ok bool) {
	barred := func(r v1beta2.Revision) bool { return leaves.covers(r) || ReferenceOf(r) == avoid }
	if at := slices.IndexFunc(history, func(r v1beta2.Revision) bool { return r.Number == chosen }); at >= 0 && chosen != 0 && avoid != "" {
		return history[at], !barred(history[at])
	}
	left := map[Key]bool{}
	for _, r := range slices.Backward(history) {
		switch {
		case r.Outcome == v1beta2.RevisionRolledBack:
			left[KeyOf(r)] = true
		case succeeded(r) && !left[KeyOf(r)] && !barred(r):
			return r, true
		}
	}
	return v1beta2.Revision{}, false
}

// covers reports whether a revision has the version and the content of a key, whose digest may be unknown.
func (k Key) covers(r v1beta2.Revision) bool {
	return r.Version == k.Version && (k.Digest == "" || r.Digest == k.Digest)
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
