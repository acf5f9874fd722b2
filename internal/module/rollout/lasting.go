package rollout

import (
	"fmt"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Lasting completes the sentence "version X waits ..." as Detail of an answer does, but with what stays true while the waves of a target go
// on: a Kyma's status has it, which is written once for a target and not whenever a wave begins.
func Lasting(answer Answer, rollout *v1beta2.ModuleRollout, mark, channel, offered string, a Applicant) string {
	if answer.Back || rollout == nil || string(rollout.UID) != mark {
		return answer.Detail
	}
	plan, err := Compile(&rollout.Spec)
	if err != nil {
		return answer.Detail
	}
	status := findChannel(rollout, channel)
	if status == nil || !Same(ParseTarget(offered), status.To) {
		status = &v1beta2.RolloutChannel{} // it speaks of another target
	} else if isAborted(rollout, status) {
		return answer.Detail
	}
	sorted := newSorter(plan, status)
	at, decided := sorted.find(a.UID, a.Labels)
	if !decided {
		return "for its rollout"
	}
	return fmt.Sprintf("for wave %q of its rollout", plan.waves[at].name)
}
