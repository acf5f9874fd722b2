package getcmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// status returns the command that explains the state of modules.
func status(s *show) *cobra.Command {
	command := &cobra.Command{
		Use:   "status [MODULE...]",
		Short: "Explain the state of modules",
		Long: "Explain the state of modules: the named ones, or all. Of what is not ready, it tells the cause in one sentence, and the remedy. " +
			"For named modules, it is searched in runtimes too, and what shows it is listed. The exit code reflects the worst of them: " +
			"0 for ready or under way, " +
			"2 for a warning, 1 for an error or something that could not be read, 4 for a module that is not there.\n\n" +
			"--selector, --state, --on-channel and --with-module select many Kymas: they are counted by state, and what is not ready is told by " +
			"its reason, with the first Kymas that have it.",
		Example: "  kyma status\n  kyma status beacon --watch\n  kyma status beacon greeter --kyma kcp-system/alice -o json\n" +
			"  kyma status --state Error,Warning",
		ValidArgsFunction: s.completeModules,
		RunE: func(command *cobra.Command, names []string) error {
			return s.follow(command.Context(), func(in modulestatus.Inputs) error {
				modules, err := pick(&in, s.modules(&in), names)
				if err != nil {
					return err
				}
				s.findCauses(command.Context(), &in, modules, len(names) > 0)
				if err := s.printStatus(&in, modules, len(names) > 0); err != nil {
					return err
				}
				return console.Quiet(code(modulestatus.WorstOf(modules)))
			})
		},
	}
	s.flags(command)
	s.selection.AddFilters(command)
	s.prereleaseFlag(command)
	s.watchFlag(command)
	return command
}

// code returns the exit code of a state.
func code(state modulestatus.State) int {
	switch state {
	case modulestatus.Error, modulestatus.Unknown:
		return console.CodeError
	case modulestatus.Warning:
		return console.CodeWarning
	default:
		return console.CodeOK
	}
}

// pick returns the modules with these names; no names means all.
func pick(in *modulestatus.Inputs, modules []modulestatus.Module, names []string) ([]modulestatus.Module, error) {
	if len(names) == 0 {
		return modules, nil
	}
	for _, name := range names {
		if slices.ContainsFunc(modules, func(m modulestatus.Module) bool { return m.Name == name }) {
			continue
		}
		if unreadKind(in, "Kyma") {
			return nil, fmt.Errorf("module %s cannot be looked up: Kymas cannot be read", name)
		}
		return nil, missing(in, modules, name)
	}
	return slices.DeleteFunc(modules, func(m modulestatus.Module) bool { return !slices.Contains(names, m.Name) }), nil
}

// missing returns the error for a module that is not there, with a hint at those that are.
func missing(in *modulestatus.Inputs, modules []modulestatus.Module, name string) error {
	offers := modulestatus.Catalog(*in)
	if i := slices.IndexFunc(offers, func(o modulestatus.Offer) bool { return o.Name == name }); i >= 0 {
		if offers[i].Type == modulestatus.Community {
			name += " --community"
		}
		return console.NotFound("module %s is neither enabled nor installed", offers[i].Name).With("kyma add %s installs it", name)
	}
	var there []string
	for i := range modules {
		there = append(there, modules[i].Name)
	}
	failure := console.NotFound("there is no module %s", name)
	if len(there) == 0 {
		return failure.With("kyma catalog list shows the available modules")
	}
	return failure.Known("modules", kymaedit.Similar(name, there), there)
}

// printStatus writes modules; as text, with everything about named ones, and otherwise only about those that are not ready.
func (s *show) printStatus(in *modulestatus.Inputs, modules []modulestatus.Module, named bool) error {
	unseen := blind(in, len(modules), "Kyma", "Secret")
	if f := s.output.Format; unseen != nil || f != console.Table && f != console.Wide {
		return s.print(listDocument(in, modules), unseen)
	}
	if s.selection.Given() && s.output.Format == console.Table {
		return s.printSummary(in, modules, named)
	}
	var text strings.Builder
	if !named {
		s.overview(&text, modules)
	}
	for i := range modules {
		m := &modules[i]
		if named || s.output.Format == console.Wide || !untroubled(m) {
			s.explain(&text, m, named || s.output.Format == console.Wide)
			s.explainPending(&text, m, len(in.Kymas) > 1 || s.kyma != "")
		}
	}
	_, err := io.WriteString(s.console.Out, text.String())
	return err
}

// untroubled reports whether a module needs no attention.
func untroubled(m *modulestatus.Module) bool {
	return (m.State == modulestatus.Ready || m.State == modulestatus.Unmanaged) && !waits(m)
}

// order is the order of states in an overview: those that need attention come first.
var order = []modulestatus.State{
	modulestatus.Error, modulestatus.Warning, modulestatus.Unknown, modulestatus.Deleting, modulestatus.Processing,
	modulestatus.NotConfigured, modulestatus.Unmanaged, modulestatus.Ready,
}

// overview counts modules by state.
func (s *show) overview(to io.Writer, modules []modulestatus.Module) {
	counts := map[modulestatus.State]int{}
	for i := range modules {
		counts[modules[i].State]++
	}
	fmt.Fprintf(to, "modules: %s\n", s.counted(counts))
}

// counted returns how many are in which state, those that need attention first.
func (s *show) counted(counts map[modulestatus.State]int) string {
	var parts []string
	for _, state := range order {
		if counts[state] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[state], s.console.State(string(state))))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// explain writes everything that a list has no room for: the cause first, if it is not ready, with its evidence on request.
func (s *show) explain(to io.Writer, m *modulestatus.Module, evidence bool) {
	of := ""
	if m.Kyma != "" {
		of = " of kyma/" + m.Kyma
	}
	fmt.Fprintf(to, "module/%s%s: %s\n", m.Name, of, s.console.State(string(m.State)))
	explainCause(to, "  ", m.Cause, evidence)
	line := func(name, text string) {
		if text != "" {
			fmt.Fprintf(to, "  %-13s %s\n", name, text)
		}
	}
	line("installation", condition(s.console.State(string(m.Installation.State)), m.Installation.Reason, m.Installation.Message))
	line("progress", m.Installation.Progress)
	line("module", condition(s.console.State(string(m.Module.State)), m.Module.Reason, m.Module.Message))
	line("version", oneLine(versions(m.Version)))
	line("type", string(m.Type)+traits(m))
	line("channel", oneLine(m.Channel))
	line("release", oneLine(m.Release))
	if m.Resource != nil {
		line("resource", oneLine(m.Resource.String()))
	}
	if m.Manifest != nil {
		line("manifest", m.Manifest.String())
	}
	if m.Record != nil {
		line("record", "Secret "+m.Record.String())
	}
	if m.Template != nil {
		line("template", m.Template.String()+ofOther(m))
	}
	if m.Signed.State != modulestatus.SignatureUnknown {
		line("signature", oneLine(m.Signed.State+" "+m.Signed.By))
	}
}

// ofOther returns a remark if the template is not that of the installed version.
func ofOther(m *modulestatus.Module) string {
	if m.Version.Installed == "" || m.TemplateVersion == "" || m.TemplateVersion == m.Version.Installed {
		return ""
	}
	return " (of " + m.TemplateVersion + ", which is not installed)"
}

// condition returns a state, with the reason and message if they are known.
func condition(state, reason, message string) string {
	if reason != "" {
		state += " (" + oneLine(reason) + ")"
	}
	if message != "" {
		state += ": " + oneLine(message)
	}
	return state
}

func versions(v modulestatus.Version) string {
	var parts []string
	if v.Installed != "" {
		parts = append(parts, v.Installed+" installed")
	}
	if v.Running != "" {
		parts = append(parts, "operator at "+v.Running)
	}
	if v.Desired != "" && v.Desired != v.Installed {
		parts = append(parts, v.Desired+" requested")
	}
	if v.Outdated {
		parts = append(parts, v.Available+" available")
	}
	return strings.Join(parts, ", ")
}

func traits(m *modulestatus.Module) string {
	var words []string
	for _, trait := range []struct {
		has  bool
		word string
	}{
		{m.Mandatory, "mandatory"}, {m.Beta, "beta"}, {m.Maintenance, "waits for a maintenance window"},
		{m.Offered != "", m.Offered + " waits for its rollout"}, {m.Suspended, "suspended"},
		{m.ChannelOverridden, "own channel"}, {m.Type == modulestatus.Managed && !m.Managed, "unmanaged"},
	} {
		if trait.has {
			words = append(words, trait.word)
		}
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// oneLine makes foreign text one line, without control characters for the terminal.
func oneLine(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, text))
}
