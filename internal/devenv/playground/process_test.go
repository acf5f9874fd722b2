package playground

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestProcessIsAskedToEnd(t *testing.T) {
	p := launch(t, "trap 'echo bye; exit 0' TERM; echo hello; while :; do sleep 0.01; done")
	waitFor(t, p.log, "hello")
	if err := p.end(10 * time.Second); err != nil {
		t.Errorf("end() = %v", err)
	}
	if got := tail(p.log); got != "hello\nbye" {
		t.Errorf("the log is %q", got)
	}
}

func TestProcessThatDoesNotEndIsKilled(t *testing.T) {
	p := launch(t, "trap '' TERM; echo hello; while :; do sleep 0.01; done")
	waitFor(t, p.log, "hello")
	err := p.end(50 * time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "sh did not end within 50ms and was killed") {
		t.Errorf("end() = %v, want that it was killed", err)
	}
	select {
	case <-p.done:
	default:
		t.Error("it still runs")
	}
}

func TestProcessThatEndsByItself(t *testing.T) {
	p := launch(t, "echo no such flag; exit 3")
	<-p.done
	got := p.failure().Error()
	want := "sh ended by itself: exit status 3\nits log is " + p.log + " and ends with:\nno such flag"
	if got != want {
		t.Errorf("failure() = %q, want %q", got, want)
	}
	if err := p.end(time.Second); err != nil {
		t.Errorf("end() of a process that is gone = %v", err)
	}
	p = launch(t, "exit 0")
	<-p.done
	if got := p.failure().Error(); !strings.Contains(got, "it ended without an error") {
		t.Errorf("failure() = %q", got)
	}
}

func TestProcessThatCannotStart(t *testing.T) {
	dir := t.TempDir()
	if _, err := newLauncher().start(filepath.Join(dir, "none"), filepath.Join(dir, "log"), nil); err == nil {
		t.Error("a program that does not exist was started")
	}
	if _, err := newLauncher().start("/bin/sh", dir, nil); err == nil {
		t.Error("a folder was taken for a log")
	}
}

func TestTail(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte("first\n"+strings.Repeat("x", tailBytes)+"\nlast line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := tail(path); got != "last line" {
		t.Errorf("tail() begins inside a line: %.80q", got)
	}
	if got := tail(path + "none"); !strings.Contains(got, "no such file") {
		t.Errorf("tail() of a log that does not exist = %q", got)
	}
}

func launch(t *testing.T, script string) *process {
	t.Helper()
	p, err := newLauncher().start("/bin/sh", filepath.Join(t.TempDir(), "log"), nil, "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

func waitFor(t *testing.T, log, text string) {
	t.Helper()
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !strings.Contains(tail(log), text) {
		select {
		case <-deadline.C:
			t.Fatalf("%s does not contain %q", log, text)
		case <-ticker.C:
		}
	}
}
