package rollout

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const patience = 30 * time.Minute

// fails lets a Kyma pass its deadline, which it must have begun before.
func (s *fixture) fails(name string) {
	s.Helper()
	s.begin(name)
	s.of(name).Message = "deployment x is not available"
	s.after(patience)
}

func TestFailed(t *testing.T) {
	two := []v1beta2.RolloutWave{ring("one", soak(time.Hour)), ring("two")}
	for _, test := range []struct {
		name  string
		waves []v1beta2.RolloutWave
		play  func(*fixture)
	}{
		{"not ready progressDeadline after it began, to the second", two, func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.step()
			s.begin("a")
			s.step()
			mustEqual(s.T, "wake", noon.Add(patience), s.last.Wake)
			s.after(patience - time.Second)
			s.must(progress, "one", "upgrades")
			s.after(time.Second)
			s.must(stopped, "one", "halted in wave one: 1 of 1 failed, 0 allowed")
			mustEqual(s.T, "worst", []v1beta2.RolloutFailure{{Kyma: "a", Reason: v1beta2.ReasonProgressDeadlineExceeded,
				Since: metav1.NewTime(noon.Add(patience))}}, s.channel().Worst)
			if answer := s.ask("b", oldVersion); answer.Allowed || answer.From != oldVersion {
				s.Errorf("got %+v", answer)
			}
		}},
		{"a rollout that halted stays so when they recover, and still names who failed", two, func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.step()
			s.fails("a")
			s.of("a").Ready = true
			s.after(100 * time.Hour)
			s.must(stopped, "one", "halted in wave one: 1 of 1 failed, 0 allowed")
			if len(s.channel().Worst) != 1 || s.wave("one").Failed != 0 || s.wave("one").Ready != 1 {
				s.Errorf("got %+v", s.channel())
			}
		}},
		{"a runtime that was lost after it began counts when it was lost for as long", two, func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			s.begin("a")
			s.facts.Now = s.facts.Now.Add(20 * time.Minute)
			s.of("a").LostSince = s.facts.Now
			s.after(patience - time.Second)
			s.must(progress, "one", "upgrades")
			s.after(time.Second)
			s.must(stopped, "one", "1 of 1 failed")
			mustEqual(s.T, "reason", v1beta2.ReasonRuntimeLost, s.channel().Worst[0].Reason)
		}},
		{"a runtime that was lost before it began is skipped, and its own time begins when it does", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a", "b")
			s.of("a").LostSince = noon.Add(-100 * time.Hour)
			s.step()
			s.places("b")
			mustEqual(s.T, "skipped", int32(1), s.wave("one").Skipped)
		}},
		{"a ready one whose runtime is lost in the soak counts after the deadline, and the wave waits so long", two, func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			s.upgrade("a")
			s.facts.Now = s.facts.Now.Add(50 * time.Minute)
			s.of("a").LostSince = s.facts.Now
			s.after(10 * time.Minute)
			s.must(progress, "one", "has soaked, and passes when all of it is ready")
			s.after(20 * time.Minute)
			s.must(stopped, "one", "1 of 1 failed")
		}},
		{"five minutes unready without a break in a soak count", two, func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			s.upgrade("a")
			s.of("a").Ready, s.of("a").UnreadySince = false, s.facts.Now
			s.after(5*time.Minute - time.Second)
			s.must(progress, "one", "soaks")
			mustEqual(s.T, "who may fail", "NotReady", s.channel().Worst[0].Reason)
			s.after(time.Second)
			s.must(stopped, "one", "1 of 1 failed")
			mustEqual(s.T, "reason", v1beta2.ReasonUnreadyInSoak, s.channel().Worst[0].Reason)
		}},
		{"one that is suspended or deleted after it began is skipped: it gives its place back, and neither fails nor holds the wave", []v1beta2.RolloutWave{ring("one", atOnce(2)), ring("two")}, func(s *fixture) {
			s.kymas("one", "a", "b", "c")
			s.kymas("two", "z")
			s.step()
			first := slices.Clone(s.last.Admitted)
			s.begin(first...)
			s.of(first[0]).Held, s.of(first[1]).Held = HeldBySuspension, HeldByDeletion
			s.step()
			mustEqual(s.T, "skipped", int32(2), s.wave("one").Skipped)
			mustEqual(s.T, "admitted in their place", 1, len(s.last.Admitted))
			s.upgrade(s.last.Admitted...)
			s.facts.Now = s.facts.Now.Add(time.Minute)
			s.begin("z")
			s.after(patience - time.Minute)
			s.must(progress, "two", "upgrades")
			s.of(first[0]).LostSince = noon
			s.step()
			s.must(progress, "two", "upgrades")
		}},
		{"a ready one that is suspended or deleted in the soak does not keep the wave", two, func(s *fixture) {
			s.kymas("one", "a", "b")
			s.kymas("two", "z")
			s.step()
			s.upgrade(s.last.Admitted...)
			s.upgrade(s.last.Admitted...)
			a, b := s.of("a"), s.of("b")
			a.Ready, a.UnreadySince, a.Held = false, s.facts.Now, HeldByDeletion
			b.LostSince, b.Held = s.facts.Now, HeldBySuspension
			s.after(time.Hour)
			s.must(progress, "two", "upgrades")
		}},
		{"one whose suspension ended has its time from then on", []v1beta2.RolloutWave{ring("one", atOnce(2), soak(time.Hour))}, func(s *fixture) {
			s.kymas("one", "a", "b")
			s.step()
			s.begin("b")
			s.upgrade("a")
			s.of("b").Held = HeldBySuspension
			s.after(2 * patience)
			s.of("b").Held, s.of("b").FreeSince = "", s.facts.Now
			s.after(patience - time.Second)
			s.must(progress, "one", "")
			s.after(time.Second)
			s.must(stopped, "one", "1 of 2 failed")
		}},
		{"an unready one whose runtime does not answer counts by the deadline", two, func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			s.upgrade("a")
			s.of("a").Ready, s.of("a").UnreadySince, s.of("a").LostSince = false, s.facts.Now, s.facts.Now
			s.after(patience - time.Second)
			s.must(progress, "one", "soaks")
			s.after(time.Second)
			s.must(stopped, "one", "1 of 1 failed")
		}},
		{"one that is unready at the end of the soak keeps the wave, and passes it when it was ready for five minutes", two, func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.step()
			s.upgrade("a")
			s.facts.Now = s.facts.Now.Add(59 * time.Minute)
			s.of("a").Ready, s.of("a").UnreadySince = false, s.facts.Now
			s.after(2 * time.Minute)
			s.must(progress, "one", "1 of 1 are not")
			s.of("a").Ready, s.of("a").UnreadySince, s.of("a").ReadySince = true, time.Time{}, s.facts.Now
			s.after(5*time.Minute - time.Second)
			s.must(progress, "one", "1 of 1 are not")
			mustEqual(s.T, "wake", s.facts.Now.Add(time.Second), s.last.Wake)
			s.after(time.Second)
			s.must(progress, "two", "upgrades")
		}},
		{"a flapping one fails progressDeadline after the soak: it neither stalls for ever nor passes unnoticed", two, func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.step()
			s.upgrade("a")
			a := s.of("a")
			for range 94 {
				if s.facts.Now = s.facts.Now.Add(time.Minute); a.Ready {
					a.Ready, a.UnreadySince, a.ReadySince = false, s.facts.Now, time.Time{}
				} else {
					a.Ready, a.UnreadySince, a.ReadySince = true, time.Time{}, s.facts.Now
				}
				s.step()
				if s.channel().Phase != progress || s.channel().Wave != "one" {
					s.Fatalf("after %v: %s", s.facts.Now.Sub(noon), s.channel().Message)
				}
			}
			s.after(time.Minute)
			s.must(stopped, "one", "1 of 1 failed")
		}},
		{"one that came in the soak and is unready does not keep the wave", two, func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.step()
			s.upgrade("a")
			s.kymas("one", "new")
			s.after(time.Minute)
			s.upgrade("new")
			s.facts.Now = noon.Add(time.Hour)
			s.of("new").Ready, s.of("new").UnreadySince = false, s.facts.Now.Add(-time.Minute)
			s.step()
			s.must(progress, "two", "upgrades")
		}},
		{"in a wave that has passed an unready one does not count", two, func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.step()
			s.upgrade("a")
			s.after(time.Hour)
			s.of("a").Ready, s.of("a").UnreadySince = false, s.facts.Now
			s.after(patience - time.Second)
			s.must(progress, "two", "upgrades")
		}},
		{"one that comes later in a wave that has passed counts there", []v1beta2.RolloutWave{ring("one"), ring("two", atOnce(2))}, func(s *fixture) {
			s.kymas("one", "a", "held")
			s.kymas("two", "b")
			s.of("held").Held = "window"
			s.step()
			s.upgrade("a")
			s.of("held").Held = ""
			s.step()
			s.places("b", "held")
			s.fails("held")
			s.must(stopped, "two", "halted in wave one: 1 of 2 failed")
		}},
		{"one that was rolled back by itself counts", two, func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			s.begin("a")
			a := s.of("a")
			a.Begun, a.RolledBack, a.Back, a.BackSince = false, true, true, s.facts.Now.Add(time.Second)
			s.after(2 * time.Second)
			s.must(stopped, "one", "1 of 1 failed")
			mustEqual(s.T, "reason", v1beta2.ReasonRolledBack, s.channel().Worst[0].Reason)
			s.places()
		}},
		{"not ready before it began: upgraded, counted apart, and not against maxFailed; alone it lets no wave pass", wavesOf("one", "two"), func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.of("a").BrokenBefore = true
			s.step()
			s.begin("a")
			s.step()
			mustEqual(s.T, "broken before", int32(1), s.wave("one").BrokenBefore)
			s.must(progress, "one", "upgrades")
			s.after(patience)
			s.must(waits, "one", "1 not ready before")
			s.places()
			s.of("a").Ready = true
			s.step()
			s.must(progress, "two", "")
		}},
		{"broken before, ready with the target and unready again is still no failure", two, func(s *fixture) {
			s.kymas("one", "a", "b")
			s.of("a").BrokenBefore = true
			s.step()
			for len(s.channel().Underway) > 0 {
				s.upgrade(s.last.Admitted...)
			}
			s.of("a").Ready, s.of("a").UnreadySince = false, s.facts.Now
			s.after(59 * time.Minute)
			s.must(progress, "one", "soaks")
			mustEqual(s.T, "broken before", int32(1), s.wave("one").BrokenBefore)
		}},
		{"resume forgives those who have failed so far, and no later ones", []v1beta2.RolloutWave{ring("one", atOnce(3))}, func(s *fixture) {
			s.kymas("one", "a", "b", "c")
			s.step()
			s.of("b").Held, s.of("c").Held = HeldByWindow, HeldByWindow
			s.fails("a")
			s.must(stopped, "one", "1 of 3 failed")
			s.of("b").Held, s.of("c").Held = "", ""
			s.after(time.Hour)
			s.decide(v1beta2.RolloutResume, "one")
			s.step()
			s.must(progress, "one", "upgrades")
			mustEqual(s.T, "forgiven", int32(1), s.wave("one").Forgiven)
			if len(s.last.Admitted) != 2 {
				s.Errorf("woken are %v, want those that still have a place", s.last.Admitted)
			}
			s.upgrade("c")
			s.fails("b")
			s.must(stopped, "one", "1 of 3 failed")
			s.after(time.Hour)
			s.must(stopped, "one", "1 of 3 failed")
		}},
		{"resume lets the soak begin anew", two, func(s *fixture) {
			s.kymas("one", "a", "b")
			s.step()
			for len(s.channel().Underway) > 0 {
				s.upgrade(s.last.Admitted...)
			}
			s.of("a").Ready, s.of("a").UnreadySince = false, s.facts.Now
			s.after(10 * time.Hour)
			s.must(stopped, "one", "")
			s.decide(v1beta2.RolloutResume, "")
			s.step()
			s.must(progress, "one", "soaks until "+formatTime(s.facts.Now.Add(time.Hour)))
		}},
		{"resume without a time, of the future, of another wave, or from before does not count, and the message says why", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			s.fails("a")
			s.decide(v1beta2.RolloutResume, "one")
			decision := s.rollout.Spec.Decision
			decision.At = metav1.Time{}
			s.step()
			s.must(stopped, "one", "without the time in decision.at")
			decision.At = metav1.NewTime(s.facts.Now.Add(time.Hour))
			s.step()
			s.must(stopped, "one", "the decision resume counts from 2026-01-01T13:30:00Z")
			mustEqual(s.T, "wake", decision.At.Time, s.last.Wake)
			decision.At, decision.Wave = floor(s.facts.Now), "two"
			s.step()
			s.must(stopped, "one", "is about wave two and does not count in wave one")
			decision.At, decision.Wave = metav1.NewTime(noon.Add(-time.Hour)), ""
			s.step()
			s.must(stopped, "one", "older than this target")
			decision.At = metav1.NewTime(noon.Add(time.Minute)) // Before it failed.
			s.step()
			s.must(stopped, "one", "1 of 1 failed")
		}},
		{"who failed after a label moved it to a later wave counts all the same", wavesOf("one", "two"), func(s *fixture) {
			s.kymas("one", "a", "b")
			s.step()
			moved := s.last.Admitted[0]
			s.begin(moved)
			s.of(moved).Labels = map[string]string{"ring": "two"}
			s.after(patience)
			s.must(stopped, "one", "halted in wave two: 1 of 1 failed")
		}},
		{"no more than five are named, the first failures first, with a short message", []v1beta2.RolloutWave{ring("one", atOnce(0), maxFailed("100%"))}, func(s *fixture) {
			s.kymas("one", "g", "f", "e", "d", "c", "b", "a")
			s.step()
			for i, name := range []string{"g", "f", "e", "d", "c", "b", "a"} {
				s.begin(name)
				s.of(name).Message = strings.Repeat("ä", 300)
				if i == 0 {
					s.facts.Now = s.facts.Now.Add(time.Minute)
				}
			}
			s.after(patience)
			var names []string
			for _, each := range s.channel().Worst {
				names = append(names, each.Kyma)
			}
			mustEqual(s.T, "names", []string{"g", "a", "b", "c", "d"}, names)
			mustEqual(s.T, "length", 200, len([]rune(s.channel().Worst[0].Message)))
		}},
		{"a clock that is set forward passes no deadline", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			s.begin("a")
			s.facts.Now = s.facts.Now.Add(10 * time.Hour)
			s.facts.Jumps = []Jump{{At: s.facts.Now, By: 10 * time.Hour}}
			s.step()
			s.must(progress, "one", "upgrades")
			s.after(patience)
			s.must(stopped, "one", "1 of 1 failed")
		}},
	} {
		t.Run(test.name, func(t *testing.T) { test.play(newFixture(t, test.waves...)) })
	}
}

func TestMaxFailed(t *testing.T) {
	for _, test := range []struct {
		maxFailed     string
		total, failed int
		halts         bool
	}{
		{"", 10, 1, true},
		{"0", 10, 1, true},
		{"1", 10, 1, false},
		{"1", 10, 2, true},
		{"10%", 10, 1, false},
		{"10%", 9, 1, true}, // rounded down
		{"1%", 99, 1, true},
		{"1%", 100, 1, false},
		{"100%", 4, 3, false},
	} {
		t.Run(fmt.Sprintf("%d of %d fail where %q may", test.failed, test.total, test.maxFailed), func(t *testing.T) {
			s := newFixture(t, ring("one", atOnce(0), maxFailed(test.maxFailed)))
			for i := range test.total {
				s.kymas("one", fmt.Sprintf("kyma-%d", i))
			}
			s.step()
			for i := range test.total {
				s.begin(s.facts.Members[i].Name)
				s.facts.Members[i].Ready = i >= test.failed
			}
			s.after(patience)
			if halts := s.channel().Phase == stopped; halts != test.halts || s.wave("one").Failed != int32(test.failed) {
				t.Errorf("got %s: %s", s.channel().Phase, s.channel().Message)
			}
		})
	}
}
