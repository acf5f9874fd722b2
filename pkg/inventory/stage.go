package inventory

import (
	"cmp"
	"slices"
)

// Stage is when an object is applied, where its kind alone does not determine it: with which part of an installation, and in which step of
// that.
type Stage struct{ Part, Step int }

// Compare orders stages by part and step.
func (s Stage) Compare(other Stage) int {
	return cmp.Or(cmp.Compare(s.Part, other.Part), cmp.Compare(s.Step, other.Step))
}

// Batch is a set of steps that are applied together: those of one phase of one stage, sorted by identity.
type Batch struct {
	Stage
	Steps []Step
}

// AddsContent reports whether a batch does more than restore what existed already.
func (t Batch) AddsContent() bool {
	return slices.ContainsFunc(t.Steps, addsContent)
}

// Restoring returns the steps that restore what existed already.
func (t Batch) Restoring() []Step {
	return slices.DeleteFunc(slices.Clone(t.Steps), addsContent)
}

func addsContent(step Step) bool { return step.Why == WhyNew || step.Why == WhyChanged || step.Adds }

// Batches divides steps into batches to apply one after another: stage by stage, and in each by the phases of the kinds.
func Batches(steps []Step, at func(ID) Stage) []Batch {
	sorted := slices.Clone(steps)
	slices.SortStableFunc(sorted, func(a, b Step) int { return CompareStaged(a.Entry.ID, b.Entry.ID, at) })
	var turns []Batch
	for i, step := range sorted {
		if i == 0 || !sameTurn(sorted[i-1].Entry.ID, step.Entry.ID, at) {
			turns = append(turns, Batch{Stage: at(step.Entry.ID)})
		}
		last := &turns[len(turns)-1]
		last.Steps = append(last.Steps, step)
	}
	return turns
}

// CompareStaged orders identities as they are applied: by stage, by the phase of their kind, and by identity.
func CompareStaged(a, b ID, at func(ID) Stage) int {
	return cmp.Or(at(a).Compare(at(b)), cmp.Compare(Phase(a.GroupKind()), Phase(b.GroupKind())), a.Compare(b))
}

func sameTurn(a, b ID, at func(ID) Stage) bool {
	return at(a) == at(b) && Phase(a.GroupKind()) == Phase(b.GroupKind())
}
