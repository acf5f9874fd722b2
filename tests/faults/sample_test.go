// Package faults_test holds the sample of the fault runs that every CI run includes: some deaths, some disturbed views, some cells of the
// matrix, some strikes at replicas, drawn by FAULTS_SEED. CI draws the same sample every time, so that a failure there can be repeated;
// without a seed, the number of the day is used.
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
	"github.com/kyma-project/lifecycle-manager/tests/faults/replicas"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
	"github.com/kyma-project/lifecycle-manager/tests/faults/trial"
	"github.com/kyma-project/lifecycle-manager/tests/faults/views"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// The number of points of each suite in a sample.
const (
	deaths = 5
	looks  = 6
	cells  = 7
	// strikes are in addition to the one that is always included.
	strikes = 1
	// operations per suite: clean runs of all would take longer than the points.
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
	lab.Converges = 2 * trial.Converges // among other work; the full run checks the promised times
	all := operation.All()
	record.Shuffle(number, all)
	picked := all[:operations]
	t.Run("crash", func(t *testing.T) { die(t, lab, number, picked) })
	t.Run("views", func(t *testing.T) { disturb(t, lab, number, picked) })
	t.Run("matrix", func(t *testing.T) { breakThings(t, lab, number, picked) })
	t.Run("replicas", func(t *testing.T) { strike(t, lab, number, picked[0]) })
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
		Within: lab.Converges,
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

// strike stops a replica in the middle of an installation, so that its write in flight must be refused, and strikes another operation in a
// way that is drawn. It comes last: while its replicas work, the manager of the other suites does not run.
func strike(t *testing.T, lab *trial.Lab, number uint64, picked operation.Operation) {
	install, err := operation.Named("install")
	if err != nil {
		t.Fatal(err)
	}
	suite, err := replicas.Open(t.Context(), lab, append(install, picked))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := suite.Close(); err != nil {
			t.Error(err)
		}
	})
	clean, err := lab.Clean(t.Context(), picked)
	if err != nil {
		t.Fatal(err)
	}
	point := suite.Run(t.Context(), patient(replicas.InModule(install[0])))
	judge(t, point)
	if !strings.Contains(point.Detail["refused"], "lapsed") {
		t.Errorf("refused: %q", point.Detail["refused"])
	}
	var short []replicas.Cell
	for _, cell := range replicas.Cells(number, picked, clean) {
		if cell.Terms == replicas.Short {
			short = append(short, cell)
		}
	}
	for _, cell := range record.Pick(record.Choice{Seed: number, Sample: strikes}, short, replicas.Cell.Name) {
		judge(t, suite.Run(t.Context(), patient(cell)))
	}
}

// patient makes the replicas of a Cell share the work by Terms that a busy machine can keep: no bystander may lose its share.
func patient(cell replicas.Cell) replicas.Cell {
	cell.Terms = replicas.Patient
	return cell
}
