package e2e

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
)

// session is one bash that a user types into, line after line: variables, functions and the folder of one line are those of the next.
type session struct {
	lines  io.Writer
	output *bufio.Reader
}

// endOfLine begins what the shell prints after the output of each command; a number follows, the exit code.
const endOfLine = "\x1fexit "

// openSession starts a shell in a folder. What it and its commands start ends with the spec.
func openSession(dir string, env []string) *session {
	GinkgoHelper()
	script, lines, err := os.Pipe()
	Expect(err).NotTo(HaveOccurred())
	output, printed, err := os.Pipe()
	Expect(err).NotTo(HaveOccurred())
	shell := exec.Command("bash", "--noprofile", "--norc", "/dev/fd/3") // the script is no standard input: commands must not read it
	shell.Dir, shell.Env, shell.ExtraFiles = dir, env, []*os.File{script}
	shell.Stdout, shell.Stderr = printed, printed
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	Expect(shell.Start()).To(Succeed())
	Expect(script.Close()).To(Succeed())
	Expect(printed.Close()).To(Succeed())
	DeferCleanup(func() {
		_ = lines.Close() // the end of the script, unless a command still runs
		_ = syscall.Kill(-shell.Process.Pid, syscall.SIGKILL)
		_ = shell.Wait()
		_ = output.Close()
	})
	return &session{lines: lines, output: bufio.NewReader(output)}
}

// enter gives the shell one command and returns what that printed and its exit code.
func (s *session) enter(ctx context.Context, command string) (text string, code int) {
	GinkgoHelper()
	_, err := fmt.Fprintf(s.lines, "%s\nprintf '\\x1fexit %%d\\n' $?\n", command)
	Expect(err).NotTo(HaveOccurred(), "the shell has ended before %s", command)
	type answer struct {
		text string
		code int
		err  error
	}
	answered := make(chan answer, 1)
	go func() {
		text, code, err := s.read()
		answered <- answer{text, code, err}
	}()
	limited, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	select {
	case <-limited.Done():
		Fail(fmt.Sprintf("%s\ndid not end: %v", command, limited.Err()))
	case a := <-answered:
		Expect(a.err).NotTo(HaveOccurred(), "%s\n%s", command, a.text)
		GinkgoWriter.Printf("$ %s\n%s", command, a.text)
		text, code = a.text, a.code
	}
	return text, code
}

// read returns what is printed up to the end of a command.
func (s *session) read() (text string, code int, err error) {
	var all strings.Builder
	for {
		line, err := s.output.ReadString('\n')
		before, exit, ended := strings.Cut(line, endOfLine)
		all.WriteString(before)
		if err != nil {
			return all.String(), 0, fmt.Errorf("the shell ended: %w", err)
		}
		if ended {
			code, err = strconv.Atoi(strings.TrimSpace(exit))
			return all.String(), code, err
		}
	}
}

// commands splits a block of a page into what a user enters line by line; a backslash at the end of a line continues it.
func commands(block string) []string {
	var all []string
	continues := false
	for line := range strings.Lines(block) {
		line = strings.TrimRight(line, "\n")
		switch {
		case continues:
			all[len(all)-1] += "\n" + line
		case strings.TrimSpace(line) != "":
			all = append(all, line)
		}
		continues = strings.HasSuffix(line, `\`)
	}
	return all
}

// userEnvironment is that of a session that finds these programs first, with a home of its own.
func userEnvironment(home string, programs ...string) []string {
	return []string{
		"HOME=" + home, "TMPDIR=" + home, "LANG=C.UTF-8", "TERM=dumb",
		"PATH=" + strings.Join(append(programs, os.Getenv("PATH")), string(os.PathListSeparator)),
	}
}

// different returns the first line of what a page shows that is not what was printed; empty if all of it is. A line "..." stands for any
// lines, and "..." in a line for anything in it; how wide the columns are does not count.
func different(shown, printed string) string {
	return differentFrom(strings.Split(strings.TrimSpace(shown), "\n"), strings.Split(strings.TrimSpace(printed), "\n"))
}

func differentFrom(shown, printed []string) string {
	for i, line := range shown {
		if strings.TrimSpace(line) == anything {
			return afterGap(shown[i+1:], printed[min(i, len(printed)):])
		}
		if i >= len(printed) {
			return "shown and not printed: " + line
		}
		if !pattern(line).MatchString(oneSpace(printed[i])) {
			return "shown: " + line + "\nprinted: " + printed[i]
		}
	}
	if len(printed) > len(shown) {
		return "printed and not shown: " + printed[len(shown)]
	}
	return ""
}

// afterGap looks for the lines that follow a gap, at each place where they may begin.
func afterGap(shown, printed []string) string {
	if len(shown) == 0 {
		return ""
	}
	for begin := range len(printed) + 1 {
		if differentFrom(shown, printed[begin:]) == "" {
			return ""
		}
	}
	return "shown after a gap and not printed: " + shown[0]
}

var _ = DescribeTable("What a page shows is compared with what was printed",
	func(shown, printed string, matcher types.GomegaMatcher) {
		Expect(different(shown, printed)).To(matcher)
	},
	Entry("the same", "one\ntwo", "one\ntwo\n", BeEmpty()),
	Entry("other columns", "a  b", "a       b", BeEmpty()),
	Entry("a gap in a line", "version ... runs", "version 1.2.3 runs", BeEmpty()),
	Entry("a gap of lines", "one\n...\nthree", "one\ntwo\ntwo\nthree", BeEmpty()),
	Entry("an empty gap", "one\n...\ntwo", "one\ntwo", BeEmpty()),
	Entry("a gap at the end", "one\n...", "one\ntwo", BeEmpty()),
	Entry("another line", "one", "two", ContainSubstring("shown: one")),
	Entry("more was printed", "one", "one\ntwo", Equal("printed and not shown: two")),
	Entry("less was printed", "one\ntwo", "one", Equal("shown and not printed: two")),
	Entry("missing after a gap", "one\n...\nfour", "one\ntwo", ContainSubstring("four")),
	Entry("more after a gap", "...\none", "one\ntwo", ContainSubstring("one")),
)
