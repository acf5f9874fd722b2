package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer/engine"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// waits is what the writer of the tests reports.
type waits string

// writer plays a cluster: what is written is in order, and is ready when its part is.
type writer struct {
	written  []int // batches, by their number
	number   map[inventory.ID]int
	fails    map[int]apply.Class // by batch
	unready  int                 // the first part that does not become ready
	unserved map[int]bool        // batches whose definitions are not established
	broken   error               // returned by every Write
	stopped  error               // returned by every AwaitStart
}

func (w *writer) Write(_ context.Context, steps []inventory.Step) ([]apply.Outcome, error) {
	number := w.number[steps[0].Entry.ID]
	w.written = append(w.written, number)
	var outcomes []apply.Outcome
	for i, step := range steps {
		outcome := apply.Outcome{ID: step.Entry.ID, Action: apply.Created}
		if class := w.fails[number]; class != "" && i == 0 {
			outcome = apply.Outcome{ID: step.Entry.ID, Action: apply.Failed, Class: class, Err: errors.New("refused")}
		}
		outcomes = append(outcomes, outcome)
	}
	return outcomes, w.broken
}

func (w *writer) AwaitStart(_ context.Context, part int) (*waits, error) {
	if part <= w.unready {
		return nil, w.stopped
	}
	said := waits(fmt.Sprintf("part %d waits for %d", part, w.unready))
	return &said, nil
}

func (w *writer) AwaitDefinitions(_ context.Context, steps []inventory.Step) *waits {
	if !w.unserved[w.number[steps[0].Entry.ID]] {
		return nil
	}
	said := waits("a definition is not established")
	return &said
}

// batch is one batch of a part with two objects.
type batch struct {
	part int
	why  inventory.Why
}

func batches(plan []batch) (all []inventory.Batch, number map[inventory.ID]int) {
	number = map[inventory.ID]int{}
	for i, b := range plan {
		made := inventory.Batch{Stage: inventory.Stage{Part: b.part}}
		for _, name := range []string{"a", "b"} {
			id := inventory.ID{Kind: "ConfigMap", Namespace: fmt.Sprint("n", i), Name: name}
			number[id] = i
			made.Steps = append(made.Steps, inventory.Step{Why: b.why, Entry: inventory.Entry{ID: id}})
		}
		all = append(all, made)
	}
	return all, number
}

const (
	isNew = inventory.WhyNew
	drift = inventory.WhyDrifted
	never = 1000
)

func TestApplyBatches(t *testing.T) {
	for name, test := range map[string]struct {
		plan     []batch
		failedIn int
		writer   writer
		written  []int
		failed   int
		held     waits
	}{
		"everything is written in order": {
			[]batch{{0, isNew}, {0, isNew}, {1, isNew}}, never, writer{unready: never}, []int{0, 1, 2}, 0, "",
		},
		"a later part waits, and what runs of it is repaired": {
			[]batch{{0, isNew}, {1, isNew}, {1, drift}, {2, drift}}, never, writer{}, []int{0, 2, 3}, 0, "part 1 waits for 0",
		},
		"a failure stops later parts, and not its own": {
			[]batch{{0, isNew}, {0, isNew}, {1, isNew}, {1, drift}}, never,
			writer{unready: never, fails: map[int]apply.Class{0: apply.ClassRefused}}, []int{0, 1, 3}, 1, "",
		},
		"a kind that is not served stops later parts": {
			[]batch{{0, isNew}, {1, isNew}, {2, isNew}}, 1, writer{unready: never}, []int{0, 1}, 0, "",
		},
		"a cluster that does not answer ends it": {
			[]batch{{0, isNew}, {0, drift}}, never,
			writer{unready: never, fails: map[int]apply.Class{0: apply.ClassUnreachable}}, []int{0}, 1, "",
		},
		"refused credentials end it": {
			[]batch{{0, isNew}, {0, drift}}, never,
			writer{unready: never, fails: map[int]apply.Class{0: apply.ClassUnauthorized}}, []int{0}, 1, "",
		},
		"a caller that gives up ends it": {
			[]batch{{0, isNew}, {0, drift}}, never,
			writer{unready: never, fails: map[int]apply.Class{0: apply.ClassCanceled}}, []int{0}, 1, "",
		},
		"a definition that is not established ends it": {
			[]batch{{0, isNew}, {0, isNew}}, never, writer{unready: never, unserved: map[int]bool{0: true}}, []int{0}, 0,
			"a definition is not established",
		},
		"a failure is the news, beside a definition that is not established": {
			[]batch{{0, isNew}, {0, isNew}}, never,
			writer{unready: never, unserved: map[int]bool{0: true}, fails: map[int]apply.Class{0: apply.ClassRefused}}, []int{0}, 1, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			all, number := batches(test.plan)
			test.writer.number = number
			failed, held, err := engine.ApplyBatches(t.Context(), all, test.failedIn, &test.writer)
			if err != nil || len(failed) != test.failed || !slices.Equal(test.writer.written, test.written) {
				t.Errorf("wrote %v, %d failed, error %v", test.writer.written, len(failed), err)
			}
			if said := deref(held); said != test.held {
				t.Errorf("waits for %q, want %q", said, test.held)
			}
		})
	}
}

func deref(w *waits) waits {
	if w == nil {
		return ""
	}
	return *w
}

func TestApplyBatches_AnErrorOfTheWriterEndsIt(t *testing.T) {
	all, number := batches([]batch{{0, isNew}, {0, isNew}})
	w := &writer{number: number, unready: never, broken: errors.New("cannot be observed")}
	if failed, held, err := engine.ApplyBatches(t.Context(), all, never, w); err == nil || failed != nil || held != nil || len(w.written) != 1 {
		t.Errorf("%v, %v, %v after %d batches", failed, held, err, len(w.written))
	}
}

func TestApplyBatches_AnErrorOfAStartEndsItBeforeAnythingIsWritten(t *testing.T) {
	all, number := batches([]batch{{0, isNew}, {0, drift}})
	w := &writer{number: number, unready: never, stopped: errors.New("cannot be stored")}
	if failed, held, err := engine.ApplyBatches(t.Context(), all, never, w); err == nil || failed != nil || held != nil || len(w.written) > 0 {
		t.Errorf("%v, %v, %v after %d batches", failed, held, err, len(w.written))
	}
}

// stepWriter records the objects that are written. The parts from unready on must wait.
type stepWriter struct {
	unready int
	written map[inventory.ID]bool
}

func (s *stepWriter) Write(_ context.Context, steps []inventory.Step) (outcomes []apply.Outcome, _ error) {
	for _, step := range steps {
		s.written[step.Entry.ID] = true
		outcomes = append(outcomes, apply.Outcome{ID: step.Entry.ID, Action: apply.Created})
	}
	return outcomes, nil
}

func (s *stepWriter) AwaitStart(_ context.Context, part int) (*waits, error) {
	if part < s.unready {
		return nil, nil
	}
	said := waits("waits")
	return &said, nil
}

func (s *stepWriter) AwaitDefinitions(context.Context, []inventory.Step) *waits { return nil }

// TestApplyBatches_RestoresBesideWhatWaits: whatever a batch has beside it, an object that only needs to be restored is written, and one that
// adds content is written exactly when its part may begin.
func TestApplyBatches_RestoresBesideWhatWaits(t *testing.T) {
	whys := []inventory.Why{isNew, drift, inventory.WhyMissing, inventory.WhyChanged, inventory.WhyReplaced}
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 3))
		var all []inventory.Batch
		for part := range 3 {
			batch := inventory.Batch{Stage: inventory.Stage{Part: part}}
			for i := range 1 + random.IntN(4) {
				id := inventory.ID{Kind: "ConfigMap", Namespace: fmt.Sprint(part), Name: fmt.Sprint(i)}
				batch.Steps = append(batch.Steps, inventory.Step{Why: whys[random.IntN(len(whys))], Entry: inventory.Entry{ID: id}})
			}
			all = append(all, batch)
		}
		w, failedIn := &stepWriter{unready: random.IntN(4), written: map[inventory.ID]bool{}}, random.IntN(4)
		if _, _, err := engine.ApplyBatches(t.Context(), all, failedIn, w); err != nil {
			t.Fatal(err)
		}
		for _, batch := range all {
			for _, step := range batch.Steps {
				adds := step.Why == isNew || step.Why == inventory.WhyChanged
				if want := !adds || batch.Part < w.unready && batch.Part <= failedIn; w.written[step.Entry.ID] != want {
					t.Fatalf("seed %d: %s of part %d (%s) was written: %t", seed, step.Entry.ID, batch.Part, step.Why, !want)
				}
			}
		}
	}
}

// TestApplyBatches_Laws explores random plans on random clusters.
func TestApplyBatches_Laws(t *testing.T) {
	classes := []apply.Class{"", "", "", "", apply.ClassRefused, apply.ClassForbidden, apply.ClassUnreachable}
	for seed := range uint64(5000) {
		random := rand.New(rand.NewPCG(seed, 1))
		var plan []batch
		w := &writer{unready: random.IntN(5), fails: map[int]apply.Class{}, unserved: map[int]bool{}}
		for part := range 4 {
			for range random.IntN(4) {
				w.fails[len(plan)] = classes[random.IntN(len(classes))]
				w.unserved[len(plan)] = random.IntN(20) == 0
				plan = append(plan, batch{part, []inventory.Why{isNew, drift, inventory.WhyMissing, inventory.WhyChanged}[random.IntN(4)]})
			}
		}
		all, number := batches(plan)
		w.number = number
		failedIn := random.IntN(6)
		failed, held, err := engine.ApplyBatches(t.Context(), all, failedIn, w)
		if err != nil {
			t.Fatal(err)
		}
		checkLaws(t, seed, plan, w, failedIn)
		broken := slices.ContainsFunc(w.written, func(i int) bool { return w.fails[i] != "" })
		if broken != (len(failed) > 0) || broken && held != nil {
			t.Fatalf("seed %d: %d failed, held %q after %v of %v", seed, len(failed), deref(held), w.written, plan)
		}
	}
}

func checkLaws(t *testing.T, seed uint64, plan []batch, w *writer, failedIn int) {
	t.Helper()
	first, ended := failedIn, false
	for i, b := range plan {
		adds := b.why == isNew || b.why == inventory.WhyChanged
		written := slices.Contains(w.written, i)
		switch {
		case written && ended:
			t.Fatalf("seed %d: batch %d of %v was written after the end: %v", seed, i, plan, w.written)
		case written && adds && (b.part > first || b.part > w.unready):
			t.Fatalf("seed %d: batch %d of %v was written before its turn: %v", seed, i, plan, w.written)
		case !written && !adds && !ended:
			t.Fatalf("seed %d: batch %d of %v was not repaired: %v", seed, i, plan, w.written)
		}
		if written {
			if w.fails[i] != "" {
				first = min(first, b.part)
			}
			ended = ended || w.fails[i] == apply.ClassUnreachable || w.unserved[i]
		}
	}
	if !slices.IsSorted(w.written) {
		t.Fatalf("seed %d: written in the order %v", seed, w.written)
	}
}

func TestApplied(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}}}
	steps := []inventory.Step{
		{Object: object, Entry: inventory.Entry{ID: inventory.IDOf(object), Hash: "old", UID: "1"}},
		{Object: object, Entry: inventory.Entry{ID: inventory.IDOf(object), Hash: "old", UID: "1"}},
		{Object: object, Entry: inventory.Entry{ID: inventory.IDOf(object), Hash: "old", UID: "1"}},
	}
	done := engine.Applied(steps, []apply.Outcome{
		{Action: apply.Updated, UID: "2", Fields: "f"}, {Action: apply.Failed, Err: errors.New("no")}, {Action: apply.Shared, Owner: "n/other"},
	})
	if done[0].UID != "2" || done[0].Fields != "f" || done[0].Hash != inventory.ContentHash(object) {
		t.Errorf("what was written is recorded as %+v", done[0])
	}
	if done[1].Hash != "" || done[1].UID != "1" {
		t.Errorf("what failed is recorded as %+v", done[1])
	}
	shared := inventory.Entry{ID: inventory.IDOf(object), Hash: inventory.ContentHash(object)}.Share("n/other")
	if done[2] != shared {
		t.Errorf("what is shared is recorded as %+v", done[2])
	}
}
