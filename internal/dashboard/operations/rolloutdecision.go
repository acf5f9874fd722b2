package operations

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
)

// RolloutAction is what a user can do about a rollout.
type RolloutAction string

// The actions. Pause and unpause are about the rollout as a whole, the others about the target of one channel.
const (
	RolloutPause   RolloutAction = "pause"
	RolloutUnpause RolloutAction = "unpause"
	RolloutApprove               = RolloutAction(v1beta2.RolloutApprove)
	RolloutResume                = RolloutAction(v1beta2.RolloutResume)
	RolloutAbort                 = RolloutAction(v1beta2.RolloutAbort)
)

var rolloutActions = []RolloutAction{RolloutPause, RolloutUnpause, RolloutApprove, RolloutResume, RolloutAbort}

// ofChannel reports whether the action is about the target of one channel.
func (a RolloutAction) ofChannel() bool { return a != RolloutPause && a != RolloutUnpause }

// RolloutTarget returns how a decision names the target of a channel.
func RolloutTarget(to v1beta2.RolloutVersion) string {
	if to.Digest == "" {
		return to.Version
	}
	return to.Version + "@" + to.Digest
}

// RolloutApplies returns why an action makes no sense for a channel at present; "" if it does.
func RolloutApplies(action RolloutAction, c *v1beta2.RolloutChannel) string {
	over := c.Phase == v1beta2.RolloutCompleted || c.Phase == v1beta2.RolloutAborted
	switch {
	case action == RolloutApprove && c.Phase != v1beta2.RolloutWaiting:
		return "no wave waits for an approval"
	case action == RolloutResume && c.Phase != v1beta2.RolloutHalted:
		return "it has not halted"
	case action == RolloutAbort && over:
		return "it is over"
	}
	return ""
}

// rolloutDecision is a decision as it would be carried out.
type rolloutDecision struct {
	// Spec is the plan of the rollout with the decision.
	Spec v1beta2.ModuleRolloutSpec
	// Effect says in a sentence what follows.
	Effect   string
	Warnings []string
	// SetBack lets the channel offer the version before; nil if it stays.
	SetBack *packaging.Move
}

// decision returns what follows from the request for a rollout as it was read. An error says why it does not fit, or no longer.
func (p *planner) decision(r *v1beta2.ModuleRollout) (rolloutDecision, error) {
	return decide(r, p.deed, p.as.Name, p.now())
}

// decide returns what a request changes in a rollout:
//
//  1. pause and unpause set spec.paused
//  2. a decision about another target than that of the channel is refused: the user saw another one
//  3. a decision that was made already stays as it is, so that an operation can be repeated
//  4. a decision that makes no sense in the present phase is refused
//  5. an abort also sets the channel back to the version before, if there is one
func decide(r *v1beta2.ModuleRollout, deed *Request, by string, now time.Time) (rolloutDecision, error) {
	made := rolloutDecision{Spec: *r.Spec.DeepCopy()}
	switch deed.Action {
	case RolloutPause:
		made.Spec.Paused, made.Effect = true, "no further Kyma begins; upgrades that have begun continue"
		return made, nil
	case RolloutUnpause:
		made.Spec.Paused, made.Effect = false, "Kymas of the current wave begin again"
		return made, nil
	}
	known := r.Spec.Decision
	again := known != nil && string(known.Action) == string(deed.Action) && known.Target == deed.Target && known.Channel == deed.Channel &&
		(known.Wave == deed.Wave || deed.Action == RolloutAbort)
	c := channelAt(r, deed.Channel)
	if again && deed.Action == RolloutAbort {
		made.Effect, made.SetBack = abortEffect, setBackTo(deed)
		return made, nil
	}
	if err := fits(r, c, deed); err != nil {
		return made, err
	}
	if why := RolloutApplies(deed.Action, c); why != "" && !again {
		return made, refuse(WhyRefused, "%s of %s cannot be done for %s: %s", deed.Action, r.Name, channelText(deed.Channel), why)
	}
	if !again {
		made.Spec.Decision = &v1beta2.RolloutDecision{
			Action: v1beta2.RolloutAction(deed.Action), Target: deed.Target, Channel: deed.Channel, Wave: c.Wave,
			At: metav1.NewTime(now.UTC().Truncate(time.Second)), By: by,
		}
	}
	made.effect(c, deed)
	return made, nil
}

const abortEffect = "no further Kyma gets the version; those that have it keep it"

// effect fills in what follows from a decision about a channel.
func (d *rolloutDecision) effect(c *v1beta2.RolloutChannel, deed *Request) {
	failed, waiting := int32(0), int32(0)
	for i := range c.Waves {
		failed += c.Waves[i].Failed
		if c.Waves[i].Name == c.Wave {
			waiting = c.Waves[i].Waiting
		}
	}
	switch deed.Action {
	case RolloutApprove:
		d.Effect = fmt.Sprintf("wave %s goes on: %d Kymas of it do not have %s yet", c.Wave, waiting, c.To.Version)
	case RolloutResume:
		d.Effect = "the rollout goes on where it halted, and what failed so far no longer counts"
		if failed > 0 {
			d.Warnings = append(d.Warnings, fmt.Sprintf("%d Kymas that failed are forgiven: %s", failed, worstOf(c)))
		}
	case RolloutAbort:
		d.Effect, d.SetBack = abortEffect, setBackTo(deed)
		if d.SetBack == nil {
			d.Warnings = append(d.Warnings, fmt.Sprintf("no version before %s was rolled out completely, so that %s offers it still: Kymas that "+
				"do not have it wait until the channel offers another version", c.To.Version, channelText(c.Name)))
		}
	case RolloutPause, RolloutUnpause:
	}
	if d.Spec.Paused && deed.Action != RolloutAbort {
		d.Warnings = append(d.Warnings, "the rollout is paused: nothing begins until it is continued")
	}
}

// setBackTo returns the move of the channel that an abort includes; nil if there is no version to go back to.
func setBackTo(deed *Request) *packaging.Move {
	version, _, _ := strings.Cut(deed.Target, "@")
	if deed.Version == "" || deed.Version == version {
		return nil
	}
	return &packaging.Move{Channel: deed.Channel, From: version, To: deed.Version}
}

// fits returns an error if the channel is not in the state that the user saw.
func fits(r *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel, deed *Request) error {
	switch {
	case c == nil:
		return refuse(WhyNotFound, "rollout %s/%s is not about %s", r.Namespace, r.Name, channelText(deed.Channel))
	case RolloutTarget(c.To) != deed.Target:
		return refuse(WhyBusy, "%s of %s offers %s meanwhile, and not %s: look at the rollout again", channelText(deed.Channel), r.Name,
			cmp.Or(RolloutTarget(c.To), "nothing"), deed.Target)
	case deed.Action != RolloutAbort && c.Wave != deed.Wave:
		return refuse(WhyBusy, "the rollout of %s is in wave %s meanwhile, and not in %s: look at it again", r.Name, cmp.Or(c.Wave, "none"), deed.Wave)
	case deed.Action == RolloutAbort && c.From.Version != deed.Version:
		return refuse(WhyBusy, "the version before %s is %s, and not %s: look at the rollout again", c.To.Version, cmp.Or(c.From.Version, "none"),
			cmp.Or(deed.Version, "none"))
	}
	return nil
}

func channelAt(r *v1beta2.ModuleRollout, name string) *v1beta2.RolloutChannel {
	at := slices.IndexFunc(r.Status.Channels, func(c v1beta2.RolloutChannel) bool { return c.Name == name })
	if at < 0 {
		return nil
	}
	return &r.Status.Channels[at]
}

// channelText names a channel; mandatory modules have none.
func channelText(name string) string {
	if name == "" {
		return "the mandatory version"
	}
	return "channel " + name
}

func worstOf(c *v1beta2.RolloutChannel) string {
	var names []string
	for i := range c.Worst {
		names = append(names, c.Worst[i].Kyma)
	}
	return few(names)
}
