package rollouts

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

func TestDescribe_WhatAChannelWaitsFor(t *testing.T) {
	current := releaseWith("regular", "1.3.0")
	emptied := on(func(c *v1beta2.RolloutChannel) {
		c.Waves[1] = v1beta2.RolloutWaveStatus{Name: "early", Since: metav1.NewTime(noon), Total: 4, Skipped: 3, BrokenBefore: 1}
	})
	for name, c := range map[string]struct {
		rollout *v1beta2.ModuleRollout
		release *v1beta2.ModuleReleaseMeta
		waits   WaitsFor
		person  bool
		says    string
		types   string // the first words that a person can type
	}{
		"Kymas upgrade": {
			newRollout(), current, ForKymas, false, "wave early upgrades: 190 Kymas have not begun, 2 are not ready yet",
			"kyma rollout status eventing --watch",
		},
		"a wave soaks": {
			newRollout(on(func(c *v1beta2.RolloutChannel) { c.Waves[1].Soaking = true })), current, ForSoak, false,
			"wave early is ready, and must stay so for a while", "kyma rollout status eventing --watch",
		},
		"a wave needs approval": {
			newRollout(inPhase(v1beta2.RolloutWaiting, "rest")), current, ForApproval, true, "wave rest waits for approval", "kyma rollout approve eventing",
		},
		"a wave is empty": {
			newRollout(inPhase(v1beta2.RolloutWaiting, "early"), emptied), current, ForEmptyWave, true,
			"wave early has no Kyma that can become ready: approve it to go on, or correct its selector", "kyma rollout approve eventing",
		},
		"it is paused": {
			newRollout(paused), current, ForResume, true, "the rollout is paused: no further Kyma gets 1.3.0", "kyma rollout resume eventing",
		},
		"it has halted": {
			newRollout(inPhase(v1beta2.RolloutHalted, "early")), current, ForDecision, true,
			"1 of the 200 Kymas of wave early failed, and 2 may", "kyma rollout resume eventing",
		},
		"it has halted before its counts are known": {
			newRollout(inPhase(v1beta2.RolloutHalted, "new")), current, ForDecision, true,
			"0 of the 0 Kymas of wave new failed, and 0 may", "kyma rollout resume eventing",
		},
		"Kymas go back": {
			newRollout(inPhase(v1beta2.RolloutRollingBack, "early"), on(func(c *v1beta2.RolloutChannel) { c.Back = []string{"x"} })),
			current, ForWayBack, false, "Kymas go back from 1.3.0; 1 do so now", "kyma rollout status eventing --watch",
		},
		"they have gone back": {
			newRollout(inPhase(v1beta2.RolloutRolledBack, "early")), current, ForNothing, false,
			"too many Kymas failed, and those that had 1.3.0 have gone back", "kyma rollout abort eventing",
		},
		"it was aborted": {
			newRollout(inPhase(v1beta2.RolloutAborted, "early")), current, ForNothing, false,
			"the rollout was aborted: no further Kyma gets 1.3.0", "kyma rollout abort eventing",
		},
		"it was aborted, and the channel set back": {
			newRollout(inPhase(v1beta2.RolloutAborted, ""), on(func(c *v1beta2.RolloutChannel) { c.To = c.From })), releaseWith("regular", "1.2.0"),
			ForNothing, false, "the rollout was aborted: no further Kyma gets 1.2.0", "",
		},
		"it has completed": {
			newRollout(inPhase(v1beta2.RolloutCompleted, "")), current, ForNothing, false, "1.3.0 is released to every Kyma", "",
		},
		"the channel moved on": {
			newRollout(inPhase(v1beta2.RolloutCompleted, "")), releaseWith("regular", "1.4.0"), ForManager, false,
			"channel regular names 1.4.0, which the lifecycle manager has not taken up yet", "kyma rollout status eventing --watch",
		},
		"the last change is not seen": {
			newRollout(unseen), nil, ForManager, false, "the lifecycle manager has not taken up the last change of the rollout yet",
			"kyma rollout status eventing --watch",
		},
		"the lifecycle manager says it better": {
			newRollout(on(func(c *v1beta2.RolloutChannel) { c.Message = "version 1.2.0 is gone" })), current, ForKymas, false,
			"version 1.2.0 is gone", "kyma rollout status eventing --watch",
		},
		"one of two channels is named": {
			newRollout(inPhase(v1beta2.RolloutHalted, "early"), twoChannels), current, ForDecision, true,
			"1 of the 200 Kymas of wave early failed, and 2 may", "kyma rollout resume eventing --channel regular",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := Describe(c.rollout, c.release).Channels[0]
			if got.WaitsFor != c.waits || got.WaitsFor.NeedsPerson() != c.person || got.Message != c.says {
				t.Errorf("it waits for %q: %q, want %q: %q", got.WaitsFor, got.Message, c.waits, c.says)
			}
			first := ""
			if len(got.Actions) > 0 {
				first = got.Actions[0].Command
			}
			if first != c.types {
				t.Errorf("to type: %q, want %q", first, c.types)
			}
		})
	}
}

func TestDescribe_OnlyASoakEndsByItself(t *testing.T) {
	soaking := newRollout(on(func(c *v1beta2.RolloutChannel) { c.Waves[1].Soaking = true }))
	got := Describe(soaking, nil).Channels[0]
	if at, is := got.Next(); !is || !at.Equal(noon.Add(time.Hour)) || got.NextAt != "2026-01-02T13:00:00Z" {
		t.Errorf("the soak ends %s (%q)", at, got.NextAt)
	}
	if _, is := Describe(newRollout(), nil).Channels[0].Next(); is {
		t.Error("Kymas that upgrade end at no time that is known")
	}
}

func TestDescribe_WhatAnAbortDoes(t *testing.T) {
	effect := func(r *v1beta2.ModuleRollout) string {
		actions := Describe(r, nil).Channels[0].Actions
		return actions[len(actions)-1].Effect
	}
	if got := effect(newRollout()); got != "ends it, and sets channel regular back to 1.2.0" {
		t.Error(got)
	}
	first := newRollout(on(func(c *v1beta2.RolloutChannel) { c.From = v1beta2.RolloutVersion{} }))
	if got := effect(first); got != "ends it: no further Kyma gets 1.3.0" {
		t.Error(got)
	}
	mandatory := newRollout(on(func(c *v1beta2.RolloutChannel) { c.Name = "" }))
	if got := effect(mandatory); got != "ends it, and sets the mandatory module back to 1.2.0" {
		t.Error(got)
	}
}

func TestDescribe_Waves(t *testing.T) {
	states := func(r *v1beta2.ModuleRollout) string {
		var words []string
		for _, w := range Describe(r, nil).Channels[0].Waves {
			words = append(words, w.Name+"="+w.State)
		}
		return strings.Join(words, " ")
	}
	for want, r := range map[string]*v1beta2.ModuleRollout{
		"canary=Passed early=Updating rest=Pending": newRollout(),
		"canary=Passed early=Soaking rest=Pending":  newRollout(on(func(c *v1beta2.RolloutChannel) { c.Waves[1].Soaking = true })),
		"canary=Halted early=Pending rest=Pending":  newRollout(inPhase(v1beta2.RolloutHalted, "canary")),
		"canary=Passed early=Passed rest=Waiting":   newRollout(inPhase(v1beta2.RolloutWaiting, "rest")),
		"canary=Passed early=Passed rest=Passed":    newRollout(inPhase(v1beta2.RolloutCompleted, "")),
	} {
		if got := states(r); got != want {
			t.Errorf("waves are %s, want %s", got, want)
		}
	}
	others := newRollout(on(func(c *v1beta2.RolloutChannel) {
		c.Waves = append(c.Waves, v1beta2.RolloutWaveStatus{Name: "others", Total: 2})
	}))
	waves := Describe(others, nil).Channels[0].Waves
	want := Wave{
		Name: "early", State: "Updating", Since: "2026-01-02T11:30:00Z", Soak: "1h30m", Share: "10%", MaxConcurrent: 50, Allowed: 2, Total: 200,
		Waiting: 190, Updating: 2, Ready: 7, Failed: 1,
	}
	if diff := cmp.Diff(want, waves[1]); diff != "" {
		t.Error(diff)
	}
	if waves[3].Allowed != 0 || waves[3].State != "Pending" {
		t.Errorf("the wave of those that no wave selects is %+v", waves[3])
	}
}

func TestDescribe_Step(t *testing.T) {
	got := Describe(newRollout(), nil).Channels[0]
	if step := got.Step(); step != "early (2 of 3)" {
		t.Error(step)
	}
	got.Wave = "gone"
	if step := got.Step(); step != "gone" {
		t.Errorf("a wave that has no counts yet is %q", step)
	}
}

func TestDescribe_Trouble(t *testing.T) {
	condition := func(kind, reason, message string) func(*v1beta2.ModuleRollout) {
		return func(r *v1beta2.ModuleRollout) {
			r.Status.Conditions = []metav1.Condition{{Type: kind, Status: metav1.ConditionFalse, Reason: reason, Message: message}}
		}
	}
	for name, c := range map[string]struct {
		rollout *v1beta2.ModuleRollout
		want    string
	}{
		"nothing is wrong": {newRollout(), ""},
		"the manager did not look yet": {
			newRollout(func(r *v1beta2.ModuleRollout) { r.Status = v1beta2.ModuleRolloutStatus{} }), "the lifecycle manager has not looked at it yet",
		},
		"the plan is wrong": {newRollout(condition(v1beta2.ConditionProgressing, v1beta2.ReasonSpecInvalid, "two waves select all")), "two waves select all"},
		"the release is not marked": {
			newRollout(condition(v1beta2.ConditionArmed, v1beta2.ReasonReleaseUnmarked, "there is no release")), "there is no release",
		},
		"it is about nothing": {
			newRollout(func(r *v1beta2.ModuleRollout) { r.Status.Channels = nil }), "it decides about no channel of the module",
		},
		"the release is not marked, for no known reason": {
			newRollout(condition(v1beta2.ConditionHalted, "x", "")), "the release is not marked yet: no Kyma gets another version",
		},
	} {
		r := Describe(c.rollout, nil)
		if got := r.Trouble(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAll_AreSortedAndKnowTheirReleases(t *testing.T) {
	second, elsewhere := newRollout(), newRollout()
	second.Name, elsewhere.Namespace = "api-gateway", "another"
	in := &modulestatus.Inputs{
		Rollouts: []v1beta2.ModuleRollout{*newRollout(decided(v1beta2.RolloutResume, "early")), *second, *elsewhere},
		Releases: []v1beta2.ModuleReleaseMeta{*releaseWith("regular", "1.4.0")},
	}
	var names []string
	all := All(in)
	for _, r := range all {
		names = append(names, r.Namespace+"/"+r.Name+"="+r.Channels[0].Offered)
	}
	if got := strings.Join(names, " "); got != "kcp-system/api-gateway= another/eventing= kcp-system/eventing=1.4.0" {
		t.Error(got)
	}
	if d := all[2].Decision; d == nil || d.By != "ann" || d.At != "" {
		t.Errorf("the decision is %+v", d)
	}
}

func TestOffered(t *testing.T) {
	for want, got := range map[string]string{
		"1.4.0": Offered(releaseWith("fast", "1.5.0", "regular", "1.4.0"), "regular"),
		"2.0.0": Offered(mandatoryRelease("2.0.0"), ""),
		"":      Offered(nil, "regular") + Offered(releaseWith(), "regular") + Offered(mandatoryRelease("2.0.0"), "regular"),
	} {
		if got != want {
			t.Errorf("it offers %q, want %q", got, want)
		}
	}
}

func TestAllowed(t *testing.T) {
	for text, want := range map[string]int32{"": 0, "3": 3, "1%": 1, "100%": 199, "x": 0} {
		if got := allowed(text, 199); got != want {
			t.Errorf("%q of 199 allows %d, want %d", text, got, want)
		}
	}
}

func TestDurations(t *testing.T) {
	for given, want := range map[time.Duration]string{0: "", 2 * time.Hour: "2h", 90 * time.Minute: "1h30m", 45 * time.Second: "45s"} {
		if got := durationText(metav1.Duration{Duration: given}); got != want {
			t.Errorf("%s is %q, want %q", given, got, want)
		}
	}
}
