package inventory_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestPlanned(t *testing.T) {
	known := applied(configMap("known", "old"))
	known.Version = "v1beta1"
	left := applied(configMap("left", ""))
	got := inventory.Planned([]inventory.Entry{known, left},
		[]*unstructured.Unstructured{configMap("wanted", ""), configMap("known", "new"), configMap("wanted", "")})
	want := []inventory.Entry{
		known, // with the version, UID and hashes of its last apply
		left,  // until it is pruned
		{ID: configMapID("wanted"), Version: "v1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestMerge(t *testing.T) {
	a, b, c := applied(configMap("a", "1")), applied(configMap("b", "1")), applied(configMap("c", "1"))
	newer := applied(configMap("b", "2"))
	for _, test := range []struct {
		name          string
		entries, done []inventory.Entry
		gone          []inventory.ID
		want          []inventory.Entry
	}{
		{"nothing done changes nothing", []inventory.Entry{a, b}, nil, nil, []inventory.Entry{a, b}},
		{"an outcome replaces the known entry", []inventory.Entry{a, b}, []inventory.Entry{newer}, nil, []inventory.Entry{a, newer}},
		{"an outcome without a known entry is added", []inventory.Entry{c}, []inventory.Entry{a}, nil, []inventory.Entry{a, c}},
		{"gone objects are dropped", []inventory.Entry{a, b, c}, nil, []inventory.ID{b.ID}, []inventory.Entry{a, c}},
		{"the result is sorted whatever the order of the input", []inventory.Entry{c, a}, []inventory.Entry{b}, nil, []inventory.Entry{a, b, c}},
		{"the last of two outcomes for one object counts", []inventory.Entry{a}, []inventory.Entry{b, newer}, nil, []inventory.Entry{a, newer}},
		{"something unknown can be gone", []inventory.Entry{a}, nil, []inventory.ID{c.ID}, []inventory.Entry{a}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := slices.Clone(test.entries)
			got := inventory.Merge(test.entries, test.done, test.gone)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, test.entries); diff != "" {
				t.Errorf("the input was changed: %s", diff)
			}
		})
	}
}

func TestEntry_Same(t *testing.T) {
	a, b := applied(configMap("a", "1")), applied(configMap("b", "1"))
	otherFields, otherHash, otherUID := a, a, a
	otherFields.Fields, otherHash.Hash, otherUID.UID = "u:other", "other", "other"
	for _, test := range []struct {
		name string
		a, b []inventory.Entry
		want bool
	}{
		{"two empty records are the same", nil, []inventory.Entry{}, true},
		{"equal records are the same", []inventory.Entry{a, b}, []inventory.Entry{a, b}, true},
		{"the order does not matter", []inventory.Entry{a, b}, []inventory.Entry{b, a}, true},
		{"a changed observation alone does not count", []inventory.Entry{a, b}, []inventory.Entry{otherFields, b}, true},
		{"other content counts", []inventory.Entry{a}, []inventory.Entry{otherHash}, false},
		{"another UID counts", []inventory.Entry{a}, []inventory.Entry{otherUID}, false},
		{"one more entry counts", []inventory.Entry{a}, []inventory.Entry{a, b}, false},
		{"another object counts", []inventory.Entry{a}, []inventory.Entry{b}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := inventory.Same(test.a, test.b); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// An apply that is interrupted at any point must leave a record of everything that may exist.
func TestPlannedThenMergeKeepsEverything(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		all := randomObjects(random, random.IntN(60))
		recorded, desired := appliedAll(subset(random, all)), subset(random, all)
		planned := inventory.Planned(recorded, desired)
		done := appliedAll(subset(random, desired)) // the rest failed, or was not reached
		merged := inventory.Merge(planned, done, nil)

		must := map[inventory.ID]inventory.Entry{}
		for _, u := range desired {
			must[inventory.IDOf(u)] = inventory.Entry{ID: inventory.IDOf(u), Version: u.GroupVersionKind().Version}
		}
		for _, entry := range slices.Concat(recorded, done) {
			must[entry.ID] = entry
		}
		if len(merged) != len(must) {
			t.Fatalf("got %d entries, want %d", len(merged), len(must))
		}
		for _, entry := range merged {
			if entry != must[entry.ID] {
				t.Fatalf("got %+v, want %+v", entry, must[entry.ID])
			}
		}
		if !slices.IsSortedFunc(merged, func(a, b inventory.Entry) int { return a.ID.Compare(b.ID) }) {
			t.Fatal("not sorted")
		}
	}
}

// The object of a hook is written at events, and left alone in between.
func TestEntry_AsHook(t *testing.T) {
	desired := configMap("a", "new")
	ran, planned := inventory.Entry{ID: configMapID("a"), Version: "v1", UID: "uid-a", Hash: "pre-install/1-r"}.AsHook(), inventory.Entry{
		ID: configMapID("a"), Version: "v1"}.AsHook()
	absent := func(inventory.ID) inventory.Live { return inventory.Live{Presence: inventory.Absent} }
	if inventory.Drifted([]inventory.Entry{ran}, absent) {
		t.Error("a hook that was deleted counts as drift")
	}
	if !inventory.Drifted([]inventory.Entry{planned}, absent) {
		t.Error("a hook that was planned counts as in order")
	}
	decision := inventory.Decide([]inventory.Entry{ran}, []*unstructured.Unstructured{desired}, notListed)
	if len(decision.Apply) != 1 || !decision.Apply[0].Adds || decision.Apply[0].Entry.IsHook() || decision.Apply[0].Entry.UID != "uid-a" {
		t.Errorf("a hook that becomes an object of all times is %+v", decision.Apply)
	}
}
