package rollouts

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// waiting is a rollout whose last wave waits for approval.
func waiting(changes ...func(*v1beta2.ModuleRollout)) *v1beta2.ModuleRollout {
	unbegun := on(func(c *v1beta2.RolloutChannel) {
		c.Waves[2] = v1beta2.RolloutWaveStatus{Name: "rest", Total: 3, Waiting: 3}
	})
	return newRollout(append([]func(*v1beta2.ModuleRollout){inPhase(v1beta2.RolloutWaiting, "rest"), unbegun}, changes...)...)
}

// begunEmpty lets the last wave have begun, with no Kyma that can become ready.
func begunEmpty(r *v1beta2.ModuleRollout) {
	r.Status.Channels[0].Waves[2] = v1beta2.RolloutWaveStatus{Name: "rest", Since: metav1.NewTime(noon), Total: 2, Skipped: 1, Failed: 1}
}

func halted(changes ...func(*v1beta2.ModuleRollout)) *v1beta2.ModuleRollout {
	return newRollout(append([]func(*v1beta2.ModuleRollout){inPhase(v1beta2.RolloutHalted, "early")}, changes...)...)
}

func TestDecisions(t *testing.T) {
	without := func(r *v1beta2.ModuleRollout) { r.Status = v1beta2.ModuleRolloutStatus{} }
	pause := func(r *v1beta2.ModuleRollout, _ *v1beta2.ModuleReleaseMeta, _ Request) (Outcome, error) {
		return Pause(r), nil
	}
	type verb = func(*v1beta2.ModuleRollout, *v1beta2.ModuleReleaseMeta, Request) (Outcome, error)
	current, moved := releaseWith("regular", "1.3.0", "fast", "1.3.0"), releaseWith("regular", "1.4.0", "fast", "1.3.0")
	for name, c := range map[string]struct {
		do      verb
		rollout *v1beta2.ModuleRollout
		release *v1beta2.ModuleReleaseMeta
		ask     Request
		done    string // empty: nothing changes
		says    string // the reason for that, or the refusal
		decided string // action, channel and wave of the decision
		back    string
	}{
		"a pause stops a rollout":        {do: pause, rollout: newRollout(), done: "paused"},
		"a pause twice changes nothing":  {do: pause, rollout: newRollout(paused), says: "rollout eventing is paused already"},
		"a resume ends a pause":          {do: Resume, rollout: newRollout(paused), release: current, done: "resumed"},
		"a resume without need is none":  {do: Resume, rollout: newRollout(), release: current, says: "rollout eventing is neither paused nor halted"},
		"a resume after a halt forgives": {do: Resume, rollout: halted(), release: current, done: "resumed", decided: "resume regular early"},
		"a resume ends a pause and a halt": {
			do: Resume, rollout: halted(paused), release: current, done: "resumed", decided: "resume regular early",
		},
		"a second halt is resumed again, later": {
			do: Resume, rollout: halted(decided(v1beta2.RolloutResume, "early")), release: current, done: "resumed", decided: "resume regular early",
		},
		"a resume that is not seen yet is there": {
			do: Resume, rollout: halted(decided(v1beta2.RolloutResume, "early"), unseen), release: current,
			says: "resume of channel regular 1.3.0 is decided already (by ann)", decided: "resume regular early",
		},
		"a pause ends although the resume is there": {
			do: Resume, rollout: halted(decided(v1beta2.RolloutResume, "early"), unseen, paused), release: current, done: "resumed",
			decided: "resume regular early",
		},
		"two halted channels need a choice": {
			do: Resume, rollout: halted(twoChannels), release: current,
			says: "rollout eventing is under way on several channels, and none is named: regular, fast",
		},
		"a choice decides": {
			do: Resume, rollout: halted(twoChannels), release: current, ask: Request{Channel: "fast"}, done: "resumed", decided: "resume fast early",
		},
		"a way back is not resumed": {
			do: Resume, rollout: newRollout(inPhase(v1beta2.RolloutRollingBack, "early")), release: current,
			says: "channel regular of rollout eventing takes 1.3.0 back, which a resume does not change",
		},
		"a version that the channel left is not resumed": {
			do: Resume, rollout: halted(), release: moved,
			says: "channel regular of rollout eventing names 1.4.0 by now, which the lifecycle manager has not taken up yet",
		},
		"a wave that waits is approved":  {do: Approve, rollout: waiting(), release: current, done: "approved", decided: "approve regular rest"},
		"the named wave is approved":     {do: Approve, rollout: waiting(), release: current, ask: Request{Wave: "rest"}, done: "approved", decided: "approve regular rest"},
		"an unread release is no reason": {do: Approve, rollout: waiting(), done: "approved", decided: "approve regular rest"},
		"an approval that was seen and did not count is given again": {
			do: Approve, rollout: waiting(decided(v1beta2.RolloutApprove, "rest")), release: current, done: "approved", decided: "approve regular rest",
		},
		"a wave that has begun and is empty passes, in a pause, too": {
			do: Approve, rollout: waiting(paused, begunEmpty), release: current, done: "approved", decided: "approve regular rest",
		},
		"a rollout about nothing": {
			do: Approve, rollout: newRollout(func(r *v1beta2.ModuleRollout) { r.Status.Channels, r.Status.Summary = nil, "no channel" }),
			says: "rollout eventing decides about no channel of its module: no channel",
		},
		"an approval twice is one": {
			do: Approve, rollout: waiting(decided(v1beta2.RolloutApprove, "rest"), unseen), release: current,
			says: "approve of channel regular 1.3.0 is decided already (by ann)", decided: "approve regular rest",
		},
		"another wave is not approved": {
			do: Approve, rollout: waiting(), release: current, ask: Request{Wave: "early"},
			says: "wave rest of rollout eventing waits for approval, not wave early",
		},
		"no wave waits": {do: Approve, rollout: newRollout(), release: current, says: "no wave of rollout eventing waits for approval"},
		"no wave of this channel waits": {
			do: Approve, rollout: newRollout(twoChannels), release: current, ask: Request{Channel: "fast"},
			says: "no wave of rollout eventing on channel fast waits for approval",
		},
		"a pause is no wait for approval": {
			do: Approve, rollout: newRollout(inPhase(v1beta2.RolloutWaiting, "early"), paused), release: current,
			says: "no wave of rollout eventing waits for approval",
		},
		"a wave that waits is approved in a pause, too": {
			do: Approve, rollout: waiting(paused), release: current, done: "approved", decided: "approve regular rest",
		},
		"a channel that is not there": {
			do: Approve, rollout: waiting(), release: current, ask: Request{Channel: "slow"}, says: "rollout eventing has no channel slow",
		},
		"the manager has not looked": {
			do: Approve, rollout: waiting(without), release: current, says: "the lifecycle manager has not looked at rollout eventing yet",
		},
		"an approval does not replace an abort that is not seen yet": {
			do: Approve, rollout: waiting(decided(v1beta2.RolloutAbort, "rest"), unseen), release: current,
			says: "the lifecycle manager has not seen the last decision about rollout eventing yet: abort 1.3.0@sha256:b (by ann)", decided: "abort regular rest",
		},
		"an abort replaces what is not seen yet": {
			do: Abort, rollout: waiting(decided(v1beta2.RolloutApprove, "rest"), unseen), release: current, done: "aborted",
			decided: "abort regular rest", back: "regular 1.3.0 1.2.0",
		},
		"an abort sets the channel back": {
			do: Abort, rollout: newRollout(), release: current, done: "aborted", decided: "abort regular early", back: "regular 1.3.0 1.2.0",
		},
		"an abort that was seen and did not count is decided again": {
			do: Abort, rollout: newRollout(decided(v1beta2.RolloutAbort, "early")), release: current, done: "aborted",
			decided: "abort regular early", back: "regular 1.3.0 1.2.0",
		},
		"an abort that was interrupted sets it back": {
			do: Abort, rollout: newRollout(decided(v1beta2.RolloutAbort, "early"), unseen), release: current,
			says:    "abort of channel regular 1.3.0 is decided already (by ann)",
			decided: "abort regular early", back: "regular 1.3.0 1.2.0",
		},
		"an abort that was interrupted and seen sets it back": {
			do: Abort, rollout: newRollout(decided(v1beta2.RolloutAbort, "early"), inPhase(v1beta2.RolloutAborted, "early")), release: current,
			says:    "abort of channel regular 1.3.0 is decided already (by ann)",
			decided: "abort regular early", back: "regular 1.3.0 1.2.0",
		},
		"an abort twice is one": {
			do: Abort, rollout: newRollout(inPhase(v1beta2.RolloutAborted, "early")), release: releaseWith("regular", "1.2.0"),
			says: "rollout eventing is aborted already",
		},
		"an abort after which the channel was set back is one": {
			do: Abort, rollout: newRollout(inPhase(v1beta2.RolloutAborted, ""), on(func(c *v1beta2.RolloutChannel) { c.To = c.From })),
			release: releaseWith("regular", "1.2.0"), says: "rollout eventing is aborted already",
		},
		"an abort is one also when its channel has completed since": {
			do: Abort, rollout: newRollout(decided(v1beta2.RolloutAbort, "early"), inPhase(v1beta2.RolloutCompleted, "")), release: current,
			says: "rollout eventing is aborted already", decided: "abort regular early",
		},
		"the first version has nowhere to go back to": {
			do: Abort, rollout: newRollout(on(func(c *v1beta2.RolloutChannel) { c.From = v1beta2.RolloutVersion{} })), release: current,
			done: "aborted", decided: "abort regular early",
		},
		"a completed rollout is not aborted": {
			do: Abort, rollout: newRollout(inPhase(v1beta2.RolloutCompleted, "")), release: current, ask: Request{Channel: "regular"},
			says: "rollout eventing on channel regular is not under way: there is nothing to abort",
		},
		"two channels under way need a choice": {
			do: Abort, rollout: newRollout(twoChannels), release: current,
			says: "rollout eventing is under way on several channels, and none is named: regular, fast",
		},
		"a version that the channel left is aborted all the same": {
			do: Abort, rollout: newRollout(), release: moved, done: "aborted", decided: "abort regular early", back: "regular 1.3.0 1.2.0",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.ask.Person = Person{Name: "bob", At: noon}
			got, err := c.do(c.rollout, c.release, c.ask)
			said := got.Why
			if err != nil {
				said = err.Error()
			}
			if got.Done != c.done || c.says != said {
				t.Errorf("done %q: %q, want %q: %q", got.Done, said, c.done, c.says)
			}
			decided := ""
			if d := c.rollout.Spec.Decision; d != nil {
				decided = strings.Join([]string{string(d.Action), d.Channel, d.Wave}, " ")
				if c.done != "" && d.By == "bob" && (d.Target != "1.3.0@sha256:b" || !d.At.Time.Equal(noon)) {
					t.Errorf("the decision is %+v", d)
				}
			}
			if decided != c.decided {
				t.Errorf("decided is %q, want %q", decided, c.decided)
			}
			back := ""
			if got.Back != nil {
				back = strings.Join([]string{got.Back.Channel, got.Back.From, got.Back.To}, " ")
			}
			if back != c.back {
				t.Errorf("the way back is %q, want %q", back, c.back)
			}
			var refused *RefusedError
			if errors.As(err, &refused) && refused.Remedy == "" {
				t.Error("a refusal says what to do")
			}
		})
	}
}

func TestDecisions_ARefusalNeedsNoWrite(t *testing.T) {
	for name, r := range map[string]*v1beta2.ModuleRollout{"no wave waits": newRollout(), "an unknown channel": waiting(twoChannels)} {
		before := r.DeepCopy()
		if _, err := Approve(r, nil, Request{}); err == nil {
			t.Errorf("%s: it is approved", name)
		}
		if diff := cmp.Diff(before, r); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestTargetOf(t *testing.T) {
	if got := TargetOf(v1beta2.RolloutVersion{Version: "1.0.0"}); got != "1.0.0" {
		t.Error(got)
	}
}

func TestDecisions_ALongNameIsBounded(t *testing.T) {
	r := halted()
	if _, err := Resume(r, nil, Request{Person: Person{Name: strings.Repeat("ä", 300) + "\xff"}}); err != nil {
		t.Fatal(err)
	}
	if got := []rune(r.Spec.Decision.By); len(got) != maxBy {
		t.Errorf("it has %d characters", len(got))
	}
	if got := bounded("an\xffn"); got != "ann" {
		t.Errorf("a name that is no UTF-8 is %q", got)
	}
}

func TestDecisions_AMandatoryModule(t *testing.T) {
	r := newRollout(on(func(c *v1beta2.RolloutChannel) { c.Name = "" }))
	got, err := Abort(r, mandatoryRelease("1.3.0"), Request{})
	if err != nil || got.Back == nil || got.Back.Channel != "" || got.Back.To != "1.2.0" {
		t.Errorf("%+v %v", got, err)
	}
}
