package rollouts

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// WaitsFor is what must happen before a rollout goes on, in one word.
type WaitsFor string

// What a rollout waits for.
const (
	// ForNothing: it is over.
	ForNothing WaitsFor = ""
	// ForManager: the lifecycle manager has not taken up the version or the last change yet.
	ForManager WaitsFor = "Manager"
	// ForResume: it is paused.
	ForResume WaitsFor = "Resume"
	// ForApproval: the wave begins when a person approves it.
	ForApproval WaitsFor = "Approval"
	// ForEmptyWave: the wave has no Kyma that can become ready, and passes when a person approves it.
	ForEmptyWave WaitsFor = "EmptyWave"
	// ForDecision: it has halted, and goes on or ends when a person decides.
	ForDecision WaitsFor = "Decision"
	// ForKymas: Kymas upgrade.
	ForKymas WaitsFor = "Kymas"
	// ForSoak: the wave is ready and is observed.
	ForSoak WaitsFor = "Soak"
	// ForWayBack: Kymas go back to the version before.
	ForWayBack WaitsFor = "WayBack"
)

// NeedsPerson reports whether nothing goes on before a person acts.
func (w WaitsFor) NeedsPerson() bool {
	return w == ForResume || w == ForApproval || w == ForEmptyWave || w == ForDecision
}

// expect fills in what the channel waits for, when something happens by itself, and what a person can do.
func (c *Channel) expect(rollout *v1beta2.ModuleRollout, status *v1beta2.RolloutChannel) {
	wave := waveNamed(status, status.Wave)
	c.WaitsFor = waits(rollout, status, c.Offered != "")
	if plan := planOf(rollout, status.Wave); c.WaitsFor == ForSoak && !wave.Since.IsZero() {
		c.next = wave.Since.Add(plan.Soak.Duration)
		c.NextAt = c.next.UTC().Format(time.RFC3339)
	}
	c.Message = status.Message
	if c.WaitsFor == ForManager || c.Message == "" {
		c.Message = c.describeWait(wave)
	}
	c.Actions = c.actions(rollout, wave)
}

// waits returns what a channel waits for:
//
//  1. the manager, while the status speaks of another spec or version
//  2. nothing more, once the rollout has ended
//  3. a decision, or the Kymas that go back, once it has halted
//  4. the end of a pause
//  5. an approval, while the phase is Waiting: to begin, or to pass for a wave that has begun
//  6. the Kymas of the wave, or its soak
func waits(rollout *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel, behind bool) WaitsFor {
	wave := waveNamed(c, c.Wave)
	switch {
	case behind:
		return ForManager
	case c.Phase == v1beta2.RolloutCompleted || c.Phase == v1beta2.RolloutAborted || c.Phase == v1beta2.RolloutRolledBack:
		return ForNothing
	case !observed(rollout):
		return ForManager
	case c.Phase == v1beta2.RolloutHalted:
		return ForDecision
	case c.Phase == v1beta2.RolloutRollingBack:
		return ForWayBack
	case rollout.Spec.Paused:
		return ForResume
	case c.Phase == v1beta2.RolloutWaiting && !wave.Since.IsZero():
		return ForEmptyWave
	case c.Phase == v1beta2.RolloutWaiting:
		return ForApproval
	case wave.Soaking:
		return ForSoak
	}
	return ForKymas
}

func waveNamed(c *v1beta2.RolloutChannel, name string) v1beta2.RolloutWaveStatus {
	for _, wave := range c.Waves {
		if wave.Name == name {
			return wave
		}
	}
	return v1beta2.RolloutWaveStatus{Name: name}
}

// describeWait returns what the channel waits for, in words.
func (c *Channel) describeWait(wave v1beta2.RolloutWaveStatus) string {
	switch c.WaitsFor {
	case ForManager:
		if c.Offered != "" {
			return fmt.Sprintf("%s names %s, which the lifecycle manager has not taken up yet", c.Title(), c.Offered)
		}
		return "the lifecycle manager has not taken up the last change of the rollout yet"
	case ForResume:
		return fmt.Sprintf("the rollout is paused: no further Kyma gets %s", c.To.Version)
	case ForApproval:
		return fmt.Sprintf("wave %s waits for approval", wave.Name)
	case ForEmptyWave:
		return fmt.Sprintf("wave %s has no Kyma that can become ready: approve it to go on, or correct its selector", wave.Name)
	case ForDecision:
		return fmt.Sprintf("%d of the %d Kymas of wave %s failed, and %d may", wave.Failed, wave.Total, wave.Name, c.allowedIn(wave.Name))
	case ForWayBack:
		return fmt.Sprintf("Kymas go back from %s; %d do so now", c.To.Version, c.Back)
	case ForSoak:
		return fmt.Sprintf("wave %s is ready, and must stay so for a while", wave.Name)
	case ForKymas:
		return fmt.Sprintf("wave %s upgrades: %d Kymas have not begun, %d are not ready yet", wave.Name, wave.Waiting, wave.Updating)
	case ForNothing:
	}
	return c.ending()
}

// allowedIn returns how many Kymas of a wave may fail.
func (c *Channel) allowedIn(wave string) int32 {
	for i := range c.Waves {
		if c.Waves[i].Name == wave {
			return c.Waves[i].Allowed
		}
	}
	return 0
}

// ending says how a rollout ended.
func (c *Channel) ending() string {
	switch c.Phase {
	case v1beta2.RolloutAborted:
		return fmt.Sprintf("the rollout was aborted: no further Kyma gets %s", c.To.Version)
	case v1beta2.RolloutRolledBack:
		return fmt.Sprintf("too many Kymas failed, and those that had %s have gone back", c.To.Version)
	default:
		return fmt.Sprintf("%s is released to every Kyma", c.To.Version)
	}
}

// Title names a channel in a sentence.
func (c *Channel) Title() string { return channelTitle(c.Name) }

func channelTitle(name string) string {
	if name == "" {
		return "the mandatory module"
	}
	return "channel " + name
}

// Step returns which of the waves is under way, such as "early (2 of 3)"; empty when none is.
func (c *Channel) Step() string {
	for i, wave := range c.Waves {
		if wave.Name == c.Wave {
			return fmt.Sprintf("%s (%d of %d)", wave.Name, i+1, len(c.Waves))
		}
	}
	return c.Wave
}

// Next returns when something happens by itself; false when nothing does.
func (c *Channel) Next() (time.Time, bool) { return c.next, !c.next.IsZero() }

// actions returns what a person can do about a channel.
func (c *Channel) actions(rollout *v1beta2.ModuleRollout, wave v1beta2.RolloutWaveStatus) []Action {
	which := rollout.Name
	if len(rollout.Status.Channels) > 1 && c.Name != "" {
		which += " --channel " + c.Name
	}
	abort := Action{"kyma rollout abort " + which, "ends it" + setsBack(c)}
	watch := Action{"kyma rollout status " + rollout.Name + " --watch", "follows it"}
	switch c.WaitsFor {
	case ForApproval:
		return []Action{{"kyma rollout approve " + which, "lets wave " + wave.Name + " begin"}, abort}
	case ForEmptyWave:
		return []Action{{"kyma rollout approve " + which, "passes wave " + wave.Name}, abort}
	case ForResume:
		return []Action{{"kyma rollout resume " + rollout.Name, "goes on"}, abort}
	case ForDecision:
		return []Action{{"kyma rollout resume " + which, "goes on, and forgives the Kymas that have failed so far"}, abort}
	case ForKymas, ForSoak:
		return []Action{watch, {"kyma rollout pause " + rollout.Name, "admits no further Kyma"}, abort}
	case ForWayBack:
		return []Action{watch, {"kyma rollout pause " + rollout.Name, "stops the way back"}, abort}
	case ForManager:
		return []Action{watch}
	case ForNothing:
		if c.mustGoBack() {
			return []Action{abort}
		}
	}
	return nil
}

// mustGoBack reports whether the rollout has ended, and its channel still names the version that did not get through.
func (c *Channel) mustGoBack() bool {
	failed := c.Phase == v1beta2.RolloutRolledBack || c.Phase == v1beta2.RolloutAborted
	return failed && c.Offered == "" && c.From.Version != "" && c.From.Version != c.To.Version
}

// setsBack completes the sentence about an abort.
func setsBack(c *Channel) string {
	if c.From.Version == "" || c.From.Version == c.To.Version {
		return ": no further Kyma gets " + c.To.Version
	}
	return fmt.Sprintf(", and sets %s back to %s", c.Title(), c.From.Version)
}

// allowed returns how many Kymas of a wave may fail.
func allowed(text string, total int32) int32 {
	number, share := strings.CutSuffix(text, "%")
	n, err := strconv.ParseInt(cmp.Or(number, "0"), 10, 32)
	switch {
	case err != nil:
		return 0
	case share:
		return int32(int64(total) * n / 100)
	}
	return int32(n)
}

// shorten removes what is zero at the end of a duration's text.
func shorten(text string) string {
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
