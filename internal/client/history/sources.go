package history

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// OfRevisions returns an entry for each revision of a Manifest, with the version before.
func OfRevisions(module, object string, revisions []v1beta2.Revision) []Entry {
	sorted := slices.Clone(revisions)
	slices.SortFunc(sorted, func(a, b v1beta2.Revision) int { return cmp.Compare(a.Number, b.Number) })
	var all []Entry
	for i := range sorted {
		r := &sorted[i]
		e := Entry{
			At: r.At.Time, Kind: Revision, Object: object, Module: module, Number: r.Number, State: string(r.Outcome), Reason: r.Reason,
			What: "version " + cmp.Or(r.Version, "without a number") + " was asked for",
		}
		if i > 0 && sorted[i-1].Number == r.Number-1 { // others are not kept: what came before is not known then
			e.Fields = []Field{{Path: "version", From: sorted[i-1].Version, To: r.Version}}
			if sorted[i-1].Version == r.Version {
				e.Fields[0] = Field{Path: "content", From: sorted[i-1].Digest, To: r.Digest}
				e.What = "other content or values of version " + r.Version + " were asked for"
			}
		}
		all = append(all, e)
	}
	return all
}

// OfConditions returns an entry for each condition: when its status became what it is. What it was before is not recorded.
func OfConditions(module, object string, conditions []metav1.Condition) []Entry {
	var all []Entry
	for i := range conditions {
		c := &conditions[i]
		if c.Type == v1beta2.ConditionReconciling || c.Type == v1beta2.ConditionStalled {
			continue // they repeat Ready for tools
		}
		all = append(all, Entry{
			At: c.LastTransitionTime.Time, Kind: Condition, Object: object, Module: module, Reason: c.Reason, State: c.Type + " " + string(c.Status),
			What: cmp.Or(c.Message, c.Type+" became "+string(c.Status)),
		})
	}
	return all
}

// OfRollout returns an entry for each wave that has begun of a channel of a rollout. Which Kymas it had is not said by it.
func OfRollout(key, module, channel string, rollout *v1beta2.ModuleRollout) []Entry {
	var all []Entry
	for i := range rollout.Status.Channels {
		c := &rollout.Status.Channels[i]
		if c.Name != channel {
			continue
		}
		for w := range c.Waves {
			wave := &c.Waves[w]
			all = append(all, Entry{
				At: wave.Since.Time, Kind: Rollout, Object: "ModuleRollout " + key, Module: module, RolloutKey: key, State: string(c.Phase),
				What:   "wave " + wave.Name + " of the rollout of version " + c.To.Version + " began",
				Fields: []Field{{Path: "version", From: c.From.Version, To: c.To.Version}},
			})
		}
	}
	return all
}
