package rollout

import (
	"reflect"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Change is a change of a ModuleRollout. One of both is nil for a rollout that came or went.
type Change struct{ Before, Now *v1beta2.ModuleRollout }

// Relevant reports whether the change can matter to a Kyma: counts, times and messages do not.
func (c Change) Relevant() bool {
	return c.Before == nil || c.Now == nil || len(c.Named()) > 0 || !c.NamesOnly()
}

// NamesOnly reports whether the change gave or took places and decided nothing else: then it concerns those of Named alone.
func (c Change) NamesOnly() bool {
	return c.Before != nil && c.Now != nil && c.Before.UID == c.Now.UID &&
		c.Before.Status.ObservedGeneration == c.Now.Status.ObservedGeneration &&
		reflect.DeepEqual(c.Before.Spec, c.Now.Spec) && reflect.DeepEqual(essence(c.Before), essence(c.Now))
}

// Named returns the Kymas that the change adds to those under way or on their way back, by the beginning of their UID.
func (c Change) Named() map[string]bool {
	added := map[string]bool{}
	if c.Before == nil || c.Now == nil {
		return added
	}
	for i := range c.Now.Status.Channels {
		now := &c.Now.Status.Channels[i]
		before := &v1beta2.RolloutChannel{}
		if known := findChannel(c.Before, now.Name); known != nil {
			before = known
		}
		for _, prefix := range now.Underway {
			added[prefix] = added[prefix] || !slices.Contains(before.Underway, prefix)
		}
		for _, prefix := range now.Back {
			added[prefix] = added[prefix] || !slices.Contains(before.Back, prefix)
		}
	}
	for prefix, is := range added {
		if !is {
			delete(added, prefix)
		}
	}
	return added
}

// Concerns reports whether a Kyma gets another answer by the change, or has something else to tell. That its wave has begun without a place
// for it is neither.
func (c Change) Concerns(mark, channel, offered string, a Applicant) bool {
	return effectOf(c.Before, mark, channel, offered, a) != effectOf(c.Now, mark, channel, offered, a)
}

// effect is what a Kyma does, or tells, because of an answer.
type effect struct {
	allowed, soon, back, aborted bool
	from, told                   string
}

func effectOf(rollout *v1beta2.ModuleRollout, mark, channel, offered string, a Applicant) effect {
	answer := Ask(rollout, mark, channel, offered, a)
	is := effect{allowed: answer.Allowed, soon: answer.Soon, back: answer.Back, aborted: answer.Aborted, from: answer.From}
	if !answer.Allowed && Lasting(answer, rollout, mark, channel, offered, a) == answer.Detail {
		is.told = answer.Detail // what Kymas tell of a rollout that goes on they were told before
	}
	return is
}

// essence returns what of a status decides, beside the names.
func essence(rollout *v1beta2.ModuleRollout) []v1beta2.RolloutChannel {
	channels := make([]v1beta2.RolloutChannel, 0, len(rollout.Status.Channels))
	for i := range rollout.Status.Channels {
		status := &rollout.Status.Channels[i]
		is := v1beta2.RolloutChannel{
			Name: status.Name, From: status.From, To: status.To, Since: status.Since, Wave: status.Wave, Phase: status.Phase, Open: status.Open,
		}
		for j := range status.Waves {
			wave := v1beta2.RolloutWaveStatus{Name: status.Waves[j].Name, Cut: status.Waves[j].Cut, Soaking: status.Waves[j].Since.IsZero()}
			is.Waves = append(is.Waves, wave)
		}
		channels = append(channels, is)
	}
	return channels
}
