package cli

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
)

// run runs one command line in this process.
func run(t *testing.T, args ...string) (code int, out, said string) {
	t.Helper()
	var outBuffer, errBuffer bytes.Buffer
	c := &console.Console{In: strings.NewReader(""), Out: &outBuffer, Err: &errBuffer}
	code = Run(t.Context(), c, args)
	return code, outBuffer.String(), errBuffer.String()
}

func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"an unknown command":                        {[]string{"frobnicate"}, `there is no command "kyma frobnicate"`},
		"a mistyped command suggests the right one": {[]string{"versio"}, "did you mean version?"},
		"an unknown flag":                           {[]string{"version", "--colour"}, "kyma version --help lists the flags"},
		"an unknown format lists the known ones":    {[]string{"version", "-o", "xml"}, "table|json|yaml"},
		"an argument too many":                      {[]string{"version", "1"}, `unexpected argument "1": kyma version takes no arguments`},
		"an argument too many of some":              {[]string{"module", "copy", "a", "b", "c"}, `"c": kyma module copy takes FROM TO`},
		"an argument that is missing":               {[]string{"module", "init"}, "kyma module init: DIR is missing"},
		"the second argument that is missing":       {[]string{"release", "promote", "notes"}, "kyma release promote: FROM is missing"},
		"an argument that is empty":                 {[]string{"delete", "notes", ""}, "kyma delete: argument 2 is empty"},
		"an unknown verb of a group":                {[]string{"module", "frobnicate"}, `there is no command "kyma module frobnicate"`},
		"an unknown verb of another group":          {[]string{"kyma", "frobnicate"}, `there is no command "kyma kyma frobnicate"`},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, said := run(t, c.args...)
			if code != console.CodeUsage {
				t.Errorf("exit code %d, want %d", code, console.CodeUsage)
			}
			if !strings.Contains(said, c.want) {
				t.Errorf("said %q, want %q in it", said, c.want)
			}
			if out != "" {
				t.Errorf("wrote %q to standard output", out)
			}
		})
	}
}

func TestVersionFlag(t *testing.T) {
	code, out, said := run(t, "--version")
	if code != 0 || !strings.HasPrefix(out, "kyma dev") || strings.Count(out, "\n") != 1 || said != "" {
		t.Errorf("exit code %d, wrote %q, said %q", code, out, said)
	}
	if code, _, said := run(t, "version", "--version"); code != console.CodeUsage || !strings.Contains(said, "unknown flag") {
		t.Errorf("it is a flag of the program and of no command: exit code %d, said %q", code, said)
	}
}

// TestCLI_AFileThatIsNotThere has one exit code, whatever the file is for.
func TestCLI_AFileThatIsNotThere(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("KUBECONFIG", "")
	for _, line := range []string{
		"list --kubeconfig none.yaml", "add notes --cr none.yaml", "kyma connect demo --runtime none.yaml",
		"module create none --registry http://127.0.0.1:1", "module sign notes.tgz --key none.pem", "module verify notes.tgz --key none.pem",
		"release show --file none.yaml", "catalog lint none", "catalog build none --to out",
		"catalog source add ours https://example.com/x --key none.pem", "deploy --signatures enforce --trust none.pem",
		"module copy notes.tgz http://127.0.0.1:1 --ca-file none.pem",
	} {
		code, out, said := run(t, strings.Fields(line)...)
		if code != console.CodeNotFound || !strings.Contains(said, "none") && !strings.Contains(said, "notes.tgz") || out != "" {
			t.Errorf("%s: exit code %d, want %d; said %q, wrote %q", line, code, console.CodeNotFound, said, out)
		}
	}
}

// commands calls do for every command that help texts show.
func commands(t *testing.T, do func(t *testing.T, command *cobra.Command)) {
	t.Helper()
	var walk func(*cobra.Command)
	walk = func(command *cobra.Command) {
		if command.Hidden || command.Name() == "help" {
			return
		}
		t.Run(command.CommandPath(), func(t *testing.T) { do(t, command) })
		for _, below := range command.Commands() {
			walk(below)
		}
	}
	walk(New(&console.Console{In: strings.NewReader(""), Out: &bytes.Buffer{}, Err: &bytes.Buffer{}}, target.New()))
}

func TestCLI_EveryCommandSaysWhatItIs(t *testing.T) {
	commands(t, func(t *testing.T, command *cobra.Command) {
		if command.Short == "" || strings.HasSuffix(command.Short, ".") {
			t.Errorf("Short is %q: one sentence without a full stop", command.Short)
		}
		if command.Runnable() && !command.HasAvailableSubCommands() && command.Example == "" {
			t.Error("there is no example")
		}
	})
}

func TestCLI_EveryExampleParses(t *testing.T) {
	commands(t, func(t *testing.T, command *cobra.Command) {
		for line := range strings.SplitSeq(command.Example, "\n") {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if err := parses(line, command); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
	})
}
