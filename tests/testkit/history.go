package testkit

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

const (
	// maxRevisions and maxHistory bound the revisions of a Manifest and the bytes that they take.
	maxRevisions = 5
	maxHistory   = 1280
)

// misremembers compares the revisions in two successive versions of a Manifest, of which the first may be nil, and returns where they break
// a law, as sentences. One without revisions is not judged: a definition without the field drops them.
func misremembers(before, now *v1beta2.Manifest) []string {
	if now == nil || len(now.Status.Revisions) == 0 {
		return nil
	}
	known := now.Status.Revisions
	var found []string
	add := func(format string, values ...any) { found = append(found, fmt.Sprintf(format, values...)) }
	if raw, err := json.Marshal(known); err != nil || len(known) > maxRevisions || len(raw) > maxHistory {
		add("%d revisions take %d bytes: %v", len(known), len(raw), err)
	}
	for i := range known[1:] {
		if known[i].Number >= known[i+1].Number {
			add("revision %d follows revision %d", known[i+1].Number, known[i].Number)
		}
		if known[i].Outcome == "" {
			add("revision %d has no outcome, and is not the newest", known[i].Number)
		}
	}
	return append(append(found, misjudged(before, now)...), rewrittenSince(before, known)...)
}

// misjudged returns where the newest revision does not fit what the Manifest asks for and says.
func misjudged(before, now *v1beta2.Manifest) []string {
	var found []string
	add := func(format string, values ...any) { found = append(found, fmt.Sprintf(format, values...)) }
	newest := now.Status.Revisions[len(now.Status.Revisions)-1]
	current := now.Status.ObservedGeneration == now.Generation && now.DeletionTimestamp == nil
	if asked := revision.Of(&now.Spec); current && revision.KeyOf(newest) != asked {
		add("the newest revision is %+v, and the spec asks for %+v", newest, asked)
	}
	if current && now.Status.State == v1beta2.StateReady && newest.Outcome != v1beta2.RevisionSucceeded && !module.CountsResource(now) {
		add("state is Ready, and revision %d has outcome %q", newest.Number, newest.Outcome)
	}
	if current && hasJustSucceeded(before, newest) && module.CountsResource(now) && !module.ResourceReady(now) {
		add("revision %d succeeds, and the module's custom resource is %s", newest.Number, now.Status.ResourceState)
	}
	return found
}

// rewrittenSince is rewritten for a Manifest that may be new.
func rewrittenSince(before *v1beta2.Manifest, known []v1beta2.Revision) []string {
	if before == nil {
		return nil
	}
	return rewritten(before.Status.Revisions, known)
}

// hasJustSucceeded reports whether a revision succeeds, and did not in the version of its Manifest before.
func hasJustSucceeded(before *v1beta2.Manifest, newest v1beta2.Revision) bool {
	if before == nil || newest.Outcome != v1beta2.RevisionSucceeded {
		return false
	}
	return slices.ContainsFunc(before.Status.Revisions, func(old v1beta2.Revision) bool {
		return old.Number == newest.Number && old.Outcome != newest.Outcome
	})
}

// historyOf returns a Manifest with nothing but the revisions of another one, which may be nil.
func historyOf(manifest *v1beta2.Manifest) *v1beta2.Manifest {
	if manifest == nil {
		return nil
	}
	return &v1beta2.Manifest{Status: v1beta2.ManifestStatus{Revisions: manifest.Status.Revisions}}
}

// rewritten returns where a history says another thing of a revision than it did before.
func rewritten(before, now []v1beta2.Revision) []string {
	var found []string
	if len(before) == 0 {
		return nil
	}
	if last, newest := before[len(before)-1].Number, now[len(now)-1].Number; newest < last {
		found = append(found, fmt.Sprintf("the newest revision was %d and is %d", last, newest))
	}
	known := map[int64]v1beta2.Revision{}
	for _, r := range before {
		known[r.Number] = r
	}
	for _, r := range now {
		old, ok := known[r.Number]
		if !ok {
			continue
		}
		if revision.KeyOf(old) != revision.KeyOf(r) || !old.At.Equal(&r.At) || old.Before != r.Before {
			found = append(found, fmt.Sprintf("revision %d was %+v and is %+v", r.Number, old, r))
		}
		if old.Outcome != r.Outcome && !follows(old.Outcome, r.Outcome) {
			found = append(found, fmt.Sprintf("revision %d was %s and is %q", r.Number, old.Outcome, r.Outcome))
		}
	}
	return found
}

// follows reports whether one outcome may take the place of another.
func follows(old, next v1beta2.RevisionOutcome) bool {
	switch old {
	case "":
		return true
	case v1beta2.RevisionSucceeded:
		return next == v1beta2.RevisionRolledBack
	case v1beta2.RevisionFailed:
		return next == v1beta2.RevisionSucceeded || next == v1beta2.RevisionRolledBack
	default:
		return false
	}
}
