package matrix

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/oracle"
	"github.com/kyma-project/lifecycle-manager/tests/faults/trial"
)

// mender fixes what was broken.
type mender = func(context.Context) error

// Form is one variant of a fault.
type Form struct {
	Name string
	// Begin breaks it.
	Begin func(context.Context, *operation.Scenario) (mender, error)
	// Cause are the words of which the status must contain one, in the operations On; an empty On means all of them.
	Cause []string
	On    []string
	// Not are operations for which this form is another request of a user and not a fault.
	Not []string
	// Lasts is the minimum duration of the fault.
	Lasts time.Duration
}

// Fault is a row of the matrix.
type Fault struct {
	// Group is the affected part: process, hub, store, runtime, artifact.
	Group, Name string
	Forms       []Form
	// Bounds replace the usual ones.
	Bounds oracle.Bounds
}

// Cell is a fault and an operation.
type Cell struct {
	Fault     Fault
	Form      Form
	Operation operation.Operation
}

// Name is unique in the matrix.
func (c Cell) Name() string {
	return fmt.Sprintf("%s/%s/%s", c.Operation.Name, c.Fault.Name, c.Form.Name)
}

// Break returns the cell for a trial.
func (c Cell) Break() trial.Break {
	b := trial.Break{
		Fault: c.Fault.Name, Name: c.Name(), Begin: c.Form.Begin, Lasts: c.Form.Lasts, Bounds: c.Fault.Bounds,
	}
	if len(c.Form.On) == 0 || slices.Contains(c.Form.On, c.Operation.Name) {
		b.Cause = c.Form.Cause
	}
	return b
}

// Faults returns the rows, in the order of the reference.
func Faults() []Fault {
	return slices.Concat(processFaults(), hubFaults(), storeFaults(), runtimeFaults(), contentFaults(), artifactFaults())
}

// Cells returns one cell for every fault and operation, each in the form whose turn it is.
func Cells(seed uint64, operations []operation.Operation) []Cell {
	var cells []Cell
	for _, fault := range Faults() {
		for i, o := range operations {
			var fit []Form
			for _, form := range fault.Forms {
				if !slices.Contains(form.Not, o.Name) {
					fit = append(fit, form)
				}
			}
			form := fit[(uint64(i)+seed)%uint64(len(fit))]
			cells = append(cells, Cell{Fault: fault, Form: form, Operation: o})
		}
	}
	return cells
}

// Forms returns all cells in all their forms.
func Forms(operations []operation.Operation) []Cell {
	var cells []Cell
	for _, fault := range Faults() {
		for _, form := range fault.Forms {
			for _, o := range operations {
				if !slices.Contains(form.Not, o.Name) {
					cells = append(cells, Cell{Fault: fault, Form: form, Operation: o})
				}
			}
		}
	}
	return cells
}

// Operations by their needs, for the causes.
var (
	fetching = []string{"install", "upgrade", "channel"}                      // read the registry
	staying  = []string{"install", "upgrade", "channel", "catalog", "rotate"} // need the runtime all along
	starting = []string{"install", "withdraw"}                                // have no Kyma and no Secret before
	removing = []string{"disable", "unmanage", "delete", "delete-used", "withdraw", "rename", "unserve"}
)

// Short reports whether a cell fits into a sample of minutes: it neither builds a special manager nor waits for long outages.
func (c Cell) Short() bool {
	switch c.Fault.Name {
	case "clock", "hub is away", "hub is slow", "runtime is slow", "sigstop":
		return false
	}
	return c.Form.Name != "black hole"
}
