package rollout

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestAsk_WithoutAStatus(t *testing.T) {
	spec := v1beta2.ModuleRolloutSpec{Waves: wavesOf("one")}
	known := &v1beta2.ModuleRollout{ObjectMeta: metav1.ObjectMeta{UID: mark}, Spec: spec}
	fast := known.DeepCopy()
	fast.Spec.Channels = []string{"fast"}
	seen := known.DeepCopy()
	seen.Status.Channels = []v1beta2.RolloutChannel{{Name: "regular", Phase: progress, From: v1beta2.RolloutVersion{Version: "1.1.0"},
		To: v1beta2.RolloutVersion{Version: "1.2.0"}, Underway: []string{Prefix(uidOf("a"))}}}
	done := seen.DeepCopy()
	done.Status.Channels[0].Phase, done.Status.Channels[0].From = completes, v1beta2.RolloutVersion{Version: "1.2.0"}
	mandatory := done.DeepCopy()
	mandatory.Status.Channels[0].Name = ""
	const gone, early = "until its ModuleRollout can be read", "until its ModuleRollout has observed it"
	for _, test := range []struct {
		name    string
		rollout *v1beta2.ModuleRollout
		mark    string
		channel string
		running string
		want    Answer
	}{
		{"a release without a mark is for all", known, "", "regular", oldVersion, Answer{Allowed: true}},
		{"a marked release whose rollout is not known admits no new Kyma, which keeps what runs", nil, mark, "regular", oldVersion, Answer{Detail: gone}},
		{"... nor a first installation", nil, mark, "regular", "", Answer{Detail: gone}},
		{"... and leaves the version to who has it", nil, mark, "regular", newVersion, Answer{Allowed: true, Detail: gone}},
		{"one that was made anew admits no new Kyma before it marks the release", done, "other", "regular", oldVersion,
			Answer{Detail: "until its ModuleRollout, which was made anew, has marked the release"}},
		{"a channel that is not in the plan is for all", fast, mark, "regular", oldVersion, Answer{Allowed: true}},
		{"a mandatory module is not in a plan that names channels", fast, mark, "", oldVersion, Answer{Allowed: true}},
		{"... and is in one that names none", known, mark, "", oldVersion, Answer{Detail: "until its ModuleRollout has observed the channel"}},
		{"... with its own status", mandatory, mark, "", oldVersion, Answer{From: "1.2.0", Detail: early}},
		{"a status of the target before admits none, not even who is under way for that: it has the last version that completed", seen, mark, "regular", "1.0.0",
			Answer{From: "1.1.0", Detail: early}},
		{"... which is the target before when that completed", done, mark, "regular", "", Answer{From: "1.2.0", Detail: early}},
		{"... and who has it, keeps it", seen, mark, "regular", newVersion, Answer{Allowed: true, From: "1.1.0", Detail: early}},
	} {
		t.Run(test.name, func(t *testing.T) {
			applicant := Applicant{UID: uidOf("a"), Labels: map[string]string{"ring": "one"}, Running: test.running}
			mustEqual(t, "answer", test.want, Ask(test.rollout, test.mark, test.channel, newVersion, applicant))
		})
	}
	if answer := Ask(done, mark, "regular", "1.0.0", Applicant{UID: uidOf("a")}); answer.Allowed || answer.From != "" {
		t.Errorf("a channel that goes below what completed leads to a higher version: %+v", answer)
	}
}

func TestAsk(t *testing.T) {
	for _, test := range []struct {
		name  string
		waves []v1beta2.RolloutWave
		play  func(*fixture)
	}{
		{"a first installation gets the version before until its wave has passed, and then the target", wavesOf("one", "two"), func(s *fixture) {
			s.kymas("one", "a", "first")
			s.kymas("two", "b", "second")
			s.of("first").Held = "window"
			s.step()
			mustEqual(s.T, "own wave", Answer{NoSlot: true, From: oldVersion, Detail: `for a place among those that upgrade in wave "one"`}, s.ask("first", ""))
			s.upgrade("a")
			mustEqual(s.T, "passed", Answer{Allowed: true}, s.ask("first", ""))
			mustEqual(s.T, "not passed", false, s.ask("second", "").Allowed && s.ask("b", "").Allowed)
			mustEqual(s.T, "an upgrade", false, s.ask("first", oldVersion).Allowed)
			s.pause(true)
			mustEqual(s.T, "paused", Answer{From: oldVersion, Detail: "until its rollout is no longer paused"}, s.ask("first", ""))
			s.pause(false)
			second := "b"
			if s.ask("second", oldVersion).Allowed {
				second = "second"
			}
			s.fails(second)
			mustEqual(s.T, "halted", Answer{From: oldVersion, Detail: "for a decision: its rollout halted, since too many upgrades failed"}, s.ask("first", ""))
			mustEqual(s.T, "who has it", Answer{Allowed: true}, s.ask("a", newVersion))
		}},
		{"the answer says which wave, and until when", []v1beta2.RolloutWave{ring("one", soak(2*time.Hour)), ring("two", approval), ring("three")}, func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.kymas("three", "c")
			s.step()
			mustEqual(s.T, "upgrades", `for wave "two", which has not begun: wave "one" has not passed`, s.ask("b", oldVersion).Detail)
			s.upgrade("a")
			mustEqual(s.T, "soaks", `for wave "two", which has not begun: wave "one" soaks until 2026-01-01T14:00:00Z`, s.ask("b", oldVersion).Detail)
			s.after(2 * time.Hour)
			mustEqual(s.T, "approval", `for wave "two", which has not begun: wave "two" waits for approval`, s.ask("b", oldVersion).Detail)
			mustEqual(s.T, "approval of another", `for wave "three", which has not begun: wave "two" waits for approval`, s.ask("c", oldVersion).Detail)
			s.of("a").Labels = nil
			mustEqual(s.T, "in no wave", `for wave "others", which has not begun: wave "two" waits for approval`, s.ask("a", oldVersion).Detail)
		}},
		{"a wave without a Kyma that is ready is told", wavesOf("one", "two"), func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.of("a").Held = "window"
			s.step()
			const empty = `: wave "one" has no Kyma that is ready, and waits for approval to pass`
			mustEqual(s.T, "a later wave", `for wave "two", which has not begun`+empty, s.ask("b", oldVersion).Detail)
			mustEqual(s.T, "this wave", `for the rollout to go on`+empty, s.ask("a", oldVersion).Detail)
		}},
		{"an open wave is open to its Kymas while the status speaks of the plan", []v1beta2.RolloutWave{ring("one", atOnce(0)), ring("two")}, func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			mustEqual(s.T, "open", true, s.ask("a", oldVersion).Allowed)
			s.rollout.Generation++
			mustEqual(s.T, "the plan is newer", false, s.ask("a", oldVersion).Allowed)
			s.rollout.Generation--
			s.rollout.Spec.Waves[0].MaxConcurrent = 1
			mustEqual(s.T, "it got a bound", false, s.ask("a", oldVersion).Allowed)
		}},
		{"a plan that cannot be carried out admits no new Kyma", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a", "b")
			s.step()
			s.rollout.Spec.Waves = nil
			for _, name := range []string{"a", "b"} {
				if answer := s.ask(name, oldVersion); !answer.Allowed && answer.Detail != "until the plan of its rollout is corrected" {
					s.Errorf("got %+v", answer)
				}
			}
		}},
		{"a status whose wave is not in it admits no new Kyma", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			s.channel().Underway, s.channel().Wave = nil, "gone"
			mustEqual(s.T, "answer", Answer{From: oldVersion, Detail: `for wave "one", which has not begun`}, s.ask("a", oldVersion))
		}},
	} {
		t.Run(test.name, func(t *testing.T) { test.play(newFixture(t, test.waves...)) })
	}
}

// No text for users of a runtime names another Kyma.
func TestAsk_NamesNoOtherKyma(t *testing.T) {
	s := newFixture(t, ring("one"), ring("two"))
	s.kymas("one", "secret-name")
	s.kymas("two", "b")
	s.step()
	s.fails("secret-name")
	if answer := s.ask("b", oldVersion); strings.Contains(answer.Detail, "secret-name") {
		t.Errorf("got %q", answer.Detail)
	}
}
