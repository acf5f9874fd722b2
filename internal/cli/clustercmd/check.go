package clustercmd

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/managerinstall"
)

// checkInterval is the pause between two checks of a command that waits.
const checkInterval = time.Second

type checkList struct {
	console.Versioned
	Verdict managerinstall.Verdict  `json:"verdict"`
	Items   []managerinstall.Result `json:"items"`
}

// check returns the command `kyma check`.
func (h *host) check() *cobra.Command {
	var flags installing
	var pre, upstream bool
	var timeout time.Duration
	output := console.OutputFlag()
	command := &cobra.Command{
		Use:   "check",
		Short: "Check whether the lifecycle manager runs, whether it can be installed, or whether it can take over a hub of upstream's",
		Long: "One line for each check: the API server and its version, your rights (--pre), the definitions, the manager " +
			"and its version, its lease, and conversions. With --from-upstream, on a hub that upstream's manager runs on: what would be refused " +
			"or be different once this one has taken its place (docs/from-upstream.md). Nothing is changed. The exit code is 0 where everything " +
			"is well, 2 for warnings and 1 for errors.",
		Example:           "  kyma check\n  kyma check --pre\n  kyma check --wait=2m -o json\n  kyma check --from-upstream",
		Args:              arguments(0, 0, ""),
		ValidArgsFunction: noFiles,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			if upstream && (pre || timeout > 0) {
				return console.Usage("--from-upstream checks once, at a hub where upstream's manager runs").With("leave out --pre and --wait")
			}
			look := func() ([]managerinstall.Result, error) {
				return h.inspect(command.Context(), flags.options, pre, timeout)
			}
			if upstream {
				look = func() ([]managerinstall.Result, error) { return h.fromUpstream(command.Context()) }
			}
			results, err := look()
			if err != nil {
				return err
			}
			if err := h.console.Print(output.Format, resultsOf(results)); err != nil {
				return err
			}
			codes := map[managerinstall.Verdict]int{managerinstall.Failed: console.CodeError, managerinstall.Warning: console.CodeWarning}
			return console.Quiet(codes[managerinstall.Worst(results)])
		},
	}
	flags.addFlags(command.Flags(), h.release)
	command.Flags().BoolVar(&pre, "pre", false, "check whether the lifecycle manager can be installed")
	command.Flags().BoolVar(&upstream, "from-upstream", false, "report what would be different on a hub that upstream's manager runs on")
	command.Flags().DurationVar(&timeout, "wait", 0, "how long to repeat the checks until all succeed")
	command.Flags().VarP(output, "output", "o", "how to write it: "+output.Words())
	return command
}

// inspect checks once, or until everything is well or the time has ended.
func (h *host) inspect(
	ctx context.Context, options managerinstall.Options, pre bool, timeout time.Duration,
) ([]managerinstall.Result, error) {
	objects, err := managerinstall.Render(options)
	if err != nil {
		return nil, err
	}
	config, err := h.target.Config()
	if err != nil {
		return nil, err
	}
	client, err := h.target.Client()
	if err != nil {
		return nil, err
	}
	brings := ""
	if owner, err := h.where(""); err == nil && owner != nil {
		brings = "kyma deploy" // into a sandbox, whose manager is a process of this machine
	}
	var results []managerinstall.Result
	err = wait.PollUntilContextTimeout(ctx, checkInterval, max(timeout, time.Nanosecond), true, func(context.Context) (bool, error) {
		// The context of the command: the last check is not cut short.
		results = managerinstall.Inspect(ctx, managerinstall.Inspection{
			Config: config, Client: client, Objects: objects, Pre: pre, Brings: brings,
		})
		return managerinstall.Worst(results) == managerinstall.Passed, nil
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		err = nil // the results show it
	}
	return results, err
}

func resultsOf(results []managerinstall.Result) console.Document {
	d := console.Document{
		Data:    checkList{console.Kind("CheckList"), managerinstall.Worst(results), results},
		Columns: []console.Column{{Name: "CHECK"}, {Name: "RESULT", State: true}, {Name: "MESSAGE"}},
	}
	for _, r := range results {
		d.Rows = append(d.Rows, []string{r.Name, string(r.Verdict), r.Message + places(r)})
		d.Names = append(d.Names, "check/"+r.Name)
	}
	return d
}

// places returns where a result was found, with the number of places.
func places(r managerinstall.Result) string {
	if r.Count == 0 {
		return ""
	}
	more := ""
	if r.Count > len(r.Places) {
		more = ", ..."
	}
	return fmt.Sprintf(" [%d: %s%s]", r.Count, strings.Join(r.Places, ", "), more)
}
