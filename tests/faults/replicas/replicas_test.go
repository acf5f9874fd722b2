package replicas

import (
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding/assignment"
	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/trial"
)

func TestReplicas_EveryCellHasANameOfItsOwn(t *testing.T) {
	operations, err := operation.Named(Operations...)
	if err != nil {
		t.Fatal(err)
	}
	clean := &trial.Clean{Writes: map[string]int{"hub": 7, "runtime-1": 20}}
	names := map[string]bool{}
	for _, o := range operations {
		picked := map[string]bool{}
		for _, cell := range Forms(o, clean) {
			if names[cell.Name()] {
				t.Errorf("two cells are called %q", cell.Name())
			}
			names[cell.Name()] = true
			picked[cell.Name()] = true
		}
		cells := Cells(1, o, clean)
		if want := 2*len(kinds) + 4; len(cells) != want {
			t.Errorf("%s has %d cells, want %d", o.Name, len(cells), want)
		}
		for _, cell := range cells {
			if !picked[cell.Name()] {
				t.Errorf("%q is none of all forms", cell.Name())
			}
		}
	}
	if want := len(operations) * (len(kinds)*27 + 4); len(names) != want {
		t.Errorf("%d forms, want %d", len(names), want)
	}
}

// dealt returns a table in which replicas own the buckets in turn.
func dealt(replicas ...string) (table assignment.Assignment) {
	for bucket := range table {
		table[bucket].Owner = replicas[bucket%len(replicas)]
	}
	return table
}

func TestReplicas_WhatMovesNeedlesslyIsSeen(t *testing.T) {
	gives := func(from, to string, most int) func(*assignment.Assignment) {
		return func(table *assignment.Assignment) {
			for bucket := range table {
				if table[bucket].Owner == from && most > 0 {
					table[bucket].Owner, most = to, most-1
				}
			}
		}
	}
	for name, test := range map[string]struct {
		changes []func(*assignment.Assignment)
		judge   func([]move) []string
		want    string
	}{
		"one ends, and the others take its share": {
			[]func(*assignment.Assignment){gives("c", "a", 11), gives("c", "b", 10)}, func(m []move) []string { return gone(m, "c", 21) }, "",
		},
		"a bucket stays behind": {
			[]func(*assignment.Assignment){gives("c", "a", 20)}, func(m []move) []string { return gone(m, "c", 21) }, "20 buckets changed hands",
		},
		"buckets of the others move, too": {
			[]func(*assignment.Assignment){gives("c", "a", 21), gives("a", "b", 1)}, func(m []move) []string { return gone(m, "c", 21) }, "1 of 22 buckets",
		},
		"one comes and gets its share": {
			[]func(*assignment.Assignment){gives("a", "d", 8), gives("b", "d", 8)}, func(m []move) []string { return come(m, "d", 4) }, "",
		},
		"one comes and gets too much": {
			[]func(*assignment.Assignment){gives("a", "d", 9), gives("b", "d", 8)}, func(m []move) []string { return come(m, "d", 4) }, "17 buckets",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := &assignmentLog{}
			table := dealt("a", "b", "c")
			l.note(table)
			mark := l.mark()
			for _, change := range test.changes {
				change(&table)
				l.note(table)
			}
			problems := strings.Join(test.judge(l.since(mark)), "\n")
			if (problems == "") != (test.want == "") || !strings.Contains(problems, test.want) {
				t.Errorf("it says %q, want %q", problems, test.want)
			}
		})
	}
}

func TestBoundsGrowWithPatience(t *testing.T) {
	if usual, patient := longer(grace, trial.Converges), longer(grace, 2*trial.Converges); usual != grace || patient != 2*grace {
		t.Errorf("%s and %s, want %s and twice that", usual, patient, grace)
	}
}
