package history

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func at(seconds int) time.Time { return noon.Add(time.Duration(seconds) * time.Second) }

// told writes entries as lines.
func lines(entries []Entry) (all []string) {
	for _, e := range entries {
		all = append(all, fmt.Sprintf("%d %s %s", int(e.At.Sub(noon).Seconds()), e.Kind, e.What))
	}
	return all
}

func TestMerge_OneOrderWithoutRepetition(t *testing.T) {
	condition := func(seconds int) Entry {
		return Entry{At: at(seconds), Kind: Condition, Object: "Kyma a/b", Reason: "ModuleError", What: "notes failed"}
	}
	event := func(seconds int) Entry {
		return Entry{At: at(seconds), Kind: Event, Object: "Kyma a/b", Reason: "ModuleError", What: "notes failed", Who: "klm"}
	}
	edit := func(who string, seconds int) Entry {
		return Entry{At: at(seconds), Kind: Edit, Who: who, What: "edit by " + who}
	}
	operation := Entry{At: at(100), End: at(200), Kind: Operation, What: "Add notes", Who: "ann"}
	running := Entry{At: at(300), Kind: Operation, What: "Add more", Who: "ann"}
	for name, c := range map[string]struct {
		sources [][]Entry
		want    []string
	}{
		"the newest comes first": {
			[][]Entry{{{At: at(1), Kind: Edit, What: "a"}}, {{At: at(2), Kind: Event, What: "b"}}}, []string{"2 Event b", "1 Edit a"},
		},
		"an equal entry is told once": {[][]Entry{{event(1)}, {event(1)}}, []string{"1 Event notes failed"}},
		"an event that a condition tells, too": {
			[][]Entry{{event(1), event(60)}, {condition(2)}}, []string{"60 Event notes failed", "2 Condition notes failed"},
		},
		"an event that says the state first": {
			[][]Entry{{{At: at(1), Kind: Event, Object: "Kyma a/b", Reason: "ModuleError", What: "State is now Error: notes failed"}}, {condition(2)}},
			[]string{"2 Condition notes failed"},
		},
		"an event that says something else": {
			[][]Entry{{{At: at(1), Kind: Event, Object: "Kyma a/b", Reason: "ModuleError", What: "more notes failed"}}, {condition(2)}},
			[]string{"2 Condition notes failed", "1 Event more notes failed"},
		},
		"an event of another object is another one": {
			[][]Entry{{{At: at(2), Kind: Event, Object: "Kyma a/c", Reason: "ModuleError", What: "notes failed"}}, {condition(2)}},
			[]string{"2 Condition notes failed", "2 Event notes failed"},
		},
		"an edit of the dashboard's operation": {
			[][]Entry{{edit("own", 150), edit("kubectl", 150), edit("own", 250)}, {operation}},
			[]string{"250 Edit edit by own", "150 Edit edit by kubectl", "100 Operation Add notes"},
		},
		"an operation that still runs": {[][]Entry{{edit("own", 900)}, {running}}, []string{"300 Operation Add more"}},
		"what has no time":             {[][]Entry{{{Kind: Event, What: "x"}}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, lines(Merge("own", c.sources...))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestMerge_Laws: for random entries in random order the result is the same, sorted, bounded, without repetition, and everything that is
// missing is a repetition by a rule.
func TestMerge_Laws(t *testing.T) {
	for seed := range uint64(500) {
		d := rand.New(rand.NewPCG(seed, 4))
		var all []Entry
		for range d.IntN(60) {
			e := Entry{
				At: at(d.IntN(20)), Kind: Kinds()[d.IntN(len(Kinds()))], What: []string{"a", "b", "x: a"}[d.IntN(3)], Object: string(rune('x' + d.IntN(2))),
				Who: []string{"", "own", "kubectl"}[d.IntN(3)], Reason: []string{"", "R"}[d.IntN(2)],
			}
			if e.Kind == Operation && d.IntN(2) == 0 {
				e.End = e.At.Add(time.Duration(d.IntN(5)) * time.Second)
			}
			if d.IntN(4) == 0 {
				e.Fields = []Field{{Path: "p", From: "1", To: string(rune('1' + d.IntN(3)))}}
			}
			all = append(all, e)
		}
		got := Merge("own", all)
		shuffled := slices.Clone(all)
		d.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		half := len(shuffled) / 2
		if again := Merge("own", shuffled[:half], shuffled[half:]); !reflect.DeepEqual(got, again) {
			t.Fatalf("seed %d: the order of the sources counts:\n%s", seed, cmp.Diff(lines(got), lines(again)))
		}
		if !slices.IsSortedFunc(got, compare) || !reflect.DeepEqual(got, Merge("own", got)) {
			t.Fatalf("seed %d: not sorted, or not stable: %v", seed, lines(got))
		}
		for i := range all {
			kept := slices.ContainsFunc(got, func(e Entry) bool { return compare(e, all[i]) == 0 })
			if !kept && !explained(all, &all[i]) {
				t.Fatalf("seed %d: %v is lost", seed, lines(all[i:i+1]))
			}
		}
	}
}

// explained reports whether another entry says the same as one that was left out.
func explained(all []Entry, e *Entry) bool {
	return slices.ContainsFunc(all, func(o Entry) bool {
		switch e.Kind {
		case Event:
			return o.Kind == Condition && o.Object == e.Object && o.Reason == e.Reason && tells(e, &o)
		case Edit:
			return e.Who == "own" && o.Kind == Operation && during(e.At, &o)
		default:
			return false
		}
	})
}

func TestMerge_IsBounded(t *testing.T) {
	var all []Entry
	for i := range 3 * Most {
		all = append(all, Entry{At: at(i), Kind: Event, What: "x"})
	}
	if got := Merge("own", all); len(got) != Most || !got[0].At.Equal(at(3*Most-1)) {
		t.Errorf("%d entries, from %s", len(got), got[0].At)
	}
}

func TestOfRevisions_TellsWhatWasBefore(t *testing.T) {
	revision := func(number int64, version, digest string) v1beta2.Revision {
		return v1beta2.Revision{Number: number, Version: version, Digest: digest, At: metav1.NewTime(at(int(number))), Outcome: v1beta2.RevisionSucceeded}
	}
	got := OfRevisions("notes", "Manifest a/b", []v1beta2.Revision{
		revision(7, "1.2.0", "d"), revision(2, "1.0.0", "a"), revision(5, "1.1.0", "b"), revision(6, "1.1.0", "c"),
	})
	want := [][]Field{nil, nil, {{"content", "b", "c"}}, {{"version", "1.1.0", "1.2.0"}}} // what was before 5 is not kept
	var fields [][]Field
	for _, e := range got {
		fields = append(fields, e.Fields)
	}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Error(diff)
	}
	if got[3].Who != "" || got[3].Number != 7 || got[3].State != "Succeeded" {
		t.Errorf("%+v", got[3])
	}
}

func TestOfConditions_LeavesOutWhatIsForTools(t *testing.T) {
	got := OfConditions("", "Kyma a/b", []metav1.Condition{
		{Type: v1beta2.ConditionReady, Status: "False", Reason: "ModuleError", Message: "notes failed", LastTransitionTime: metav1.NewTime(at(1))},
		{Type: v1beta2.ConditionStalled, Status: "True", LastTransitionTime: metav1.NewTime(at(1))},
		{Type: "ModuleCatalog", Status: "True", LastTransitionTime: metav1.NewTime(at(2))},
	})
	if diff := cmp.Diff([]string{"1 Condition notes failed", "2 Condition ModuleCatalog became True"}, lines(got)); diff != "" {
		t.Error(diff)
	}
}

func TestOfRollout_HasTheWavesOfTheChannel(t *testing.T) {
	rollout := &v1beta2.ModuleRollout{}
	wave := v1beta2.RolloutWaveStatus{Name: "canary", Since: metav1.NewTime(at(3))}
	rollout.Status.Channels = []v1beta2.RolloutChannel{
		{Name: "fast", To: v1beta2.RolloutVersion{Version: "2.0.0"}, Waves: []v1beta2.RolloutWaveStatus{wave}},
		{
			Name: "regular", From: v1beta2.RolloutVersion{Version: "1.0.0"}, To: v1beta2.RolloutVersion{Version: "1.1.0"},
			Waves: []v1beta2.RolloutWaveStatus{wave, {Name: "rest"}},
		},
	}
	got := Merge("own", OfRollout("a/notes", "notes", "regular", rollout))
	if diff := cmp.Diff([]string{"3 Rollout wave canary of the rollout of version 1.1.0 began"}, lines(got)); diff != "" {
		t.Error(diff)
	}
	if got[0].RolloutKey != "a/notes" || got[0].Fields[0] != (Field{"version", "1.0.0", "1.1.0"}) {
		t.Errorf("%+v", got[0])
	}
}

const managed = `{"f:metadata":{"f:labels":{".":{},"f:ring":{}},"f:annotations":{"f:x":{}}},"f:spec":{".":{},"f:channel":{},` +
	`"f:modules":{".":{},"k:{\"name\":\"notes\"}":{".":{},"f:name":{},"f:version":{}},"k:{\"name\":\"notes-more\"}":{".":{},"f:name":{}}}},"f:status":{"f:state":{}}}`

func TestOfManagedFields_SaysWhichClientHoldsWhat(t *testing.T) {
	when := metav1.NewTime(at(5))
	of := []metav1.ManagedFieldsEntry{
		{Manager: "kubectl-edit", Operation: "Update", Time: &when, FieldsV1: metav1.NewFieldsV1(managed)},
		{Manager: "klm", Subresource: "status", Time: &when, FieldsV1: metav1.NewFieldsV1(managed)},
		{Manager: "without-a-time", FieldsV1: metav1.NewFieldsV1(managed)},
		{Manager: "broken", Time: &when, FieldsV1: metav1.NewFieldsV1(`{"f:spec":`)},
	}
	for module, want := range map[string][]string{
		"": {
			"metadata.labels.ring", "spec.channel", "spec.modules[notes-more].name", "spec.modules[notes].name", "spec.modules[notes].version",
		},
		"notes":   {"spec.modules[notes].name", "spec.modules[notes].version"},
		"nowhere": nil,
	} {
		got := OfManagedFields("Kyma a/b", module, of)
		if len(want) == 0 {
			if len(got) != 0 {
				t.Errorf("%s: %+v", module, got)
			}
			continue
		}
		var paths []string
		for _, f := range got[0].Fields {
			paths = append(paths, f.Path)
		}
		if diff := cmp.Diff(want, paths); diff != "" || len(got) != 1 || got[0].Who != "kubectl-edit" || got[0].WhoIs != Client {
			t.Errorf("%q: %s %+v", module, diff, got)
		}
	}
}

func FuzzHeld(f *testing.F) {
	f.Add([]byte(managed), "notes")
	f.Add([]byte(`{"f:spec":{"v:\"x\"":{},"k:[]":{},"f:":{},"i:0":{}}}`), "")
	f.Add([]byte(`{"f:spec":{"f:a":{"f:b":{"f:c":{"f:d":{"f:e":{"f:f":{"f:g":{}}}}}}}}}`), "")
	f.Fuzz(func(t *testing.T, raw []byte, module string) {
		found := Held(raw, module)
		if len(found) > mostPaths || !slices.IsSorted(found) {
			t.Errorf("%d fields: %v", len(found), found)
		}
		for _, path := range found {
			if !strings.HasPrefix(path, "spec") && !strings.HasPrefix(path, "metadata.labels") || len(path) > 2*mostPath {
				t.Errorf("%q", path)
			}
		}
	})
}
