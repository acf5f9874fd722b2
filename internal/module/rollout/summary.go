package rollout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// urgency is the order in which phases need a person.
var urgency = []v1beta2.RolloutPhase{
	v1beta2.RolloutHalted, v1beta2.RolloutRollingBack, v1beta2.RolloutWaiting, v1beta2.RolloutProgressing, v1beta2.RolloutRolledBack,
	v1beta2.RolloutAborted, v1beta2.RolloutCompleted,
}

// Summarise returns the phase of the channel that needs a person most, and one line about all channels; that one comes first.
func Summarise(channels []v1beta2.RolloutChannel) (v1beta2.RolloutPhase, string) {
	if len(channels) == 0 {
		return v1beta2.RolloutCompleted, "no channel of the module is in the plan"
	}
	sorted := slices.Clone(channels)
	slices.SortStableFunc(sorted, func(a, b v1beta2.RolloutChannel) int {
		return slices.Index(urgency, a.Phase) - slices.Index(urgency, b.Phase)
	})
	lines := make([]string, len(sorted))
	for at := range sorted {
		lines[at] = SummariseChannel(&sorted[at])
	}
	return sorted[0].Phase, strings.Join(lines, "; ")
}

// SummariseChannel says in a few words how far a channel is: "regular: 1.3.0 in wave early (2 of 3), 12 of 50 ready, 1 failed".
func SummariseChannel(channel *v1beta2.RolloutChannel) string {
	var total, ready, failed int32
	for at := range channel.Waves {
		total, ready, failed = total+channel.Waves[at].Total, ready+channel.Waves[at].Ready, failed+channel.Waves[at].Failed
	}
	text := fmt.Sprintf("%s: %s %s", nameOf(channel), channel.To.Version, describePhase(channel))
	if channel.Phase == v1beta2.RolloutCompleted || setBack(channel) {
		return text
	}
	text += fmt.Sprintf(", %d of %d ready", ready, total)
	if failed > 0 {
		text += fmt.Sprintf(", %d failed", failed)
	}
	return text
}

func nameOf(channel *v1beta2.RolloutChannel) string {
	if channel.Name == "" {
		return "mandatory"
	}
	return channel.Name
}

// describePhase completes the sentence "version X ...".
func describePhase(channel *v1beta2.RolloutChannel) string {
	where := ""
	if at := findWave(channel, channel.Wave); at >= 0 {
		where = fmt.Sprintf(" in wave %s (%d of %d)", channel.Wave, at+1, len(channel.Waves))
	}
	switch channel.Phase {
	case v1beta2.RolloutHalted:
		return "halted" + where
	case v1beta2.RolloutRollingBack:
		return "is taken back"
	case v1beta2.RolloutRolledBack:
		return "was taken back"
	case v1beta2.RolloutWaiting:
		return "waits for a person" + where
	case v1beta2.RolloutAborted:
		if setBack(channel) {
			return "is released to all Kymas: the channel was set back"
		}
		return "aborted" + where
	case v1beta2.RolloutCompleted:
		return "completed"
	case v1beta2.RolloutProgressing:
	}
	if at := findWave(channel, channel.Wave); at >= 0 && channel.Waves[at].Soaking {
		return "soaks" + where
	}
	return "is rolling out" + where
}
