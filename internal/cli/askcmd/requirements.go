package askcmd

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/clusterfacts"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/runtimeaccess"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// requirementsDocument is the output of requirements for programs.
type requirementsDocument struct {
	console.Versioned
	Module  string `json:"module"`
	Version string `json:"version"`
	// Kyma in which it was looked for what is there; empty when only the requirements are known.
	Kyma  string              `json:"kyma,omitempty"`
	Items []kymaedit.Required `json:"items"`
	// NeededBy are the modules of the Kyma that need this one.
	NeededBy []dependent `json:"neededBy,omitempty"`
}

// dependent is a module that needs the one that a command is about.
type dependent struct {
	Module string `json:"module"`
	// Version is the range that it needs; empty for any.
	Version string `json:"version,omitempty"`
	// Accepts reports whether it works with the version.
	Accepts bool `json:"accepts"`
}

// clusterTime is how long the cluster of the modules may take.
const clusterTime = 15 * time.Second

func showRequirements(a *asking) *cobra.Command {
	command := &cobra.Command{
		Use:   "requirements MODULE[:VERSION|:CHANNEL]",
		Short: "Show what a version of a module needs, and what of it is there",
		Long: "Shows the modules, definitions and the version of Kubernetes that a version needs before it is installed, as its\n" +
			"ModuleTemplate says, and what of that the Kyma and its cluster have. It also shows which modules need this one, and whether they\n" +
			"work with the version. Without a version it is about the one that the Kyma gets. The exit code is 2 where something is missing,\n" +
			"or would break; what could not be looked at is Unknown, and not missing.",
		Example: "  kyma requirements notes\n" +
			"  kyma requirements notes:1.1.0 --kyma kcp-system/demo -o json",
		RunE: func(command *cobra.Command, args []string) error { return a.requirements(command.Context(), args[0]) },
	}
	a.prepare(command)
	return command
}

func (a *asking) requirements(ctx context.Context, text string) error {
	s, err := a.about(ctx, text)
	if err != nil {
		return err
	}
	if s.Template(s.module, s.version) == nil {
		return console.NotFound("there is no ModuleTemplate of %s %s in namespace %s", s.module, s.version, s.Kyma.Namespace).
			With("kyma catalog show %s lists the versions", s.module)
	}
	list := s.Requires(s.module, s.version)
	facts := requirements.Facts{}
	if s.inKyma {
		facts = s.Facts()
		a.lookAt(ctx, s, list, &facts)
	}
	made := requirementsDocument{
		Versioned: console.Kind("ModuleRequirements"), Module: s.module, Version: s.version, Kyma: s.kymaName(),
		Items: kymaedit.CheckRequired(list, facts), NeededBy: s.neededBy(),
	}
	if err := a.console.Print(a.output.Format, made.document()); err != nil {
		return err
	}
	if made.lacks() {
		return console.Quiet(console.CodeWarning)
	}
	return nil
}

// lookAt fills in what the cluster of the Kyma's modules has. Where it cannot be reached that stays unknown.
func (a *asking) lookAt(ctx context.Context, s *subject, list []requirements.Requirement, into *requirements.Facts) {
	if !slices.ContainsFunc(list, func(one requirements.Requirement) bool { return one.Module == "" }) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, clusterTime)
	defer cancel()
	hub, err := a.target.Config()
	if err != nil {
		into.Problem = err.Error()
		return
	}
	config, err := runtimeaccess.Cluster(ctx, s.WithWatch, hub, s.Kyma)
	if err != nil {
		into.Problem = err.Error()
		return
	}
	clusterfacts.Read(ctx, config, list, into)
}

// neededBy returns the modules of the Kyma that need the module, and whether they accept the version.
func (s *subject) neededBy() []dependent {
	var all []dependent
	graph := s.Graph()
	for _, name := range graph.Dependents(s.module) {
		for _, one := range requirements.On(s.Requires(name, s.requiring(name)), s.module) {
			accepts := requirements.Accepts([]requirements.Requirement{one}, s.module, s.version)
			all = append(all, dependent{Module: name, Version: one.Version, Accepts: accepts})
		}
	}
	return all
}

// requiring returns the version of a module whose requirements count: the installed one, or else the one that the spec leads to.
func (s *subject) requiring(name string) string {
	if installed := s.InstalledVersion(name); installed != "" {
		return installed
	}
	return s.Version(&s.Asked, name)
}

func (d *requirementsDocument) document() console.Document {
	made := console.Document{
		Data: *d,
		Columns: []console.Column{
			{Name: "RELATION"}, {Name: "WHAT"}, {Name: "STATE"}, {Name: "HAVE"}, {Name: "MESSAGE", Wide: true},
		},
		Empty: d.Module + " " + d.Version + " needs nothing, and nothing needs it.",
	}
	for _, one := range d.Items {
		state := string(one.State)
		if d.Kyma == "" {
			state = ""
		}
		made.Rows = append(made.Rows, []string{"needs", one.String(), state, one.Have, one.Message})
	}
	for _, one := range d.NeededBy {
		what, state := "module "+one.Module, "Ready"
		if one.Version != "" {
			what += " (needs " + one.Version + ")"
		}
		if !one.Accepts {
			state = "WouldBreak"
		}
		made.Rows = append(made.Rows, []string{"needed by", what, state, "", ""})
	}
	return made
}

// lacks reports whether something in the Kyma is not as the version needs it, or would break.
func (d *requirementsDocument) lacks() bool {
	missing := d.Kyma != "" && slices.ContainsFunc(d.Items, func(one kymaedit.Required) bool {
		return one.State != kymaedit.MetReady && one.State != kymaedit.MetUnknown
	})
	return missing || slices.ContainsFunc(d.NeededBy, func(one dependent) bool { return !one.Accepts })
}
