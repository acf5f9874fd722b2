package rollout

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// TestNotBegun is about Kymas that are admitted and do not begin, for a reason that their owner does not know.
func TestNotBegun(t *testing.T) {
	two := wavesOf("one", "two")
	for _, test := range []struct {
		name  string
		waves []v1beta2.RolloutWave
		play  func(*fixture)
	}{
		{"one that has a place and does not begin fails after progressDeadline, with the message of its module", two, func(s *fixture) {
			s.kymas("one", "a")
			s.of("a").Message = "the signature does not match component x:1.3.0"
			s.step()
			s.places("a")
			mustEqual(s.T, "last admission", noon, s.channel().LastAdmission.Time)
			mustEqual(s.T, "wake", noon.Add(5*time.Minute), s.last.Wake)
			s.after(5 * time.Minute)
			mustEqual(s.T, "wake", noon.Add(patience), s.last.Wake)
			late := v1beta2.RolloutFailure{Kyma: "a", Reason: v1beta2.ReasonNotBegun, Message: s.of("a").Message, Since: metav1.NewTime(noon)}
			mustEqual(s.T, "who is late", []v1beta2.RolloutFailure{late}, s.channel().Worst)
			s.after(patience - 5*time.Minute - time.Second)
			s.must(progress, "one", "upgrades")
			s.after(time.Second)
			s.must(stopped, "one", "halted in wave one: 1 of 1 failed, 0 allowed")
			late.Since = metav1.NewTime(noon.Add(patience))
			mustEqual(s.T, "worst", []v1beta2.RolloutFailure{late}, s.channel().Worst)
			s.places()
			s.after(time.Hour)
			mustEqual(s.T, "failed", int32(1), s.wave("one").Failed)
			s.decide(v1beta2.RolloutResume, "one")
			s.step()
			s.must(progress, "one", "upgrades")
			s.places("a")
			s.after(patience)
			s.must(stopped, "one", "1 of 1 failed")
		}},
		{"where it may fail it gives its place back, does not get it again, and comes with the end", []v1beta2.RolloutWave{ring("one", maxFailed("1"))}, func(s *fixture) {
			s.kymas("one", "a", "b")
			s.step()
			first := s.last.Admitted[0]
			s.after(patience)
			s.must(progress, "one", "upgrades")
			s.upgrade(s.last.Admitted...)
			s.must(completes, "", "")
			if s.of(first).Begun || !s.ask(first, oldVersion).Allowed {
				s.Errorf("%s has begun, or may not", first)
			}
		}},
		{"a wave without maxConcurrent knows it, too", []v1beta2.RolloutWave{ring("one", atOnce(0)), ring("two")}, func(s *fixture) {
			s.kymas("one", "a", "b")
			s.step()
			s.upgrade("a")
			mustEqual(s.T, "wake", noon.Add(5*time.Minute), s.last.Wake)
			s.after(patience)
			s.must(stopped, "one", "1 of 2 failed")
		}},
		{"a newcomer that has a place fails, too", []v1beta2.RolloutWave{ring("one", atOnce(2), soak(time.Hour))}, func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			s.upgrade("a")
			s.kymas("one", "late")
			s.of("late").Created = s.facts.Now.Add(time.Minute)
			s.after(time.Minute)
			s.places("late")
			s.after(patience)
			s.must(stopped, "one", "1 of 2 failed")
		}},
		{"one that was broken before does not count", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a", "b")
			s.of("a").BrokenBefore, s.of("b").BrokenBefore = true, true
			s.step()
			s.after(patience)
			s.must(progress, "one", "upgrades")
			mustEqual(s.T, "broken before", int32(1), s.wave("one").BrokenBefore)
			mustEqual(s.T, "admitted", 1, len(s.last.Admitted))
		}},
		{"one that is held or lost is skipped, gives its place back after a minute, and gets one when it can begin", []v1beta2.RolloutWave{ring("one", soak(100*time.Hour))}, func(s *fixture) {
			s.kymas("one", "a", "b")
			s.step()
			first := s.last.Admitted[0]
			s.of(first).Held = HeldByWindow
			s.step()
			mustEqual(s.T, "wake", s.facts.Now.Add(BlockedPlace), s.last.Wake)
			s.after(BlockedPlace - time.Second)
			s.places(first)
			s.must(progress, "one", "1 Kyma has a place and cannot begin: "+first+" (window)")
			s.after(time.Second)
			mustEqual(s.T, "skipped", int32(1), s.wave("one").Skipped)
			s.upgrade(s.last.Admitted...)
			s.of(first).Held = ""
			s.step()
			s.places(first)
			s.after(patience - time.Second)
			s.must(progress, "one", "soaks")
			s.after(time.Second)
			s.must(stopped, "one", "1 of 2 failed")
		}},
		{"a pause stops the time", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			s.after(patience - time.Second)
			s.pause(true)
			s.step()
			s.after(patience)
			s.must(waits, "one", "paused")
			s.pause(false)
			s.step()
			s.after(patience - time.Second)
			s.must(progress, "one", "upgrades")
			s.after(time.Second)
			s.must(stopped, "one", "1 of 1 failed")
		}},
		{"after a restart the last admission counts, and five minutes remain in any case", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			s.facts.Awaited = nil
			s.after(10 * time.Minute)
			mustEqual(s.T, "wake", noon.Add(patience), s.last.Wake)
			s.facts.Awaited = nil
			s.after(10 * time.Hour)
			s.must(progress, "one", "upgrades")
			mustEqual(s.T, "wake", s.facts.Now.Add(5*time.Minute), s.last.Wake)
			s.after(5 * time.Minute)
			s.must(stopped, "one", "1 of 1 failed")
		}},
		{"a status without the last admission is no reason to fail", []v1beta2.RolloutWave{ring("one", atOnce(0))}, func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			s.channel().LastAdmission, s.facts.Awaited = metav1.Time{}, nil
			s.after(10 * time.Hour)
			s.must(progress, "one", "upgrades")
			mustEqual(s.T, "wake", s.facts.Now.Add(5*time.Minute), s.last.Wake)
			s.after(patience - time.Second)
			s.must(progress, "one", "upgrades")
		}},
		{"another target has its own time", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			s.after(patience - time.Minute)
			s.offer("1.4.0")
			s.after(patience - time.Second)
			s.must(progress, "one", "upgrades")
		}},
	} {
		t.Run(test.name, func(t *testing.T) { test.play(newFixture(t, test.waves...)) })
	}
}

// An owner that comes after an outage of all managers gives what had begun some time: meanwhile nothing may have been applied.
func TestFailed_NotByTheTimeOfAnOutage(t *testing.T) {
	s := newFixture(t, wavesOf("one", "two")...)
	s.kymas("one", "a")
	s.kymas("two", "b")
	s.step()
	s.begin("a")
	s.step()
	s.of("a").SeenSince = s.facts.Now.Add(2 * patience)
	s.after(2 * patience)
	s.must(progress, "one", "upgrades")
	mustEqual(t, "wake", s.facts.Now.Add(UnreadyInSoak), s.last.Wake)
	s.after(UnreadyInSoak)
	s.must(stopped, "one", "halted in wave one: 1 of 1 failed, 0 allowed")
}
