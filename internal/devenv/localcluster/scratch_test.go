package localcluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

func TestSweep(t *testing.T) {
	for name, c := range map[string]struct {
		abandoned bool // the owner died without Stop
		ours      bool // the process of the id file was started out of the folder
		survives  bool // the process still runs afterwards
		remains   bool // the folder still exists afterwards
	}{
		"a folder in use is left alone with its processes":                {abandoned: false, ours: true, survives: true, remains: true},
		"a folder without owner is removed with its processes":            {abandoned: true, ours: true, survives: false, remains: false},
		"a process that only got a recorded id from the system is spared": {abandoned: true, ours: false, survives: true, remains: false},
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			s := scratchFor(t, parent)
			argument := "elsewhere"
			if c.ours {
				argument = s.dir
			}
			process, ended := sleeper(t, argument)
			write(t, s.pidFile("program"), strconv.Itoa(process.Process.Pid))
			if c.abandoned {
				if err := s.lock.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if err := sweep(parent); err != nil {
				t.Fatal(err)
			}
			if c.survives {
				if err := process.Process.Signal(syscall.Signal(0)); err != nil {
					t.Errorf("the process was ended: %v", err)
				}
			} else {
				// The system shows a killed process until its parent, which is us, has waited for it.
				select {
				case <-ended:
				case <-time.After(stopTimeout):
					t.Errorf("the process still runs %s after the sweep", stopTimeout)
				}
			}
			if _, err := os.Stat(s.dir); (err == nil) != c.remains {
				t.Errorf("the folder remains: %t, want %t", err == nil, c.remains)
			}
		})
	}
}

func TestSweepRemovesAHalfMadeFolderWhenItIsOld(t *testing.T) {
	parent := t.TempDir()
	young := filepath.Join(parent, unfinished+scratchPrefix()+"young")
	old := filepath.Join(parent, unfinished+scratchPrefix()+"old")
	foreign := filepath.Join(parent, "foreign")
	for _, dir := range []string{young, old, foreign} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-2 * unfinishedAge)
	for _, dir := range []string{old, foreign} {
		if err := os.Chtimes(dir, past, past); err != nil {
			t.Fatal(err)
		}
	}
	if err := sweep(parent); err != nil {
		t.Fatal(err)
	}
	for dir, remains := range map[string]bool{young: true, old: false, foreign: true} {
		if _, err := os.Stat(dir); (err == nil) != remains {
			t.Errorf("%s remains: %t, want %t", filepath.Base(dir), err == nil, remains)
		}
	}
}

func TestNonsenseInAnIdFileIsNoProcess(t *testing.T) {
	s := scratchFor(t, t.TempDir())
	for _, text := range []string{"", "x", "0", "1", "-1", "999999999"} {
		write(t, s.pidFile("program"), text)
		if found := s.processes(); len(found) != 0 {
			t.Errorf("%q is taken for processes %v", text, found)
		}
	}
}

func TestScratchIsInMemoryOnlyWhereThereIsRoom(t *testing.T) {
	dir := t.TempDir()
	var stat syscall.Statfs_t
	err := syscall.Statfs(memory, &stat)
	want := dir
	if err == nil && stat.Bavail*uint64(stat.Bsize) >= memoryNeeded {
		want = memory
	}
	if got := scratchParent(dir); got != want {
		t.Errorf("it goes to %s, want %s", got, want)
	}
}

func scratchFor(t *testing.T, parent string) *scratch {
	t.Helper()
	s, err := newScratch(parent, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.remove() }) // some tests have removed it already
	return s
}

// sleeper starts a process with the given argument on its command line, in a process group of its own.
func sleeper(t *testing.T, argument string) (process *exec.Cmd, ended <-chan struct{}) {
	t.Helper()
	process = exec.Command("sh", "-c", "while :; do sleep 1; done", argument)
	process.SysProcAttr = ownGroup()
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		_ = process.Wait() // it is killed, here or by the code under test
		close(done)
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-process.Process.Pid, syscall.SIGKILL)
		<-done
	})
	return process, done
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
