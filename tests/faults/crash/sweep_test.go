package crash

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kyma-project/lifecycle-manager/tests/faults/operation"
	"github.com/kyma-project/lifecycle-manager/tests/faults/oracle"
	"github.com/kyma-project/lifecycle-manager/tests/faults/record"
	"github.com/kyma-project/lifecycle-manager/tests/faults/rig"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/apiserver"
)

// Without flags, a few points of one operation check that the driver works, and that the manager can be upgraded from the version before,
// where that is known; make faults runs all of them.
var (
	program    = flag.String("manager", "", "the manager's program; it is built when this is empty")
	operations = flag.String("operations", "manager-upgrade", "operations, separated by commas; empty means all")
	sample     = flag.Int("sample", 4, "how many points; 0 means all")
	seed       = flag.Uint64("seed", 6, "seed of the sample")
	slice      = flag.String("slice", "", "such as 2/5")
	only       = flag.String("only", "", "a regular expression for the names of points")
	results    = flag.String("results", "", "folder of the results; default a temporary one")
)

func TestPointsPass(t *testing.T) {
	apiserver.Need(t)
	options := Options{Dir: *results, Choice: record.Choice{Seed: *seed, Sample: *sample}}
	if options.Dir == "" {
		options.Dir = t.TempDir()
	}
	var err error
	if options.Book, err = record.Open(options.Dir); err != nil {
		t.Fatal(err)
	}
	if options.Choice.Part, options.Choice.Parts, err = record.ParseSlice(*slice); err != nil {
		t.Fatal(err)
	}
	if *only != "" {
		options.Choice.Only = regexp.MustCompile(*only)
	}
	if *operations != "" {
		picked := strings.Split(*operations, ",")
		if at := slices.Index(picked, operation.ManagerUpgrade().Name); at >= 0 && os.Getenv(rig.EarlierVariable) == "" {
			t.Logf("disable in place of an upgrade: %s names no manager of the version before", rig.EarlierVariable)
			picked[at] = "disable"
		}
		if options.Operations, err = operation.Named(picked...); err != nil {
			t.Fatal(err)
		}
	}
	options.Report = func(point record.Point) {
		t.Logf("%s: %.1f s, %d problems %s", point.Name, point.Took, len(point.Problems), point.Detail["outcome"])
		for _, problem := range point.Problems {
			t.Error(problem)
		}
	}
	r, err := rig.Start(t.Context(), rig.Options{Program: *program, Dir: os.Getenv("FAULTS_DIR")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
	watchdog, err := oracle.Guard(r)
	if err != nil {
		t.Fatal(err)
	}
	summary, err := Sweep(t.Context(), r, watchdog, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(summary)
}
