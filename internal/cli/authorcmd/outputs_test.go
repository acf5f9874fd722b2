package authorcmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// fifo creates a named pipe, and reads what is written into it.
func fifo(t *testing.T, name string) (read func() string) {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	text := make(chan string, 1)
	go func() {
		got, _ := os.ReadFile(name)
		text <- string(got)
	}()
	return func() string { return <-text }
}

// pour creates a named pipe that provides a text once.
func pour(t *testing.T, name, text string) {
	t.Helper()
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { _ = os.WriteFile(name, []byte(text), 0o600) }()
}

func TestOutputIntoAPipe(t *testing.T) {
	s := open(t)
	s.ok("module", "init", "notes")
	want, _ := s.ok("module", "template", "-c", "notes")
	read := fifo(t, "pipe")
	s.ok("module", "template", "-c", "notes", "-o", "pipe")
	if got := read(); got != want {
		t.Errorf("through the pipe came %q, want %q", got, want)
	}

	want, _ = s.ok("module", "create", "-c", "notes", "--no-git", "-o", "-")
	read = fifo(t, "both")
	s.ok("module", "create", "-c", "notes", "--no-git", "-o", "both")
	if got := read(); got != want || !strings.Contains(got, "kind: ModuleReleaseMeta") {
		t.Errorf("through the pipe came %q, want %q", got, want)
	}
	read = fifo(t, "apart")
	s.ok("module", "create", "-c", "notes", "--no-git", "-o", "template.yaml", "--release-output", "apart")
	if got := read(); !strings.HasPrefix(got, "apiVersion") || !strings.HasSuffix(want, got) {
		t.Errorf("through the pipe came %q", got)
	}
	if _, err := os.Stat("release.yaml"); err == nil {
		t.Error("a second file was written beside what was named")
	}
	s.refused(1, "no regular file", "release", "set", "notes", "fast=0.1.0", "-f", "pipe", "--component", component)
	s.refused(1, "neither a directory nor a regular file", "module", "build", "notes", "--no-git", "-o", "pipe")
}

func TestOutputIntoDevices(t *testing.T) {
	s := open(t)
	s.ok("module", "init", "notes")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(os.DevNull, link); err != nil {
		t.Fatal(err)
	}
	for _, device := range []string{os.DevNull, link} {
		s.ok("module", "template", "-c", "notes", "-o", device)
		s.ok("module", "create", "-c", "notes", "--no-git", "-o", device)
		s.refused(1, "no regular file", "release", "set", "notes", "fast=0.1.0", "-f", device, "--component", component)
		s.refused(1, "neither a directory nor a regular file", "module", "build", "notes", "--no-git", "-o", device)
		if info, err := os.Stat(device); err != nil || info.Mode()&os.ModeDevice == 0 {
			t.Fatalf("%s is no device any more: %v %v", device, info, err)
		}
	}
}

// Standard output by its other names is the console, even if the kernel would not open it again.
func TestOutputIntoStandardOutput(t *testing.T) {
	s := open(t)
	s.ok("module", "init", "notes")
	for _, command := range [][]string{{"module", "template", "-c", "notes"}, {"module", "create", "-c", "notes", "--no-git"}} {
		want, _ := s.ok(append(command, "-o", "-")...)
		if got, _ := s.ok(append(command, "-o", "/dev/stdout")...); got != want || got == "" {
			t.Errorf("kyma %s wrote %q, want %q", strings.Join(command, " "), got, want)
		}
	}
}
