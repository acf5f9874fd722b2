package terminal

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// patience is how long something may take to appear on a screen.
const patience = time.Minute

// settings of tmux: what a program wrote stays readable when it has ended, and every line of the window is the program's.
const settings = `set -g remain-on-exit on
set -g status off
set -g default-terminal screen
set -g history-limit 5000
`

// screen is a terminal in which one program runs.
type screen struct {
	*testing.T
	folder string
}

// window is what a terminal is like.
type window struct {
	width, height int
	env           []string
}

// usual is the window of most tests.
var usual = window{width: 110, height: 40}

// open runs a program in a terminal of its own. Everything ends with the test.
func open(t *testing.T, w window, program ...string) *screen {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Fatal("tmux is missing, which is the terminal of these tests: install it, such as by apt-get install tmux")
	}
	folder, err := os.MkdirTemp("", "kyma-terminal-") //nolint:usetesting // t.TempDir has names too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{T: t, folder: folder}
	t.Cleanup(func() {
		_ = s.command(context.Background(), nil, "kill-server").Run() // it may have ended by itself
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(folder, "conf"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	// tmux sometimes loses the exit code of a short-lived program, so that a shell keeps it. Ctrl-C is for the program alone.
	keep := fmt.Sprintf("trap : INT; \"$@\"; echo $? >%s/new; mv %s/new %s/code", folder, folder, folder)
	program = append([]string{"sh", "-c", keep, "sh"}, program...)
	args := []string{"new-session", "-d", "-s", "main", "-x", strconv.Itoa(w.width), "-y", strconv.Itoa(w.height), "--"}
	start := s.command(t.Context(), w.env, append(args, program...)...)
	if out, err := start.CombinedOutput(); err != nil {
		t.Fatalf("tmux cannot start: %v: %s", err, out)
	}
	return s
}

// command returns one of tmux. The server is the screen's own: no other tmux of this machine is touched.
func (s *screen) command(ctx context.Context, env []string, args ...string) *exec.Cmd {
	all := append([]string{"-L", filepath.Base(s.folder), "-f", filepath.Join(s.folder, "conf")}, args...)
	command := exec.CommandContext(ctx, "tmux", all...)
	for _, variable := range os.Environ() {
		switch name, _, _ := strings.Cut(variable, "="); name {
		case "TMUX", "TMUX_PANE", "NO_COLOR", "COLUMNS", "LINES":
		default:
			command.Env = append(command.Env, variable)
		}
	}
	command.Env = append(append(command.Env, "TMUX_TMPDIR="+s.folder, "LC_ALL=C.UTF-8"), env...)
	return command
}

func (s *screen) tmux(args ...string) string {
	s.Helper()
	out, err := s.command(s.Context(), nil, args...).CombinedOutput()
	if err != nil {
		s.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// press presses keys by their names, such as Enter and C-c; what is no name is typed.
func (s *screen) press(keys ...string) {
	s.Helper()
	s.tmux(append([]string{"send-keys", "-t", "main"}, keys...)...)
}

// text returns what stands on the screen and what was scrolled out of it.
func (s *screen) text() string {
	s.Helper()
	var lines []string
	for line := range strings.SplitSeq(s.tmux("capture-pane", "-p", "-S", "-", "-t", "main"), "\n") {
		if !strings.HasPrefix(line, "Pane is dead") { // tmux says that
			lines = append(lines, line)
		}
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// painted returns the text with its colours.
func (s *screen) painted() string {
	s.Helper()
	return s.tmux("capture-pane", "-p", "-e", "-S", "-", "-t", "main")
}

// await waits until words stand on the screen.
func (s *screen) await(words string) {
	s.Helper()
	s.until(strconv.Quote(words), func() bool { return strings.Contains(s.text(), words) })
}

// until waits until something is true of the screen.
func (s *screen) until(what string, is func() bool) {
	s.Helper()
	err := wait.PollUntilContextTimeout(s.Context(), 30*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return is(), nil
	})
	if err != nil {
		s.Fatalf("waited for %s, and there is:\n%s", what, s.text())
	}
}

// ends waits until the program has ended with a code and everything that it wrote is on the screen.
func (s *screen) ends(code int) {
	s.Helper()
	var got string
	s.until("the end of the program", func() bool {
		text, _ := os.ReadFile(filepath.Join(s.folder, "code")) // is there at the end
		got = strings.TrimSpace(string(text))
		return got != "" && strings.TrimSpace(s.tmux("display-message", "-p", "-t", "main", "#{pane_dead}")) == "1"
	})
	if got != strconv.Itoa(code) {
		s.Errorf("exit code %s, want %d; the screen:\n%s", got, code, s.text())
	}
}

// lines returns those of the screen that begin with a word and have another in them.
func (s *screen) lines(first, word string) []string {
	s.Helper()
	var found []string
	for line := range strings.SplitSeq(s.text(), "\n") {
		if strings.HasPrefix(line, first) && strings.Contains(line, word) {
			found = append(found, line)
		}
	}
	return found
}
