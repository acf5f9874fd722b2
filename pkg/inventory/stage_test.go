package inventory

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTurns(t *testing.T) {
	crd := ID{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition", Name: "a.example.com"}
	config, late := ID{Kind: "ConfigMap", Name: "b"}, ID{Kind: "ConfigMap", Name: "a"}
	workload := ID{Group: "apps", Kind: "Deployment", Name: "c"}
	step := func(id ID) Step { return Step{Entry: Entry{ID: id}} }
	stages := map[ID]Stage{workload: {}, config: {}, late: {Part: 0, Step: 1}, crd: {Part: 1}}
	at := func(id ID) Stage { return stages[id] }

	var got [][]ID
	for _, turn := range Batches([]Step{step(crd), step(late), step(workload), step(config)}, at) {
		var ids []ID
		for _, s := range turn.Steps {
			ids = append(ids, s.Entry.ID)
			if at(s.Entry.ID) != turn.Stage {
				t.Errorf("%s is in stage %v", s.Entry.ID, turn.Stage)
			}
		}
		got = append(got, ids)
	}
	// A definition of a later part comes after the workload of an earlier one: the part takes precedence over the kind.
	if diff := cmp.Diff([][]ID{{config}, {workload}, {late}, {crd}}, got); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	if got := Batches(nil, at); got != nil {
		t.Errorf("turns of nothing: %v", got)
	}
	same := Batches([]Step{step(late), step(config)}, func(ID) Stage { return Stage{} })
	if len(same) != 1 || same[0].Steps[0].Entry.ID != late {
		t.Errorf("objects of one phase are applied at once, sorted: %v", same)
	}
}

func TestBrings(t *testing.T) {
	for why, want := range map[Why]bool{WhyNew: true, WhyChanged: true, WhyMissing: false, WhyDrifted: false, WhyReplaced: false} {
		batch := Batch{Steps: []Step{{Why: WhyDrifted}, {Why: why}}}
		if got := batch.AddsContent(); got != want {
			t.Errorf("%s: got %v", why, got)
		}
		if restoring := len(batch.Restoring()); (restoring == 1) != want {
			t.Errorf("%s: %d steps restore", why, restoring)
		}
	}
}
