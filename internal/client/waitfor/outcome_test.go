package waitfor

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

func TestEnd(t *testing.T) {
	type said struct {
		End  End
		Why  string
		Line string
		// Standing is the text for users who have read the lines; empty means the same as Why.
		Standing string
	}
	line := func(key string, state v1beta2.State, text string) Progress {
		return Progress{Key: key, State: state, Text: text}
	}
	for name, c := range map[string]struct {
		outcome Outcome
		want    said
	}{
		"everything runs": {Outcome{State: v1beta2.StateReady, Lines: []Progress{line("notes", v1beta2.StateReady, "")}}, said{End: Done}},
		"it is no longer managed, as requested": {
			Outcome{State: v1beta2.StateUnmanaged, Lines: []Progress{line("notes", v1beta2.StateUnmanaged, "")}}, said{End: Done},
		},
		"it is gone, as requested": {Outcome{State: StateGone, Lines: []Progress{line("notes", StateGone, "")}}, said{End: Done}},
		"a warning names the line that warns and not the first one": {
			Outcome{State: v1beta2.StateWarning, Lines: []Progress{line("beacon", v1beta2.StateReady, ""), line("notes", v1beta2.StateWarning, "no data")}},
			said{End: Warned, Why: "notes is in state Warning: no data", Standing: "notes is in state Warning"},
		},
		"the first of several errors is named, and the others are counted": {
			Outcome{State: v1beta2.StateError, Lines: []Progress{
				line("a", v1beta2.StateWarning, ""), line("b", v1beta2.StateError, "no template"), line("c", v1beta2.StateError, "x"),
			}},
			said{End: Failed, Why: "b is in state Error: no template (and 1 more)", Standing: "b is in state Error (and 1 more)"},
		},
		"an error without a text": {
			Outcome{State: v1beta2.StateError, Lines: []Progress{line("b", v1beta2.StateError, "")}}, said{End: Failed, Why: "b is in state Error"},
		},
		"the timeout expires while something is in progress": {
			Outcome{State: v1beta2.StateProcessing, TimedOut: true, Lines: []Progress{
				line("beacon", v1beta2.StateReady, ""), line("notes", v1beta2.StateProcessing, "1/4"),
			}},
			said{End: Open, Why: "notes is still Processing", Line: "notes"},
		},
		"the timeout expires during a deletion": {
			Outcome{State: v1beta2.StateDeleting, Lines: []Progress{line("notes", v1beta2.StateDeleting, "")}},
			said{End: Open, Why: "notes is still Deleting", Line: "notes"},
		},
		"the timeout expires before anything was seen": {Outcome{State: v1beta2.StateProcessing}, said{End: Open, Why: "nothing happened"}},
	} {
		t.Run(name, func(t *testing.T) {
			end, why, line := c.outcome.End()
			got := said{End: end, Why: why}
			if line != nil {
				got.Line = line.Key
			}
			if got.Standing = c.outcome.Summary(); c.want.Standing == "" {
				c.want.Standing = c.want.Why
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
