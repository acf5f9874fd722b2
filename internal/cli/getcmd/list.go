package getcmd

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/catalogcmd"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// moduleList is the output of list and status for programs.
type moduleList struct {
	console.Versioned
	Items  []modulestatus.Module `json:"items"`
	Unread []unread              `json:"unread,omitempty"`
}

// list returns the command that shows a line for each module that is in a Kyma or installed.
func list(s *show) *cobra.Command {
	var kind string
	var outdated, ask bool
	again := catalogcmd.NewAgain(s.console, s.target)
	command := &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the modules that are enabled or installed",
		Long: "List the modules that are enabled in a Kyma, and those that are installed without one, with their versions and states.\n" +
			"What could not be read is Unknown, and standard error shows why.\n\n" +
			"AVAILABLE is what the cluster offers. --ask-sources asks the catalogs that modules came from, as kyma upgrade does.",
		Example: "  kyma list\n  kyma list --kyma kcp-system/alice -o wide\n  kyma list --outdated -o name\n" +
			"  kyma list --outdated --ask-sources\n  kyma list --type community -o json\n  kyma list --selector ring=canary --state Error,Warning",
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := known(kind); err != nil {
				return err
			}
			answers := s.answersOf(again)
			return s.follow(command.Context(), func(in modulestatus.Inputs) error {
				all := s.modules(&in)
				if ask {
					all = answers.newer(command.Context(), &in, all)
				} else if outdated && unasked(&in) {
					s.console.Sayf("Some modules came from catalogs, which may have newer versions: --ask-sources asks them.")
				}
				modules := slices.DeleteFunc(slices.Clone(all), func(m modulestatus.Module) bool {
					return kind != "" && string(m.Type) != kind || outdated && !m.Version.Outdated
				})
				document := listDocument(&in, modules)
				if kind != "" || outdated || s.selection.Given() {
					document.Empty = "There are no such modules. kyma list shows all."
				}
				return s.print(document, blind(&in, len(modules), "Kyma", "Secret"))
			})
		},
	}
	s.flags(command)
	s.selection.AddFilters(command)
	s.prereleaseFlag(command)
	s.watchFlag(command)
	command.Flags().StringVar(&kind, "type", "", "only modules of this type: managed, manageable or community")
	command.Flags().BoolVar(&outdated, "outdated", false, "only modules for which there is a newer version")
	command.Flags().BoolVar(&ask, "ask-sources", false, "ask the catalogs that modules came from for newer versions")
	again.AddFlags(command.Flags())
	_ = command.RegisterFlagCompletionFunc("type", cobra.FixedCompletions(typeWords, nothing))
	return command
}

// typeWords are the values of --type.
var typeWords = []string{string(modulestatus.Managed), string(modulestatus.Manageable), string(modulestatus.Community)}

func known(kind string) error {
	if kind == "" || slices.Contains(typeWords, kind) {
		return nil
	}
	return console.Usage("there is no type %q", kind).With("--type takes managed, manageable or community")
}

// listDocument returns a list of modules in every format.
func listDocument(in *modulestatus.Inputs, modules []modulestatus.Module) console.Document {
	d := console.Document{
		Data: moduleList{Versioned: console.Kind("ModuleStatusList"), Items: append([]modulestatus.Module{}, modules...), Unread: unreadOf(in)},
		Columns: []console.Column{
			{Name: "MODULE"}, {Name: "KYMA"}, {Name: "CHANNEL"}, {Name: "VERSION"}, {Name: "AVAILABLE"},
			{Name: "MODULE STATUS", State: true}, {Name: "INSTALLATION", State: true},
			{Name: "TYPE", Wide: true}, {Name: "POLICY", Wide: true}, {Name: "MANAGED", Wide: true}, {Name: "SIGNED", Wide: true},
			{Name: "MESSAGE", Wide: true},
		},
		Empty: "No modules are enabled or installed. kyma catalog list shows the available modules.",
	}
	for i := range modules {
		m := &modules[i]
		d.Names = append(d.Names, "module/"+m.Name)
		d.Rows = append(d.Rows, []string{
			m.Name, m.Kyma, channelText(m), versionText(m), newerText(m), resourceText(m), phaseText(m),
			string(m.Type), string(m.Policy), strconv.FormatBool(m.Managed), m.Signed.State, why(m),
		})
	}
	return d
}

func channelText(m *modulestatus.Module) string {
	switch {
	case m.ChannelOverridden:
		return m.Channel + " (own)"
	case m.Release != "":
		return "release " + m.Release
	case m.Channel == "" && m.Mandatory:
		return "(mandatory)"
	case m.Channel == "" && m.Kyma != "" && m.Version.Desired != "":
		return "(pinned)"
	}
	return m.Channel
}

// versionText returns the version that runs, and the requested one if it differs.
func versionText(m *modulestatus.Module) string {
	v := m.Version
	switch {
	case v.Mismatch:
		return v.Installed + " -> " + v.Desired
	case v.Installed == "" && v.Desired != "":
		return "-> " + v.Desired
	}
	return v.Installed
}

// newerText returns the available version if it is newer.
func newerText(m *modulestatus.Module) string {
	if m.Version.Outdated {
		return m.Version.Available
	}
	return ""
}

// resourceText returns the state of a module from its custom resource; nothing if that is in another cluster and not observed: a column
// of Unknown beside ready modules looks like trouble.
func resourceText(m *modulestatus.Module) string {
	if m.Module.State == modulestatus.Unknown && m.Module.Reason == modulestatus.WhyNotObserved {
		return ""
	}
	return string(m.Module.State)
}

// phaseText returns the state of the installation in a word, with a remark if something else matters.
func phaseText(m *modulestatus.Module) string {
	text := string(m.Installation.State)
	if m.Installation.Progress != "" {
		text += " " + m.Installation.Progress
	}
	switch {
	case m.Suspended:
		text += " (suspended)"
	case m.Maintenance:
		text += " (waits for a maintenance window)"
	case m.Pending != nil:
		text += " (" + m.Pending.Version + " waits for consent)"
	case m.Offered != "":
		text += " (" + m.Offered + " waits for its rollout)"
	case m.Installation.Reason == v1beta2.ReasonRequirementMissing:
		text += " (waits for what it requires)"
	case m.Installation.Warning:
		text += " (Warning)"
	case m.Installation.Unready:
		text += " (not ready)"
	}
	return text
}

// why returns the message that a user should see first.
func why(m *modulestatus.Module) string {
	if m.Module.Message != "" && m.State == m.Module.State && m.State != modulestatus.Ready {
		return m.Module.Message
	}
	return cmp.Or(m.Installation.Message, m.Module.Message)
}
