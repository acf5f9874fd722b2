package engine_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/pkg/hooks"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// version is what a chart declares.
type version struct {
	release string
	set     hooks.Set
	objects []inventory.ID
}

// hookWorld is a hub, a cluster and a manager that may crash at each of its calls. It is the oracle, too: it remembers what completed.
type hookWorld struct {
	t      *testing.T
	seed   uint64
	random *rand.Rand

	// on the hub
	stored   []inventory.Entry
	progress *hooks.Progress
	// in the cluster
	live    map[inventory.ID]*unstructured.Unstructured
	uids    int
	written map[inventory.ID]string // ordinary objects, and of which release
	// in memory of the pass
	recorded []inventory.Entry
	asked    version
	crashes  int // of a thousand calls
	writes   int

	completed map[string]bool // ticket and hook
	log       []string
}

func (w *hookWorld) notef(format string, args ...any) {
	w.log = append(w.log, fmt.Sprintf(format, args...))
}

func (w *hookWorld) failf(format string, args ...any) {
	w.t.Helper()
	for _, line := range w.log {
		w.t.Log(line)
	}
	w.t.Fatalf("seed %d: "+format, append([]any{w.seed}, args...)...)
}

// call is one call of the manager: the process may end before it and after it.
func (w *hookWorld) call(do func()) error {
	if w.random.IntN(1000) < w.crashes {
		w.notef("crash before a call")
		return errCrash
	}
	do()
	if w.random.IntN(1000) < w.crashes {
		w.notef("crash after a call")
		return errCrash
	}
	return nil
}

func (w *hookWorld) Recorded() []inventory.Entry { return w.recorded }
func (w *hookWorld) Record(done []inventory.Entry) {
	w.recorded = inventory.Merge(w.recorded, done, nil)
}

func (w *hookWorld) Store(_ context.Context, progress hooks.Progress) error {
	return w.call(func() {
		w.writes++
		w.stored, w.progress = slices.Clone(w.recorded), &progress
		w.notef("store %s %d/%d", progress.Ticket(), progress.Done, progress.Total)
	})
}

func (w *hookWorld) Stored() *hooks.Progress { return w.progress }

func (w *hookWorld) Look(_ context.Context, hook hooks.Hook) (live *unstructured.Unstructured, ours bool, err error) {
	return w.live[hook.ID()], true, nil
}

func (w *hookWorld) Write(_ context.Context, hook hooks.Hook, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	ticket := object.GetAnnotations()[hooks.AnnotationTicket]
	err := w.call(func() {
		w.writes++
		id := hook.ID()
		if !slices.ContainsFunc(w.stored, func(entry inventory.Entry) bool { return entry.ID == id }) {
			w.failf("%s is written and not planned", id)
		}
		if w.completed[ticket+id.String()] {
			w.failf("%s is written again for %s", id, ticket)
		}
		if hook.RunsToCompletion() && w.live[id] != nil {
			w.failf("%s is written over another run", id)
		}
		w.uids++
		object.SetUID(types.UID(fmt.Sprint(w.uids)))
		w.live[id] = object
		if !hook.RunsToCompletion() {
			w.completed[ticket+id.String()] = true
		}
		w.notef("write %s for %s", id, ticket)
	})
	return object, err
}

func (w *hookWorld) Delete(_ context.Context, entries []inventory.Entry) error {
	for _, entry := range entries {
		err := w.call(func() { w.remove(entry.ID) })
		if err != nil {
			return err
		}
		if w.live[entry.ID] == nil {
			w.recorded = inventory.Merge(w.recorded, nil, []inventory.ID{entry.ID})
		} else {
			entry.Hash = ""
			w.Record([]inventory.Entry{entry})
		}
	}
	return nil
}

// remove deletes an object, at once or later.
func (w *hookWorld) remove(id inventory.ID) {
	w.writes++
	w.notef("delete %s", id)
	delete(w.written, id)
	if w.live[id] != nil && w.random.IntN(3) == 0 {
		now := metav1.Now()
		w.live[id].SetDeletionTimestamp(&now)
		return
	}
	delete(w.live, id)
}

func (w *hookWorld) Waits(hook hooks.Hook, event hooks.Event, verdict hooks.Verdict, why string) *waits {
	said := waits(fmt.Sprintf("%s %s: %d %s", event, hook.ID(), verdict, why))
	return &said
}

// expectCompleted fails unless all hooks of an event have completed for what is recorded.
func (w *hookWorld) expectCompleted(what string, progress hooks.Progress, event hooks.Event) {
	progress.Event = event
	for _, hook := range w.asked.set.At(event) {
		if !w.completed[progress.Ticket()+hook.ID().String()] {
			w.failf("%s before %s has completed for %s", what, hook.ID(), progress.Ticket())
		}
	}
}

// goOn lets programs go on and finalizers end.
func (w *hookWorld) goOn(fails int) {
	for _, id := range slices.SortedFunc(maps.Keys(w.live), inventory.ID.Compare) {
		object := w.live[id]
		ticket := object.GetAnnotations()[hooks.AnnotationTicket]
		switch {
		case object.GetDeletionTimestamp() != nil:
			delete(w.live, id)
		case id.Kind != "Job" || w.completed[ticket+id.String()]:
		case object.Object["status"] != nil:
			if w.random.IntN(2) == 0 {
				w.notef("a user deletes %s, which failed", id)
				delete(w.live, id)
			}
		case w.random.IntN(100) < fails:
			object.Object["status"] = conditionOf("Failed")
			w.notef("%s fails for %s", id, ticket)
		default:
			object.Object["status"] = conditionOf("Complete")
			w.completed[ticket+id.String()] = true
			w.notef("%s completes for %s", id, ticket)
		}
	}
}

func conditionOf(kind string) map[string]any {
	return map[string]any{"conditions": []any{map[string]any{"type": kind, "status": "True"}}}
}
