package modulerollout

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestReport(t *testing.T) {
	channel := func(phase v1beta2.RolloutPhase, wave string, change func(*v1beta2.RolloutChannel)) v1beta2.RolloutChannel {
		made := v1beta2.RolloutChannel{
			Name: "regular", To: v1beta2.RolloutVersion{Version: "1.1.0"}, Wave: wave, Phase: phase,
			Waves: []v1beta2.RolloutWaveStatus{{Name: "canary"}, {Name: "rest"}},
		}
		if change != nil {
			change(&made)
		}
		return made
	}
	old := channel(v1beta2.RolloutCompleted, "", func(c *v1beta2.RolloutChannel) { c.To.Version = "1.0.0" })
	updating := channel(v1beta2.RolloutProgressing, "canary", nil)
	soaking := channel(v1beta2.RolloutProgressing, "canary", func(c *v1beta2.RolloutChannel) { c.Waves[0].Soaking = true })
	halted := channel(v1beta2.RolloutHalted, "canary", func(c *v1beta2.RolloutChannel) {
		c.Message = "halted in wave canary: 1 of 1 failed, 0 allowed"
		c.Worst = []v1beta2.RolloutFailure{{Kyma: "k1", Reason: v1beta2.ReasonProgressDeadlineExceeded, Message: "the image cannot be pulled"}}
	})
	for _, test := range []struct {
		name        string
		before, now v1beta2.RolloutChannel
		want        []string
	}{
		{"a wave begins", old, updating, []string{corev1.EventTypeNormal, v1beta2.ReasonWaveUpdating, "wave canary begins with 1.1.0"}},
		{"it soaks", updating, soaking, []string{v1beta2.ReasonWaveSoaking, "wave canary is ready"}},
		{"nothing is new while it soaks", soaking, soaking, nil},
		{"numbers are no news", updating, channel(v1beta2.RolloutProgressing, "canary", func(c *v1beta2.RolloutChannel) { c.Waves[0].Ready = 3 }), nil},
		{
			"the next wave waits for a person", soaking, channel(v1beta2.RolloutWaiting, "rest", func(c *v1beta2.RolloutChannel) { c.Message = "for approval" }),
			[]string{v1beta2.ReasonWaveApproval, "wave rest waits: for approval"},
		},
		{"a pause", updating, channel(v1beta2.RolloutWaiting, "canary", nil), []string{"wave canary waits"}},
		{"after it", channel(v1beta2.RolloutWaiting, "canary", nil), updating, []string{"wave canary continues with 1.1.0"}},
		{"it halts", updating, halted, []string{corev1.EventTypeWarning, v1beta2.ReasonTooManyFailed, "1 of 1 failed", "k1", "the image cannot be pulled"}},
		{"it stays halted", halted, halted, nil},
		{"those that have it go back", halted, channel(v1beta2.RolloutRollingBack, "canary", nil), []string{corev1.EventTypeWarning, "go back"}},
		{"they have gone back", halted, channel(v1beta2.RolloutRolledBack, "canary", nil), []string{v1beta2.ReasonRolledBack, "have gone back"}},
		{"it is aborted", halted, channel(v1beta2.RolloutAborted, "canary", nil), []string{v1beta2.ReasonAborted, "no further Kyma"}},
		{"it is through", updating, channel(v1beta2.RolloutCompleted, "", nil), []string{v1beta2.ReasonCompleted, "1.1.0 is released to every Kyma"}},
		{"a channel that was let go from the beginning is no news", v1beta2.RolloutChannel{}, channel(v1beta2.RolloutCompleted, "", nil), nil},
		{
			"a mandatory module has no channel", old, channel(v1beta2.RolloutProgressing, "canary", func(c *v1beta2.RolloutChannel) { c.Name = "" }),
			[]string{"Mandatory module: wave canary"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStage(t)
			plan := newPlan()
			plan.Status.Channels = []v1beta2.RolloutChannel{test.now}
			s.report(plan, &v1beta2.ModuleRolloutStatus{Channels: []v1beta2.RolloutChannel{test.before}})
			told := s.news()
			if len(told) > 1 || len(told) == 0 != (test.want == nil) {
				t.Fatalf("events: %q", told)
			}
			for _, word := range test.want {
				if !strings.Contains(told[0], word) {
					t.Errorf("%q does not say %q", told[0], word)
				}
			}
			if halts := test.now.Phase == v1beta2.RolloutHalted && test.before.Phase != v1beta2.RolloutHalted; halts != (s.told.halted == 1) {
				t.Errorf("counted %d halts", s.told.halted)
			}
		})
	}
}

func TestReport_ArmedIsToldOnce(t *testing.T) {
	s, plan := newStage(t), newPlan()
	armed := []metav1.Condition{{Type: v1beta2.ConditionArmed, Status: metav1.ConditionTrue}}
	plan.Status.Conditions = armed
	s.report(plan, &v1beta2.ModuleRolloutStatus{})
	s.report(plan, &v1beta2.ModuleRolloutStatus{Conditions: armed})
	if told := s.news(); len(told) != 1 || !strings.Contains(told[0], v1beta2.ReasonArmed) {
		t.Errorf("events: %q", told)
	}
}
