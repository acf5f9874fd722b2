package rollouts

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// Person decides.
type Person struct {
	Name string
	// At is the time of the decision, by the clock of the hub where that is known.
	At time.Time
}

// Request is what a person wants of a rollout.
type Request struct {
	// Channel, and Wave to approve; empty where they are not named.
	Channel, Wave string
	Person        Person
}

// Outcome is what a decision did to the spec of a rollout.
type Outcome struct {
	// Done is what was done in one word, such as "approved"; empty when there was nothing to do, and Why says so.
	Done string
	Why  string
	// Channel, Wave and Target of the decision; empty for a pause.
	Channel, Wave, Target string
	// Back is the version of the channel that an abort must write; nil when there is none.
	Back *SetBack
}

// SetBack is the way back of a channel.
type SetBack struct{ Channel, From, To string }

// RefusedError is a decision that makes no sense as the rollout stands.
type RefusedError struct{ Text, Remedy string }

// Error returns the sentence.
func (e *RefusedError) Error() string { return e.Text }

func refused(remedy, format string, args ...any) error {
	return &RefusedError{Text: fmt.Sprintf(format, args...), Remedy: remedy}
}

// ChoiceError is a decision that could be about several channels.
type ChoiceError struct {
	Rollout  string
	Channels []string
}

// Error lists the channels.
func (e *ChoiceError) Error() string {
	return fmt.Sprintf("rollout %s is under way on several channels, and none is named: %s", e.Rollout, strings.Join(e.Channels, ", "))
}

// UnknownChannelError is a channel that the rollout does not have.
type UnknownChannelError struct {
	Rollout, Channel string
	Channels         []string
}

// Error names the channel.
func (e *UnknownChannelError) Error() string {
	return fmt.Sprintf("rollout %s has no channel %s", e.Rollout, e.Channel)
}

// Pause stops admissions.
func Pause(rollout *v1beta2.ModuleRollout) Outcome {
	if rollout.Spec.Paused {
		return Outcome{Why: fmt.Sprintf("rollout %s is paused already", rollout.Name)}
	}
	rollout.Spec.Paused = true
	return Outcome{Done: "paused"}
}

// Resume ends a pause, and lets a halted channel go on.
func Resume(rollout *v1beta2.ModuleRollout, release *v1beta2.ModuleReleaseMeta, ask Request) (Outcome, error) {
	paused := rollout.Spec.Paused
	if paused && ask.Channel == "" && len(rollout.Status.Channels) == 0 { // a pause ends also before the lifecycle manager looks
		rollout.Spec.Paused = false
		return Outcome{Done: "resumed"}, nil
	}
	halted, err := choose(rollout, ask.Channel, func(c *v1beta2.RolloutChannel) bool { return c.Phase == v1beta2.RolloutHalted })
	if err != nil {
		return Outcome{}, err
	}
	rollout.Spec.Paused = false
	if halted == nil {
		return resumed(rollout, ask.Channel, paused)
	}
	done, err := decide(rollout, release, halted, v1beta2.RolloutResume, halted.Wave, ask.Person)
	if done.Done == "" && paused {
		done.Done, done.Why = "resumed", ""
	}
	return done, err
}

// resumed returns what a resume does where no channel has halted.
func resumed(rollout *v1beta2.ModuleRollout, channel string, paused bool) (Outcome, error) {
	if paused {
		return Outcome{Done: "resumed"}, nil
	}
	for i := range rollout.Status.Channels {
		c := &rollout.Status.Channels[i]
		back := c.Phase == v1beta2.RolloutRollingBack || c.Phase == v1beta2.RolloutRolledBack
		if back && (channel == "" || c.Name == channel) {
			return Outcome{}, refused("kyma rollout pause "+rollout.Name+" stops the way back, kyma rollout abort "+rollout.Name+" ends it",
				"%s of rollout %s takes %s back, which a resume does not change", channelTitle(c.Name), rollout.Name, c.To.Version)
		}
	}
	return Outcome{Why: fmt.Sprintf("rollout %s is neither paused nor halted", rollout.Name)}, nil
}

// Approve lets the wave begin that waits for it, or an empty one pass.
func Approve(rollout *v1beta2.ModuleRollout, release *v1beta2.ModuleReleaseMeta, ask Request) (Outcome, error) {
	c, err := choose(rollout, ask.Channel, func(c *v1beta2.RolloutChannel) bool { return approvable(rollout, c) })
	switch {
	case err != nil:
		return Outcome{}, err
	case c == nil:
		return Outcome{}, refused(fmt.Sprintf("kyma rollout status %s shows what it waits for", rollout.Name),
			"no wave of rollout %s waits for approval", rollout.Name+ofChannel(ask.Channel))
	case ask.Wave != "" && ask.Wave != c.Wave:
		return Outcome{}, refused(fmt.Sprintf("kyma rollout status %s shows what it waits for", rollout.Name),
			"wave %s of rollout %s waits for approval, not wave %s", c.Wave, rollout.Name, ask.Wave)
	}
	return decide(rollout, release, c, v1beta2.RolloutApprove, c.Wave, ask.Person)
}

// approvable reports whether the current wave of a channel waits for a person: to begin or, once it has begun and none of its Kymas can
// become ready, to pass. While the rollout is paused, the phase alone does not say so.
func approvable(rollout *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) bool {
	wave := waveNamed(c, c.Wave)
	needed := planOf(rollout, c.Wave).Approval
	if !wave.Since.IsZero() {
		needed = wave.Waiting+wave.Updating+wave.Ready == 0
	}
	return c.Phase == v1beta2.RolloutWaiting && c.Wave != "" && (needed || !rollout.Spec.Paused)
}

// Abort ends the rollout of a channel, and names the version that the channel must be set back to. A repeated abort finds its own decision,
// and names that version again while the channel has not got it.
func Abort(rollout *v1beta2.ModuleRollout, release *v1beta2.ModuleReleaseMeta, ask Request) (Outcome, error) {
	c, err := choose(rollout, ask.Channel, func(c *v1beta2.RolloutChannel) bool {
		left := Offered(release, c.Name) == c.To.Version && c.From.Version != "" && c.From.Version != c.To.Version
		return c.Phase != v1beta2.RolloutCompleted && (c.Phase != v1beta2.RolloutAborted || left)
	})
	switch {
	case err != nil:
		return Outcome{}, err
	case c == nil && aborted(rollout, ask.Channel):
		return Outcome{Why: fmt.Sprintf("rollout %s is aborted already", rollout.Name+ofChannel(ask.Channel))}, nil
	case c == nil:
		return Outcome{}, refused(
			"kyma release set "+rollout.Name+" CHANNEL=VERSION --allow-downgrade sets a channel back, for new installations",
			"rollout %s is not under way: there is nothing to abort", rollout.Name+ofChannel(ask.Channel))
	}
	done, err := decide(rollout, release, c, v1beta2.RolloutAbort, c.Wave, ask.Person)
	if err == nil && c.From.Version != "" && c.From.Version != c.To.Version {
		done.Back = &SetBack{Channel: c.Name, From: c.To.Version, To: c.From.Version}
	}
	return done, err
}

// aborted reports whether a channel was aborted before, or the only one there is.
func aborted(rollout *v1beta2.ModuleRollout, channel string) bool {
	d := rollout.Spec.Decision
	if d != nil && d.Action == v1beta2.RolloutAbort && (channel == "" || d.Channel == channel) {
		return true
	}
	return slices.ContainsFunc(rollout.Status.Channels, func(c v1beta2.RolloutChannel) bool {
		return c.Phase == v1beta2.RolloutAborted && (channel == "" || c.Name == channel)
	})
}

// choose returns the channel that a decision is about: the named one if it fits, or the only one that fits; nil when none does.
func choose(rollout *v1beta2.ModuleRollout, named string, fits func(*v1beta2.RolloutChannel) bool) (*v1beta2.RolloutChannel, error) {
	var all, names []string
	var found *v1beta2.RolloutChannel
	for i := range rollout.Status.Channels {
		c := &rollout.Status.Channels[i]
		all = append(all, c.Name)
		if (named == "" || c.Name == named) && fits(c) {
			names, found = append(names, c.Name), c
		}
	}
	switch {
	case len(all) == 0 && rollout.Status.Phase != "":
		return nil, refused("name the channels of the module in spec.channels, or leave them out for all",
			"rollout %s decides about no channel of its module: %s", rollout.Name, rollout.Status.Summary)
	case len(all) == 0:
		return nil, refused("kyma rollout status "+rollout.Name+" shows how far it is",
			"the lifecycle manager has not looked at rollout %s yet", rollout.Name)
	case named != "" && !slices.Contains(all, named):
		return nil, &UnknownChannelError{rollout.Name, named, all}
	case len(names) > 1:
		return nil, &ChoiceError{rollout.Name, names}
	}
	return found, nil
}

// decide writes a decision into the spec, unless it is there already:
//
//  1. one that the lifecycle manager has not seen yet is there
//  2. an abort that it has carried out is there
//  3. one that it has seen, and after which the channel still stands as it does, did not count, such as one from before the channel named
//     the version again: it is decided anew
//
// It does not replace another decision that the lifecycle manager has not seen; only an abort, which admits no Kyma, does.
func decide(
	rollout *v1beta2.ModuleRollout, release *v1beta2.ModuleReleaseMeta, c *v1beta2.RolloutChannel,
	action v1beta2.RolloutAction, wave string, person Person,
) (Outcome, error) {
	if offered := Offered(release, c.Name); offered != "" && offered != c.To.Version && action != v1beta2.RolloutAbort {
		return Outcome{}, behind(rollout, c, offered)
	}
	target := TargetOf(c.To)
	done := Outcome{Channel: c.Name, Wave: wave, Target: target}
	before, seen := rollout.Spec.Decision, observed(rollout)
	same := before != nil && before.Action == action && before.Target == target && before.Channel == c.Name && before.Wave == wave
	if same && (!seen || action == v1beta2.RolloutAbort && c.Phase == v1beta2.RolloutAborted) {
		done.Why = fmt.Sprintf("%s of %s %s is decided already%s", action, channelTitle(c.Name), c.To.Version, by(before.By))
		return done, nil
	}
	if before != nil && !same && !seen && action != v1beta2.RolloutAbort {
		return Outcome{}, refused("try again in a moment; kyma check shows whether the lifecycle manager runs",
			"the lifecycle manager has not seen the last decision about rollout %s yet: %s %s%s",
			rollout.Name, before.Action, before.Target, by(before.By))
	}
	rollout.Spec.Decision = &v1beta2.RolloutDecision{
		Action: action, Target: target, Channel: c.Name, Wave: wave, At: metav1.NewTime(person.At), By: bounded(person.Name),
	}
	done.Done = map[v1beta2.RolloutAction]string{
		v1beta2.RolloutApprove: "approved", v1beta2.RolloutResume: "resumed", v1beta2.RolloutAbort: "aborted",
	}[action]
	return done, nil
}

// behind refuses a decision about a version that the channel no longer names.
func behind(rollout *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel, offered string) error {
	return refused("try again in a moment; kyma rollout status "+rollout.Name+" shows how far it is",
		"%s of rollout %s names %s by now, which the lifecycle manager has not taken up yet", channelTitle(c.Name), rollout.Name, offered)
}

// TargetOf returns a version as decisions name it: with its digest where that is known.
func TargetOf(v v1beta2.RolloutVersion) string {
	if v.Digest == "" {
		return v.Version
	}
	return v.Version + "@" + v.Digest
}

// maxBy is how much of a name a decision can hold.
const maxBy = 256

func bounded(name string) string {
	runes := []rune(strings.ToValidUTF8(name, ""))
	return string(runes[:min(len(runes), maxBy)])
}

func by(name string) string {
	if name == "" {
		return ""
	}
	return " (by " + name + ")"
}

func ofChannel(name string) string {
	if name == "" {
		return ""
	}
	return " on channel " + name
}
