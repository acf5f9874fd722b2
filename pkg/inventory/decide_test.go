package inventory_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

func TestDecideForOneObject(t *testing.T) {
	desired := configMap("a", "new")
	same, older := applied(desired), applied(configMap("a", "old"))
	planned := inventory.Entry{ID: configMapID("a"), Version: "v1"}
	present := func(change func(*inventory.Live)) inventory.Live {
		live := inventory.Live{Presence: inventory.Present, UID: same.UID, Fields: same.Fields}
		change(&live)
		return live
	}
	asRecorded := present(func(*inventory.Live) {})
	replaced := present(func(live *inventory.Live) { live.UID = "other" })
	drifted := present(func(live *inventory.Live) { live.Fields = "a:other" })
	absent, unknown := inventory.Live{Presence: inventory.Absent}, inventory.Live{}

	for _, test := range []struct {
		name     string
		recorded []inventory.Entry
		live     inventory.Live
		want     inventory.Why
	}{
		{"an object that was never recorded is new", nil, absent, inventory.WhyNew},
		{"an object that was never recorded is new even when it exists", nil, asRecorded, inventory.WhyNew},
		{"an object whose apply was planned and not finished is new", []inventory.Entry{planned}, absent, inventory.WhyNew},
		{"a planned one that exists is new, because what was applied is unknown", []inventory.Entry{planned}, asRecorded, inventory.WhyNew},
		{"other content than recorded has changed", []inventory.Entry{older}, asRecorded, inventory.WhyChanged},
		{"other content has changed although its kind was not listed yet", []inventory.Entry{older}, unknown, inventory.WhyChanged},
		{"a deleted object is missing", []inventory.Entry{same}, absent, inventory.WhyMissing},
		{"a deleted object is missing and not changed, because it has to be created", []inventory.Entry{older}, absent, inventory.WhyMissing},
		{"another UID means that a user replaced it", []inventory.Entry{same}, replaced, inventory.WhyReplaced},
		{"a replaced object with other content is replaced first of all", []inventory.Entry{older}, replaced, inventory.WhyReplaced},
		{"other owned fields mean that a user changed it", []inventory.Entry{same}, drifted, inventory.WhyDrifted},
		{"other content and other owned fields are one change", []inventory.Entry{older}, drifted, inventory.WhyChanged},
		{"content, UID and fields as recorded are in order", []inventory.Entry{same}, asRecorded, ""},
		{"content as recorded is in order while its kind was not listed yet", []inventory.Entry{same}, unknown, ""},
		{"an object that is terminating is in order until it is gone", []inventory.Entry{same},
			present(func(live *inventory.Live) { live.Terminating = true }), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := inventory.Decide(test.recorded, []*unstructured.Unstructured{desired}, func(inventory.ID) inventory.Live { return test.live })
			want := inventory.Decision{InOrder: 1}
			if test.want != "" {
				entry := inventory.Entry{ID: configMapID("a"), Version: "v1", Hash: inventory.ContentHash(desired)}
				if len(test.recorded) > 0 {
					entry.UID, entry.Fields = test.recorded[0].UID, test.recorded[0].Fields
				}
				adds := len(test.recorded) == 0 || test.recorded[0].Hash != entry.Hash
				want = inventory.Decision{Apply: []inventory.Step{{Object: desired, Entry: entry, Why: test.want, Adds: adds}}}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestDecideForSeveralObjects(t *testing.T) {
	a, b := configMap("a", "1"), configMap("b", "1")
	entryA, entryB := applied(a), applied(b)
	planned := inventory.Entry{ID: configMapID("c"), Version: "v1"}
	names := func(decision inventory.Decision) (apply, prune []string) {
		for _, step := range decision.Apply {
			apply = append(apply, step.Entry.Name)
		}
		for _, entry := range decision.Prune {
			prune = append(prune, entry.Name)
		}
		return apply, prune
	}
	otherVersion := object("apps/v1", "Deployment", "kyma-system", "d", "")
	entryOther := applied(object("apps/v1beta1", "Deployment", "kyma-system", "d", ""))

	for _, test := range []struct {
		name         string
		recorded     []inventory.Entry
		desired      []*unstructured.Unstructured
		apply, prune []string
		inOrder      int
	}{
		{"nothing recorded and nothing wanted needs nothing", nil, nil, nil, nil, 0},
		{"an unwanted object is pruned", []inventory.Entry{entryA, entryB}, []*unstructured.Unstructured{a}, nil, []string{"b"}, 1},
		{"an unwanted object that was only planned is pruned too", []inventory.Entry{entryA, planned}, []*unstructured.Unstructured{a},
			nil, []string{"c"}, 1},
		{"an object that is wanted twice is applied once", nil, []*unstructured.Unstructured{a, a, b}, []string{"a", "b"}, nil, 0},
		{"the order of the desired objects is kept", nil, []*unstructured.Unstructured{b, a}, []string{"b", "a"}, nil, 0},
		{"another version of the same object is applied and never pruned", []inventory.Entry{entryOther},
			[]*unstructured.Unstructured{otherVersion}, []string{"d"}, nil, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := inventory.Decide(test.recorded, test.desired, notListed)
			apply, prune := names(got)
			if diff := cmp.Diff(test.apply, apply); diff != "" {
				t.Errorf("apply: %s", diff)
			}
			if diff := cmp.Diff(test.prune, prune); diff != "" {
				t.Errorf("prune: %s", diff)
			}
			if got.InOrder != test.inOrder {
				t.Errorf("got %d in order, want %d", got.InOrder, test.inOrder)
			}
		})
	}
}

func TestDrifted(t *testing.T) {
	entry := applied(configMap("a", "1"))
	other := func(inventory.ID) inventory.Live {
		return inventory.Live{Presence: inventory.Present, UID: entry.UID, Fields: "a:other"}
	}
	replaced := func(inventory.ID) inventory.Live {
		return inventory.Live{Presence: inventory.Present, UID: "other", Fields: entry.Fields}
	}
	owned := func(owner string) func(inventory.ID) inventory.Live {
		return func(inventory.ID) inventory.Live {
			return inventory.Live{Presence: inventory.Present, UID: entry.UID, Fields: entry.Fields, Owner: owner}
		}
	}
	for _, test := range []struct {
		name     string
		recorded []inventory.Entry
		live     func(inventory.ID) inventory.Live
		want     bool
	}{
		{"an empty record does not drift", nil, notListed, false},
		{"a record that matches the cluster does not drift", []inventory.Entry{entry}, seen([]inventory.Entry{entry}), false},
		{"a kind that was not listed yet is not drift", []inventory.Entry{entry}, notListed, false},
		{"a missing object is drift", []inventory.Entry{entry}, seen(nil), true},
		{"a replaced object is drift", []inventory.Entry{entry}, replaced, true},
		{"a changed object is drift", []inventory.Entry{entry}, other, true},
		{"an object of another owner is in order while it has that mark", []inventory.Entry{entry.Share("left")}, owned("left"), false},
		{"an object that was handed over has to be written by its new owner", []inventory.Entry{entry.Share("left")}, owned("right"), true},
		{"a changed object of another owner is checked", []inventory.Entry{entry.Share("left")}, other, true},
		{"an object that is about to be dropped still has to be deleted", []inventory.Entry{entry.Leave()}, seen([]inventory.Entry{entry}), true},
		{"even where its kind was not listed yet", []inventory.Entry{entry.Leave()}, notListed, true},
		{"an object that is only planned needs an apply", []inventory.Entry{{ID: entry.ID, Version: "v1"}}, notListed, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := inventory.Drifted(test.recorded, test.live); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

// After everything that was decided is applied, pruned and recorded, the next decision must be empty.
func TestDecideAfterAFullMergeAppliesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(2, 2))
	for range 200 {
		all := randomObjects(random, random.IntN(60))
		recorded, desired := appliedAll(subset(random, all)), subset(random, all)
		there := recorded[:random.IntN(len(recorded)+1)] // some were deleted meanwhile
		first := inventory.Decide(recorded, desired, seen(there))
		if len(first.Apply)+first.InOrder != len(desired) {
			t.Fatalf("%d to apply and %d in order of %d", len(first.Apply), first.InOrder, len(desired))
		}

		var done []inventory.Entry
		for _, step := range first.Apply {
			entry := step.Entry
			entry.UID, entry.Fields = "new", "a:new" // what the cluster returned
			done = append(done, entry)
		}
		var gone []inventory.ID
		for _, entry := range first.Prune {
			gone = append(gone, entry.ID)
		}
		merged := inventory.Merge(inventory.Planned(recorded, desired), done, gone)
		for _, live := range []func(inventory.ID) inventory.Live{seen(merged), notListed} {
			second := inventory.Decide(merged, desired, live)
			if diff := cmp.Diff(inventory.Decision{InOrder: len(desired)}, second); diff != "" {
				t.Fatal(diff)
			}
			if inventory.Drifted(merged, live) {
				t.Fatal("drifted right after an apply")
			}
		}
	}
}
