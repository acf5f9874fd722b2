package wire

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kyma-project/lifecycle-manager/internal/cli"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
)

var (
	// helpFlag is a flag in the help text of package flag, with its type; the next line has what it does.
	helpFlag = regexp.MustCompile(`(?m)^ {2}-(\S+)(?: (\S+))?$`)
	// helpDefault is how that line ends.
	helpDefault = regexp.MustCompile(`\(default (.*)\)$`)
)

// gatherManagerFlags reads the flags of the manager from its help text, which is what a user can see of them.
func gatherManagerFlags(string) ([]string, error) {
	var help bytes.Buffer
	if _, err := setup.ParseFlags([]string{"--help"}, &help); !setup.IsHelp(err) {
		return nil, fmt.Errorf("the manager gave no help: %w", err)
	}
	var facts []string
	for line := range strings.Lines(help.String()) {
		line = strings.TrimRight(line, "\n")
		if flag := helpFlag.FindStringSubmatch(line); flag != nil {
			facts = append(facts, "--"+flag[1]+" type="+flag[2])
			continue
		}
		if at := helpDefault.FindStringSubmatch(line); at != nil && len(facts) > 0 {
			facts[len(facts)-1] += " default=" + at[1]
		}
	}
	return facts, nil
}

// gatherCommands reads the commands of kyma with their flags.
func gatherCommands(string) ([]string, error) {
	var facts []string
	walk(cli.New(&console.Console{}, target.New()), &facts)
	return facts, nil
}

func walk(command *cobra.Command, facts *[]string) {
	path := command.CommandPath()
	*facts = append(*facts, strings.TrimSpace(fmt.Sprintf("%s aliases=%s hidden=%t",
		path, strings.Join(command.Aliases, ","), command.Hidden)))
	seen := func(kind string) func(flag *pflag.Flag) {
		return func(flag *pflag.Flag) {
			shown := flag.DefValue
			if strings.ContainsAny(shown, "/\\") { // a path of this machine
				shown = "..."
			}
			*facts = append(*facts, fmt.Sprintf("%s %s --%s short=%s type=%s default=%q",
				path, kind, flag.Name, flag.Shorthand, flag.Value.Type(), shown))
		}
	}
	command.LocalNonPersistentFlags().VisitAll(seen("flag"))
	command.PersistentFlags().VisitAll(seen("persistent"))
	for _, below := range command.Commands() {
		walk(below, facts)
	}
}

// gatherExitCodes lists what the codes of kyma mean.
func gatherExitCodes(string) ([]string, error) {
	var facts []string
	for meaning, code := range map[string]int{
		"well": console.CodeOK, "error": console.CodeError, "warning": console.CodeWarning, "timeout": console.CodeTimeout,
		"not found": console.CodeNotFound, "usage": console.CodeUsage, "interrupted": console.CodeInterrupted,
	} {
		facts = append(facts, fmt.Sprintf("%d %s", code, meaning))
	}
	return facts, nil
}
