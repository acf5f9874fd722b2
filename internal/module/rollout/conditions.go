package rollout

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

// SetConditions writes phase, summary and conditions of a rollout from its spec and its channels, and reports whether anything changed.
// Unarmed says why the release is not marked; it is empty when it is. The caller writes observedGeneration.
func SetConditions(rollout *v1beta2.ModuleRollout, unarmed string, now metav1.Time) bool {
	status := &rollout.Status
	phase, summary := Summarise(status.Channels)
	changed := status.Phase != phase || status.Summary != summary
	status.Phase, status.Summary = phase, summary
	verdicts := []verdict{armed(unarmed), progressing(rollout), halted(rollout), completed(rollout)}
	for _, each := range verdicts {
		value := metav1.ConditionFalse
		if each.holds {
			value = metav1.ConditionTrue
		}
		set := conditions.Set(&status.Conditions, each.kind, value, each.reason, each.message, rollout.Generation, now)
		changed = changed || set
	}
	told := abnormal(verdicts)
	set := conditions.SetAbnormal(&status.Conditions, told.kind, told.reason, told.message, rollout.Generation, now)
	return changed || set
}

// abnormal returns Stalled or Reconciling for kstatus, or nothing. A plan is current when it is armed: waves go on for days, begin whenever
// a channel moves, and are no business of the commit that the plan came with.
func abnormal(verdicts []verdict) verdict {
	for _, each := range verdicts {
		if each.reason == v1beta2.ReasonSpecInvalid || each.kind == v1beta2.ConditionHalted && each.holds {
			return verdict{v1beta2.ConditionStalled, true, each.reason, each.message}
		}
	}
	for _, each := range verdicts {
		if each.kind == v1beta2.ConditionArmed && !each.holds {
			return verdict{v1beta2.ConditionReconciling, true, each.reason, each.message}
		}
	}
	return verdict{}
}

// verdict is a condition that is to be written.
type verdict struct {
	kind    string
	holds   bool
	reason  string
	message string
}

func armed(unarmed string) verdict {
	if unarmed != "" {
		return verdict{v1beta2.ConditionArmed, false, v1beta2.ReasonReleaseUnmarked, unarmed}
	}
	return verdict{v1beta2.ConditionArmed, true, v1beta2.ReasonArmed, "the release is marked: no Kyma gets another version without this plan"}
}

// progressing speaks of the channel that needs a person most.
func progressing(rollout *v1beta2.ModuleRollout) verdict {
	made := verdict{kind: v1beta2.ConditionProgressing}
	if err := Validate(&rollout.Spec); err != nil {
		made.reason, made.message = v1beta2.ReasonSpecInvalid, "the plan cannot be carried out, and no Kyma begins: "+err.Error()
		return made
	}
	channel := mostUrgent(rollout)
	if channel == nil {
		made.reason, made.message = v1beta2.ReasonCompleted, rollout.Status.Summary
		return made
	}
	made.holds = channel.Phase == v1beta2.RolloutProgressing
	made.reason = reasonOf(rollout, channel)
	made.message = describeChannels(rollout, func(each *v1beta2.RolloutChannel) bool { return each.Phase == channel.Phase })
	return made
}

func mostUrgent(rollout *v1beta2.ModuleRollout) *v1beta2.RolloutChannel {
	for at := range rollout.Status.Channels {
		if rollout.Status.Channels[at].Phase == rollout.Status.Phase {
			return &rollout.Status.Channels[at]
		}
	}
	return nil
}

// reasonOf is the reason why a channel progresses or does not.
func reasonOf(rollout *v1beta2.ModuleRollout, channel *v1beta2.RolloutChannel) string {
	wave := v1beta2.RolloutWaveStatus{}
	if at := findWave(channel, channel.Wave); at >= 0 {
		wave = channel.Waves[at]
	}
	switch channel.Phase {
	case v1beta2.RolloutHalted, v1beta2.RolloutRolledBack:
		return v1beta2.ReasonTooManyFailed
	case v1beta2.RolloutRollingBack:
		return v1beta2.ReasonRollingBack
	case v1beta2.RolloutAborted:
		return v1beta2.ReasonAborted
	case v1beta2.RolloutCompleted:
		return v1beta2.ReasonCompleted
	case v1beta2.RolloutWaiting:
		switch {
		case rollout.Spec.Paused:
			return v1beta2.ReasonPaused
		case wave.Since.IsZero():
			return v1beta2.ReasonWaveApproval
		}
		return v1beta2.ReasonWaveEmpty
	case v1beta2.RolloutProgressing:
	}
	if wave.Soaking {
		return v1beta2.ReasonWaveSoaking
	}
	return v1beta2.ReasonWaveUpdating
}

func halted(rollout *v1beta2.ModuleRollout) verdict {
	stopped := func(each *v1beta2.RolloutChannel) bool { return isStopped(each.Phase) }
	message := describeChannels(rollout, stopped)
	if message == "" {
		return verdict{v1beta2.ConditionHalted, false, v1beta2.ReasonNoneFailed, "no wave has more failures than it allows"}
	}
	return verdict{v1beta2.ConditionHalted, true, v1beta2.ReasonTooManyFailed, message}
}

func completed(rollout *v1beta2.ModuleRollout) verdict {
	open := describeChannels(rollout, func(each *v1beta2.RolloutChannel) bool { return !Settled(each) })
	if open == "" {
		return verdict{v1beta2.ConditionCompleted, true, v1beta2.ReasonCompleted, rollout.Status.Summary}
	}
	reason := v1beta2.ReasonUnderway
	if channel := mostUrgent(rollout); channel != nil && channel.Phase == v1beta2.RolloutAborted {
		reason = v1beta2.ReasonAborted
	}
	return verdict{v1beta2.ConditionCompleted, false, reason, open}
}

// describeChannels says of each channel that fits what it does, and of the worst Kyma what it is; empty when none fits.
func describeChannels(rollout *v1beta2.ModuleRollout, fits func(*v1beta2.RolloutChannel) bool) string {
	var lines []string
	for at := range rollout.Status.Channels {
		channel := &rollout.Status.Channels[at]
		if fits(channel) {
			lines = append(lines, describeChannel(channel))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "; ") + fmt.Sprintf(". See `kyma rollout status %s`", rollout.Name)
}

func describeChannel(channel *v1beta2.RolloutChannel) string {
	text := "channel " + channel.Name
	if channel.Name == "" {
		text = "mandatory module"
	}
	separator := ": "
	if strings.HasPrefix(channel.Message, "halted") {
		separator = " "
	}
	text += ": " + channel.To.Version + separator + channel.Message
	if len(channel.Worst) == 0 || isFinal(channel.Phase) {
		return text
	}
	worst := channel.Worst[0]
	text += fmt.Sprintf("; worst: %s: ", worst.Kyma)
	if worst.Message == "" {
		return text + worst.Reason
	}
	return text + worst.Message
}
