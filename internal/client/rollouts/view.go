package rollouts

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// Pending is the phase of a rollout that the lifecycle manager has not looked at yet.
const Pending v1beta2.RolloutPhase = "Pending"

// Rollout is a ModuleRollout as users see it.
type Rollout struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	// Phase of the channel that needs a person most.
	Phase v1beta2.RolloutPhase `json:"phase"`
	// Summary says in one line how far all channels are.
	Summary string `json:"summary,omitempty"`
	// Observed reports whether the status speaks of the present spec.
	Observed bool `json:"observed"`
	// Armed reports whether the release is marked; ArmedMessage says why it is not.
	Armed        bool   `json:"armed"`
	ArmedMessage string `json:"armedMessage,omitempty"`
	Paused       bool   `json:"paused,omitempty"`
	// Deleting reports whether a user deleted it; it goes once no channel needs it.
	Deleting bool `json:"deleting,omitempty"`
	// Problem says why the plan cannot be carried out.
	Problem          string                       `json:"problem,omitempty"`
	OnFailure        v1beta2.RolloutFailureAction `json:"onFailure,omitempty"`
	ProgressDeadline string                       `json:"progressDeadline,omitempty"`
	Decision         *Decision                    `json:"decision,omitempty"`
	Channels         []Channel                    `json:"channels"`
}

// Decision is the last decision of a person.
type Decision struct {
	Action  v1beta2.RolloutAction `json:"action"`
	Target  string                `json:"target"`
	Channel string                `json:"channel,omitempty"`
	Wave    string                `json:"wave,omitempty"`
	At      string                `json:"at,omitempty"`
	By      string                `json:"by,omitempty"`
}

// Channel is the rollout of one channel.
type Channel struct {
	// Name is empty for a mandatory module.
	Name string  `json:"name"`
	From Version `json:"from,omitzero"`
	To   Version `json:"to"`
	// Offered is the version that the release names, where the rollout has not taken it up yet.
	Offered string               `json:"offered,omitempty"`
	Phase   v1beta2.RolloutPhase `json:"phase"`
	Wave    string               `json:"wave,omitempty"`
	// WaitsFor is what must happen next, in one word and in a sentence.
	WaitsFor WaitsFor `json:"waitsFor,omitempty"`
	Message  string   `json:"message,omitempty"`
	// NextAt is when something happens without an event, such as the end of a soak; empty when nothing does.
	NextAt string `json:"nextAt,omitempty"`
	// Open reports whether the current wave admits all of its Kymas; Underway and Back count those that may upgrade and go back now.
	Open     bool      `json:"open,omitempty"`
	Underway int       `json:"underway"`
	Back     int       `json:"back,omitempty"`
	Waves    []Wave    `json:"waves"`
	Worst    []Failure `json:"worst,omitempty"`
	// Actions are what a person can do, as command lines.
	Actions []Action `json:"actions,omitempty"`
	next    time.Time
}

// Version is a version and the digest of its content.
type Version struct {
	Version string `json:"version,omitempty"`
	Digest  string `json:"digest,omitempty"`
}

// Wave is one wave of a channel: its plan and its Kymas in every state.
type Wave struct {
	Name string `json:"name"`
	// State is one word: Passed, Updating, Soaking, Waiting, Halted, RollingBack, RolledBack, Aborted or Pending.
	State string `json:"state"`
	Since string `json:"since,omitempty"`
	// Soak, Share, MaxConcurrent and Approval repeat the plan; Allowed is how many Kymas may fail.
	Soak          string `json:"soak,omitempty"`
	Share         string `json:"share,omitempty"`
	MaxConcurrent int32  `json:"maxConcurrent,omitempty"`
	Approval      bool   `json:"approval,omitempty"`
	Allowed       int32  `json:"allowedFailures"`
	Total         int32  `json:"total"`
	Waiting       int32  `json:"waiting"`
	Updating      int32  `json:"updating"`
	Ready         int32  `json:"ready"`
	Failed        int32  `json:"failed"`
	BrokenBefore  int32  `json:"brokenBefore"`
	Skipped       int32  `json:"skipped"`
}

// Failure is a Kyma that failed or is late.
type Failure struct {
	Kyma    string `json:"kyma"`
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
	Since   string `json:"since,omitempty"`
}

// Action is a command line, and what it does.
type Action struct {
	Command string `json:"command"`
	Effect  string `json:"effect"`
}

// All returns the rollouts of a cluster, sorted by name and namespace.
func All(in *modulestatus.Inputs) []Rollout {
	all := make([]Rollout, 0, len(in.Rollouts))
	for i := range in.Rollouts {
		all = append(all, Describe(&in.Rollouts[i], ReleaseOf(in, &in.Rollouts[i])))
	}
	slices.SortFunc(all, func(a, b Rollout) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Namespace, b.Namespace))
	})
	return all
}

// ReleaseOf returns the release that a rollout is for; nil when there is none, or when it was not read.
func ReleaseOf(in *modulestatus.Inputs, rollout *v1beta2.ModuleRollout) *v1beta2.ModuleReleaseMeta {
	for i := range in.Releases {
		if in.Releases[i].Name == rollout.Name && in.Releases[i].Namespace == rollout.Namespace {
			return &in.Releases[i]
		}
	}
	return nil
}

// Offered returns the version that a channel of a release names, that of a mandatory module for the channel without a name; empty when
// there is none.
func Offered(release *v1beta2.ModuleReleaseMeta, channel string) string {
	switch {
	case release == nil:
		return ""
	case release.Spec.Mandatory != nil && channel == "":
		return release.Spec.Mandatory.Version
	}
	for _, offer := range release.Spec.Channels {
		if offer.Channel == channel {
			return offer.Version
		}
	}
	return ""
}

// Describe returns a rollout as users see it. The release may be nil: then it is not known whether the rollout is behind it.
func Describe(rollout *v1beta2.ModuleRollout, release *v1beta2.ModuleReleaseMeta) Rollout {
	r := Rollout{
		Name: rollout.Name, Namespace: rollout.Namespace, Paused: rollout.Spec.Paused, OnFailure: rollout.Spec.OnFailure,
		Observed: observed(rollout), Phase: cmp.Or(rollout.Status.Phase, Pending), Deleting: rollout.DeletionTimestamp != nil,
		Armed: meta.IsStatusConditionTrue(rollout.Status.Conditions, v1beta2.ConditionArmed), Channels: []Channel{},
		ProgressDeadline: durationText(rollout.Spec.ProgressDeadline), Summary: rollout.Status.Summary,
	}
	if armed := meta.FindStatusCondition(rollout.Status.Conditions, v1beta2.ConditionArmed); armed != nil && !r.Armed {
		r.ArmedMessage = armed.Message
	}
	for _, c := range rollout.Status.Conditions {
		if c.Reason == v1beta2.ReasonSpecInvalid {
			r.Problem = c.Message
		}
	}
	if d := rollout.Spec.Decision; d != nil {
		r.Decision = &Decision{Action: d.Action, Target: d.Target, Channel: d.Channel, Wave: d.Wave, At: timeText(d.At), By: d.By}
	}
	for i := range rollout.Status.Channels {
		r.Channels = append(r.Channels, channelOf(rollout, &rollout.Status.Channels[i], release))
	}
	return r
}

// observed reports whether the status speaks of the present spec.
func observed(rollout *v1beta2.ModuleRollout) bool {
	return rollout.Status.ObservedGeneration >= rollout.Generation && rollout.Status.Phase != ""
}

func channelOf(rollout *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel, release *v1beta2.ModuleReleaseMeta) Channel {
	made := Channel{
		Name: c.Name, From: Version(c.From), To: Version(c.To), Phase: c.Phase, Wave: c.Wave, Open: c.Open,
		Underway: len(c.Underway), Back: len(c.Back), Waves: []Wave{},
	}
	if offered := Offered(release, c.Name); offered != "" && offered != c.To.Version {
		made.Offered = offered
	}
	passed := true
	for i := range c.Waves {
		if c.Waves[i].Name == c.Wave {
			passed = false
		}
		made.Waves = append(made.Waves, waveOf(rollout, c, &c.Waves[i], passed))
	}
	for _, f := range c.Worst {
		made.Worst = append(made.Worst, Failure{Kyma: f.Kyma, Reason: f.Reason, Message: f.Message, Since: timeText(f.Since)})
	}
	made.expect(rollout, c)
	return made
}

// waveOf joins the plan of a wave with its counts. passed reports whether the rollout is through with it.
func waveOf(rollout *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel, status *v1beta2.RolloutWaveStatus, passed bool) Wave {
	plan := planOf(rollout, status.Name)
	w := Wave{
		Name: status.Name, Since: timeText(status.Since), Soak: durationText(plan.Soak), Share: plan.Share,
		MaxConcurrent: plan.MaxConcurrent, Approval: plan.Approval, Allowed: allowed(plan.MaxFailed, status.Total), Total: status.Total,
		Waiting: status.Waiting, Updating: status.Updating, Ready: status.Ready, Failed: status.Failed,
		BrokenBefore: status.BrokenBefore, Skipped: status.Skipped, State: string(Pending),
	}
	switch {
	case c.Phase == v1beta2.RolloutCompleted, passed:
		w.State = "Passed"
	case status.Name != c.Wave: // its turn has not come
	case c.Phase != v1beta2.RolloutProgressing:
		w.State = string(c.Phase)
	case status.Soaking:
		w.State = "Soaking"
	default:
		w.State = "Updating"
	}
	return w
}

// planOf returns the plan of a wave; that of the Kymas that no wave selects is empty.
func planOf(rollout *v1beta2.ModuleRollout, name string) v1beta2.RolloutWave {
	for i := range rollout.Spec.Waves {
		if rollout.Spec.Waves[i].Name == name {
			return rollout.Spec.Waves[i]
		}
	}
	return v1beta2.RolloutWave{Name: name}
}

func timeText(at metav1.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// durationText returns a duration as a user writes it: 2h, not 2h0m0s.
func durationText(d metav1.Duration) string {
	if d.Duration == 0 {
		return ""
	}
	return shorten(d.Duration.String())
}

// Trouble says why a rollout does not do what its plan says, or that it has not begun; empty when nothing is wrong.
func (r *Rollout) Trouble() string {
	switch {
	case r.Problem != "":
		return r.Problem
	case r.Phase == Pending:
		return "the lifecycle manager has not looked at it yet"
	case !r.Armed && r.ArmedMessage != "":
		return r.ArmedMessage
	case !r.Armed:
		return "the release is not marked yet: no Kyma gets another version"
	case len(r.Channels) == 0:
		return cmp.Or(r.Summary, "it decides about no channel of the module")
	}
	return ""
}
