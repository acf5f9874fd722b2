package manifest

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// stage is when an object is applied: with which part, and in which of its steps.
type stage struct{ part, step int }

func (s stage) compare(other stage) int {
	return cmp.Or(cmp.Compare(s.part, other.part), cmp.Compare(s.step, other.step))
}

// order is in which order objects are applied.
type order struct {
	at    map[inventory.ID]stage
	names []string // of the parts
}

func newOrder(parts []part) order {
	made := order{at: map[inventory.ID]stage{}}
	for _, part := range parts {
		made.names = append(made.names, part.name)
	}
	return made
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
	var turns []turn
	for _, at := range sortedStages(stages) {
		for _, phase := range inventory.StepPhases(stages[at]) {
			turns = append(turns, turn{at, phase})
		}
	}
	return turns
}

// sorted brings objects into the order in which they are applied.
func (o order) sorted(objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	stages := map[stage][]*unstructured.Unstructured{}
	for _, object := range objects {
		at := o.at[inventory.IDOf(object)]
		stages[at] = append(stages[at], object)
	}
	var all []*unstructured.Unstructured
	for _, at := range sortedStages(stages) {
		for _, phase := range inventory.Phases(stages[at]) {
			all = append(all, phase...)
		}
	}
	return all
}

func sortedStages[T any](stages map[stage]T) []stage {
	sorted := make([]stage, 0, len(stages))
	for at := range stages {
		sorted = append(sorted, at)
	}
	slices.SortFunc(sorted, stage.compare)
	return sorted
}

// brings tells that a turn is more than putting back what was there already.
func (t turn) brings() bool {
	return slices.ContainsFunc(t.steps, func(s inventory.Step) bool { return s.Why == inventory.WhyNew || s.Why == inventory.WhyChanged })
}
