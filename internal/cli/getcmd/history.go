package getcmd

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

type historyDocument struct {
	console.Versioned
	Items  []modulestatus.History `json:"items"`
	Unread []unread               `json:"unread,omitempty"`
}

// history returns the command that shows what a module was asked to install.
func history(s *show) *cobra.Command {
	command := &cobra.Command{
		Use:   "history MODULE",
		Short: "Show which versions a module had, and how they ended",
		Long: "Show the last revisions of a module, the newest first: which version was asked for, when, in which state the module was then, " +
			"and how it ended. It says which one runs, and which one a rollback would install. The hub keeps this history; a runtime has none.",
		Example: "  kyma history beacon\n  kyma history beacon --kyma kcp-system/alice -o json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return console.Usage("name one module").With("kyma history beacon")
			}
			return nil
		},
		ValidArgsFunction: func(command *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, nothing
			}
			return s.completeModules(command, args, text)
		},
		RunE: func(command *cobra.Command, args []string) error {
			in, err := s.readInputs(command.Context())
			if err != nil {
				return err
			}
			modules, err := pick(&in, s.modules(&in), args)
			if err != nil {
				return err
			}
			found := modulestatus.Histories(in, modules, args[0])
			return s.print(historyTable(&in, found, args[0], time.Now()), blind(&in, len(found), "Manifest"))
		},
	}
	s.flags(command, console.Table, console.Wide, console.JSON, console.YAML)
	return command
}

func historyTable(in *modulestatus.Inputs, found []modulestatus.History, name string, now time.Time) console.Document {
	d := console.Document{
		Data: historyDocument{Versioned: console.Kind("ModuleHistory"), Items: found, Unread: unreadOf(in)},
		Columns: []console.Column{
			{Name: "KYMA"}, {Name: "REVISION"}, {Name: "VERSION"}, {Name: "OUTCOME"}, {Name: "REASON"}, {Name: "BEFORE"}, {Name: "NOTE"},
			{Name: "CONTENT", Wide: true}, {Name: "TEMPLATE", Wide: true}, {Name: "AGE"},
		},
		Empty: "There is no history of module " + name + " here. The hub keeps it, and begins it when its manager looks at the module.",
	}
	for i := range found {
		h := &found[i]
		for _, e := range h.Revisions {
			d.Rows = append(d.Rows, []string{
				h.Kyma, strconv.FormatInt(e.Number, 10), e.Version, e.End(), e.Reason, string(e.Before), e.Mark(),
				e.Digest, e.Template, age(e.At.UTC().Format(time.RFC3339), now),
			})
		}
	}
	return d
}
