package getcmd

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/statusreader"
)

type kymaDocument struct {
	console.Versioned
	Items  []modulestatus.KymaLine `json:"items"`
	Unread []unread                `json:"unread,omitempty"`
}

type kymaDetails struct {
	console.Versioned
	modulestatus.KymaLine
	Items  []modulestatus.Module `json:"items"`
	Unread []unread              `json:"unread,omitempty"`
}

// kymaList returns the command that shows a line for each Kyma.
func kymaList(s *show) *cobra.Command {
	command := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the Kymas of this cluster",
		Example: "  kyma kyma list\n  kyma kyma list -n kcp-system -o json\n  kyma kyma list --state Error --on-channel fast",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return s.follow(command.Context(), func(in modulestatus.Inputs) error {
				lines := modulestatus.Kymas(in)
				document := kymasDocument(&in, lines, time.Now())
				if s.selection.Given() {
					document.Empty = "There are no such Kymas. kyma kyma list shows all."
				}
				return s.print(document, blind(&in, len(lines), "Kyma"))
			})
		},
	}
	command.Flags().BoolVarP(&s.everywhere, "all-namespaces", "A", false, "the Kymas of all namespaces, regardless of --namespace")
	s.selection.AddFilters(command)
	s.watchFlag(command)
	s.outputFlag(command)
	return command
}

func kymasDocument(in *modulestatus.Inputs, lines []modulestatus.KymaLine, now time.Time) console.Document {
	d := console.Document{
		Data: kymaDocument{Versioned: console.Kind("KymaList"), Items: append([]modulestatus.KymaLine{}, lines...), Unread: unreadOf(in)},
		Columns: []console.Column{
			{Name: "NAMESPACE"}, {Name: "NAME"}, {Name: "STATE", State: true}, {Name: "CHANNEL"}, {Name: "MODULES"}, {Name: "OUTDATED"},
			{Name: "LOCAL", Wide: true}, {Name: "REASON", Wide: true}, {Name: "MESSAGE", Wide: true}, {Name: "AGE"},
		},
		Empty: "There are no Kymas. kyma kyma create makes one.",
	}
	for _, k := range lines {
		d.Names = append(d.Names, "kyma/"+k.Namespace+"/"+k.Name)
		d.Rows = append(d.Rows, []string{
			k.Namespace, k.Name, string(k.State), k.Channel, k.Modules, strconv.Itoa(k.Outdated), strconv.FormatBool(k.Local),
			k.Reason, k.Message, age(k.Created, now),
		})
	}
	return d
}

func age(created string, now time.Time) string {
	at, err := time.Parse(time.RFC3339, created)
	if err != nil {
		return ""
	}
	return duration.HumanDuration(now.Sub(at))
}

// kymaGet returns the command that shows everything about one Kyma.
func kymaGet(s *show) *cobra.Command {
	command := &cobra.Command{
		Use:     "get [NAME]",
		Short:   "Show one Kyma with its conditions and modules",
		Long:    "Show one Kyma with its conditions and modules: the one that is named, as NAMESPACE/NAME or NAME, or the only one there is.",
		Example: "  kyma kyma get\n  kyma kyma get kcp-system/alice -o yaml",
		Args:    cobra.MaximumNArgs(1),
		ValidArgsFunction: func(command *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, nothing
			}
			return s.completeKymas(command, args, text)
		},
		RunE: func(command *cobra.Command, args []string) error {
			ctx := command.Context()
			cluster, err := s.target.Client()
			if err != nil {
				return err
			}
			kyma, err := s.target.Kyma(ctx, cluster, strings.Join(args, ""))
			if err != nil {
				return err
			}
			in, err := s.read(ctx, cluster, statusreader.Scope{Kyma: &types.NamespacedName{Namespace: kyma.Namespace, Name: kyma.Name}})
			if err != nil {
				return err
			}
			return s.printKyma(&in, kyma.Namespace+"/"+kyma.Name)
		},
	}
	s.outputFlag(command)
	return command
}

// releaseText returns the release that a Kyma names, and the one that it is on if that differs.
func releaseText(line *modulestatus.KymaLine) string {
	switch line.OnRelease {
	case line.Release:
		return line.Release
	case "":
		return line.Release + " (not on it yet)"
	}
	return line.Release + " (was last on " + line.OnRelease + ")"
}

func (s *show) printKyma(in *modulestatus.Inputs, key string) error {
	lines := modulestatus.Kymas(*in)
	if len(lines) != 1 {
		return console.NotFound("there is no Kyma %s", key)
	}
	line := lines[0]
	modules := []modulestatus.Module{}
	for _, m := range modulestatus.Modules(*in) {
		if m.Kyma == key {
			modules = append(modules, m)
		}
	}
	if f := s.output.Format; f != console.Table && f != console.Wide {
		return s.console.Print(f, console.Document{
			Data:  kymaDetails{Versioned: console.Kind("Kyma"), KymaLine: line, Items: modules, Unread: unreadOf(in)},
			Names: []string{"kyma/" + key},
		})
	}
	var text strings.Builder
	fmt.Fprintf(&text, "kyma/%s: %s\n", key, s.console.State(string(line.State)))
	fmt.Fprintf(&text, "  %-13s %s\n  %-13s %s\n", "channel", line.Channel, "modules", line.Modules)
	if line.Release != "" || line.OnRelease != "" {
		fmt.Fprintf(&text, "  %-13s %s\n", "release", releaseText(&line))
	}
	for _, c := range line.Conditions {
		fmt.Fprintf(&text, "  %-13s %s\n", c.Type, condition(s.console.State(c.Status), c.Reason, c.Message))
	}
	text.WriteByte('\n')
	if _, err := io.WriteString(s.console.Out, text.String()); err != nil {
		return err
	}
	return s.console.Print(s.output.Format, listDocument(in, modules))
}
