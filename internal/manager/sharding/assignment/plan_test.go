package assignment

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// shares returns an Assignment in which the replicas have so many buckets, one after the other.
func shares(counts ...int) Assignment {
	var table Assignment
	bucket := 0
	for at, count := range counts {
		for range count {
			table[bucket].Owner = replica(at)
			bucket++
		}
	}
	return table
}

func replica(at int) string { return string(rune('a' + at)) }

// futures counts the buckets by their final owner.
func futures(table Assignment) map[string]int {
	counts := map[string]int{}
	for _, share := range table {
		counts[future(share)]++
	}
	return counts
}

func future(share BucketAssignment) string {
	if share.Next != "" {
		return share.Next
	}
	return share.Owner
}

// moves counts the buckets that will get another owner.
func moves(before, after Assignment) (moves int) {
	for bucket := range before {
		if future(before[bucket]) != future(after[bucket]) {
			moves++
		}
	}
	return moves
}

func TestPlan(t *testing.T) {
	type replicas = map[string]ReplicaState
	draining := shares(64)
	for bucket := 32; bucket < 64; bucket++ {
		draining[bucket].Next = "b"
	}
	for name, test := range map[string]struct {
		before   Assignment
		replicas replicas
		want     map[string]int
		moves    int
		waiting  int // buckets that must be let go of first
	}{
		"the first replica gets everything":             {Assignment{}, replicas{"a": Taking}, map[string]int{"a": 64}, 64, 0},
		"three that begin together share evenly":        {Assignment{}, replicas{"a": Taking, "b": Taking, "c": Taking}, map[string]int{"a": 22, "b": 21, "c": 21}, 64, 0},
		"nothing moves when nothing changed":            {shares(22, 21, 21), replicas{"a": Taking, "b": Taking, "c": Taking}, map[string]int{"a": 22, "b": 21, "c": 21}, 0, 0},
		"the larger share stays with who has it":        {shares(21, 21, 22), replicas{"a": Taking, "b": Taking, "c": Taking}, map[string]int{"a": 21, "b": 21, "c": 22}, 0, 0},
		"a second one gets half, and waits for it":      {shares(64), replicas{"a": Taking, "b": Taking}, map[string]int{"a": 32, "b": 32}, 32, 32},
		"a third one gets a third":                      {shares(32, 32), replicas{"a": Taking, "b": Taking, "c": Taking}, map[string]int{"a": 22, "b": 21, "c": 21}, 21, 21},
		"one that is gone leaves its share at once":     {shares(22, 21, 21), replicas{"a": Taking, "b": Taking}, map[string]int{"a": 32, "b": 32}, 21, 0},
		"one that leaves is waited for":                 {shares(22, 21, 21), replicas{"a": Taking, "b": Taking, "c": Leaving}, map[string]int{"a": 32, "b": 32}, 21, 21},
		"one that is replaced hands all to one":         {shares(64), replicas{"a": Leaving, "b": Taking}, map[string]int{"b": 64}, 64, 64},
		"one that stands still keeps what it has":       {shares(22, 21, 21), replicas{"a": Taking, "b": Keeping, "c": Taking}, map[string]int{"a": 22, "b": 21, "c": 21}, 0, 0},
		"one that stands still gets nothing":            {shares(64), replicas{"a": Taking, "b": Keeping}, map[string]int{"a": 64}, 0, 0},
		"what one that stands still has is not shared":  {shares(0, 64), replicas{"a": Taking, "b": Keeping}, map[string]int{"b": 64}, 0, 0},
		"who is to get it is gone: it stays":            {draining, replicas{"a": Taking}, map[string]int{"a": 64}, 32, 0},
		"its owner is gone: who is next has it at once": {draining, replicas{"b": Taking}, map[string]int{"b": 64}, 32, 0},
		"both are there: nothing changes":               {draining, replicas{"a": Taking, "b": Taking}, map[string]int{"a": 32, "b": 32}, 0, 32},
		"a third one gets what has not moved yet":       {draining, replicas{"a": Taking, "b": Taking, "c": Taking}, map[string]int{"a": 22, "b": 21, "c": 21}, 21, 42},
		"all are gone: it stays told whose it was":      {shares(64), replicas{}, map[string]int{"a": 64}, 0, 0},
		"all leave: no one is next":                     {draining, replicas{"a": Leaving, "b": Leaving}, map[string]int{"a": 64}, 32, 0},
	} {
		t.Run(name, func(t *testing.T) {
			after := Plan(test.before, test.replicas)
			if got := futures(after); !maps.Equal(got, test.want) {
				t.Errorf("shares are %v, want %v", got, test.want)
			}
			if got := moves(test.before, after); got != test.moves {
				t.Errorf("%d buckets move, want %d", got, test.moves)
			}
			waiting := 0
			for _, share := range after {
				if share.Next != "" {
					waiting++
				}
			}
			if waiting != test.waiting {
				t.Errorf("%d buckets wait for their owner, want %d", waiting, test.waiting)
			}
			if again := Plan(after, test.replicas); again != after {
				t.Error("a second plan is another one")
			}
		})
	}
}

// TestPlan_HoldsForRandomChanges adds, removes, suspends and releases replicas at random.
func TestPlan_HoldsForRandomChanges(t *testing.T) {
	for seed := range 200 {
		rnd := rand.New(rand.NewPCG(uint64(seed), 0))
		var table Assignment
		for step := range 50 {
			replicas := map[string]ReplicaState{}
			for at := range 1 + rnd.IntN(9) {
				replicas[replica(at)] = ReplicaState(rnd.IntN(4))
			}
			next := Plan(table, replicas)
			judge(t, fmt.Sprintf("seed %d, step %d", seed, step), table, next, replicas)
			for name := range replicas {
				next.Release(name, func(int) bool { return rnd.IntN(2) == 0 })
			}
			table = next
		}
	}
}

func judge(t *testing.T, when string, before, after Assignment, replicas map[string]ReplicaState) {
	t.Helper()
	counts := futures(after)
	var taking []int
	for name, standing := range replicas {
		if standing == Taking {
			taking = append(taking, counts[name])
		}
	}
	if len(taking) > 0 && slices.Max(taking)-slices.Min(taking) > 1 {
		t.Errorf("%s: shares of %v are uneven", when, taking)
	}
	for bucket, share := range after {
		was := before[bucket]
		if share.Owner != was.Owner && replicas[was.Owner] != Gone {
			t.Errorf("%s: bucket %d was taken from %q, who is there", when, bucket, was.Owner)
		}
		if share.Owner != was.Owner && replicas[share.Owner] != Taking && replicas[share.Owner] != Keeping {
			t.Errorf("%s: bucket %d was given to %q, who is not there", when, bucket, share.Owner)
		}
		if share.Owner == share.Next && share.Next != "" {
			t.Errorf("%s: bucket %d moves from %q to itself", when, bucket, share.Owner)
		}
		if got := future(share); len(taking) > 0 && replicas[got] != Taking && replicas[got] != Keeping {
			t.Errorf("%s: no one is to have bucket %d, but %q", when, bucket, got)
		}
	}
}

func TestRelease_HandsOverDrainedBuckets(t *testing.T) {
	table := shares(32, 32)
	table[0].Next, table[1].Next, table[40].Next = "b", "b", "a"
	if !table.Release("a", func(bucket int) bool { return bucket == 0 }) {
		t.Error("nothing was released")
	}
	if table[0] != (BucketAssignment{Owner: "b"}) || table[1] != (BucketAssignment{Owner: "a", Next: "b"}) || table[40] != (BucketAssignment{Owner: "b", Next: "a"}) {
		t.Errorf("released %v %v %v", table[0], table[1], table[40])
	}
	if table.Release("a", func(bucket int) bool { return bucket == 0 }) {
		t.Error("what is gone was released again")
	}
}
