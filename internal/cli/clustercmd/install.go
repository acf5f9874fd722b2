package clustercmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/managerinstall"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
)

// change is an object in the output of installations.
type change struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	Action    string `json:"action"`
	Message   string `json:"message,omitempty"`
}

type changeList struct {
	console.Versioned
	Items []change `json:"items"`
}

// installing holds the flags of install, and those of check with the same meaning.
type installing struct {
	options      managerinstall.Options
	controlPlane bool
}

func (i *installing) addFlags(flags *pflag.FlagSet, r Release) {
	flags.BoolVar(&i.options.SingleCluster, "single-cluster", false,
		"for a cluster that is hub and runtime: Kymas in every namespace install into it")
	flags.BoolVar(&i.controlPlane, "control-plane", false, "for a hub whose modules go into other clusters (this is the default)")
	r.addFlags(flags, &i.options, "image of the manager, such as registry.example.com/lifecycle-manager:1.0.0")
	flags.StringVar(&i.options.Registry, "registry", "",
		"registry of the modules' components: host[:port], with http:// in front where it speaks no TLS")
	flags.StringSliceVar(&i.options.Parts, "with", nil, "add parts: "+strings.Join(managerinstall.Parts, ", "))
	flags.StringArrayVar(&i.options.Arguments, "manager-arg", nil, "one more argument for the manager, such as --manager-arg=--log-level=2")
}

// check returns an error for flags that are invalid or exclude each other.
func (i *installing) check() error {
	if i.controlPlane && i.options.SingleCluster {
		return console.Usage("--single-cluster and --control-plane exclude each other").With("leave one of them out")
	}
	if err := i.options.Check(); err != nil {
		return console.Usage("%w", err)
	}
	return nil
}

// install returns the command `kyma install`.
func (h *host) install() *cobra.Command {
	var flags installing
	var export, wait bool
	var timeout time.Duration
	var allow []string
	dryRun := &console.Formats{Format: "none", Allowed: []console.Format{"none", "client", "server"}}
	output := console.OutputFlag()
	command := &cobra.Command{
		Use:   "install",
		Short: "Install the lifecycle manager into the current cluster, or upgrade it",
		Long: "Brings the definitions, the rights and the Deployment of the manager. They are part of this program: nothing is downloaded. An " +
			"inventory is kept in the cluster, so that the same again changes nothing and kyma uninstall takes everything away.",
		Example: "  kyma install --registry registry.example.com --image registry.example.com/lifecycle-manager:1.0.0\n" +
			"  kyma install --single-cluster --registry http://registry.local:5000 --wait=false\n" +
			"  kyma install --dry-run=server\n  kyma install --export > lifecycle-manager.yaml",
		Args:              arguments(0, 0, ""),
		ValidArgsFunction: noFiles,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			if export {
				text, err := managerinstall.Export(flags.options)
				if err == nil {
					_, err = h.console.Out.Write(text)
				}
				return err
			}
			return h.bring(command.Context(), flags.options, bringing{
				dryRun: string(dryRun.Format), output: output.Format, allow: allow, wait: patience(wait, timeout),
			})
		},
	}
	flags.addFlags(command.Flags(), h.release)
	command.Flags().BoolVar(&export, "export", false, "print what would be installed, as YAML, and install nothing")
	command.Flags().BoolVar(&wait, "wait", true, "wait until the manager runs")
	command.Flags().DurationVar(&timeout, "timeout", defaultTimeout, "how long to wait")
	command.Flags().StringSliceVar(&allow, "allow-crd-change", nil, "rules of the safety check of definitions that an upgrade may break")
	command.Flags().Var(dryRun, "dry-run",
		"only print what would change, without the cluster (client) or checked by it (server): none|client|server")
	command.Flags().VarP(output, "output", "o", "how to write it: "+output.Words())
	return command
}

// bringing holds the options of an installation.
type bringing struct {
	dryRun string
	output console.Format
	allow  []string
	wait   time.Duration
}

// bring installs, or prints what would change.
func (h *host) bring(ctx context.Context, options managerinstall.Options, how bringing) error {
	objects, err := managerinstall.Render(options)
	if err != nil {
		return err
	}
	if how.dryRun == "client" {
		var changes []change
		for _, object := range objects {
			changes = append(changes, change{Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName(), Action: "Declared"})
		}
		return h.console.Print(how.output, changesOf(changes))
	}
	config, err := h.target.Config()
	if err != nil {
		return err
	}
	installation := managerinstall.Installation{Config: config, Objects: objects, AllowCRDChanges: how.allow, Wait: how.wait}
	if how.dryRun == "server" {
		differences, err := managerinstall.Diff(ctx, installation)
		if err != nil {
			return err
		}
		return h.console.Print(how.output, changesOf(planned(differences)))
	}
	if options.Registry == "" && !slices.ContainsFunc(options.Arguments, namesRegistry) {
		h.console.Sayf("Warning: the manager does not start without a registry: set --registry, or --manager-arg=--oci-registry-cred-secret=NAME")
	}
	if err := h.sayCluster(); err != nil {
		return err
	}
	report, err := managerinstall.Install(ctx, installation)
	if err != nil {
		return explainInstall(report, err)
	}
	if err := h.console.Print(how.output, changesOf(done(report))); err != nil {
		return err
	}
	if how.wait > 0 && !report.Ready {
		return console.TimedOut("the lifecycle manager does not run after %s: %s", how.wait, report.Message).With("kyma check shows more")
	}
	return nil
}

func namesRegistry(argument string) bool {
	return strings.HasPrefix(argument, "--oci-registry-host") || strings.HasPrefix(argument, "--oci-registry-cred-secret")
}

// explainInstall adds a hint on what to do.
func explainInstall(report installer.Report, err error) error {
	failure := &console.Failure{Code: console.CodeError, Err: fmt.Errorf("cannot install the lifecycle manager: %w", err)}
	if report.Reason == installer.ReasonCRDChangeRefused {
		return failure.With("--allow-crd-change RULE permits it, where you know that no object breaks")
	}
	return failure
}

// done returns the objects of a report, changed ones first.
func done(report installer.Report) []change {
	var changes []change
	for _, o := range report.Objects {
		action := string(o.Action)
		if action == "" {
			action = string(apply.Unchanged)
		}
		changes = append(changes, change{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, Action: action, Message: o.Message})
	}
	return changes
}

func planned(differences []apply.Difference) []change {
	var changes []change
	for _, d := range differences {
		c := change{Kind: d.ID.Kind, Namespace: d.ID.Namespace, Name: d.ID.Name, Action: string(d.Change), Message: d.Note}
		if d.Err != nil {
			c.Message = d.Err.Error()
		}
		for _, field := range d.Fields {
			c.Message = strings.TrimPrefix(c.Message+", "+field.Path, ", ")
		}
		changes = append(changes, c)
	}
	return changes
}

func changesOf(changes []change) console.Document {
	d := console.Document{
		Data: changeList{console.Kind("ChangeList"), append([]change{}, changes...)},
		Columns: []console.Column{
			{Name: "KIND"}, {Name: "NAMESPACE", Wide: true}, {Name: "NAME"}, {Name: "ACTION", State: true}, {Name: "MESSAGE"},
		},
		Empty: "Nothing to do.",
	}
	for _, c := range changes {
		d.Rows = append(d.Rows, []string{c.Kind, c.Namespace, c.Name, c.Action, c.Message})
		d.Names = append(d.Names, strings.ToLower(c.Kind)+"/"+c.Name)
	}
	return d
}

// uninstall returns the command `kyma uninstall`.
func (h *host) uninstall() *cobra.Command {
	var cascade bool
	var timeout time.Duration
	output := console.OutputFlag()
	command := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the lifecycle manager from the current cluster",
		Long: "Removes what kyma install brought. As long as there are Kymas, KymaReleases, Manifests, ModuleTemplates, " +
			"ModuleReleaseMetas or ModuleRollouts nothing is removed, because they would go with their definitions. " +
			"--cascade deletes them first, and with the " +
			"Kymas their modules.",
		Example:           "  kyma uninstall\n  kyma uninstall --cascade --yes",
		Args:              arguments(0, 0, ""),
		ValidArgsFunction: noFiles,
		RunE: func(command *cobra.Command, _ []string) error {
			return h.remove(command.Context(), cascade, timeout, output.Format)
		},
	}
	command.Flags().BoolVar(&cascade, "cascade", false, "delete Kymas, with their modules, and everything else of our kinds first")
	command.Flags().DurationVar(&timeout, "timeout", defaultTimeout, "how long to wait until everything is gone")
	command.Flags().VarP(output, "output", "o", "how to write it: "+output.Words())
	return command
}

func (h *host) remove(ctx context.Context, cascade bool, timeout time.Duration, format console.Format) error {
	config, err := h.target.Config()
	if err != nil {
		return err
	}
	client, err := h.target.Client()
	if err != nil {
		return err
	}
	if err := h.sayCluster(); err != nil {
		return err
	}
	if cascade {
		objects, err := managerinstall.Objects(ctx, client)
		if err != nil {
			return err
		}
		if len(objects) > 0 {
			for _, left := range objects {
				h.console.Sayf("Will be deleted: %s", left)
			}
			const question = "Delete them, the modules of the Kymas, and the lifecycle manager?"
			if err := h.console.Confirm(ctx, "deleting all of that from "+config.Host, question); err != nil {
				return err
			}
		}
	}
	progress := h.console.Progress()
	report, err := managerinstall.Uninstall(ctx, managerinstall.Removal{
		Config: config, Client: client, Cascade: cascade, Wait: timeout, Report: progress.Set,
	})
	progress.End()
	if used := (*managerinstall.InUseError)(nil); errors.As(err, &used) && !cascade {
		return (&console.Failure{Code: console.CodeError, Err: err}).With("delete them first, or use --cascade")
	}
	if err != nil {
		return err
	}
	if err := h.console.Print(format, changesOf(done(report))); err != nil {
		return err
	}
	if !report.Ready {
		return console.TimedOut("not everything is gone after %s: %s", timeout, report.Message)
	}
	return nil
}
