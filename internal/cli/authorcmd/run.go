package authorcmd

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// trial is the output of run for programs.
type trial struct {
	console.Versioned
	Module  string        `json:"module"`
	Version string        `json:"version,omitempty"`
	State   string        `json:"state"`
	Reason  string        `json:"reason,omitempty"`
	Message string        `json:"message,omitempty"`
	Changed bool          `json:"changed"`
	Items   []trialObject `json:"items"`
}

type trialObject struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Action    string `json:"action,omitempty"`
	Health    string `json:"health,omitempty"`
	Message   string `json:"message,omitempty"`
}

func (a *author) run() *cobra.Command {
	var s sources
	var wait, cleanup, defaultCR bool
	var timeout time.Duration
	output := console.OutputFlag(console.Table, console.Wide, console.JSON, console.YAML)
	command := &cobra.Command{
		Use:   "run [DIR]",
		Short: "Try a module directory in the cluster, without a registry",
		Long: "run installs a module from its directory into the cluster of the kubeconfig, with its default CR, " +
			"and waits until it runs. Change a file\n" +
			"and run it again: what changed is updated, what you dropped is removed. --cleanup takes everything down. A module that a Kyma\n" +
			"manages is refused.",
		Example: "  kyma module run notes\n  kyma module run notes --cleanup",
		Args:    cobra.MaximumNArgs(1),
	}
	flags := command.Flags()
	s.addConfig(flags)
	flags.BoolVar(&cleanup, "cleanup", false, "take down what run brought, with all that was made with the module")
	flags.BoolVar(&defaultCR, "default-cr", true, "create the default CR")
	flags.BoolVar(&wait, "wait", true, "wait until it runs, or is gone")
	flags.DurationVar(&timeout, "timeout", 5*time.Minute, "how long to wait")
	flags.VarP(output, "output", "o", "how to write it: "+output.Words())
	command.RunE = func(command *cobra.Command, args []string) error {
		file, err := s.configFile(args)
		if err != nil {
			return err
		}
		source, err := a.load(command.Context(), file)
		if err != nil {
			return err
		}
		if !wait {
			timeout = 0
		}
		where, err := a.target.Where()
		if err != nil {
			return err
		}
		a.console.Sayf("Cluster: %s", where)
		progress := a.console.Progress()
		report, err := a.tried(command.Context(), source, cleanup, defaultCR, timeout, func(o installer.ObjectReport) {
			progress.Set(o.Kind+"/"+o.Name, trialState(o), o.Message)
		})
		progress.End()
		return a.printTrial(output.Format, source, &report, err, timeout)
	}
	return command
}

// trialState returns one word about an object.
func trialState(o installer.ObjectReport) string {
	if o.Health != "" {
		return string(o.Health)
	}
	return string(o.Action)
}

// tried installs or removes a module.
func (a *author) tried(
	ctx context.Context, source *packaging.Source, cleanup, defaultCR bool, wait time.Duration, progress func(installer.ObjectReport),
) (report directinstall.Report, err error) {
	config, err := a.target.Config()
	if err != nil {
		return report, err
	}
	if cleanup {
		return directinstall.CleanUp(ctx, directinstall.Removal{
			Config: config, Module: source.Config.ModuleName(), Wait: wait, Progress: progress,
		})
	}
	template, err := source.Template(ctx, "")
	if err != nil {
		return report, err
	}
	content, err := source.Installable()
	if err != nil {
		return report, fmt.Errorf("%s: %w", source.ManifestFile, err)
	}
	return directinstall.Run(ctx, directinstall.Plan{
		Config: config, Template: template, Sources: []installer.Source{content},
		DefaultCR: defaultCR && template.Spec.Data != nil, Wait: wait, Progress: progress,
	})
}

func (a *author) printTrial(
	format console.Format, source *packaging.Source, report *directinstall.Report, err error, waited time.Duration,
) error {
	data := trial{
		Versioned: console.Kind("ModuleRun"), Module: source.Config.ModuleName(), Version: source.Config.Version,
		State: string(report.State), Reason: report.Reason, Message: report.Message, Changed: report.Changed, Items: []trialObject{},
	}
	document := console.Document{Columns: []console.Column{
		{Name: "KIND"}, {Name: "NAMESPACE"}, {Name: "NAME"}, {Name: "ACTION"}, {Name: "HEALTH", State: true}, {Name: "MESSAGE", Wide: true},
	}}
	for i := range report.Objects {
		o := &report.Objects[i]
		row := trialObject{
			Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Action: string(o.Action), Health: string(o.Health), Message: o.Message,
		}
		data.Items = append(data.Items, row)
		document.Rows = append(document.Rows, []string{row.Kind, row.Namespace, row.Name, row.Action, row.Health, row.Message})
	}
	document.Data = data
	if len(report.Objects) > 0 || err == nil {
		if printing := a.console.Print(format, document); printing != nil {
			return printing
		}
	}
	switch {
	case directinstall.ReasonOf(err) == directinstall.ReasonNotInstalled:
		return console.NotFound("%w", err)
	case err != nil:
		return err
	case !report.Ready && waited > 0:
		return console.TimedOut("%s is %s after %s: %s", data.Module, data.State, waited, data.Message)
	}
	a.console.Sayf("%s %s: %s", data.Module, data.Version, data.State)
	return nil
}
