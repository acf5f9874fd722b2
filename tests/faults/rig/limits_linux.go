package rig

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

// LimitMemory limits the address space of the process to its present size plus one MiB.
func (m *Manager) LimitMemory() error {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", m.PID()))
	if err != nil {
		return err
	}
	var pages uint64
	if _, err := fmt.Fscan(bytes.NewReader(data), &pages); err != nil {
		return fmt.Errorf("cannot read the size of %s: %w", m.Name, err)
	}
	return m.limit(unix.RLIMIT_AS, pages*uint64(os.Getpagesize())+1<<20)
}

// LimitFiles makes every write of the process to a file fail, as when the disk is full; Unlimit reverts that.
func (m *Manager) LimitFiles() error { return m.limit(unix.RLIMIT_FSIZE, 0) }

// Unlimit reverts LimitFiles.
func (m *Manager) Unlimit() error {
	if !m.Running() {
		return nil
	}
	return m.limit(unix.RLIMIT_FSIZE, unix.RLIM_INFINITY)
}

func (m *Manager) limit(resource int, soft uint64) error {
	var old unix.Rlimit
	if err := unix.Prlimit(m.PID(), resource, nil, &old); err != nil {
		return fmt.Errorf("cannot read the limits of %s: %w", m.Name, err)
	}
	if err := unix.Prlimit(m.PID(), resource, &unix.Rlimit{Cur: soft, Max: old.Max}, nil); err != nil {
		return fmt.Errorf("cannot limit %s: %w", m.Name, err)
	}
	return nil
}

// shiftVariable is the clock error of a manager from Shifted, in seconds.
const shiftVariable = "FAULTS_CLOCK_SHIFT"

// Shifted returns a replica with that clock error; it is built once from this checkout with a changed package time.
func (r *Rig) Shifted(ctx context.Context, by time.Duration) (*Manager, error) {
	if r.shifted == nil {
		program := filepath.Join(r.Dir, "manager-shifted")
		if err := buildShifted(ctx, r.Dir, program); err != nil {
			return nil, err
		}
		m, err := r.NewManager()
		if err != nil {
			return nil, err
		}
		m.program, r.shifted = program, m
	}
	r.shifted.Environment(shiftVariable, fmt.Sprint(int64(by/time.Second)))
	return r.shifted, nil
}

// nowHead is how package time reads the clock; the added code reads the shift once.
const (
	nowHead = "func Now() Time {\n"
	shifter = `
var faultShift = func() int64 {
	text, _ := syscall.Getenv("` + shiftVariable + `")
	n, negative := int64(0), false
	for i, c := range []byte(text) {
		if i == 0 && c == '-' {
			negative = true
			continue
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		return -n
	}
	return n
}()

// Now is the time, wrong by the shift.
func Now() Time { return trueNow().Add(Duration(faultShift) * Second) }

`
)

// buildShifted builds a manager with a package time that is wrong. The monotonic clock is not changed.
func buildShifted(ctx context.Context, dir, program string) error {
	root, err := localcluster.Root()
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	original := filepath.Join(strings.TrimSpace(string(out)), "src", "time", "time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		return err
	}
	text := strings.Replace(string(source), nowHead, shifter+"func trueNow() Time {\n", 1)
	text = strings.Replace(text, "import (\n", "import (\n\t\"syscall\"\n", 1)
	if !strings.Contains(text, "trueNow() Time {") {
		return fmt.Errorf("%s has no %q any more", original, nowHead)
	}
	changed, overlay := filepath.Join(dir, "time.go.txt"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		return err
	}
	replace := fmt.Sprintf(`{"Replace": {%q: %q}}`, original, changed)
	if err := os.WriteFile(overlay, []byte(replace), 0o600); err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-overlay", overlay, "-o", program, "./cmd")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build the manager with another clock: %w\n%s", err, out)
	}
	return nil
}
