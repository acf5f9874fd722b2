package testbench

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestStarts_EachBeginningOfAVersionCounts(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	at := func(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }
	s := &Starts{now: map[string]string{}, times: map[string]map[string][]time.Time{}}
	for _, seen := range []struct {
		kyma, version string
		second        int
	}{
		{"a", "1.0.0", 0},
		{"b", "1.0.0", 0},
		{"a", "2.0.0", 1},
		{"a", "2.0.0", 2}, // another event of the same version
		{"a", "1.0.0", 3}, // went back
		{"b", "2.0.0", 4},
		{"a", "2.0.0", 5}, // came again
	} {
		s.note(seen.kyma, seen.version, at(seen.second))
	}
	if diff := cmp.Diff(map[string]time.Time{"a": at(1), "b": at(4)}, s.Of("2.0.0")); diff != "" {
		t.Errorf("first beginnings differ (-want +got):\n%s", diff)
	}
	if got := s.Last("2.0.0"); !got.Equal(at(5)) {
		t.Errorf("the last beginning was at %s", got)
	}
	if got := s.Repeats("2.0.0"); got != 1 {
		t.Errorf("%d repeats of a version that came again once", got)
	}
	if got := s.Repeats("3.0.0"); got != 0 || !s.Last("3.0.0").IsZero() || len(s.Of("3.0.0")) != 0 {
		t.Errorf("a version that never came has %d repeats", got)
	}
}

func TestRollouts_APhaseIsThatOfOneVersion(t *testing.T) {
	rollout := &v1beta2.ModuleRollout{Status: v1beta2.ModuleRolloutStatus{Channels: []v1beta2.RolloutChannel{
		{Name: "fast", To: v1beta2.RolloutVersion{Version: "3.0.0"}, Phase: v1beta2.RolloutCompleted},
		{Name: v1beta2.DefaultChannel, To: v1beta2.RolloutVersion{Version: "2.0.0"}, Phase: v1beta2.RolloutHalted},
	}}}
	for name, tc := range map[string]struct {
		rollout *v1beta2.ModuleRollout
		version string
		phase   v1beta2.RolloutPhase
		want    bool
	}{
		"that version in that phase":            {rollout, "2.0.0", v1beta2.RolloutHalted, true},
		"another phase":                         {rollout, "2.0.0", v1beta2.RolloutCompleted, false},
		"a version that is not there yet":       {rollout, "2.1.0", v1beta2.RolloutHalted, false},
		"the version of another channel":        {rollout, "3.0.0", v1beta2.RolloutCompleted, false},
		"a rollout that is gone is in no phase": {nil, "2.0.0", v1beta2.RolloutHalted, false},
	} {
		if got := InPhase(tc.version, tc.phase)(tc.rollout); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
