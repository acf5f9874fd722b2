package revision

import (
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Key identifies what a Manifest asks for.
type Key struct{ Version, Digest, Template string }

// Of returns the key of a Manifest's spec. The digest covers all that is fetched and installed, and no place that it is fetched from where
// its content has a digest; the template hash covers what a ModuleTemplate adds. Neither covers what the Kyma's user sets.
func Of(spec *v1beta2.ManifestSpec) Key { return Key{Version: spec.Version} }

// Begin returns the history with a revision for the key, unless the newest is for it already. What ends by that gets its outcome.
func Begin(history []v1beta2.Revision, key Key, before v1beta2.State, now time.Time) []v1beta2.Revision {
	return history
}

// End returns the history with an outcome of its newest revision. An outcome stays, but Succeeded takes the place of Failed.
func End(history []v1beta2.Revision, outcome v1beta2.RevisionOutcome, reason string) []v1beta2.Revision {
	return history
}

// Reference returns "<version>@<digest>".
func Reference(version, digest string) string { return version + "@" + digest }

// WayBack returns the newest revision that succeeded and is none of those to avoid; ok is false when there is none.
func WayBack(history []v1beta2.Revision, avoid ...string) (way v1beta2.Revision, ok bool) {
	return v1beta2.Revision{}, false
}

// Held returns the reference of the version that went back by itself last and is not released by a retry of a revision's number, empty
// when there is none.
func Held(history []v1beta2.Revision, retry int64) string { return "" }
