package manifest

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
)

// tracking is what a Manifest is told of.
type tracking struct {
	runtime Runtime
	// refused are kinds of content that the inventory does not have: it was not applied, or not yet.
	refused []runtimes.Interest
}

// track requests the events of the kinds that the Manifest has or needs.
func (r *Reconciler) track(w *scope) {
	now := &tracking{runtime: w.runtime}
	interests := w.interests(w.desired)
	if len(w.desired) > 0 {
		has := w.interests(nil)
		for _, interest := range interests {
			if !slices.Contains(has, interest) {
				now.refused = append(now.refused, interest)
			}
		}
	}
	old, _ := r.tracked.Swap(w.key, now)
	if before, ok := old.(*tracking); ok && before.runtime.Own() != w.runtime.Own() { // another connection, not another account
		before.runtime.Untrack(w.key)
	}
	w.runtime.Track(w.key, interests)
}

// trackRecorded is track for a pass that may have nothing to do: the content is not read yet. The kinds of content that was refused before
// stay until then: where each pass let go of them first, it would list them again, and be woken by that. narrow drops them.
func (r *Reconciler) trackRecorded(w *scope) (narrow func()) {
	old, _ := r.tracked.Load(w.key)
	before, ok := old.(*tracking)
	if !ok || len(before.refused) == 0 || before.runtime.Own() != w.runtime.Own() {
		r.track(w)
		return func() {}
	}
	w.runtime.Track(w.key, append(w.interests(nil), before.refused...))
	return func() { r.track(w) }
}

func (r *Reconciler) untrack(key types.NamespacedName) {
	old, _ := r.tracked.LoadAndDelete(key)
	if before, ok := old.(*tracking); ok {
		before.runtime.Untrack(key)
	}
}
