package revision_test

import (
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

func TestClear(t *testing.T) {
	const waits, failed, gone = v1beta2.ReasonWaitingForObjects, v1beta2.ReasonObjectFailed, v1beta2.ReasonRuntimeUnreachable
	later := noon.Add(time.Hour)
	for _, test := range []struct {
		sentence, have, before, reason string
		set                            bool
	}{
		{"nothing began yet", "", gone, waits, false},
		{"the runtime answers again", "1 1.0.0", gone, waits, true},
		{"and is written to first", "1 1.0.0", gone, v1beta2.ReasonApplying, true},
		{"a failure is no end", "1 1.0.0 Failed ObjectFailed", gone, failed, true},
		{"it still does not answer", "1 1.0.0", gone, v1beta2.ReasonRuntimeUnauthorized, false},
		{"only the module was in the way", "1 1.0.0", waits, failed, false},
		{"nor is writing an obstacle", "1 1.0.0", v1beta2.ReasonApplying, waits, false},
		{"what succeeded needs no time", "1 1.0.0 Succeeded", gone, waits, false},
	} {
		have := history(test.have)
		got := revision.Clear(have, test.before, test.reason, later)
		if len(got) > 0 && test.set != (got[len(got)-1].Since != nil && got[len(got)-1].Since.Time.Equal(later)) || len(got) != len(have) {
			t.Errorf("%s: %+v", test.sentence, got)
		}
		if len(have) > 0 && have[0].Since != nil {
			t.Errorf("%s: the history that was passed is changed", test.sentence)
		}
	}
	cleared := revision.Clear(history("1 1.0.0"), gone, waits, later)
	if next := revision.Begin(cleared, key("1.1.0"), "", "", later); next[0].Since != nil || cleared[0].Since == nil {
		t.Errorf("a revision that another one follows has %v", next[0].Since)
	}
	if next := revision.End(cleared, v1beta2.RevisionSucceeded, ""); next[0].Since != nil {
		t.Errorf("a revision that succeeded has %v", next[0].Since)
	}
}
