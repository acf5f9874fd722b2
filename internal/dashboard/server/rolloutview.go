package server

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// rolloutLine is one rollout as the list shows it.
type rolloutLine struct {
	Name      string               `json:"name"`
	Namespace string               `json:"namespace"`
	Phase     v1beta2.RolloutPhase `json:"phase"`
	Summary   string               `json:"summary,omitempty"`
	Paused    bool                 `json:"paused"`
	// Observed is false until the lifecycle manager has looked at the present plan.
	Observed bool             `json:"observed"`
	Channels []rolloutChannel `json:"channels"`
}

// rolloutChannel is the rollout of one channel to its target.
type rolloutChannel struct {
	// Name of the channel; empty for a mandatory module.
	Name    string                 `json:"name"`
	From    v1beta2.RolloutVersion `json:"from"`
	To      v1beta2.RolloutVersion `json:"to"`
	Phase   v1beta2.RolloutPhase   `json:"phase"`
	Message string                 `json:"message,omitempty"`
	Wave    string                 `json:"wave,omitempty"`
	Open    bool                   `json:"open"`
	// Underway and Back count the Kymas that may upgrade and go back now.
	Underway int              `json:"underway"`
	Back     int              `json:"back"`
	Waves    []rolloutWave    `json:"waves"`
	Worst    []rolloutFailure `json:"worst"`
}

// rolloutWave is a wave: what is planned for it, and the Kymas that it has in every state.
type rolloutWave struct {
	Name string `json:"name"`
	// Stage is Passed, Current or Ahead.
	Stage waveStage `json:"stage"`
	// Planned is false for the wave of the Kymas that no wave selects.
	Planned       bool   `json:"planned"`
	Selects       string `json:"selects,omitempty"`
	Share         string `json:"share,omitempty"`
	MaxConcurrent int32  `json:"maxConcurrent,omitempty"`
	MaxFailed     string `json:"maxFailed,omitempty"`
	Soak          string `json:"soak,omitempty"`
	Approval      bool   `json:"approval"`

	Since   *metav1.Time `json:"since,omitempty"`
	Soaking bool         `json:"soaking"`
	// SoakEnds is when the next wave begins if nothing fails.
	SoakEnds *metav1.Time `json:"soakEnds,omitempty"`
	WaveCounts
}

// WaveCounts are the Kymas of a wave, by state.
type WaveCounts struct {
	Total        int32 `json:"total"`
	Waiting      int32 `json:"waiting"`
	Updating     int32 `json:"updating"`
	Ready        int32 `json:"ready"`
	Failed       int32 `json:"failed"`
	BrokenBefore int32 `json:"brokenBefore"`
	Skipped      int32 `json:"skipped"`
}

// waveStage says where a rollout is with a wave.
type waveStage string

const (
	wavePassed  waveStage = "Passed"
	waveCurrent waveStage = "Current"
	waveAhead   waveStage = "Ahead"
)

// rolloutFailure is a Kyma that failed or is late.
type rolloutFailure struct {
	// Kyma is NAMESPACE/NAME.
	Kyma    string       `json:"kyma"`
	Reason  string       `json:"reason"`
	Message string       `json:"message,omitempty"`
	Since   *metav1.Time `json:"since,omitempty"`
}

func rolloutLineOf(r *v1beta2.ModuleRollout) rolloutLine {
	line := rolloutLine{
		Name: r.Name, Namespace: r.Namespace, Phase: r.Status.Phase, Summary: r.Status.Summary, Paused: r.Spec.Paused,
		Observed: r.Status.ObservedGeneration == r.Generation, Channels: []rolloutChannel{},
	}
	for i := range r.Status.Channels {
		line.Channels = append(line.Channels, channelOf(r, &r.Status.Channels[i]))
	}
	return line
}

func channelOf(r *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) rolloutChannel {
	made := rolloutChannel{
		Name: c.Name, From: c.From, To: c.To, Phase: c.Phase, Message: c.Message, Wave: c.Wave, Open: c.Open, Underway: len(c.Underway),
		Back: len(c.Back), Waves: wavesOf(&r.Spec, c), Worst: []rolloutFailure{},
	}
	for i := range c.Worst {
		w := &c.Worst[i]
		kyma := modulestatus.Key{Namespace: r.Namespace, Name: w.Kyma}
		made.Worst = append(made.Worst, rolloutFailure{Kyma: kyma.String(), Reason: w.Reason, Message: w.Message, Since: timeOf(w.Since)})
	}
	return made
}

// wavesOf returns the waves in their order: those that were counted, with what is planned for them. A plan that was not looked at yet has
// waves without counts.
func wavesOf(spec *v1beta2.ModuleRolloutSpec, c *v1beta2.RolloutChannel) []rolloutWave {
	planned := map[string]*v1beta2.RolloutWave{}
	for i := range spec.Waves {
		planned[spec.Waves[i].Name] = &spec.Waves[i]
	}
	waves, stage := []rolloutWave{}, wavePassed
	if c.Wave == "" && c.Phase != v1beta2.RolloutCompleted {
		stage = waveAhead
	}
	for i := range c.Waves {
		counted := &c.Waves[i]
		one := rolloutWave{Name: counted.Name, Stage: stage, Soaking: counted.Soaking, Since: timeOf(counted.Since), WaveCounts: WaveCounts{
			counted.Total, counted.Waiting, counted.Updating, counted.Ready, counted.Failed, counted.BrokenBefore, counted.Skipped,
		}}
		if counted.Name == c.Wave {
			one.Stage, stage = waveCurrent, waveAhead
		}
		one.plan(planned[counted.Name])
		waves = append(waves, one)
	}
	return waves
}

// plan fills in what is planned for a wave; the wave of the Kymas that no wave selects has no plan.
func (w *rolloutWave) plan(planned *v1beta2.RolloutWave) {
	if planned == nil {
		return
	}
	w.Planned, w.Share, w.MaxConcurrent, w.MaxFailed = true, planned.Share, planned.MaxConcurrent, planned.MaxFailed
	w.Approval = planned.Approval
	if planned.Selector != nil {
		w.Selects = metav1.FormatLabelSelector(planned.Selector)
	}
	if soak := planned.Soak.Duration; soak > 0 {
		w.Soak = soakText(soak)
		if w.Soaking && w.Stage == waveCurrent && w.Since != nil {
			w.SoakEnds = &metav1.Time{Time: w.Since.Add(soak)}
		}
	}
}

// soakText writes a duration as in a plan: "2h", and not "2h0m0s".
func soakText(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if len(text) > len(zero) && text[len(text)-len(zero):] == zero {
			text = text[:len(text)-len(zero)+1]
		}
	}
	return text
}

// timeOf returns a time, nil for none.
func timeOf(t metav1.Time) *metav1.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
