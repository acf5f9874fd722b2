package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const (
	// stepTime is what one step of the tour may take on a machine that does much else.
	stepTime = 3 * time.Minute
	// anything stands in an output of the README for what differs from one time to the next.
	anything = "..."
)

// step is a block of commands of the README, and what it says that they print.
type step struct {
	commands string
	output   []string
}

// steps returns those of a section of the README.
func steps(section string) []step {
	GinkgoHelper()
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	Expect(err).NotTo(HaveOccurred())
	_, text, found := strings.Cut(string(readme), "\n## "+section+"\n")
	Expect(found).To(BeTrue(), "the README has no section %q", section)
	text, _, _ = strings.Cut(text, "\n## ")
	var all []step
	for _, block := range fences([]byte(text)) {
		switch block.language {
		case "bash":
			all = append(all, step{commands: block.text})
		case "text":
			Expect(all).NotTo(BeEmpty(), "an output without commands")
			all[len(all)-1].output = strings.Split(strings.TrimSpace(block.text), "\n")
		}
	}
	return all
}

// printed returns which line of a step's output is missing in what was printed; empty when all are there, in order.
func (s *step) printed(text string) (missing string) {
	lines := strings.Split(text, "\n")
	for _, want := range s.output {
		line := pattern(want)
		for {
			if len(lines) == 0 {
				return want
			}
			next := lines[0]
			lines = lines[1:]
			if line.MatchString(oneSpace(next)) {
				break
			}
		}
	}
	return ""
}

// pattern matches lines like one of the README, whatever their columns are as wide as.
func pattern(line string) *regexp.Regexp {
	parts := strings.Split(oneSpace(line), anything)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return regexp.MustCompile("^" + strings.Join(parts, ".*") + "$")
}

func oneSpace(line string) string { return strings.Join(strings.Fields(line), " ") }

// terminal is a shell that continues: folder and exported variables of one call are those of the next.
type terminal struct {
	memory string
	env    []string
}

// openTerminal opens one whose sandboxes and new folders are all below a folder.
func openTerminal(dir string) *terminal {
	GinkgoHelper()
	Expect(os.MkdirAll(dir, 0o700)).To(Succeed())
	inherited := []string{"XDG_STATE_HOME=" + dir, "TMPDIR=" + dir, "PATH=" + programs + ":" + os.Getenv("PATH")}
	for _, variable := range os.Environ() {
		switch name, _, _ := strings.Cut(variable, "="); name {
		case "XDG_STATE_HOME", "TMPDIR", "PATH", "KUBECONFIG", "KYMA_SANDBOX":
		default:
			inherited = append(inherited, variable)
		}
	}
	return &terminal{memory: filepath.Join(dir, "memory"), env: inherited}
}

// command returns one to be started, from where the terminal is. Nothing that it changes is remembered.
func (t *terminal) command(ctx context.Context, script string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "bash", "-c", `set -eo pipefail; if [ -e "$0" ]; then source "$0"; cd "$PWD"; fi; eval "$1"`, t.memory, script)
	cmd.Dir, cmd.Env = root, t.env
	return cmd
}

// try runs commands and tells how they ended and what they printed, as a user sees it: standard output and standard error.
func (t *terminal) try(ctx context.Context, script string) (text string, code int) {
	GinkgoHelper()
	limited, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	var out bytes.Buffer
	cmd := t.command(limited, script+"\nexport -p >\"$0\"")
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		Expect(err).To(BeAssignableToTypeOf(&exec.ExitError{}), "%s", script)
	}
	GinkgoWriter.Printf("$ %s\n%s\n", strings.TrimSpace(script), &out)
	return out.String(), cmd.ProcessState.ExitCode()
}

// types runs commands that must succeed.
func (t *terminal) types(ctx context.Context, script string) string {
	GinkgoHelper()
	text, code := t.try(ctx, script)
	Expect(code).To(Equal(0), "%s\n%s", script, text)
	return text
}
