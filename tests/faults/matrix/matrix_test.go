package matrix

import (
	"testing"

	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
)

func TestMatrix_TheMatrixIsWhole(t *testing.T) {
	if faults := Faults(); len(faults) != 37 {
		t.Errorf("%d faults, want 37", len(faults))
	}
	for _, seed := range []uint64{0, 1, 2, 3} {
		seen := map[string]bool{}
		for _, cell := range Cells(seed, operation.All()) {
			if seen[cell.Name()] {
				t.Errorf("%s is there twice", cell.Name())
			}
			seen[cell.Name()] = true
		}
		if len(seen) != 666 {
			t.Errorf("seed %d: %d cells, want 666", seed, len(seen))
		}
	}
}

func TestMatrix_EveryFormMeetsAnOperation(t *testing.T) {
	met := map[string]bool{}
	for _, cell := range Forms(operation.All()) {
		met[cell.Fault.Name+"/"+cell.Form.Name] = true
	}
	for _, fault := range Faults() {
		for _, form := range fault.Forms {
			if !met[fault.Name+"/"+form.Name] {
				t.Errorf("%s, %s meets no operation", fault.Name, form.Name)
			}
		}
	}
}
