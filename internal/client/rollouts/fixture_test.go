package rollouts

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// noon is when the tests happen.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// newRollout returns a rollout of eventing on channel regular, from 1.2.0 to 1.3.0, whose wave early of three upgrades.
func newRollout(changes ...func(*v1beta2.ModuleRollout)) *v1beta2.ModuleRollout {
	r := &v1beta2.ModuleRollout{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "eventing", UID: "u", Generation: 3}}
	r.Spec = v1beta2.ModuleRolloutSpec{
		OnFailure: v1beta2.RolloutHalt, ProgressDeadline: metav1.Duration{Duration: 30 * time.Minute},
		Waves: []v1beta2.RolloutWave{
			{Name: "canary", Soak: metav1.Duration{Duration: 2 * time.Hour}},
			{Name: "early", Share: "10%", MaxConcurrent: 50, MaxFailed: "1%", Soak: metav1.Duration{Duration: 90 * time.Minute}},
			{Name: "rest", MaxFailed: "3", Approval: true},
		},
	}
	r.Status = v1beta2.ModuleRolloutStatus{
		ObservedGeneration: 3, Phase: v1beta2.RolloutProgressing,
		Conditions: []metav1.Condition{{Type: v1beta2.ConditionArmed, Status: metav1.ConditionTrue, Reason: v1beta2.ReasonArmed}},
		Channels:   []v1beta2.RolloutChannel{newChannel("regular")},
	}
	for _, change := range changes {
		change(r)
	}
	return r
}

func newChannel(name string) v1beta2.RolloutChannel {
	return v1beta2.RolloutChannel{
		Name: name, Phase: v1beta2.RolloutProgressing, Wave: "early", Underway: []string{"a", "b"},
		From: v1beta2.RolloutVersion{Version: "1.2.0", Digest: "sha256:a"}, To: v1beta2.RolloutVersion{Version: "1.3.0", Digest: "sha256:b"},
		Waves: []v1beta2.RolloutWaveStatus{
			{Name: "canary", Since: metav1.NewTime(noon.Add(-3 * time.Hour)), Total: 3, Ready: 3},
			{Name: "early", Since: metav1.NewTime(noon.Add(-30 * time.Minute)), Total: 200, Waiting: 190, Updating: 2, Ready: 7, Failed: 1},
			{Name: "rest", Total: 1000, Waiting: 990, Skipped: 10},
		},
		Worst: []v1beta2.RolloutFailure{{
			Kyma: "alice", Reason: v1beta2.ReasonProgressDeadlineExceeded, Message: "0 of 1 replicas", Since: metav1.NewTime(noon.Add(-time.Minute)),
		}},
	}
}

// on changes the first channel.
func on(change func(*v1beta2.RolloutChannel)) func(*v1beta2.ModuleRollout) {
	return func(r *v1beta2.ModuleRollout) { change(&r.Status.Channels[0]) }
}

// inPhase sets the phase of the first channel, and of the rollout.
func inPhase(phase v1beta2.RolloutPhase, wave string) func(*v1beta2.ModuleRollout) {
	return func(r *v1beta2.ModuleRollout) {
		r.Status.Phase, r.Status.Channels[0].Phase, r.Status.Channels[0].Wave = phase, phase, wave
	}
}

func paused(r *v1beta2.ModuleRollout) { r.Spec.Paused = true }

func unseen(r *v1beta2.ModuleRollout) { r.Generation++ }

// twoChannels adds channel fast in the same state.
func twoChannels(r *v1beta2.ModuleRollout) {
	second := *r.Status.Channels[0].DeepCopy()
	second.Name = "fast"
	r.Status.Channels = append(r.Status.Channels, second)
}

func decided(action v1beta2.RolloutAction, wave string) func(*v1beta2.ModuleRollout) {
	return func(r *v1beta2.ModuleRollout) {
		r.Spec.Decision = &v1beta2.RolloutDecision{Action: action, Target: "1.3.0@sha256:b", Channel: "regular", Wave: wave, By: "ann"}
	}
}

// releaseWith returns the release of eventing, with versions of channels.
func releaseWith(channels ...string) *v1beta2.ModuleReleaseMeta {
	r := &v1beta2.ModuleReleaseMeta{ObjectMeta: metav1.ObjectMeta{Namespace: "kcp-system", Name: "eventing"}}
	r.Spec.ModuleName = "eventing"
	for i := 0; i < len(channels); i += 2 {
		r.Spec.Channels = append(r.Spec.Channels, v1beta2.ChannelVersion{Channel: channels[i], Version: channels[i+1]})
	}
	return r
}

func mandatoryRelease(version string) *v1beta2.ModuleReleaseMeta {
	r := releaseWith()
	r.Spec.Mandatory = &v1beta2.Mandatory{Version: version}
	return r
}
