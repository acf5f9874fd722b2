package kyma

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestStatusPause(t *testing.T) {
	const (
		processing = v1beta2.StateProcessing
		connecting = v1beta2.ReasonRuntimeConnecting
		installing = v1beta2.ReasonManifestPending
	)
	for sentence, test := range map[string]struct {
		age, written  time.Duration // ago
		before, state v1beta2.State
		reason        string
		want          time.Duration
	}{
		"a new Kyma waits for its runtime's response": {
			age: time.Second, state: processing, reason: connecting, want: silentAtFirst - time.Second,
		},
		"a runtime that takes long is told":        {age: silentAtFirst, state: processing, reason: connecting},
		"a Kyma from the future is told":           {age: -time.Hour, state: processing, reason: connecting},
		"the first that is installed is told":      {age: time.Second, state: processing, reason: installing},
		"a runtime that cannot be reached is told": {age: time.Second, state: v1beta2.StateError, reason: v1beta2.ReasonRuntimeUnreachable},
		"a Kyma that was ready says at once that it is not": {
			age: time.Hour, written: time.Millisecond, before: v1beta2.StateReady, state: processing, reason: connecting,
		},
		"progress waits": {
			age: time.Minute, written: betweenProgress / 4, before: processing, state: processing, reason: installing, want: betweenProgress * 3 / 4,
		},
		"progress is told in time": {age: time.Minute, written: betweenProgress, before: processing, state: processing, reason: installing},
		"a clock that was set back holds nothing": {
			age: time.Minute, written: -time.Hour, before: processing, state: processing, reason: installing,
		},
		"ready is told at once": {age: time.Minute, written: time.Millisecond, before: processing, state: v1beta2.StateReady},
	} {
		t.Run(sentence, func(t *testing.T) {
			clock := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
			before := &v1beta2.Kyma{}
			before.CreationTimestamp = metav1.NewTime(clock.Add(-test.age))
			before.Status.State = test.before
			now := before.DeepCopy()
			now.Status.State, now.Status.ModulesReady = test.state, "1/2"
			now.Status.Conditions = []metav1.Condition{{Type: v1beta2.ConditionReady, Status: metav1.ConditionFalse, Reason: test.reason}}
			if got := statusPause(before, now, clock.Add(-test.written), clock); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestStatusPause_HoldsProgressOnly(t *testing.T) {
	clock := time.Now()
	before := &v1beta2.Kyma{Status: v1beta2.KymaStatus{State: v1beta2.StateProcessing, ModulesReady: "0/2"}}
	if got := statusPause(before, before.DeepCopy(), clock, clock); got != 0 {
		t.Errorf("a status that is written already waits for %s", got)
	}
	further := before.DeepCopy()
	further.Status.ModulesReady = "1/2"
	if got := statusPause(before, further, time.Time{}, clock); got != 0 {
		t.Errorf("progress waits for %s though nothing is known of an earlier write", got)
	}
}
