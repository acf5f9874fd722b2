package rollout

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestChange_ConcernsOnlyThoseThatGetSomethingElse(t *testing.T) {
	const mark, offered = "mark", "2.0.0"
	const canaryUID, restUID = "0f6c2a44-91c5-4d5e-8a7b-000000000001", "1f6c2a44-91c5-4d5e-8a7b-000000000002"
	canary := Applicant{UID: canaryUID, Labels: map[string]string{"ring": "canary"}, Running: "1.0.0"}
	rest := Applicant{UID: restUID, Running: "1.0.0"}
	ready := Applicant{UID: canaryUID, Labels: canary.Labels, Running: offered}
	fresh := Applicant{UID: restUID}
	since := metav1.NewTime(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	made := &v1beta2.ModuleRollout{
		Spec: v1beta2.ModuleRolloutSpec{Waves: []v1beta2.RolloutWave{
			{Name: "canary", Selector: &metav1.LabelSelector{MatchLabels: canary.Labels}, MaxConcurrent: 1}, {Name: "rest"},
		}},
		Status: v1beta2.ModuleRolloutStatus{Channels: []v1beta2.RolloutChannel{{
			Name: "regular", From: v1beta2.RolloutVersion{Version: "1.0.0"}, To: v1beta2.RolloutVersion{Version: offered},
			Phase: v1beta2.RolloutProgressing, Wave: "canary",
			Waves: []v1beta2.RolloutWaveStatus{{Name: "canary", Since: since}, {Name: "rest"}, {Name: Others}},
		}}},
	}
	made.UID = mark
	type edit = func(*v1beta2.ModuleRollout, *v1beta2.RolloutChannel)
	for name, test := range map[string]struct {
		change                                   edit
		canary, rest, ready, fresh, names, sleep bool
	}{
		"nothing": {change: func(*v1beta2.ModuleRollout, *v1beta2.RolloutChannel) {}, sleep: true},
		"counts and messages": {change: func(r *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) {
			c.Waves[0].Updating, c.Waves[0].Soaking, c.Message, r.Status.Summary = 3, true, "so far", "so far"
		}, sleep: true},
		"a place": {change: func(_ *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) {
			c.Underway = []string{Prefix(canaryUID)}
		}, canary: true, names: true},
		"a wave that begins with a bound": {change: func(r *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) {
			c.Wave, c.Waves[1].Since = "rest", since
		}},
		"a wave that is open for all": {change: func(_ *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) {
			c.Wave, c.Waves[1].Since, c.Open = "rest", since, true
		}, rest: true, fresh: true},
		"too many failed": {change: func(_ *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) { c.Phase = v1beta2.RolloutHalted }},
		"the rollout is taken back from one": {change: func(_ *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) {
			c.Phase, c.Back = v1beta2.RolloutRollingBack, []string{Prefix(canaryUID)}
		}, canary: true, ready: true, names: true},
		"the rollout completed": {change: func(_ *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) {
			c.Phase, c.Wave, c.From = v1beta2.RolloutCompleted, "", c.To
		}, canary: true, rest: true, fresh: true},
		"a person aborted it": {change: func(r *v1beta2.ModuleRollout, _ *v1beta2.RolloutChannel) {
			r.Spec.Decision = &v1beta2.RolloutDecision{Action: v1beta2.RolloutAbort, Target: offered}
		}, canary: true, rest: true, ready: true, fresh: true},
		"the version before became known": {change: func(_ *v1beta2.ModuleRollout, c *v1beta2.RolloutChannel) {
			c.From.Version = "0.9.0"
		}, canary: true, rest: true, fresh: true},
	} {
		t.Run(name, func(t *testing.T) {
			now := made.DeepCopy()
			test.change(now, &now.Status.Channels[0])
			change := Change{Before: made, Now: now}
			if change.Relevant() == test.sleep {
				t.Errorf("relevant: %t", change.Relevant())
			}
			if named := change.Named(); named[Prefix(canaryUID)] != test.names || named[Prefix(restUID)] {
				t.Errorf("named %v", named)
			}
			for who, one := range map[string]struct {
				applicant Applicant
				want      bool
			}{"canary": {canary, test.canary}, "rest": {rest, test.rest}, "ready": {ready, test.ready}, "fresh": {fresh, test.fresh}} {
				if got := change.Concerns(mark, "regular", offered, one.applicant); got != one.want {
					t.Errorf("it concerns %s: %t", who, got)
				}
			}
		})
	}
	given := made.DeepCopy()
	given.Status.Channels[0].Underway = []string{Prefix(canaryUID)}
	if !(Change{Before: made, Now: given}).NamesOnly() || !(Change{Before: given, Now: made}).NamesOnly() || (Change{Before: given, Now: made}).Relevant() {
		t.Error("places that are given concern those who get them, and places that are taken no one")
	}
	if came := (Change{Now: made}); !came.Relevant() || len(came.Named()) > 0 || came.NamesOnly() || !came.Concerns(mark, "regular", offered, rest) {
		t.Error("a rollout that comes concerns those that wait for it")
	}
	other := made.DeepCopy()
	other.Status.Channels[0].Name, other.Status.Channels[0].Underway = "fast", []string{Prefix(restUID)}
	if !(Change{Before: made, Now: other}).Named()[Prefix(restUID)] {
		t.Error("a channel that comes names its Kymas")
	}
}
