package dashcmd

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/registryauth"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/operations"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/server"
	"github.com/kyma-project/lifecycle-manager/internal/dashboard/server/assets"
)

// dashboard is one call of `kyma dashboard`.
type dashboard struct {
	console *console.Console
	target  *target.Target

	port           int
	open           bool
	privateSources bool
	inCluster      bool
	cluster        clusterFlags
	registry       string
	signatures     string
	login          registryauth.Options
	// opener opens a file in the browser, for tests.
	opener func(path string) error
}

// Commands returns the verbs of this package, for the root command. version is that of kyma, empty for builds from a checkout.
func Commands(c *console.Console, t *target.Target, version string) []*cobra.Command {
	d := &dashboard{console: c, target: t, opener: openFile}
	command := &cobra.Command{
		Use:   "dashboard",
		Short: "Show modules in the browser, and install, upgrade and delete them there",
		Long: "Serves the dashboard on this machine, for you alone: it listens on loopback, works with your kubeconfig, and lets in who\n" +
			"has the code in the link that it prints. It runs until Ctrl-C.\n\n" +
			"With --in-cluster it is what config/components/dashboard runs: users log in with a token, or at an identity provider.",
		Example: "  kyma dashboard\n  kyma dashboard --open\n  kyma dashboard --port 8080 --context staging",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if d.inCluster {
				return d.runInCluster(command.Context(), version)
			}
			return d.runHere(command.Context(), version)
		},
	}
	flags := command.Flags()
	flags.IntVar(&d.port, "port", 0, "port on loopback; 0 takes a free one")
	flags.BoolVar(&d.open, "open", false, "open the link in the browser")
	flags.BoolVar(&d.privateSources, "allow-private-catalogs", false, "let catalogs of community modules be at private and loopback addresses")
	flags.BoolVar(&d.inCluster, "in-cluster", false, "run in a cluster, where users log in")
	flags.StringVar(&d.registry, "registry", "",
		"registry with the modules' components: [oci://|http://]HOST[:PORT][/PATH] (default: the one that the lifecycle manager reads)")
	d.login.AddFlagsFor(flags, "registry-")
	console.AddSignaturesFile(flags, &d.signatures)
	d.cluster.add(flags)
	return []*cobra.Command{command}
}

// runHere serves on loopback with the kubeconfig of the caller.
func (d *dashboard) runHere(ctx context.Context, version string) error {
	if err := d.cluster.unused(); err != nil {
		return err
	}
	if d.port < 0 || d.port > 65535 {
		return console.Usage("--port is %d: give one from 0 to 65535", d.port)
	}
	options, err := d.options(ctx, server.ModeLocal, version)
	if err != nil {
		return err
	}
	collectOften()
	server, err := server.New(options)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(d.port)))
	if err != nil {
		return fmt.Errorf("cannot listen on port %d: %w; set another --port, or 0 for a free one", d.port, err)
	}
	link := "http://" + listener.Addr().String() + "/#code=" + server.Code()
	// The link is data: it goes to standard output, and nothing else does.
	fmt.Fprintln(d.console.Out, link)
	d.console.Sayf("The dashboard of %s runs until Ctrl-C. The link is enough to get in.", options.Cluster)
	if d.open {
		closed, err := openLink(link, d.opener)
		if err != nil {
			d.console.Sayf("Warning: the browser cannot be opened: %v", err)
		}
		defer closed()
	}
	return server.Run(ctx, listener)
}

// options returns the options of a dashboard on this machine.
func (d *dashboard) options(ctx context.Context, mode server.Mode, version string) (server.Options, error) {
	config, err := d.target.Config()
	if err != nil {
		return server.Options{}, err
	}
	options := server.Options{
		Mode: mode, Config: config, Cluster: config.Host, Version: cmp.Or(version, "dev"), Assets: assets.Files(),
	}
	if namespace, _, err := d.target.Namespace(); err == nil && namespace != "" {
		options.Namespaces = []string{namespace}
	}
	options.Tasks, err = d.tasks(ctx, &options)
	return options, err
}

// tasks returns the engine that carries out operations. It reads registries with the logins of the user who started the dashboard.
func (d *dashboard) tasks(ctx context.Context, options *server.Options) (*operations.Engine, error) {
	signatures, err := console.ReadSignatures(d.signatures, options.Log)
	if err != nil {
		return nil, err
	}
	go func() {
		if err := signatures.Start(ctx); err != nil {
			options.Log.Error(err, "The signatures file is not followed: restart the dashboard after a change of it")
		}
	}()
	access, err := d.login.Access(d.console.In, d.registry)
	if err != nil {
		return nil, console.Usage("%w", err)
	}
	options.AllowPrivate = d.privateSources
	options.Contents = func(hub versioncontent.Place) *versioncontent.Loader {
		return &versioncontent.Loader{Access: directinstall.Access(access), Registry: strings.TrimPrefix(d.registry, "oci://"), Hub: hub}
	}
	registry := d.registry
	for _, scheme := range []string{"oci://", "https://", "http://"} {
		registry = strings.TrimPrefix(registry, scheme)
	}
	return operations.New(operations.Options{
		Records: options.Config, Namespace: d.cluster.namespace, Access: directinstall.Access(access), Registry: registry,
		Signatures: signatures.For,
		Catalogs:   communitycatalog.Limits{AllowPrivate: d.privateSources}, Shared: options.Mode == server.ModeCluster, Log: options.Log,
	})
}

// gcPercent makes the collector run twice as often as usual: the dashboard rests most of the time, and what it keeps of a large fleet would
// otherwise take twice its size.
const gcPercent = 50

// collectOften sets gcPercent, unless GOGC says something else.
func collectOften() {
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(gcPercent)
	}
}
