package rollout

import (
	"strings"
	"testing"
	"time"

	kstatus "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/conditions"
)

func TestSummary(t *testing.T) {
	type want struct{ summary, progressing, halted, completed string }
	for _, test := range []struct {
		name string
		play func(*fixture)
		want want
	}{
		{"a wave upgrades", func(s *fixture) { s.step() }, want{"regular: 1.3.0 is rolling out in wave one (1 of 2), 0 of 2 ready",
			"True WaveUpdating channel regular: 1.3.0: wave one upgrades. See `kyma rollout status eventing`",
			"False NoneFailed no wave has more failures than it allows",
			"False Underway channel regular: 1.3.0: wave one upgrades. See `kyma rollout status eventing`"}},
		{"it soaks", func(s *fixture) { s.step(); s.upgrade("a") }, want{"regular: 1.3.0 soaks in wave one (1 of 2), 1 of 2 ready",
			"True WaveSoaking channel regular: 1.3.0: wave one soaks until 2026-01-01T13:00:00Z. See `kyma rollout status eventing`", "False", "False Underway"}},
		{"it waits for approval", func(s *fixture) { s.step(); s.upgrade("a"); s.after(time.Hour) },
			want{"regular: 1.3.0 waits for a person in wave two (2 of 2), 1 of 2 ready",
				"False WaveApproval channel regular: 1.3.0: wave two waits for approval. See `kyma rollout status eventing`", "False", "False Underway"}},
		{"it is empty", func(s *fixture) { s.of("a").Held = "window"; s.step() },
			want{"regular: 1.3.0 waits for a person in wave one (1 of 2), 0 of 2 ready", "False WaveEmpty", "False", "False Underway"}},
		{"it is paused", func(s *fixture) { s.pause(true); s.step() },
			want{"regular: 1.3.0 waits for a person in wave one (1 of 2), 0 of 2 ready", "False Paused", "False", "False Underway"}},
		{"it halted", func(s *fixture) { s.step(); s.fails("a") }, want{"regular: 1.3.0 halted in wave one (1 of 2), 0 of 2 ready, 1 failed",
			"False TooManyFailed",
			"True TooManyFailed channel regular: 1.3.0 halted in wave one: 1 of 1 failed, 0 allowed; worst: a: deployment x is not available. " +
				"See `kyma rollout status eventing`", "False Underway"}},
		{"it halted, and the module says nothing", func(s *fixture) { s.step(); s.fails("a"); s.of("a").Message = ""; s.step() },
			want{"regular: 1.3.0 halted", "False", "True TooManyFailed channel regular: 1.3.0 halted in wave one: 1 of 1 failed, 0 allowed; " +
				"worst: a: ProgressDeadlineExceeded. See", "False"}},
		{"it is taken back", func(s *fixture) { s.rollout.Spec.OnFailure = v1beta2.RolloutRollback; s.step(); s.fails("a") },
			want{"regular: 1.3.0 is taken back, 0 of 2 ready, 1 failed", "False RollingBack", "True", "False Underway"}},
		{"it was taken back", func(s *fixture) {
			s.rollout.Spec.OnFailure = v1beta2.RolloutRollback
			s.step()
			s.fails("a")
			s.goesBack("a")
			s.of("a").State = v1beta2.StateReady
			s.step()
		}, want{"regular: 1.3.0 was taken back, 0 of 2 ready", "False TooManyFailed", "True", "False Underway"}},
		{"it was aborted", func(s *fixture) { s.step(); s.decide(v1beta2.RolloutAbort, ""); s.step() },
			want{"regular: 1.3.0 aborted in wave one (1 of 2), 0 of 2 ready", "False Aborted", "False NoneFailed", "False Aborted"}},
		{"the channel was set back", func(s *fixture) { s.step(); s.offer(oldVersion) },
			want{"regular: 1.2.0 is released to all Kymas: the channel was set back", "False Aborted", "False", "True Completed"}},
		{"it completed", func(s *fixture) { s.rollout.Status.Channels = nil; s.step() },
			want{"regular: 1.3.0 completed", "False Completed", "False", "True Completed regular: 1.3.0 completed"}},
		{"the module is mandatory", func(s *fixture) { s.step(); s.channel().Name = "" },
			want{"mandatory: 1.3.0 is rolling out", "True WaveUpdating mandatory module: 1.3.0: wave one upgrades", "False", "False"}},
		{"the plan is wrong", func(s *fixture) { s.step(); s.rollout.Spec.Waves[0].Share = "x" },
			want{"regular: 1.3.0 is rolling out", `False SpecInvalid the plan cannot be carried out, and no Kyma begins: wave "one": share "x" is not`, "False", "False"}},
		{"it is for no channel", func(s *fixture) { s.rollout.Status.Channels = nil },
			want{"no channel of the module is in the plan", "False Completed no channel", "False", "True Completed no channel"}},
		{"the channel that needs a person most comes first", func(s *fixture) {
			s.step()
			s.fails("a")
			other := v1beta2.RolloutChannel{Name: "fast", Phase: completes, To: v1beta2.RolloutVersion{Version: "2.0.0"}}
			s.rollout.Status.Channels = []v1beta2.RolloutChannel{other, *s.channel()}
		}, want{"regular: 1.3.0 halted in wave one (1 of 2), 0 of 2 ready, 1 failed; fast: 2.0.0 completed", "False TooManyFailed", "True", "False Underway"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t, ring("one", soak(time.Hour)), ring("two", approval))
			s.kymas("one", "a")
			s.kymas("two", "b")
			test.play(s)
			now := metav1.NewTime(s.facts.Now)
			SetConditions(&s.rollout, "", now)
			if SetConditions(&s.rollout, "", now) {
				t.Error("a second time changes something")
			}
			if broken := conditions.Check(s.rollout.Generation, s.rollout.Status.Conditions); len(broken) > 0 {
				t.Error(broken)
			}
			if !strings.HasPrefix(s.rollout.Status.Summary, test.want.summary) {
				t.Errorf("got  %s\nwant %s", s.rollout.Status.Summary, test.want.summary)
			}
			for kind, want := range map[string]string{v1beta2.ConditionProgressing: test.want.progressing, v1beta2.ConditionHalted: test.want.halted,
				v1beta2.ConditionCompleted: test.want.completed} {
				cond := conditions.Find(s.rollout.Status.Conditions, kind)
				if got := string(cond.Status) + " " + cond.Reason + " " + cond.Message; !strings.HasPrefix(got, want) {
					t.Errorf("%s:\ngot  %s\nwant %s", kind, got, want)
				}
			}
		})
	}
}

func TestKstatusOfARollout(t *testing.T) {
	for _, test := range []struct {
		name, unarmed string
		play          func(*fixture)
		want          kstatus.Status
	}{
		{"armed, and a wave is updating", "", func(s *fixture) { s.step() }, kstatus.CurrentStatus},
		{"not armed", "ModuleReleaseMeta eventing does not exist", func(*fixture) {}, kstatus.InProgressStatus},
		{"halted", "", func(s *fixture) { s.step(); s.fails("a"); s.step() }, kstatus.FailedStatus},
		{"a plan that cannot be carried out", "", func(s *fixture) { s.rollout.Spec.Waves = nil }, kstatus.FailedStatus},
		{"a plan that cannot be carried out, and is not armed", "no release", func(s *fixture) { s.rollout.Spec.Waves = nil },
			kstatus.FailedStatus},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newFixture(t, ring("one", soak(time.Hour)))
			s.kymas("one", "a")
			test.play(s)
			now := metav1.NewTime(s.facts.Now)
			SetConditions(&s.rollout, test.unarmed, now)
			if SetConditions(&s.rollout, test.unarmed, now) {
				t.Error("a second time changes something")
			}
			object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&s.rollout)
			if err != nil {
				t.Fatal(err)
			}
			object["apiVersion"], object["kind"] = v1beta2.GroupVersion.String(), "ModuleRollout"
			got, err := kstatus.Compute(&unstructured.Unstructured{Object: object})
			if err != nil || got.Status != test.want {
				t.Errorf("%+v, %v, want %s; conditions %+v", got, err, test.want, s.rollout.Status.Conditions)
			}
		})
	}
}

func TestArmed(t *testing.T) {
	rollout := &v1beta2.ModuleRollout{Spec: v1beta2.ModuleRolloutSpec{Waves: wavesOf("one")}}
	for _, test := range []struct{ unarmed, want string }{{"", "Armed"}, {"ModuleReleaseMeta eventing does not exist", "ReleaseUnmarked"}} {
		if !SetConditions(rollout, test.unarmed, metav1.NewTime(noon)) {
			t.Error("nothing changed")
		}
		cond := conditions.Find(rollout.Status.Conditions, v1beta2.ConditionArmed)
		if cond.Reason != test.want || (cond.Status == metav1.ConditionTrue) != (test.unarmed == "") || test.unarmed != "" && cond.Message != test.unarmed {
			t.Errorf("got %+v", cond)
		}
	}
}
