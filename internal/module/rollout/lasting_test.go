package rollout

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestLasting_StaysTrueWhileTheWavesGoOn(t *testing.T) {
	const mark, uid = "mark", "0f6c2a44-91c5-4d5e-8a7b-3f0f5f6d7a01"
	canary := v1beta2.RolloutWave{Name: "canary", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"ring": "canary"}}}
	shared := v1beta2.RolloutWave{Name: "early", Share: "10%"}
	channel := func(edit func(*v1beta2.RolloutChannel)) v1beta2.RolloutChannel {
		is := v1beta2.RolloutChannel{
			Name: "regular", From: v1beta2.RolloutVersion{Version: "1.0.0"}, To: v1beta2.RolloutVersion{Version: "2.0.0"},
			Phase: v1beta2.RolloutProgressing, Wave: "canary",
			Waves: []v1beta2.RolloutWaveStatus{{Name: "canary"}, {Name: "early"}, {Name: "rest"}, {Name: Others}},
		}
		edit(&is)
		return is
	}
	rollout := func(is v1beta2.RolloutChannel, waves ...v1beta2.RolloutWave) *v1beta2.ModuleRollout {
		made := &v1beta2.ModuleRollout{Spec: v1beta2.ModuleRolloutSpec{Waves: waves}}
		made.UID, made.Status.Channels = mark, []v1beta2.RolloutChannel{is}
		return made
	}
	as := func(*v1beta2.RolloutChannel) {}
	for name, test := range map[string]struct {
		rollout *v1beta2.ModuleRollout
		labels  map[string]string
		want    string
	}{
		"its wave has not begun": {rollout(channel(as), canary), nil, `for wave "others" of its rollout`},
		"its wave has begun": {rollout(channel(func(c *v1beta2.RolloutChannel) { c.Wave = Others }), canary), nil,
			`for wave "others" of its rollout`},
		"the rollout halted": {rollout(channel(func(c *v1beta2.RolloutChannel) { c.Phase = v1beta2.RolloutHalted }), canary), nil,
			`for wave "others" of its rollout`},
		"the status does not speak of the version yet": {rollout(channel(func(c *v1beta2.RolloutChannel) { c.To.Version = "1.5.0" }), canary),
			map[string]string{"ring": "canary"}, `for wave "canary" of its rollout`},
		"who is in a share is not chosen": {rollout(channel(as), canary, shared), nil, `for its rollout`},
		"who is in a share is chosen": {rollout(channel(func(c *v1beta2.RolloutChannel) { c.Waves[1].Cut = "0000000000000001" }), canary, shared),
			nil, `for wave "others" of its rollout`},
		"who is in a share was chosen for another version": {rollout(channel(func(c *v1beta2.RolloutChannel) {
			c.To.Version, c.Waves[1].Cut = "1.5.0", "ffffffffffffffff"
		}), canary, shared), nil, `for its rollout`},
		"the plan is wrong":           {rollout(channel(as)), nil, "in detail"},
		"the rollout was aborted":     {rollout(channel(func(c *v1beta2.RolloutChannel) { c.Phase = v1beta2.RolloutAborted }), canary), nil, "in detail"},
		"the rollout is not known":    {nil, nil, "in detail"},
		"the rollout is another one":  {func() *v1beta2.ModuleRollout { r := rollout(channel(as), canary); r.UID = "b"; return r }(), nil, "in detail"},
		"the channel is not known to": {rollout(channel(func(c *v1beta2.RolloutChannel) { c.Name = "fast" }), canary), nil, `for wave "others" of its rollout`},
	} {
		t.Run(name, func(t *testing.T) {
			answer := Answer{Detail: "in detail"}
			if got := Lasting(answer, test.rollout, mark, "regular", "2.0.0", Applicant{UID: uid, Labels: test.labels}); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	if got := Lasting(Answer{Back: true, Detail: "for good"}, rollout(channel(as), canary), mark, "regular", "2.0.0", Applicant{}); got != "for good" {
		t.Errorf("taken back: %q", got)
	}
}
