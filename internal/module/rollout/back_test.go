package rollout

import (
	"slices"
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// goesBack lets Kymas go back, which must be told to.
func (s *fixture) goesBack(names ...string) {
	s.Helper()
	for _, name := range names {
		if answer := s.ask(name, newVersion); !answer.Back || answer.Allowed || answer.From != oldVersion {
			s.Fatalf("%s is not told to go back: %+v", name, answer)
		}
		m := s.of(name)
		m.Begun, m.Ready, m.Back, m.BackSince, m.State = false, false, true, s.facts.Now, v1beta2.StateProcessing
	}
}

func TestBack(t *testing.T) {
	// Three are ready and one fails, of a wave that upgrades two at a time.
	failing := func(t *testing.T) *fixture {
		s := newFixture(t, ring("one", atOnce(2)), ring("two"))
		s.rollout.Spec.OnFailure = v1beta2.RolloutRollback
		s.kymas("one", "a", "b", "c", "d")
		s.kymas("two", "z")
		s.step()
		for s.wave("one").Ready < 3 {
			for _, name := range []string{"a", "b", "c"} {
				if s.ask(name, oldVersion).Allowed && !s.of(name).Begun {
					s.upgrade(name)
				}
			}
			if s.ask("d", oldVersion).Allowed && !s.of("d").Begun {
				s.begin("d")
			}
		}
		if !s.of("d").Begun {
			s.begin("d")
		}
		s.after(patience)
		return s
	}
	t.Run("the one that failed goes back at once, and ready ones as many at a time as upgrade", func(t *testing.T) {
		s := failing(t)
		s.must(v1beta2.RolloutRollingBack, "one", "halted in wave one: 1 of 4 failed, 0 allowed; those that have it go back to 1.2.0")
		if len(s.last.TakenBack) != 3 || s.last.TakenBack[0] != "d" {
			t.Fatalf("got %v", s.last.TakenBack)
		}
		first := slices.Clone(s.last.TakenBack)
		if s.ask("z", oldVersion).Allowed {
			t.Error("z is admitted")
		}
		s.goesBack(first...)
		s.step()
		if len(s.last.TakenBack) != 0 {
			t.Errorf("%v are taken back while others go back", s.last.TakenBack)
		}
		for _, name := range first {
			s.of(name).State = v1beta2.StateReady
		}
		s.step()
		if len(s.last.TakenBack) != 1 {
			t.Fatalf("got %v", s.last.TakenBack)
		}
		s.goesBack(s.last.TakenBack...)
		s.after(patience) // It is not ready with the version before, and its place is free all the same.
		s.must(v1beta2.RolloutRolledBack, "one", "those that had it have gone back")
		mustEqual(t, "who failed is still named", "d", s.channel().Worst[0].Kyma)
		if s.ask("a", oldVersion).Allowed {
			t.Error("a gets it again")
		}
	})
	t.Run("one that begins by a stale cache afterwards is taken back, too", func(t *testing.T) {
		s := failing(t)
		s.facts.Members = slices.DeleteFunc(s.facts.Members, func(m Member) bool { return m.Name != "z" })
		s.facts.Gone = slices.Clone(s.channel().Back)
		s.step()
		s.must(v1beta2.RolloutRolledBack, "one", "")
		s.of("z").Begun, s.of("z").At = true, s.facts.Now
		s.step()
		s.must(v1beta2.RolloutRollingBack, "one", "")
		mustEqual(t, "taken back", []string{"z"}, s.last.TakenBack)
	})
	t.Run("one that is missing is asked for", func(t *testing.T) {
		s := failing(t)
		s.facts.Members = nil
		s.step()
		mustEqual(t, "missing", 3, len(s.last.Missing))
		s.must(v1beta2.RolloutRollingBack, "one", "")
	})
	t.Run("who cannot go back keeps it, and the message counts them", func(t *testing.T) {
		s := failing(t)
		for _, name := range []string{"a", "b", "c", "d"} {
			s.of(name).Reason = v1beta2.ReasonRollbackUnsafe
		}
		s.step()
		s.must(v1beta2.RolloutRolledBack, "one", "4 cannot go back and keep it")
	})
	t.Run("those that cannot be reached or are held delay no other and go back when they return", func(t *testing.T) {
		s := failing(t)
		out := slices.Clone(s.last.TakenBack) // The failed one and two others.
		s.of("d").LostSince = s.facts.Now
		s.of(out[1]).LostSince = s.facts.Now
		s.of(out[2]).Held = HeldBySuspension
		s.step()
		mustEqual(t, "taken back in their place", 1, len(s.last.TakenBack))
		s.must(v1beta2.RolloutRollingBack, "one", "3 cannot be reached or are held, and go back when that ends: ")
		s.must(v1beta2.RolloutRollingBack, "one", "d (runtime does not answer)")
		last := s.last.TakenBack[0]
		s.goesBack(last)
		s.of(last).State = v1beta2.StateReady
		s.step()
		s.must(v1beta2.RolloutRolledBack, "one", "those that had it have gone back; 3 cannot be reached or are held")
		mustEqual(t, "back", 0, len(s.channel().Back))
		if answer := s.ask(out[2], oldVersion); answer.Back || answer.Allowed {
			t.Errorf("one that does not have it: got %+v", answer)
		}
		for _, name := range out {
			if s.ask(name, newVersion).Back {
				t.Errorf("%s goes back before the owner sees that it returned", name)
			}
			s.of(name).LostSince, s.of(name).Held = time.Time{}, ""
		}
		s.step()
		s.must(v1beta2.RolloutRollingBack, "one", "")
		s.goesBack(s.last.TakenBack...)
		for _, name := range out {
			s.of(name).State = v1beta2.StateReady
		}
		s.step()
		s.must(v1beta2.RolloutRolledBack, "one", "those that had it have gone back")
	})
	t.Run("ready ones that return together go back as many at a time as upgrade", func(t *testing.T) {
		s := failing(t)
		s.rollout.Spec.Waves[0].MaxConcurrent = 1
		for _, name := range []string{"a", "b", "c", "d"} {
			s.of(name).LostSince = s.facts.Now
		}
		s.step()
		s.must(v1beta2.RolloutRolledBack, "one", "4 cannot be reached")
		for _, name := range []string{"a", "b", "c", "d"} {
			s.of(name).LostSince = time.Time{}
		}
		for left := 3; left > 0; left-- {
			s.step()
			var told []string
			for _, name := range []string{"a", "b", "c", "d"} {
				if s.of(name).Begun && s.ask(name, newVersion).Back {
					told = append(told, name)
				}
			}
			if want := 1; left == 3 {
				want = 2 // with the one that failed, which needs no place
				mustEqual(t, "the one that failed", true, slices.Contains(told, "d"))
				mustEqual(t, "told to go back", want, len(told))
			} else {
				mustEqual(t, "told to go back", want, len(told))
			}
			s.goesBack(told...)
			s.step()
			mustEqual(t, "taken back while others go back", 0, len(s.last.TakenBack))
			for _, name := range told {
				s.of(name).State = v1beta2.StateReady
			}
		}
		s.step()
		s.must(v1beta2.RolloutRolledBack, "one", "those that had it have gone back")
	})
	t.Run("one that is missing keeps its place", func(t *testing.T) {
		s := failing(t)
		s.goesBack("d")
		s.of("d").State = v1beta2.StateReady
		first := slices.DeleteFunc(slices.Clone(s.last.TakenBack), func(name string) bool { return name == "d" })
		s.facts.Members = slices.DeleteFunc(s.facts.Members, func(m Member) bool { return m.Name == first[0] })
		s.step()
		mustEqual(t, "taken back in its place", []string(nil), s.last.TakenBack)
		s.facts.Gone = s.last.Missing
		s.step()
		mustEqual(t, "taken back once it is gone", 1, len(s.last.TakenBack))
	})
	t.Run("one that went back and whose runtime is lost then takes no place", func(t *testing.T) {
		s := failing(t)
		s.goesBack(s.last.TakenBack...)
		for _, name := range s.last.TakenBack {
			s.of(name).LostSince = s.facts.Now
		}
		s.step()
		mustEqual(t, "taken back", 1, len(s.last.TakenBack))
	})
	t.Run("one that returns is named when the owner sees it first", func(t *testing.T) {
		s := failing(t)
		for _, name := range []string{"a", "b", "c", "d"} {
			s.of(name).LostSince = s.facts.Now
		}
		s.step()
		s.must(v1beta2.RolloutRolledBack, "one", "4 cannot be reached")
		s.of("a").LostSince = time.Time{}
		s.step()
		s.must(v1beta2.RolloutRollingBack, "one", "3 cannot be reached")
		mustEqual(t, "taken back", []string{"a"}, s.last.TakenBack)
	})
	t.Run("after all have gone back, the plan or an abort keeps those that return from it", func(t *testing.T) {
		for name, stops := range map[string]func(*fixture){
			"the plan says Halt": func(s *fixture) { s.rollout.Spec.OnFailure = v1beta2.RolloutHalt },
			"a pause":            func(s *fixture) { s.pause(true) },
			"an abort":           func(s *fixture) { s.decide(v1beta2.RolloutAbort, "") },
		} {
			s := failing(t)
			for _, each := range []string{"a", "b", "c", "d"} {
				s.of(each).LostSince = s.facts.Now
			}
			s.step()
			s.must(v1beta2.RolloutRolledBack, "one", "4 cannot be reached")
			stops(s)
			for _, each := range []string{"a", "b", "c", "d"} {
				s.of(each).LostSince = time.Time{}
			}
			s.step()
			if answer := s.ask("a", newVersion); answer.Back || !answer.Allowed {
				t.Errorf("%s: a is told %+v", name, answer)
			}
		}
	})
	t.Run("a ready one whose window is closed is not taken back yet", func(t *testing.T) {
		s := failing(t)
		for _, name := range []string{"a", "b", "c"} {
			s.of(name).Held = "window"
		}
		s.goesBack("d")
		for _, name := range s.last.TakenBack {
			if name != "d" {
				s.goesBack(name)
			}
			s.of(name).State = v1beta2.StateReady
		}
		s.step()
		mustEqual(t, "taken back", []string(nil), s.last.TakenBack)
		s.must(v1beta2.RolloutRollingBack, "one", "")
	})
	t.Run("a pause takes no Kyma back, and an abort ends it", func(t *testing.T) {
		s := failing(t)
		s.goesBack(s.last.TakenBack...)
		for i := range s.facts.Members {
			s.facts.Members[i].State = v1beta2.StateReady
		}
		s.pause(true)
		s.step()
		s.must(v1beta2.RolloutRollingBack, "one", "going back to 1.2.0 is paused")
		mustEqual(t, "taken back", []string(nil), s.last.TakenBack)
		s.decide(v1beta2.RolloutAbort, "")
		s.step()
		s.must(aborts, "one", "aborted by ann")
		mustEqual(t, "back", []string(nil), s.channel().Back)
	})
	t.Run("resume ends it, and those that went back get the version once more", func(t *testing.T) {
		s := failing(t)
		s.goesBack(s.last.TakenBack...)
		s.after(time.Minute)
		s.decide(v1beta2.RolloutResume, "one")
		s.step()
		s.must(progress, "one", "upgrades")
		if len(s.channel().Back) != 0 || len(s.channel().Underway) != 2 {
			t.Errorf("got %+v", s.channel())
		}
		before := slices.Clone(s.channel().Underway)
		s.after(time.Minute)
		mustEqual(t, "underway", before, s.channel().Underway)
	})
	t.Run("without a version to go back to it halts, and says so", func(t *testing.T) {
		s := newFixture(t, ring("one"))
		s.rollout.Spec.OnFailure = v1beta2.RolloutRollback
		s.kymas("one", "a")
		s.facts.FromMissing = "its template is gone"
		s.step()
		s.fails("a")
		s.must(stopped, "one", "1 of 1 failed, 0 allowed; Kymas cannot go back to 1.2.0: its template is gone")
		s.channel().From = v1beta2.RolloutVersion{}
		s.step()
		s.must(stopped, "one", "no version of the channel has completed")
	})
	t.Run("a target whose author vouches for no way back is told before any fails, and halts without asking anyone to go back", func(t *testing.T) {
		s := newFixture(t, ring("one"))
		s.rollout.Spec.OnFailure = v1beta2.RolloutRollback
		s.kymas("one", "a")
		s.facts.NoWayBack = "it has no rollbackTo"
		s.step()
		s.must(progress, "one", "those that fail will stay there, although onFailure is Rollback: it has no rollbackTo")
		s.fails("a")
		s.must(stopped, "one", "1 of 1 failed, 0 allowed; Kymas cannot go back to 1.2.0 by themselves: it has no rollbackTo")
		mustEqual(t, "asked", 0, len(s.channel().Back))
	})
	t.Run("one without a way back stays named, takes no place, and goes back when it can", func(t *testing.T) {
		s := failing(t)
		stuck := s.last.TakenBack[len(s.last.TakenBack)-1]
		s.of(stuck).Reason = v1beta2.ReasonRollbackUnavailable
		s.step()
		mustEqual(t, "taken back in its place", 1, len(s.last.TakenBack))
		s.must(v1beta2.RolloutRollingBack, "one", "1 cannot go back and keep it")
		for _, name := range []string{"a", "b", "c", "d"} {
			if name != stuck {
				s.goesBack(name)
				s.of(name).State = v1beta2.StateReady
			}
		}
		s.step()
		s.must(v1beta2.RolloutRolledBack, "one", "1 cannot go back and keep it")
		if !s.ask(stuck, newVersion).Back {
			t.Error("it is not asked to go back any more, so that its Kyma does not say why it cannot")
		}
		s.of(stuck).Reason = ""
		s.goesBack(stuck)
		s.of(stuck).State = v1beta2.StateReady
		s.step()
		s.must(v1beta2.RolloutRolledBack, "one", "")
		mustEqual(t, "named", 0, len(s.channel().Back))
	})
	t.Run("a plan that is changed to Rollback takes back what had halted, and one that is changed to Halt stops that", func(t *testing.T) {
		s := newFixture(t, ring("one", atOnce(0)))
		s.kymas("one", "a", "b")
		s.step()
		s.upgrade("b")
		s.fails("a")
		s.must(stopped, "one", "")
		s.rollout.Spec.OnFailure = v1beta2.RolloutRollback
		s.step()
		s.must(v1beta2.RolloutRollingBack, "one", "")
		mustEqual(t, "taken back", 2, len(s.last.TakenBack))
		s.rollout.Spec.OnFailure = v1beta2.RolloutHalt
		s.step()
		s.must(stopped, "one", "")
		if answer := s.ask("b", newVersion); answer.Back || !answer.Allowed {
			t.Errorf("got %+v", answer)
		}
		s.rollout.Spec.OnFailure = v1beta2.RolloutRollback
		s.step()
		s.goesBack("a", "b")
		s.of("a").State, s.of("b").State = v1beta2.StateReady, v1beta2.StateReady
		s.step()
		s.must(v1beta2.RolloutRolledBack, "one", "")
		s.rollout.Spec.OnFailure = v1beta2.RolloutHalt
		s.step()
		s.must(v1beta2.RolloutRolledBack, "one", "1 of 2 failed")
	})
}
