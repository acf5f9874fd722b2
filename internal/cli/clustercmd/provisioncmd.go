package clustercmd

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/sandbox"
)

// superviseWord is the hidden command that runs a supervisor.
const superviseWord = "supervise"

// sandboxList is the output of `kyma provision list` for programs.
type sandboxList struct {
	console.Versioned
	Items []sandbox.Sandbox `json:"items"`
}

// sandboxDocument is the output for one sandbox.
type sandboxDocument struct {
	console.Versioned
	sandbox.Sandbox
}

// newProvisionCommand returns the command `kyma provision`.
func (h *host) newProvisionCommand() *cobra.Command {
	return group(&cobra.Command{
		Use:   "provision",
		Short: "Make clusters and a registry on this machine, list and delete them",
		Long: "A sandbox is a hub, runtimes and a registry on this machine. It stays until it is deleted, several stand side by side, and " +
			"everything listens on loopback. The clusters are real control planes; their nodes only pretend to run pods.\n\n" +
			"A sandbox needs Linux; macOS is not tested. On Windows, use kyma in the Windows Subsystem for Linux, or a cluster of your own.",
	}, h.provisionLocal(), h.provisionList(), h.provisionEnv(), h.provisionDelete(), h.supervise())
}

func (h *host) provisionLocal() *cobra.Command {
	options := sandbox.Options{Name: sandbox.DefaultName}
	nodes := true
	output := console.OutputFlag()
	command := &cobra.Command{
		Use:   "local [NAME]",
		Short: "Make a hub, runtimes and a registry on this machine",
		Long: "The control plane programs come from KUBEBUILDER_ASSETS, or are built by hack/controlplane/build.sh when this is called in a " +
			"checkout, which takes about ten minutes the first time.",
		Example:           "  kyma provision local\n  kyma provision local demo --runtimes 2\n  kyma provision local -o json",
		Args:              arguments(0, 1, "NAME"),
		ValidArgsFunction: noFiles,
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) > 0 {
				options.Name = args[0]
			}
			options.Bare = !nodes
			made, err := h.makeSandbox(command, options)
			if err != nil {
				return err
			}
			if err := h.console.Print(output.Format, documentOf(console.Kind("Sandbox"), *made)); err != nil {
				return err
			}
			h.console.Sayf("\nTo use it: eval \"$(kyma provision env %s)\", then kyma deploy brings the lifecycle manager.", made.Name)
			return nil
		},
	}
	command.Flags().IntVar(&options.Runtimes, "runtimes", 1, "how many clusters there are for modules, beside the hub")
	command.Flags().BoolVar(&nodes, "nodes", true, "give each cluster a node that pretends to run pods; without, it only stores and serves")
	command.Flags().VarP(output, "output", "o", "how to write it: "+output.Words())
	return command
}

// makeSandbox starts a sandbox and shows the progress.
func (h *host) makeSandbox(command *cobra.Command, options sandbox.Options) (*sandbox.Sandbox, error) {
	var err error
	if options.Root, err = sandbox.Root(); err != nil {
		return nil, err
	}
	if err := sandbox.CheckName(options.Name); err != nil {
		return nil, console.Usage("%w", err)
	}
	if options.Runtimes < 1 {
		return nil, console.Usage("--runtimes %d: a sandbox has one at least", options.Runtimes)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	options.Supervisor = []string{self, "provision", superviseWord}
	progress := h.console.Progress()
	made, err := sandbox.Start(command.Context(), options, progress.Set)
	progress.End()
	switch {
	case errors.Is(err, sandbox.ErrTaken):
		return nil, (&console.Failure{Code: console.CodeError, Err: fmt.Errorf("there is a sandbox %s already", options.Name)}).
			With("kyma provision list shows it; kyma provision delete %s removes it", options.Name)
	case err != nil:
		return nil, fmt.Errorf("cannot make sandbox %s: %w", options.Name, err)
	}
	return made, nil
}

func (h *host) provisionList() *cobra.Command {
	output := console.OutputFlag()
	command := &cobra.Command{
		Use:               "list",
		Aliases:           []string{"ls"},
		Short:             "List the sandboxes of this machine, and how to reach what is in them",
		Example:           "  kyma provision list\n  kyma provision list -o wide\n  kyma provision list -o json",
		Args:              arguments(0, 0, ""),
		ValidArgsFunction: noFiles,
		RunE: func(*cobra.Command, []string) error {
			all, err := sandboxes()
			if err != nil {
				return err
			}
			return h.console.Print(output.Format, documentOf(nil, all...))
		},
	}
	command.Flags().VarP(output, "output", "o", "how to write it: "+output.Words())
	return command
}

func sandboxes() ([]sandbox.Sandbox, error) {
	root, err := sandbox.Root()
	if err != nil {
		return nil, err
	}
	return sandbox.List(root)
}

// documentOf returns sandboxes in every format; with a kind, it is about one of them.
func documentOf(one any, all ...sandbox.Sandbox) console.Document {
	d := console.Document{
		Columns: []console.Column{
			{Name: "NAME"}, {Name: "STATE", State: true}, {Name: "RUNTIMES"}, {Name: "REGISTRY"}, {Name: "MANAGER"}, {Name: "KUBECONFIG"},
			{Name: "PROCESS", Wide: true}, {Name: "HUB", Wide: true}, {Name: "FOLDER", Wide: true},
		},
		Empty: "There is no sandbox on this machine: kyma provision local makes one.",
	}
	for _, s := range all {
		manager := "none"
		if s.Manager != nil {
			manager = "process " + strconv.Itoa(s.Manager.Process)
		}
		process := ""
		if s.Process > 0 {
			process = strconv.Itoa(s.Process)
		}
		d.Rows = append(d.Rows, []string{
			s.Name, string(s.State), strconv.Itoa(len(s.Runtimes)), s.Registry.URL, manager, s.Kubeconfig, process, s.Hub.Server, s.Dir,
		})
		d.Names = append(d.Names, "sandbox/"+s.Name)
	}
	if kind, ok := one.(console.Versioned); ok {
		d.Data = sandboxDocument{kind, all[0]}
	} else {
		d.Data = sandboxList{console.Kind("SandboxList"), append([]sandbox.Sandbox{}, all...)}
	}
	return d
}

func (h *host) provisionEnv() *cobra.Command {
	return &cobra.Command{
		Use:   "env [NAME]",
		Short: "Print what a shell has to know to use a sandbox",
		Long: "Prints lines that set KUBECONFIG (all clusters, the hub first), HUB_KUBECONFIG, RUNTIME_KUBECONFIG, REGISTRY and a PATH with a " +
			"kubectl of the clusters' version. Without a name it is about the only sandbox there is.",
		Example:           "  kyma provision env\n  kyma provision env demo",
		Args:              arguments(0, 1, "NAME"),
		ValidArgsFunction: completeSandboxes,
		RunE: func(_ *cobra.Command, args []string) error {
			name := ""
			if len(args) > 0 {
				name = args[0]
			}
			s, err := runningSandbox(name)
			if err == nil {
				_, err = fmt.Fprint(h.console.Out, s.Environment())
			}
			return err
		},
	}
}

// runningSandbox returns the running sandbox of a name, or the only one that runs.
func runningSandbox(name string) (*sandbox.Sandbox, error) {
	all, err := sandboxes()
	if err != nil {
		return nil, err
	}
	var found []sandbox.Sandbox
	for _, s := range all {
		switch {
		case name == s.Name && s.State != sandbox.Running:
			return nil, (&console.Failure{Code: console.CodeError, Err: fmt.Errorf("sandbox %s does not run: it is %s", name, s.State)}).
				With("%s makes it anew", commandFor(name))
		case s.State == sandbox.Running && (name == "" || name == s.Name):
			found = append(found, s)
		}
	}
	switch {
	case len(found) == 1:
		return &found[0], nil
	case len(found) > 1:
		return nil, console.Usage("there are %d sandboxes, and none is named", len(found)).With("kyma provision list shows them; give its name")
	case name != "":
		return nil, console.NotFound("there is no sandbox %s", name).With("%s makes it", commandFor(name))
	}
	return nil, console.NotFound("no sandbox runs on this machine").With("kyma provision local makes one")
}

// commandFor returns the command that makes a sandbox of that name; the usual name is left out.
func commandFor(name string) string {
	if name == sandbox.DefaultName {
		return "kyma provision local"
	}
	return "kyma provision local " + name
}

func (h *host) provisionDelete() *cobra.Command {
	return &cobra.Command{
		Use:               "delete NAME",
		Short:             "End all processes of a sandbox and remove everything of it",
		Long:              "What a sandbox left whose processes were killed is removed in the same way.",
		Example:           "  kyma provision delete local\n  kyma provision delete demo --yes",
		Args:              arguments(1, 1, "NAME"),
		ValidArgsFunction: completeSandboxes,
		RunE: func(command *cobra.Command, args []string) error {
			root, err := sandbox.Root()
			if err != nil {
				return err
			}
			err = sandbox.Delete(command.Context(), root, args[0])
			if errors.Is(err, sandbox.ErrNotFound) || sandbox.CheckName(args[0]) != nil {
				return console.NotFound("there is no sandbox %s", args[0]).With("kyma provision list shows those that there are")
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(h.console.Out, "sandbox/%s deleted\n", args[0])
			return err
		},
	}
}

// completeSandboxes completes the names of sandboxes.
func completeSandboxes(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	all, err := sandboxes()
	if err != nil || len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for i := range all {
		names = append(names, all[i].Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// supervise returns the command that keeps a sandbox alive. It is not for users.
func (h *host) supervise() *cobra.Command {
	return &cobra.Command{
		Use:    superviseWord + " FOLDER",
		Short:  "Keep a sandbox running",
		Hidden: true,
		Args:   arguments(1, 1, "FOLDER"),
		RunE: func(command *cobra.Command, args []string) error {
			return sandbox.Supervise(command.Context(), args[0])
		},
	}
}
