package getcmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

type treeDocument struct {
	console.Versioned
	Items  []modulestatus.Node `json:"items"`
	Unread []unread            `json:"unread,omitempty"`
}

// tree returns the command that shows what modules consist of.
func tree(s *show) *cobra.Command {
	var all bool
	command := &cobra.Command{
		Use:   "tree [MODULE...]",
		Short: "Show what Kymas and modules consist of, as a tree",
		Long: "Show what Kymas and modules consist of: those that are named, or all. Objects of one kind that stand the same are one line; " +
			"--all writes each.",
		Example:           "  kyma tree\n  kyma tree beacon --all\n  kyma tree beacon -o json",
		ValidArgsFunction: s.completeModules,
		RunE: func(command *cobra.Command, names []string) error {
			in, err := s.readInputs(command.Context())
			if err != nil {
				return err
			}
			if _, err := pick(&in, s.modules(&in), names); err != nil {
				return err
			}
			return s.printTree(&in, s.tree(&in, names), all)
		},
	}
	s.flags(command, console.Table, console.JSON, console.YAML)
	command.Flags().BoolVar(&all, "all", false, "write every object, also where many stand the same")
	return command
}

func (s *show) printTree(in *modulestatus.Inputs, roots []modulestatus.Node, all bool) error {
	unseen := blind(in, len(roots), "Kyma", "Secret")
	if unseen != nil || s.output.Format != console.Table {
		return s.print(console.Document{
			Data: treeDocument{Versioned: console.Kind("ModuleTree"), Items: append([]modulestatus.Node{}, roots...), Unread: unreadOf(in)},
		}, unseen)
	}
	if len(roots) == 0 {
		s.console.Sayf("No modules are enabled or installed. kyma catalog list shows the available modules.")
	}
	var text strings.Builder
	for i := range roots {
		s.draw(&text, &roots[i], "", "", all)
	}
	_, err := io.WriteString(s.console.Out, text.String())
	return err
}

// draw writes a node and those below it. before is the prefix of its own line, under that of the lines below.
func (s *show) draw(to io.Writer, node *modulestatus.Node, before, under string, all bool) {
	fmt.Fprintf(to, "%s%s\n", before, s.label(node))
	children := node.Children
	if !all {
		children = grouped(children)
	}
	for i := range children {
		if i == len(children)-1 {
			s.draw(to, &children[i], under+"└─ ", under+"   ", all)
		} else {
			s.draw(to, &children[i], under+"├─ ", under+"│  ", all)
		}
	}
}

// label returns the line of a node.
func (s *show) label(node *modulestatus.Node) string {
	name := node.Name
	if node.Namespace != "" {
		name = node.Namespace + "/" + name
	}
	text := oneLine(node.Kind + "/" + name)
	if node.Kind == modulestatus.KindModule {
		text = oneLine("module/" + name + " " + node.Version)
	}
	if node.State != "" {
		text += "  " + s.console.State(string(node.State))
	}
	if node.State != modulestatus.Ready && (node.Reason != "" || node.Message != "") {
		text += "  " + strings.TrimPrefix(condition("", node.Reason, node.Message), " ")
	}
	return text
}

// fewest is how many equal objects are combined into one line.
const fewest = 3

// grouped combines objects of a kind that are in the same state and have nothing below them into one line.
func grouped(nodes []modulestatus.Node) []modulestatus.Node {
	same := func(a, b *modulestatus.Node) bool {
		return a.Kind == b.Kind && a.APIVersion == b.APIVersion && a.State == b.State && a.Reason == b.Reason && a.Message == b.Message
	}
	var made []modulestatus.Node
	for i := range nodes {
		n := &nodes[i]
		if n.Kind == modulestatus.KindModule || len(n.Children) > 0 {
			made = append(made, *n)
			continue
		}
		var names []string
		for j := range nodes {
			if same(n, &nodes[j]) {
				names = append(names, nodes[j].Name)
			}
		}
		if len(names) < fewest {
			made = append(made, *n)
			continue
		}
		one := *n
		one.Namespace, one.Name = "", fmt.Sprintf("(%d: %s, ...)", len(names), strings.Join(names[:2], ", "))
		if !slices.ContainsFunc(made, func(m modulestatus.Node) bool { return m.Name == one.Name && same(&m, &one) }) {
			made = append(made, one)
		}
	}
	return made
}
