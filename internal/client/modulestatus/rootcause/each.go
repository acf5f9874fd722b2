package rootcause

import (
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// Judgment is what is wrong with one object.
type Judgment struct {
	Object modulestatus.Ref
	// Reason in one word, the sentence of a Cause, and what a user can do.
	Reason, Sentence, Remedy string
	// Severe reports whether it does not get on by itself.
	Severe bool
}

// Each returns what is wrong with each object of the evidence, by the table that Of concludes a cause with: at most one judgment for an
// object, the worst. It says nothing about an object that is only not ready yet, which package health tells as well.
func Each(e Evidence, now time.Time) []Judgment {
	if e.Module == nil {
		return nil
	}
	s := newIndex(e, now)
	all := slices.Concat(s.workloads(), s.claims(), s.leaving())
	slices.SortStableFunc(all, worstFirst)
	seen := map[modulestatus.Ref]bool{}
	var judged []Judgment
	for i := range all {
		c := &all[i]
		if c.weight == vague || seen[c.object] {
			continue
		}
		seen[c.object] = true
		judged = append(judged, Judgment{
			Object: c.object, Reason: c.reason, Sentence: c.summary(now), Remedy: RemedyOf(c.reason), Severe: c.weight >= stuck,
		})
	}
	return judged
}
