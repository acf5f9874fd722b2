//go:build unix

package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

const (
	// lockFD and reportFD are the file descriptors that a supervisor inherits.
	lockFD, reportFD = 3, 4
	// tailBytes of the supervisor's log are added to the error when it does not start.
	tailBytes = 2000
	// abortPatience is how long a supervisor may take to end when its start is aborted.
	abortPatience = 20 * time.Second
)

// plan is the configuration of a supervisor.
type plan struct {
	Runtimes int    `json:"runtimes"`
	Bare     bool   `json:"bare,omitempty"`
	Assets   string `json:"assets"`
}

// message is a line from a starting supervisor to the process that started it.
type message struct {
	Key   string `json:"key,omitempty"`
	State string `json:"state,omitempty"`
	Text  string `json:"text,omitempty"`
	Done  bool   `json:"done,omitempty"`
	Error string `json:"error,omitempty"`
}

// Start creates a sandbox and returns when its clusters serve. It stays when this process ends. When the context ends first, nothing stays.
func Start(ctx context.Context, o Options, report Report) (*Sandbox, error) {
	if err := CheckName(o.Name); err != nil {
		return nil, err
	}
	if o.Runtimes < 1 || o.Runtimes > mostRuntimes {
		return nil, fmt.Errorf("%d runtimes: a sandbox has between 1 and %d", o.Runtimes, mostRuntimes)
	}
	dir, err := filepath.Abs(filepath.Join(o.Root, o.Name))
	if err != nil {
		return nil, err
	}
	lock, err := claim(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer lock.Close() // the supervisor has its own copy
	if err := errors.Join(cleanUpLocked(dir), empty(dir)); err != nil {
		return nil, err
	}
	assets, err := localcluster.Assets(ctx)
	if err == nil {
		err = launch(ctx, o, dir, plan{Runtimes: o.Runtimes, Bare: o.Bare, Assets: assets}, lock, report)
	}
	if err != nil {
		return nil, errors.Join(err, cleanUpLocked(dir), os.RemoveAll(dir))
	}
	return read(dir)
}

// launch starts the supervisor and follows its messages until it is up.
func launch(ctx context.Context, o Options, dir string, what plan, lock *os.File, report Report) error {
	told, tell, err := os.Pipe()
	if err != nil {
		return err
	}
	defer told.Close()
	cmd, err := supervisor(o, dir, what, lock, tell)
	if err != nil {
		return errors.Join(err, tell.Close())
	}
	err = cmd.Start()
	if e := tell.Close(); err != nil || e != nil {
		return fmt.Errorf("cannot start the supervisor: %w", errors.Join(err, e))
	}
	if err := os.WriteFile(filepath.Join(dir, pidFile), fmt.Appendln(nil, cmd.Process.Pid), 0o600); err != nil {
		return errors.Join(err, abort(cmd))
	}
	result := make(chan error, 1)
	go func() { result <- follow(told, report) }()
	select {
	case <-ctx.Done():
		return errors.Join(ctx.Err(), abort(cmd))
	case err := <-result:
		if err != nil {
			return errors.Join(fmt.Errorf("%w%s", err, tail(filepath.Join(dir, logFile))), abort(cmd))
		}
		return cmd.Process.Release()
	}
}

// supervisor returns the command that starts the supervisor, in a new session, so that it outlives the terminal.
func supervisor(o Options, dir string, what plan, lock, tell *os.File) (*exec.Cmd, error) {
	data, err := json.Marshal(what)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "plan.json"), data, 0o600); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(filepath.Join(dir, logFile), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(o.Supervisor[0], append(o.Supervisor[1:len(o.Supervisor):len(o.Supervisor)], dir)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, log, log
	cmd.ExtraFiles = []*os.File{lock, tell}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd, nil
}

// follow reports the messages of a supervisor until it is up or fails.
func follow(told io.Reader, report Report) error {
	lines := bufio.NewScanner(told)
	for lines.Scan() {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return fmt.Errorf("the supervisor sent something that is not a message: %w", err)
		}
		switch {
		case m.Done:
			return nil
		case m.Error != "":
			return errors.New(m.Error)
		}
		report(m.Key, m.State, m.Text)
	}
	return errors.Join(errors.New("the supervisor of the sandbox ended before it was up"), lines.Err())
}

// abort ends a supervisor whose start is aborted, and the processes that it started.
func abort(cmd *exec.Cmd) error {
	_ = cmd.Process.Signal(syscall.SIGTERM) // an error means that it is gone
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it was told to end: how it ends does not matter
		close(done)
	}()
	timer := time.NewTimer(abortPatience)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-timer.C:
	}
	err := cmd.Process.Kill()
	<-done
	return err
}

// tail returns the end of a log, for an error.
func tail(path string) string {
	data, err := os.ReadFile(path)
	if err != nil || len(data) == 0 {
		return ""
	}
	data = data[max(0, len(data)-tailBytes):]
	return "\n--- end of " + path + " ---\n" + strings.TrimSpace(string(data))
}
