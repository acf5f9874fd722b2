package records

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kyma-project/lifecycle-manager/tests/bench/fit"
	"github.com/kyma-project/lifecycle-manager/tests/bench/report"
)

func result(bench, which string, value float64) report.Result {
	r := report.Result{Bench: bench, Case: which, Command: "make bench", At: time.Unix(0, 0).UTC()}
	r.Add("written", "calls", value, report.Exactly(20))
	return r
}

func TestResultsAreKeptOverThoseOfBefore(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "results")
	if all, err := All(folder); err != nil || all.Results != nil {
		t.Fatalf("a folder that is not there has %v, %v", all, err)
	}
	for _, part := range []report.Set{
		{Results: []report.Result{result("B2", "K=10", 1), result("B1", "R=20", 20)}},
		{Results: []report.Result{result("B2", "K=10", 20), result("B2", "K=100", 20)}, Curves: []report.Curve{{Name: "bench-a", Bench: "B2"}}},
	} {
		if err := Keep(folder, part); err != nil {
			t.Fatal(err)
		}
	}
	got, err := All(folder)
	want := report.Set{
		Results: []report.Result{result("B1", "R=20", 20), result("B2", "K=10", 20), result("B2", "K=100", 20)},
		Curves:  []report.Curve{{Name: "bench-a", Bench: "B2"}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	if files, _ := filepath.Glob(filepath.Join(folder, "*")); len(files) != 2 {
		t.Errorf("the folder has %v, want a file for each bench", files)
	}
	if err := os.WriteFile(filepath.Join(folder, "B2.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{"Keep": Keep(folder, want), "All": second(All(folder))} {
		if err == nil || !strings.Contains(err.Error(), "B2.json") {
			t.Errorf("%s over a file that is none: %v", name, err)
		}
	}
}

func second(_ report.Set, err error) error { return err }

func TestPublish(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"docs/benchmarks.md":     "by hand\n<!-- figures: begin, written by make bench -->\n<!-- figures: end -->\n",
		"docs/img/bench-old.svg": "of a curve that is no more",
		"docs/img/other.svg":     "of another user",
	} {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	curve := report.Curve{Name: "bench-a", Bench: "B2", Title: "cost", Lines: []report.Line{{Points: []fit.Point{{X: 1, Y: 1}}}}}
	all := report.Set{Results: []report.Result{result("B2", "K=10", 20)}, Curves: []report.Curve{curve}}
	if err := Publish(root, all); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(root, page)); err != nil || !strings.Contains(string(data), "| K=10 | written | 20 calls | = 20 | met |") {
		t.Errorf("%v: %s", err, data)
	}
	files, _ := filepath.Glob(filepath.Join(root, pictures, "*"))
	want := []string{filepath.Join(root, pictures, "bench-a.svg"), filepath.Join(root, pictures, "other.svg")}
	if diff := cmp.Diff(want, files); diff != "" {
		t.Error(diff)
	}
	for _, name := range []string{"a", "bench-/../../x"} {
		all.Curves[0].Name = name
		if err := Publish(root, all); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("a picture named %q: %v", name, err)
		}
	}
}

func TestMachine(t *testing.T) {
	m := Machine(t.Context(), ".", "v1.36.3")
	if m.Cores == 0 || m.Kubernetes != "1.36.3" || strings.HasPrefix(m.Go, "go") || m.Go == "" {
		t.Errorf("got %+v", m)
	}
	if _, err := os.Stat("/proc/meminfo"); err == nil && (m.MemoryGiB == 0 || m.CPU == "" || m.Kernel == "") {
		t.Errorf("got %+v", m)
	}
}
