package rollout

import (
	"fmt"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// Applicant is a Kyma that would have what a channel offers.
type Applicant struct {
	// UID and labels of the Kyma.
	UID    string
	Labels map[string]string
	// Running is the version that the module's Manifest asks for; empty when there is none. A digest may follow it, with "@".
	Running string
}

// Answer is what an Applicant may have.
type Answer struct {
	// Allowed lets it have what the channel offers.
	Allowed bool
	// NoSlot is true when its wave is open and others are before it: everything but the upgrade itself may be prepared.
	NoSlot bool
	// From is the version that it may have instead, empty when there is none.
	From string
	// Back is true when the rollout takes the offered version back from it now.
	Back bool
	// Aborted is true when the rollout of the version that it runs was aborted.
	Aborted bool
	// Soon is true when the rollout has not taken note of what is offered yet, and will let the applicant have it when it does.
	Soon bool
	// Detail completes the sentence "version X waits ...", for people, users of runtimes among them: it names no other Kyma.
	Detail string
}

// Ask returns what an applicant may have of the version that the channel offers. A rollout that is nil or does not fit the mark of the
// release admits no new Kyma. Without a mark every Kyma may have what is offered, unless the rollout has decided about the channel before:
// then the release was written anew by a client that dropped the mark.
//
// Rollout, release and Kyma may come from caches of different ages: whatever does not fit together admits no Kyma that has not begun.
func Ask(rollout *v1beta2.ModuleRollout, mark, channel, offered string, a Applicant) Answer {
	runs := a.Running != "" && Same(ParseTarget(a.Running), ParseTarget(offered))
	if mark == "" && isInForce(rollout, channel) {
		mark = string(rollout.UID)
	}
	switch {
	case mark == "":
		return Answer{Allowed: true}
	case rollout == nil:
		return Answer{Allowed: runs, Detail: "until its ModuleRollout can be read"}
	case string(rollout.UID) != mark:
		return Answer{Allowed: runs, Detail: "until its ModuleRollout, which was made anew, has marked the release"}
	case !Governs(rollout, channel):
		return Answer{Allowed: true}
	}
	status := findChannel(rollout, channel)
	if status == nil {
		return Answer{Allowed: runs, Detail: "until its ModuleRollout has observed the channel"}
	}
	if !Same(ParseTarget(offered), status.To) {
		return askEarly(rollout, status, offered, a, runs)
	}
	question := question{rollout: rollout, status: status, Applicant: a, runs: runs}
	answer := question.answer()
	if !answer.Allowed {
		answer.From = versionBefore(status, offered)
	} else {
		answer.Detail = ""
	}
	return answer
}

// isInForce reports whether a rollout has decided about a channel, and stays.
func isInForce(rollout *v1beta2.ModuleRollout, channel string) bool {
	return rollout != nil && rollout.DeletionTimestamp == nil && findChannel(rollout, channel) != nil
}

// Governs reports whether a rollout decides about a channel: its plan is for it, or was when a version of it began that is not decided yet.
func Governs(rollout *v1beta2.ModuleRollout, channel string) bool {
	known := findChannel(rollout, channel)
	return covers(rollout.Spec.Channels, channel) || known != nil && !Settled(known)
}

func findChannel(rollout *v1beta2.ModuleRollout, name string) *v1beta2.RolloutChannel {
	for at := range rollout.Status.Channels {
		if rollout.Status.Channels[at].Name == name {
			return &rollout.Status.Channels[at]
		}
	}
	return nil
}

// versionBefore is the version of a channel that had completed, unless that is no version to go to while another is offered.
func versionBefore(status *v1beta2.RolloutChannel, offered string) string {
	completed, wanted := LastCompleted(status), ParseTarget(offered)
	if Same(completed, wanted) || moduleversion.IsLower(wanted.Version, completed.Version) {
		return ""
	}
	return completed.Version
}

// askEarly answers while the status does not speak of the offered version yet.
func askEarly(rollout *v1beta2.ModuleRollout, status *v1beta2.RolloutChannel, offered string, a Applicant, runs bool) Answer {
	if completed := LastCompleted(status); completed.Version != "" && Same(completed, ParseTarget(offered)) {
		return Answer{Allowed: true, Aborted: moduleversion.IsLower(offered, a.Running)}
	}
	return Answer{
		Allowed: runs, From: versionBefore(status, offered), Detail: "until its ModuleRollout has observed it",
		Soon: !runs && beginsOpen(rollout, a),
	}
}

// beginsOpen reports whether the first wave of a plan has the applicant, and begins at once and for all.
func beginsOpen(rollout *v1beta2.ModuleRollout, a Applicant) bool {
	plan, err := Compile(&rollout.Spec)
	if err != nil || rollout.Spec.Paused || plan.waves[0].approval || plan.waves[0].limit > 0 {
		return false
	}
	sorted := newSorter(plan, &v1beta2.RolloutChannel{})
	at, decided := sorted.find(a.UID, a.Labels)
	return decided && at == 0
}

// question is one of a Kyma about the target of a status.
type question struct {
	Applicant

	rollout *v1beta2.ModuleRollout
	status  *v1beta2.RolloutChannel
	runs    bool
}

func (q *question) answer() Answer {
	status := q.status
	prefix := Prefix(q.UID)
	aborted := isAborted(q.rollout, status)
	switch {
	case isTakingBack(status.Phase) && slices.Contains(status.Back, prefix) && !aborted:
		return Answer{Back: true, Detail: "until the channel offers another version: its rollout halted and rolls it back"}
	case setBack(status):
		return Answer{Allowed: true, Aborted: moduleversion.IsLower(status.To.Version, q.Running)}
	case q.runs:
		return Answer{Allowed: true, Aborted: aborted}
	case aborted:
		return Answer{Detail: "until the channel offers another version: its rollout was aborted"}
	case status.Phase == v1beta2.RolloutCompleted:
		// A pause also stops those that come after the end, but no first installation: there is no better version for one.
		return Answer{Allowed: !q.rollout.Spec.Paused || q.Running == "", Detail: "until its rollout is no longer paused"}
	case q.rollout.Spec.Paused:
		return Answer{Detail: "until its rollout is no longer paused"}
	case isStopped(status.Phase):
		return Answer{Detail: "for a decision: its rollout halted, since too many upgrades failed"}
	case status.Phase == v1beta2.RolloutProgressing && slices.Contains(status.Underway, prefix):
		return Answer{Allowed: true}
	}
	return q.askWave()
}

// isTakingBack reports whether those that a status names go back. Who has no way back is named also when all others have gone.
func isTakingBack(phase v1beta2.RolloutPhase) bool {
	return phase == v1beta2.RolloutRollingBack || phase == v1beta2.RolloutRolledBack
}

// isAborted reports whether a rollout was aborted, also when only the decision is there yet.
func isAborted(rollout *v1beta2.ModuleRollout, status *v1beta2.RolloutChannel) bool {
	decision := rollout.Spec.Decision
	return status.Phase == v1beta2.RolloutAborted ||
		status.Phase != v1beta2.RolloutCompleted && counts(decision, status) && decision.Action == v1beta2.RolloutAbort
}

// askWave answers by the wave that the Kyma is in.
func (q *question) askWave() Answer {
	plan, err := Compile(&q.rollout.Spec)
	if err != nil {
		return Answer{Detail: "until the plan of its rollout is corrected"}
	}
	sorted := newSorter(plan, q.status)
	at, decided := sorted.find(q.UID, q.Labels)
	own := &plan.waves[at]
	place, current := findWave(q.status, own.name), findWave(q.status, q.status.Wave)
	progressing := q.status.Phase == v1beta2.RolloutProgressing
	switch {
	case !decided:
		return Answer{Detail: fmt.Sprintf("until it is decided who is in wave %q", own.name)}
	case place < 0 || current < 0 || place > current:
		return Answer{Detail: fmt.Sprintf("for wave %q, which has not begun%s", own.name, q.describe(plan, current))}
	case place < current && q.Running == "":
		return Answer{Allowed: true}
	case q.status.Waves[place].Since.IsZero():
		return Answer{Detail: fmt.Sprintf("for wave %q, which has not begun%s", own.name, q.describe(plan, current))}
	case place == current && progressing && q.isOpen(own):
		return Answer{Allowed: true}
	case progressing:
		return Answer{NoSlot: true, Detail: fmt.Sprintf("for a place among those that upgrade in wave %q", q.status.Wave)}
	}
	return Answer{Detail: fmt.Sprintf("for the rollout to go on%s", q.describe(plan, current))}
}

// isOpen reports whether every Kyma of a wave may have the target. It is not while the plan is newer than the status: it may say
// otherwise.
func (q *question) isOpen(own *wave) bool {
	return q.status.Open && own.limit == 0 && q.rollout.Status.ObservedGeneration == q.rollout.Generation
}

// describe says what the current wave waits for.
func (q *question) describe(plan *Plan, current int) string {
	if current < 0 {
		return ""
	}
	at := &q.status.Waves[current]
	for i := range plan.waves {
		planned := &plan.waves[i]
		if planned.name != at.Name {
			continue
		}
		switch {
		case at.Since.IsZero() && planned.approval:
			return fmt.Sprintf(": wave %q waits for approval", at.Name)
		case at.Soaking && planned.soak > 0:
			return fmt.Sprintf(": wave %q soaks until %s", at.Name, formatTime(at.Since.Add(planned.soak)))
		case q.status.Phase == v1beta2.RolloutWaiting && !at.Since.IsZero():
			return fmt.Sprintf(": wave %q has no Kyma that is ready, and waits for approval to pass", at.Name)
		}
	}
	return fmt.Sprintf(": wave %q has not passed", at.Name)
}
