package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

const (
	// startTime is enough on a machine that does much else.
	startTime = 3 * time.Minute
	// endTime is what the end may take.
	endTime = 90 * time.Second
)

// program is a playground that runs.
type program struct {
	cmd   *exec.Cmd
	state string // its own folder
	out   output
	done  chan struct{}
}

// output collects what a program prints.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(data)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// startPlayground starts one that keeps its state below dir and is to get the given number.
func startPlayground(dir string, number int) *program {
	GinkgoHelper()
	p := &program{state: filepath.Join(dir, strconv.Itoa(number)), done: make(chan struct{})}
	p.cmd = exec.Command(filepath.Join(programs, "playground"), "--dir="+dir)
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = root, &p.out, &p.out
	// Ctrl-C on the terminal of the test is for the test.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	Expect(p.cmd.Start()).To(Succeed())
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // read from ProcessState
	}()
	DeferCleanup(func() {
		_ = p.cmd.Process.Kill() // what it started goes with it
		Eventually(p.done).WithTimeout(endTime).Should(BeClosed())
	})
	return p
}

// awaitReady waits until it has said what to try, which is when both Kymas are Ready.
func (p *program) awaitReady() {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		g.Expect(p.done).NotTo(BeClosed(), "the playground ended:\n%s", &p.out)
		g.Expect(p.out.String()).To(ContainSubstring("Ctrl-C ends everything."))
	}).WithTimeout(startTime).Should(Succeed(), "the playground did not become ready:\n%s", &p.out)
}

// interrupt sends what Ctrl-C sends and checks that nothing is left.
func (p *program) interrupt() {
	GinkgoHelper()
	started := descendants(p.cmd.Process.Pid)
	Expect(len(started)).To(BeNumerically(">", 10), "two clusters, the manager and operators are more processes than %v", started)
	Expect(p.cmd.Process.Signal(os.Interrupt)).To(Succeed())
	Eventually(p.done).WithTimeout(endTime).Should(BeClosed(), "the playground did not end:\n%s", &p.out)
	Expect(p.cmd.ProcessState.ExitCode()).To(Equal(0), "%s", &p.out)
	for pid, line := range started {
		Expect(alive(pid, line)).To(BeFalse(), "process %d outlived the playground: %s", pid, line)
	}
	Expect(naming(p.state)).To(BeEmpty(), "processes whose command line names the state folder")
	Expect(filepath.Join(p.state, "env")).NotTo(BeAnExistingFile(), "an env file that leads nowhere")
}

// printedCommands returns the lines that the playground indents as commands, under each of the numbered titles.
func (p *program) printedCommands() [][]string {
	GinkgoHelper()
	_, things, found := strings.Cut(p.out.String(), " things to try")
	Expect(found).To(BeTrue(), "%s", &p.out)
	title := regexp.MustCompile(`^  \d+\. `)
	var groups [][]string
	for line := range strings.Lines(things) {
		command, indented := strings.CutPrefix(strings.TrimRight(line, "\n"), "      ")
		switch {
		case title.MatchString(line):
			groups = append(groups, nil)
		case indented && len(groups) > 0:
			groups[len(groups)-1] = append(groups[len(groups)-1], command)
		}
	}
	return groups
}

// shell runs a command line after the env file was sourced.
func (p *program) shell(command string) (string, error) {
	return run("bash", "-c", `source "$0" && eval "$1"`, filepath.Join(p.state, "env"), command)
}

// hub runs kubectl against the hub; it must succeed.
func (p *program) hub(args ...string) string {
	GinkgoHelper()
	return p.kubectl(`exec kubectl "$@"`, args)
}

// runtime does so against the runtime.
func (p *program) runtime(args ...string) string {
	GinkgoHelper()
	return p.kubectl(`exec kubectl --kubeconfig="$RUNTIME_KUBECONFIG" "$@"`, args)
}

func (p *program) kubectl(how string, args []string) string {
	GinkgoHelper()
	script := `source "$0" && ` + how
	out, err := run("bash", append([]string{"-c", script, filepath.Join(p.state, "env")}, args...)...)
	Expect(err).NotTo(HaveOccurred(), "kubectl %s", strings.Join(args, " "))
	return out
}

// run runs a program in the checkout, as a user would, and returns what it printed.
func run(name string, args ...string) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%w\n%s%s", err, &stdout, &stderr)
	}
	return strings.TrimSpace(stdout.String()), nil
}
