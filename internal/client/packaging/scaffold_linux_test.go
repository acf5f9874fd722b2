package packaging_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
)

// atMost calls do while no file may grow beyond a size: a longer write fails in the middle, as on a full disk.
func atMost(t *testing.T, bytes uint64, do func()) {
	t.Helper()
	var usual syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &usual); err != nil {
		t.Fatal(err)
	}
	short := syscall.Rlimit{Cur: bytes, Max: usual.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &short); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &usual); err != nil {
			t.Fatal(err)
		}
	}()
	do()
}

// limited is set in the environment of a process that may limit itself.
const limited = "SCAFFOLD_TEST_LIMITED"

// It runs in a process of its own, since the limit is one of the process: what go test writes of a test's files would be cut off, too.
func TestScaffoldOnAFullDiskLeavesNothing(t *testing.T) {
	if os.Getenv(limited) == "" {
		again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		again.Env = append(os.Environ(), limited+"=true")
		if out, err := again.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	there := t.TempDir()
	for _, dir := range []string{there, filepath.Join(t.TempDir(), "new")} {
		atMost(t, 16, func() {
			if _, err := packaging.Scaffold(dir, packaging.Draft{Name: "notes"}); !errors.Is(err, syscall.EFBIG) {
				t.Errorf("got %v", err)
			}
		})
		files, err := os.ReadDir(dir)
		if len(files) > 0 || (err == nil) != (dir == there) {
			t.Errorf("in %s there is %v: %v", dir, files, err)
		}
		if _, err := packaging.Scaffold(dir, packaging.Draft{Name: "notes"}); err != nil {
			t.Errorf("when there is room again: %v", err)
		}
	}
}
