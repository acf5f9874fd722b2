package hubcmd

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/client/hubcontent"
)

// stream stands for standard input or output in place of a path.
const stream = "-"

// call holds what the commands of this package share.
type call struct {
	console *console.Console
	target  *target.Target
	output  *console.Formats
}

// Commands returns the verbs of this package, for the root command.
func Commands(c *console.Console, t *target.Target) []*cobra.Command {
	hub := &cobra.Command{
		Use:   "hub",
		Short: "Save what a hub holds, and restore it there or on another hub",
		Long: "kyma hub export writes what a hub holds as YAML, kyma hub import brings it to a hub: the same one, after a loss, or another " +
			"one, to which the runtimes move. No runtime is changed by either.",
	}
	hub.AddCommand((&exporting{call: newCall(c, t)}).command(), (&importing{call: newCall(c, t)}).command())
	return []*cobra.Command{hub}
}

func newCall(c *console.Console, t *target.Target) *call {
	return &call{console: c, target: t, output: console.OutputFlag(console.Table, console.JSON, console.YAML, console.Name)}
}

func (c *call) addOutput(flags *pflag.FlagSet) {
	flags.VarP(c.output, "output", "o", "how to write it: "+c.output.Words())
}

// reach returns a client, and says which cluster it leads to.
func (c *call) reach() (client.Client, error) {
	cluster, err := c.target.Client()
	if err != nil {
		return nil, err
	}
	where, err := c.target.Where()
	if err == nil {
		c.console.Sayf("Cluster: %s", where)
	}
	return cluster, err
}

// namespace returns that of --namespace, and otherwise the one of hubs: that of a context is most often another one.
func (c *call) namespace() (string, error) {
	namespace, explicit, err := c.target.Namespace()
	if err != nil || explicit {
		return namespace, err
	}
	return v1beta2.DefaultNamespace, nil
}

// count is a line of a summary.
type count struct {
	Kind   string            `json:"kind"`
	Action hubcontent.Action `json:"action,omitempty"`
	Count  int               `json:"count"`
}

// counted sums up what became of objects, in their order; a hub has thousands of them.
func counted(items []hubcontent.Item) []count {
	counts := []count{}
	for _, item := range items {
		at := slices.IndexFunc(counts, func(c count) bool { return c.Kind == item.Kind && c.Action == item.Action })
		if at < 0 {
			at, counts = len(counts), append(counts, count{Kind: item.Kind, Action: item.Action})
		}
		counts[at].Count++
	}
	return counts
}

// summary is the table of counts.
func summary(data any, counts []count, actions bool) console.Document {
	d := console.Document{Data: data, Columns: []console.Column{{Name: "KIND"}}, Empty: "There is nothing."}
	if actions {
		d.Columns = append(d.Columns, console.Column{Name: "ACTION"})
	}
	d.Columns = append(d.Columns, console.Column{Name: "COUNT"})
	for _, c := range counts {
		row := []string{c.Kind}
		if actions {
			row = append(row, string(c.Action))
		}
		d.Rows = append(d.Rows, append(row, strconv.Itoa(c.Count)))
	}
	return d
}

// failed returns an error with a hint on what to do.
func failed(ctx context.Context, err error, hint string) error {
	failure := (*console.Failure)(nil)
	if err == nil || ctx.Err() != nil || errors.As(err, &failure) {
		return err
	}
	return (&console.Failure{Code: cmp.Or(console.Code(err), console.CodeError), Err: err}).With("%s", hint)
}

func nameOf(item hubcontent.Item) string { return strings.ToLower(item.Kind) + "/" + item.Name }

func secretsIn(items []hubcontent.Item) (secrets int) {
	for _, item := range items {
		if item.Kind == "Secret" {
			secrets++
		}
	}
	return secrets
}
