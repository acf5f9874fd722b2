package engine_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func entry(name string) inventory.Entry {
	return inventory.Entry{ID: inventory.ID{Kind: "ConfigMap", Name: name}, Hash: "applied"}
}

func TestRemainsOf(t *testing.T) {
	entries := []inventory.Entry{entry("gone"), entry("kept"), entry("deleted"), entry("used"), entry("failed")}
	var outcomes []apply.Outcome
	for i, action := range []apply.Action{apply.Gone, apply.Kept, apply.Deleted, apply.InUse, apply.Failed} {
		outcomes = append(outcomes, apply.Outcome{ID: entries[i].ID, Action: action})
	}
	left := engine.RemainsOf(entries, outcomes)
	if len(left.Gone) != 2 || left.Gone[0].Name != "gone" || left.Gone[1].Name != "kept" {
		t.Errorf("not recorded any longer: %v", left.Gone)
	}
	marks := map[string]string{}
	for i, still := range left.Still {
		if left.Outcomes[i].ID != still.ID {
			t.Errorf("outcome %v beside entry %v", left.Outcomes[i], still)
		}
		marks[still.Name] = still.Hash
	}
	if len(marks) != 3 || marks["deleted"] != "" || marks["failed"] != "" || marks["used"] != "applied" {
		t.Errorf("what is still there is marked as %v", marks)
	}
}

// removed plays a cluster in which each object takes a number of looks until it is gone.
type removed struct {
	takes  map[string]int
	action apply.Action // while it is there
	err    error
	calls  [][]string
	again  []bool
}

func (r *removed) remove(_ context.Context, wave []inventory.Entry, again bool) engine.Remains {
	var names []string
	var outcomes []apply.Outcome
	for _, e := range wave {
		names = append(names, e.Name)
		outcome := apply.Outcome{ID: e.ID, Action: r.action, Err: r.err}
		if r.takes[e.Name]--; r.takes[e.Name] < 0 {
			outcome = apply.Outcome{ID: e.ID, Action: apply.Gone}
		}
		outcomes = append(outcomes, outcome)
	}
	r.calls, r.again = append(r.calls, names), append(r.again, again)
	return engine.RemainsOf(wave, outcomes)
}

func TestDeleteWave(t *testing.T) {
	for name, test := range map[string]struct {
		cluster     removed
		calls, left int
	}{
		"what is gone at once is not looked after":        {removed{takes: map[string]int{}}, 1, 0},
		"what takes a moment is looked after":             {removed{takes: map[string]int{"b": 2}, action: apply.Deleted}, 3, 0},
		"what takes longer is left":                       {removed{takes: map[string]int{"b": 100}, action: apply.Deleted}, 4, 1},
		"a definition in use is not waited for":           {removed{takes: map[string]int{"b": 100}, action: apply.InUse}, 1, 1},
		"an object that cannot be deleted is not retried": {removed{takes: map[string]int{"b": 100}, action: apply.Failed, err: errors.New("no")}, 1, 1},
	} {
		t.Run(name, func(t *testing.T) {
			left := engine.DeleteWave(t.Context(), []inventory.Entry{entry("a"), entry("b")}, test.cluster.remove)
			if len(test.cluster.calls) != test.calls || len(left.Still) != test.left {
				t.Errorf("%d calls, %d left", len(test.cluster.calls), len(left.Still))
			}
			for i, names := range test.cluster.calls {
				if first := i == 0; test.cluster.again[i] == first || !first && len(names) != 1 {
					t.Errorf("call %d is for %v, again: %v", i+1, names, test.cluster.again[i])
				}
			}
		})
	}
}

func TestDeleteWave_EndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	cluster := removed{takes: map[string]int{"a": 100}, action: apply.Deleted}
	if left := engine.DeleteWave(ctx, []inventory.Entry{entry("a")}, cluster.remove); len(left.Still) != 1 || len(cluster.calls) != 1 {
		t.Errorf("%d calls, %d left", len(cluster.calls), len(left.Still))
	}
}

func TestDeleteWaves(t *testing.T) {
	for name, test := range map[string]struct {
		cluster  removed
		passUsed bool
		waves    int // that were begun
		left     []string
	}{
		"each wave is gone before the next begins":              {removed{takes: map[string]int{"a": 1}, action: apply.Deleted}, false, 3, nil},
		"a wave that is left ends it":                           {removed{takes: map[string]int{"b": 100}, action: apply.Deleted}, false, 2, []string{"b"}},
		"a definition in use ends it":                           {removed{takes: map[string]int{"a": 100}, action: apply.InUse}, false, 1, []string{"a"}},
		"a definition in use is passed by":                      {removed{takes: map[string]int{"a": 100}, action: apply.InUse}, true, 3, nil},
		"an object that cannot be deleted ends it in that case": {removed{takes: map[string]int{"b": 100}, action: apply.Failed, err: errors.New("no")}, true, 2, []string{"b"}},
	} {
		t.Run(name, func(t *testing.T) {
			waves := [][]inventory.Entry{{entry("a")}, {entry("b")}, {entry("c")}}
			left := engine.DeleteWaves(t.Context(), waves, test.passUsed, test.cluster.remove)
			begun := 0
			for _, again := range test.cluster.again {
				if !again {
					begun++
				}
			}
			var names []string
			for i, still := range left.Still {
				names = append(names, still.Name)
				if left.Outcomes[i].ID != still.ID {
					t.Errorf("outcome %v beside entry %v", left.Outcomes[i], still)
				}
			}
			if begun != test.waves || !slices.Equal(names, test.left) {
				t.Errorf("%d waves were begun, %v is left", begun, names)
			}
		})
	}
}
