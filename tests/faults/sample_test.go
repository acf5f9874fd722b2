// Package faults_test holds the sample of the fault runs that every CI run has: some deaths, some disturbed views, some cells of the
// matrix, drawn by a seed that moves with the day, so that a week of CI sees more than one does.
package faults_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kyma-project/lifecycle-manager/tests/faults/crash"
	"github.com/kyma-project/lifecycle-manager/tests/faults/matrix"
	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/record"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
	"github.com/kyma-project/lifecycle-manager/tests/faults/trial"
	"github.com/kyma-project/lifecycle-manager/tests/faults/views"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// How many points of each suite a sample has.
const (
	deaths = 5
	looks  = 6
	cells  = 7
	// operations of each suite: clean runs of all eight would take longer than the points.
	operations = 2
)

// seedVariable names a seed in place of the number of the day.
const seedVariable = "FAULTS_SEED"

const day = 24 * 60 * 60

func TestSample(t *testing.T) {
	apiserver.Need(t)
	number := uint64(time.Now().Unix() / day)
	if text := os.Getenv(seedVariable); text != "" {
		parsed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
		number = parsed
	}
	t.Logf("%s=%d repeats this sample", seedVariable, number)
	lab, err := trial.New(t.Context(), rig.Options{Dir: os.Getenv("FAULTS_DIR")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := lab.Rig.Stop(); err != nil {
			t.Error(err)
		}
	})
	all := operation.All()
	record.Shuffle(number, all)
	picked := all[:operations]
	t.Run("crash", func(t *testing.T) { die(t, lab, number, picked) })
	t.Run("views", func(t *testing.T) { disturb(t, lab, number, picked) })
	t.Run("matrix", func(t *testing.T) { breakThings(t, lab, number, picked) })
}

func judge(t *testing.T, point record.Point) {
	t.Helper()
	t.Logf("%s %s: %.1f s, whole after %.1f s", point.Suite, point.Name, point.Took, point.Converged)
	if len(point.Problems) > 0 {
		t.Errorf("%s %s:\n%s\nlog:\n%s", point.Suite, point.Name, strings.Join(point.Problems, "\n"), point.Detail["log"])
	}
}

func die(t *testing.T, lab *trial.Lab, number uint64, picked []operation.Operation) {
	book, err := record.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	summary, err := crash.Sweep(t.Context(), lab.Rig, lab.Watchdog, crash.Options{
		Dir: t.TempDir(), Book: book, Operations: picked, Choice: record.Choice{Seed: number, Sample: deaths},
		Report: func(point record.Point) { judge(t, point) },
	})
	if err != nil {
		t.Error(err)
	}
	t.Log(summary)
}

func disturb(t *testing.T, lab *trial.Lab, number uint64, picked []operation.Operation) {
	var points []views.Point
	for _, o := range picked {
		clean, err := lab.Clean(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		points = append(points, views.Points(o, clean)...)
	}
	for _, point := range record.Pick(record.Choice{Seed: number, Sample: looks}, points, views.Point.Name) {
		judge(t, lab.Run(t.Context(), "views", point.Operation, point.Break()))
	}
}

func breakThings(t *testing.T, lab *trial.Lab, number uint64, picked []operation.Operation) {
	var short []matrix.Cell
	for _, cell := range matrix.Cells(number, picked) {
		if cell.Short() {
			short = append(short, cell)
		}
	}
	for _, cell := range record.Pick(record.Choice{Seed: number, Sample: cells}, short, matrix.Cell.Name) {
		judge(t, lab.Run(t.Context(), "matrix", cell.Operation, cell.Break()))
	}
}
