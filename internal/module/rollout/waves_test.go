package rollout

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func mustEqual[T any](t *testing.T, what string, want, got T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s: %s", what, diff)
	}
}

const (
	progress  = v1beta2.RolloutProgressing
	waits     = v1beta2.RolloutWaiting
	stopped   = v1beta2.RolloutHalted
	completes = v1beta2.RolloutCompleted
	aborts    = v1beta2.RolloutAborted
)

func TestWaves(t *testing.T) {
	for _, test := range []struct {
		name  string
		waves []v1beta2.RolloutWave
		play  func(*fixture)
	}{
		{"waves come in their order, and all may have the version after the last", wavesOf("canary", "rest"), func(s *fixture) {
			s.kymas("canary", "a")
			s.kymas("rest", "b")
			s.step()
			s.must(progress, "canary", "upgrades")
			s.places("a")
			if s.ask("b", oldVersion).Allowed {
				s.Error("b is allowed before its wave")
			}
			s.upgrade("a")
			s.must(progress, "rest", "upgrades")
			s.places("b")
			s.upgrade("b")
			s.must(completes, "", "1.3.0 is released to every Kyma")
			if !s.last.All || len(s.channel().Underway) > 0 || s.channel().From.Version != newVersion {
				s.Errorf("not all are woken: %+v", s.last)
			}
		}},
		{"no more upgrade at a time than maxConcurrent", []v1beta2.RolloutWave{ring("one", atOnce(2))}, func(s *fixture) {
			s.kymas("one", "a", "b", "c", "d", "e")
			s.step()
			if len(s.channel().Underway) != 2 || len(s.last.Admitted) != 2 {
				s.Fatalf("got %v", s.channel().Underway)
			}
			first := slices.Clone(s.last.Admitted)
			s.begin(first...)
			s.step()
			s.step()
			slices.Sort(first)
			s.places(first...)
			s.upgrade(first[0])
			if len(s.channel().Underway) != 2 || len(s.last.Admitted) != 1 {
				s.Errorf("got %v under way, %v admitted", s.channel().Underway, s.last.Admitted)
			}
		}},
		{"a Kyma that was not seen to have begun keeps its place until its time is over", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a", "b")
			s.step()
			before := slices.Clone(s.channel().Underway)
			s.after(patience - time.Second)
			mustEqual(s.T, "underway", before, s.channel().Underway)
		}},
		{"one that has a place and is held then does not hold the wave, and the message names it", wavesOf("one", "two"), func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.step()
			s.of("a").Held = "window"
			s.step()
			s.must(waits, "one", "no Kyma of wave one is ready")
			s.decide(v1beta2.RolloutApprove, "one")
			s.step()
			s.must(progress, "two", "1 Kyma has a place and cannot begin: a (window)")
			s.places("a")
		}},
		{"one that is missing from the cache keeps its place until the API server says that it is gone", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a", "b")
			s.step()
			gone := s.channel().Underway[0]
			s.facts.Members = slices.DeleteFunc(s.facts.Members, func(m Member) bool { return Prefix(m.UID) == gone })
			s.step()
			mustEqual(s.T, "missing", []string{gone}, s.last.Missing)
			mustEqual(s.T, "underway", []string{gone}, s.channel().Underway)
			s.facts.Gone = []string{gone}
			s.step()
			s.places(s.facts.Members[0].Name)
		}},
		{"a wave without maxConcurrent is open to all of it, and to no other", []v1beta2.RolloutWave{ring("all", atOnce(0)), ring("rest")}, func(s *fixture) {
			s.kymas("all", "a", "b")
			s.kymas("rest", "c")
			s.step()
			if !s.channel().Open || !s.last.All || len(s.channel().Underway) > 0 {
				s.Errorf("got %+v", s.last)
			}
			if s.ask("c", oldVersion).Allowed {
				s.Error("c is allowed before its wave")
			}
			s.upgrade("a", "b")
			s.must(progress, "rest", "")
			if s.channel().Open {
				s.Error("a wave with maxConcurrent is open")
			}
		}},
		{"the next wave begins when the soak is over, to the second", []v1beta2.RolloutWave{ring("one", soak(2*time.Hour)), ring("two")}, func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.step()
			s.upgrade("a")
			s.must(progress, "one", "wave one soaks until 2026-01-01T14:00:00Z")
			mustEqual(s.T, "wake", noon.Add(2*time.Hour), s.last.Wake)
			s.after(2*time.Hour - time.Second)
			s.must(progress, "one", "soaks")
			s.after(time.Second)
			s.must(progress, "two", "upgrades")
		}},
		{"a wave that needs approval waits for a person", []v1beta2.RolloutWave{ring("one"), ring("two", approval)}, func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.step()
			s.upgrade("a")
			s.must(waits, "two", "wave two waits for approval")
			s.decide(v1beta2.RolloutApprove, "one")
			s.step()
			s.must(waits, "two", "wave two waits for approval")
			s.decide(v1beta2.RolloutApprove, "")
			s.step()
			s.must(waits, "two", "names no wave")
			s.decide(v1beta2.RolloutApprove, "two")
			s.step()
			s.must(progress, "two", "upgrades")
			s.places("b")
		}},
		{"the approval to begin does not let an empty wave pass", []v1beta2.RolloutWave{ring("one", approval), ring("two")}, func(s *fixture) {
			s.kymas("two", "b")
			s.step()
			s.decide(v1beta2.RolloutApprove, "one")
			s.step()
			s.must(waits, "one", "it has no Kyma")
			s.facts.Now = s.facts.Now.Add(time.Minute)
			s.decide(v1beta2.RolloutApprove, "one")
			s.step()
			s.must(progress, "two", "upgrades")
		}},
		{"an empty wave does not pass, and does when it is corrected", wavesOf("one", "two"), func(s *fixture) {
			s.kymas("two", "b", "c")
			s.step()
			s.must(waits, "one", "approve the wave, or correct it")
			s.of("c").Labels = map[string]string{"ring": "one"}
			s.step()
			s.must(progress, "one", "upgrades")
			s.upgrade("c")
			s.must(progress, "two", "upgrades")
		}},
		{"a wave all of which is unreachable is empty, too, until one comes back", wavesOf("one", "two"), func(s *fixture) {
			s.kymas("one", "a")
			s.of("a").LostSince = noon
			s.kymas("two", "b")
			s.step()
			s.must(waits, "one", "1 in all, 1 skipped")
			s.of("a").LostSince = time.Time{}
			s.step()
			s.must(progress, "one", "upgrades")
			s.upgrade("a")
			s.must(progress, "two", "upgrades")
		}},
		{"nothing begins before the release is marked", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a")
			s.facts.Armed = false
			s.step()
			s.must(progress, "one", "as soon as the release is marked")
			s.places()
			s.facts.Armed = true
			s.step()
			s.places("a")
			s.upgrade("a")
			s.must(completes, "", "")
		}},
		{"nothing begins or passes once the mark is gone", []v1beta2.RolloutWave{ring("one", atOnce(0)), ring("two")}, func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.step()
			s.begin("a")
			s.facts.Armed = false
			s.of("a").Ready = true
			s.step()
			s.must(progress, "one", "the release is not marked any more")
			if s.channel().Open {
				s.Error("it is open")
			}
		}},
		{"a pause stops admissions, what has a place waits, and what has begun ends", []v1beta2.RolloutWave{ring("one", atOnce(2))}, func(s *fixture) {
			s.kymas("one", "a", "b", "c")
			s.step()
			admitted := slices.Clone(s.last.Admitted)
			s.begin(admitted[0])
			s.pause(true)
			s.step()
			s.must(waits, "one", "paused; wave one upgrades")
			if !s.ask(admitted[0], newVersion).Allowed || s.ask(admitted[1], oldVersion).Allowed {
				s.Error("who has begun must continue, who has not must wait")
			}
			s.of(admitted[0]).Ready = true
			s.step()
			s.places(admitted[1])
			s.pause(false)
			s.step()
			if len(s.last.Admitted) != 2 || s.last.Admitted[0] != admitted[1] {
				s.Errorf("woken are %v, want the one that had a place, and a new one", s.last.Admitted)
			}
			s.upgrade(s.last.Admitted...)
			s.must(completes, "", "")
		}},
		{"a pause holds a wave that has passed, and the end", wavesOf("one", "two"), func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.step()
			s.pause(true)
			s.of("a").Begun, s.of("a").Ready = true, true
			s.step()
			s.must(waits, "one", "paused after wave one")
			s.pause(false)
			s.step()
			s.must(progress, "two", "upgrades")
			s.of("b").Begun, s.of("b").Ready = true, true
			s.pause(true)
			s.step()
			s.must(waits, "two", "paused after wave two")
		}},
		{"a pause in front of a first wave, and in a soak, says so", []v1beta2.RolloutWave{ring("one", soak(time.Hour)), ring("two")}, func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.pause(true)
			s.step()
			s.must(waits, "one", "paused before wave one")
			s.pause(false)
			s.step()
			s.upgrade("a")
			s.pause(true)
			s.step()
			s.must(waits, "one", "paused; wave one soaks until")
		}},
		{"a Kyma in several waves is in the first, one in none in a last wave of its own, and the message tells", wavesOf("one", "one-b"), func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("elsewhere", "z")
			s.rollout.Spec.Waves[1].Selector.MatchLabels["ring"] = "one"
			s.step()
			s.must(progress, "one", "1 Kyma is in no wave of the plan: they come last, in wave others")
			mustEqual(s.T, "total", int32(0), s.wave("one-b").Total)
			s.upgrade("a")
			s.decide(v1beta2.RolloutApprove, "one-b")
			s.step()
			s.must(progress, Others, "upgrades")
			s.places("z")
			s.upgrade("z")
			s.must(completes, "", "")
		}},
		{"who joins a wave in its soak goes through underway, and does not hold it", []v1beta2.RolloutWave{ring("one", soak(time.Hour)), ring("two")}, func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.step()
			s.upgrade("a")
			s.facts.Now = s.facts.Now.Add(45 * time.Minute)
			s.kymas("one", "new")
			s.step()
			s.must(progress, "one", "soaks")
			s.places("new")
			s.begin("new")
			s.after(15*time.Minute - time.Second)
			s.after(time.Second)
			s.must(progress, "two", "upgrades")
			s.places("new") // It takes the only place until it ends.
			s.of("new").Ready = true
			s.step()
			s.places("b")
		}},
		{"a Kyma that was made after its wave began does not hold it", wavesOf("one", "two"), func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.step()
			s.facts.Now = s.facts.Now.Add(time.Minute)
			s.kymas("one", "new")
			s.of("new").Created = s.facts.Now
			s.upgrade("a")
			s.must(progress, "two", "upgrades")
			s.places("new")
		}},
		{"a wave of Kymas that were all made after it began is not empty while they may become ready", wavesOf("one", "two"), func(s *fixture) {
			s.kymas("two", "b")
			s.step()
			s.must(waits, "one", "no Kyma of wave one is ready")
			s.kymas("one", "new")
			s.of("new").Created = s.facts.Now.Add(time.Minute)
			s.after(2 * time.Minute)
			s.must(progress, "one", "upgrades")
			s.places("new")
			s.begin("new")
			s.step()
			s.must(progress, "one", "upgrades")
			s.upgrade("new")
			s.must(progress, "two", "upgrades")
		}},
		{"who waits for a window or a runtime does not hold the wave, and comes later", wavesOf("one", "two"), func(s *fixture) {
			s.kymas("one", "a", "held", "lost")
			s.kymas("two", "b")
			s.of("held").Held, s.of("lost").LostSince = "window", noon
			s.step()
			s.places("a")
			s.upgrade("a")
			s.must(progress, "two", "upgrades")
			mustEqual(s.T, "skipped", int32(2), s.wave("one").Skipped)
			s.of("held").Held = ""
			s.upgrade("b")
			s.must(completes, "", "")
		}},
		{"those of earlier waves that come later are first", wavesOf("one", "two"), func(s *fixture) {
			s.kymas("one", "a", "held")
			s.kymas("two", "b", "c")
			s.of("held").Held = "consent"
			s.step()
			s.upgrade("a")
			second := s.last.Admitted[0]
			s.of("held").Held = ""
			s.upgrade(second)
			s.places("held")
		}},
	} {
		t.Run(test.name, func(t *testing.T) { test.play(newFixture(t, test.waves...)) })
	}
}
