package rollout

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func (s *fixture) offer(target string) {
	s.Helper()
	s.offered = ParseTarget(target)
	for i := range s.facts.Members {
		m := &s.facts.Members[i]
		m.Begun, m.Ready, m.At = false, false, time.Time{}
	}
	s.after(time.Minute)
}

func TestEdges(t *testing.T) {
	for _, test := range []struct {
		name  string
		waves []v1beta2.RolloutWave
		play  func(*fixture)
	}{
		{"a new target goes back to the first wave, and from stays what completed last", wavesOf("one", "two"), func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.step()
			s.upgrade("a")
			s.must(progress, "two", "")
			s.offer("1.4.0")
			s.must(progress, "one", "upgrades")
			s.places("a")
			mustEqual(s.T, "from", oldVersion, s.channel().From.Version)
			if !s.last.All {
				s.Error("those that wait for the target before are not woken")
			}
		}},
		{"a new target ends a halt, and forgets whom the last one forgave", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			s.fails("a")
			s.decide(v1beta2.RolloutResume, "")
			s.step()
			s.offer("1.4.0")
			s.must(progress, "one", "upgrades")
			if !s.channel().ForgivenUntil.IsZero() || s.channel().Cause != "" || len(s.channel().Worst) > 0 {
				s.Errorf("got %+v", s.channel())
			}
		}},
		{"a digest that becomes known is the same target, another one is a new target", wavesOf("one", "two"), func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.step()
			s.upgrade("a")
			s.offered.Digest = "sha256:one"
			s.step()
			s.must(progress, "two", "")
			mustEqual(s.T, "to", "1.3.0@sha256:one", FormatTarget(s.channel().To))
			s.offered.Digest = ""
			s.step()
			mustEqual(s.T, "to", "1.3.0@sha256:one", FormatTarget(s.channel().To))
			s.offer("1.3.0@sha256:two")
			s.must(progress, "one", "")
			mustEqual(s.T, "from", oldVersion, FormatTarget(s.channel().From))
		}},
		{"a rollout that was made after the move has from = to, and lets all have it", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a")
			s.rollout.Status.Channels = nil
			s.step()
			s.must(completes, "", "1.3.0 is released to every Kyma")
			mustEqual(s.T, "from", s.channel().To, s.channel().From)
			if !s.ask("a", oldVersion).Allowed {
				s.Error("a is not allowed")
			}
		}},
		{"one that was made paused stops those that lack the version, until it goes on wave by wave", wavesOf("one", "two"), func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b", "has")
			s.of("has").Begun, s.of("has").Ready = true, true
			s.rollout.Status.Channels = nil
			s.pause(true)
			s.step()
			s.must(waits, "one", "paused before wave one")
			mustEqual(s.T, "from", s.channel().To, s.channel().From)
			if s.ask("a", oldVersion).Allowed || s.ask("a", "").Allowed || s.ask("a", "").From != "" || !s.ask("has", newVersion).Allowed {
				s.Error("who has it keeps it, and no other gets it")
			}
			s.pause(false)
			s.step()
			s.upgrade("a")
			s.must(progress, "two", "")
			s.upgrade("b")
			s.must(completes, "", "")
		}},
		{"one that was made paused and gets a new target has no version to fall back to", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a")
			s.rollout.Status.Channels = nil
			s.pause(true)
			s.step()
			s.offer("1.4.0")
			mustEqual(s.T, "from", v1beta2.RolloutVersion{}, s.channel().From)
			s.must(waits, "one", "paused")
		}},
		{"one that was made paused and is aborted lets no other have it", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a")
			s.rollout.Status.Channels = nil
			s.pause(true)
			s.step()
			s.decide(v1beta2.RolloutAbort, "")
			s.step()
			s.must(aborts, "one", "aborted by ann; those that have it keep it")
			if s.ask("a", oldVersion).Allowed || Settled(s.channel()) {
				s.Error("a may have it")
			}
		}},
		{"a channel that is set back aborts: who has the target keeps it", wavesOf("one", "two"), func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.step()
			s.upgrade("a")
			s.offered = v1beta2.RolloutVersion{Version: oldVersion}
			if answer := s.ask("a", newVersion); !answer.Allowed || !answer.Aborted {
				s.Errorf("before the status says so: got %+v", answer)
			}
			s.offer(oldVersion)
			s.must(aborts, "", "the channel was set back from 1.3.0: Kymas that have it keep it")
			if answer := s.ask("a", newVersion); !answer.Allowed || !answer.Aborted {
				s.Errorf("got %+v", answer)
			}
			if answer := s.ask("b", oldVersion); !answer.Allowed || answer.Aborted {
				s.Errorf("got %+v", answer)
			}
			if !Settled(s.channel()) {
				s.Error("the finalizer still holds it")
			}
			s.offer("1.3.1")
			s.must(progress, "one", "upgrades")
			mustEqual(s.T, "from", oldVersion, s.channel().From.Version)
		}},
		{"a channel that is set back below what completed is no rollout", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			s.offer("1.1.0")
			s.must(aborts, "", "set back from 1.3.0")
			s.offer("1.0.0")
			s.must(aborts, "", "set back from 1.1.0")
		}},
		{"a completed channel that is set back stays completed", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			s.upgrade("a")
			s.offer("1.1.0")
			s.must(completes, "", "set back from 1.3.0")
		}},
		{"a lower target above what completed is a rollout", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			s.offer("1.2.5")
			s.must(progress, "one", "upgrades")
		}},
		{"abort: no other Kyma gets it, at once when the decision stands there; who has it keeps it", wavesOf("one", "two"), func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.step()
			s.upgrade("a")
			s.decide(v1beta2.RolloutAbort, "")
			for range 2 {
				if answer := s.ask("b", oldVersion); answer.Allowed || answer.From != oldVersion {
					s.Errorf("got %+v", answer)
				}
				if answer := s.ask("a", newVersion); !answer.Allowed || !answer.Aborted {
					s.Errorf("got %+v", answer)
				}
				s.step()
				s.must(aborts, "two", "aborted by ann; those that have it keep it")
			}
			s.decide(v1beta2.RolloutResume, "")
			s.step()
			s.must(aborts, "two", "aborted by ann")
		}},
		{"a decision counts for its target only, and for no second attempt", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a")
			s.rollout.Spec.Decision = &v1beta2.RolloutDecision{Action: v1beta2.RolloutAbort, Target: "1.2.9", At: floor(noon)}
			s.step()
			s.must(progress, "one", "")
			s.decide(v1beta2.RolloutAbort, "")
			s.step()
			s.must(aborts, "one", "")
			s.offer(oldVersion)
			s.offer(newVersion)
			s.must(progress, "one", "the decision abort does not count: it is older than this target; decide again")
			s.rollout.Spec.Decision.Channel = "fast"
			s.rollout.Spec.Decision.At = metav1.Time{}
			s.step()
			s.must(progress, "one", "")
			s.rollout.Spec.Decision.Channel = "regular"
			s.step()
			s.must(aborts, "one", "")
		}},
		{"a Kyma that a label moves to a later wave keeps its place", wavesOf("one", "two"), func(s *fixture) {
			s.kymas("one", "a", "b")
			s.step()
			moved := s.last.Admitted[0]
			s.of(moved).Labels = map[string]string{"ring": "two"}
			s.step()
			s.places(moved)
			s.begin(moved)
		}},
		{"a wave that is put before the current one comes first", wavesOf("one", "three"), func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("two", "b")
			s.kymas("three", "c")
			s.step()
			s.upgrade("a")
			s.must(progress, "three", "")
			s.rollout.Spec.Waves = wavesOf("one", "two", "three")
			s.step()
			s.must(progress, "two", "upgrades")
			s.upgrade("c")
			s.upgrade("b")
			s.must(completes, "", "")
		}},
		{"the current wave is taken out of the plan: the next one that has not passed begins", wavesOf("one", "two", "three"), func(s *fixture) {
			s.kymas("one", "a")
			s.kymas("three", "c")
			s.step()
			s.upgrade("a")
			s.must(waits, "two", "it has no Kyma")
			s.rollout.Spec.Waves = wavesOf("one", "three")
			s.step()
			s.must(progress, "three", "")
			s.rollout.Spec.Waves = wavesOf("one")
			s.step()
			s.must(progress, Others, "")
		}},
		{"the version before is gone: it tells that first installations wait", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a")
			s.facts.FromMissing = "its ModuleTemplate does not exist"
			s.step()
			s.must(progress, "one", "first installations wait, since 1.2.0 cannot be installed: its ModuleTemplate does not exist")
		}},
		{"a pause after the end stops those that come later, but no first installation", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a", "held")
			s.of("held").Held = "window"
			s.step()
			s.upgrade("a")
			s.pause(true)
			s.step()
			s.must(completes, "", "paused: those that run another version keep it")
			if s.ask("held", oldVersion).Allowed || !s.ask("held", "").Allowed {
				s.Error("got the wrong answers")
			}
			s.pause(false)
			s.step()
			if !s.last.All || !s.ask("held", oldVersion).Allowed {
				s.Error("they are not woken")
			}
		}},
		{"a channel that the release does not name any more stays as it is", wavesOf("one"), func(s *fixture) {
			s.kymas("one", "a")
			s.step()
			before := *s.channel()
			s.offered = v1beta2.RolloutVersion{}
			s.step()
			mustEqual(s.T, "channel", before, *s.channel())
		}},
		{"every wave is empty: each waits, and the end comes by approvals", wavesOf("one"), func(s *fixture) {
			s.step()
			s.must(waits, "one", "it has no Kyma")
			s.decide(v1beta2.RolloutApprove, "one")
			s.step()
			s.must(completes, "", "")
		}},
	} {
		t.Run(test.name, func(t *testing.T) { test.play(newFixture(t, test.waves...)) })
	}
}

func TestShare(t *testing.T) {
	for _, test := range []struct {
		share       string
		total, want int
	}{
		{"10%", 100, 10}, {"10%", 101, 11}, {"10%", 1, 1}, {"1%", 5, 1}, {"99%", 100, 99}, {"50%", 3, 2},
	} {
		t.Run(fmt.Sprintf("%s of %d are %d", test.share, test.total, test.want), func(t *testing.T) {
			s := newFixture(t, v1beta2.RolloutWave{Name: "some", Share: test.share}, v1beta2.RolloutWave{Name: "rest", Selector: &metav1.LabelSelector{}})
			for i := range test.total {
				s.kymas("any", fmt.Sprintf("kyma-%d", i))
			}
			s.step()
			mustEqual(t, "in the wave", int32(test.want), s.wave("some").Total)
			chosen := map[string]bool{}
			for _, m := range s.facts.Members {
				name, err := WaveOf(&s.rollout.Spec, s.channel(), m.UID, m.Labels)
				if err != nil {
					t.Fatal(err)
				}
				chosen[m.Name] = name == "some"
			}
			cut := s.wave("some").Cut
			for i := range 20 {
				s.kymas("any", fmt.Sprintf("later-%d", i))
			}
			s.step()
			mustEqual(t, "cut", cut, s.wave("some").Cut)
			for name, in := range chosen {
				m := s.of(name)
				if again, _ := WaveOf(&s.rollout.Spec, s.channel(), m.UID, m.Labels); (again == "some") != in {
					t.Errorf("%s moved to %s", name, again)
				}
			}
		})
	}
	t.Run("another target chooses others", func(t *testing.T) {
		s := newFixture(t, v1beta2.RolloutWave{Name: "some", Share: "50%"}, v1beta2.RolloutWave{Name: "rest"})
		for i := range 100 {
			s.kymas("any", fmt.Sprintf("kyma-%d", i))
		}
		s.step()
		cut := s.wave("some").Cut
		s.offer("1.4.0")
		if s.wave("some").Cut == cut || s.wave("some").Total != 50 {
			t.Errorf("got %+v after %s", s.wave("some"), cut)
		}
	})
	t.Run("a share of no Kyma is chosen when the first one comes, and until then no answer relies on it", func(t *testing.T) {
		s := newFixture(t, ring("one"), ring("some", atOnce(0), func(w *v1beta2.RolloutWave) { w.Share = "50%" }))
		s.kymas("one", "a")
		s.step()
		s.kymas("some", "b", "c")
		if answer := s.ask("b", oldVersion); answer.Allowed || answer.Detail != `until it is decided who is in wave "some"` {
			t.Errorf("got %+v", answer)
		}
		s.upgrade("a")
		mustEqual(t, "in the wave", int32(1), s.wave("some").Total)
		mustEqual(t, "in no wave", int32(1), s.wave(Others).Total)
	})
}
