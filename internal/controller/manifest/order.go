package manifest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/health"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// stage is when an object is applied: with which installation, and in which of its steps.
type stage struct{ part, step int }

// order is in which order the objects of a Manifest are applied.
type order struct {
	at map[inventory.ID]stage
	// namespaces are made first, if they are not there.
	namespaces []string
}

// turn is what is applied at once: one phase of one stage.
type turn struct {
	stage
	steps []inventory.Step
}

// turns divides steps into what is applied one after the other: stage by stage, and in each by the kinds of its objects.
func (o order) turns(steps []inventory.Step) []turn {
	stages := map[stage][]inventory.Step{}
	for _, step := range steps {
		at := o.at[step.Entry.ID]
		stages[at] = append(stages[at], step)
	}
	sorted := make([]stage, 0, len(stages))
	for at := range stages {
		sorted = append(sorted, at)
	}
	slices.SortFunc(sorted, func(a, b stage) int { return cmp.Or(cmp.Compare(a.part, b.part), cmp.Compare(a.step, b.step)) })
	var turns []turn
	for _, at := range sorted {
		for _, phase := range inventory.StepPhases(stages[at]) {
			turns = append(turns, turn{at, phase})
		}
	}
	return turns
}

// brings tells that a turn is more than putting back what was there already.
func (t turn) brings() bool {
	return slices.ContainsFunc(t.steps, func(s inventory.Step) bool { return s.Why == inventory.WhyNew || s.Why == inventory.WhyChanged })
}

// gate tells what a later installation still has to wait for: the first object of an earlier one that failed, cannot be seen or is not
// ready, or that a probe says no of; nil when all are ready.
func (r *Reconciler) gate(w *work, part int) *stopped {
	if unready := w.unready(part); unready != nil {
		return unready
	}
	earlier := func(id inventory.ID) bool { return w.order.at[id].part < part }
	for i := range w.manifest.Spec.Probes {
		if waiting := r.probe(w, &w.manifest.Spec.Probes[i], earlier); waiting != "" {
			message := fmt.Sprintf("%s waits for %s", w.sources[part].Name, waiting)
			return &stopped{state: v1beta2.StateProcessing, reason: v1beta2.ReasonWaitingForInstall, message: message, parsed: true}
		}
	}
	return nil
}

// unready is the part of gate that looks at the objects' own health.
func (w *work) unready(part int) *stopped {
	for _, object := range w.desired {
		id := inventory.IDOf(object)
		if w.order.at[id].part >= part {
			continue
		}
		result, kept := w.runtime.Health(id)
		if !kept || result.Status == health.Ready {
			continue
		}
		if hidden := w.runtime.Hidden(w.key); hidden != nil {
			unseen := stopped(failed(hidden))
			unseen.parsed = true
			return &unseen
		}
		held := &stopped{state: v1beta2.StateProcessing, reason: v1beta2.ReasonWaitingForInstall, parsed: true}
		if result.Status == health.Failed {
			held.state, held.reason = v1beta2.StateError, v1beta2.ReasonObjectFailed
		}
		held.message = fmt.Sprintf("%s waits for %s: %s", w.sources[part].Name, id, cmp.Or(result.Message, "its status was not seen yet"))
		return held
	}
	return nil
}
