package clustercmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/client/managerinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/userfile"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/playground"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/sandbox"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
)

const (
	// managerProgram is the manager's own program.
	managerProgram = "manager"
	sandboxFlag    = "KYMA_SANDBOX"
)

// deploying holds the flags of deploy.
type deploying struct {
	sandbox, manager string
	signatures       string
	components       string
	trust            []string
	kyma, channel    string
	modules          []string
	samples, restart bool
	wait             bool
	timeout          time.Duration
	install          installing
	output           *console.Formats
}

// deploymentDocument is the output of `kyma deploy` for programs.
type deploymentDocument struct {
	console.Versioned
	Sandbox string           `json:"sandbox,omitempty"`
	Manager *sandbox.Manager `json:"manager,omitempty"`
	Items   []deployedKyma   `json:"items"`
}

// deployedKyma is a Kyma of a deployment.
type deployedKyma struct {
	Namespace string        `json:"namespace"`
	Name      string        `json:"name"`
	Cluster   string        `json:"cluster"`
	State     v1beta2.State `json:"state"`
	Modules   string        `json:"modulesReady,omitempty"`
}

// deploy returns the command `kyma deploy`.
func (h *host) deploy() *cobra.Command {
	d := &deploying{output: console.OutputFlag()}
	command := &cobra.Command{
		Use:   "deploy",
		Short: "Bring the lifecycle manager, a sample catalog and a Kyma into a sandbox or the current cluster",
		Long: "In a sandbox the manager runs as a process, with the rights of its ServiceAccount; it is looked for beside this program and in " +
			"bin/ of the checkout. In any other cluster this is kyma install --single-cluster and a Kyma for the cluster itself.\n\n" +
			"Which one: that of --sandbox or " + sandboxFlag + "; else the sandbox whose hub is the current cluster; else, where no kubeconfig " +
			"names a cluster, the only sandbox that runs; else the current cluster.\n\n" +
			"Running it again changes only what the flags request: the policy on signatures can be changed at any time.",
		Example: "  kyma deploy\n  kyma deploy --sandbox demo --signatures enforce --trust release.pub\n" +
			"  kyma deploy --signatures enforce --components 'example.com/.*' --trust release.pub\n" +
			"  kyma deploy --registry http://registry.local:5000 --image registry.local:5000/lifecycle-manager:dev --samples=false",
		Args:              arguments(0, 0, ""),
		ValidArgsFunction: noFiles,
		RunE:              func(command *cobra.Command, _ []string) error { return h.runDeploy(command, d) },
	}
	d.addFlags(command, h.release)
	return command
}

func (d *deploying) addFlags(command *cobra.Command, r Release) {
	flags := command.Flags()
	flags.StringVar(&d.sandbox, "sandbox", os.Getenv(sandboxFlag), "name of the sandbox")
	flags.StringVar(&d.manager, "manager", "",
		"the manager's program, for a sandbox (default: beside this program, or bin/manager of the checkout)")
	flags.StringVar(&d.signatures, "signatures", "", "what is asked of signatures in a sandbox: "+strings.Join(sandbox.Levels, "|")+
		" (default: what was asked before, at first off)")
	flags.StringArrayVar(&d.trust, "trust", nil,
		"file with a public key or a certificate whose signatures count, in PEM; several times for several")
	flags.StringVar(&d.components, "components", "", "regular expression for the names of the components that must be signed (default: all)")
	flags.StringVar(&d.kyma, "kyma", sandbox.DefaultKyma, "name of the Kyma")
	flags.StringVarP(&d.channel, "channel", "c", "regular", "channel of the Kyma")
	flags.StringSliceVar(&d.modules, "modules", nil, "modules of the Kyma, when it is made")
	flags.BoolVar(&d.samples, "samples", true, "publish and offer the sample modules")
	flags.BoolVar(&d.restart, "restart", false, "restart a manager that runs already in the sandbox, such as a new build")
	flags.BoolVar(&d.wait, "wait", true, "wait until the Kyma is Ready")
	flags.DurationVar(&d.timeout, "timeout", defaultTimeout, "how long to wait")
	r.addFlags(flags, &d.install.options, "image of the manager, for a cluster that is no sandbox")
	flags.StringVar(&d.install.options.Registry, "registry", "", "registry of the modules, for a cluster that is no sandbox")
	flags.VarP(d.output, "output", "o", "how to write it: "+d.output.Words())
	for name, complete := range map[string]func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective){
		"sandbox": completeSandboxes, "signatures": oneOf(sandbox.Levels...), "channel": oneOf("regular", "fast"),
		"modules": noFiles, "kyma": noFiles,
	} {
		_ = command.RegisterFlagCompletionFunc(name, complete) // fails for flags that do not exist only
	}
}

func (h *host) runDeploy(command *cobra.Command, d *deploying) error {
	policy, err := d.policy(command)
	if err != nil {
		return err
	}
	s, err := h.where(d.sandbox)
	if err != nil {
		return err
	}
	if s != nil {
		return h.deploySandbox(command.Context(), s, d, policy)
	}
	if policy != nil || d.manager != "" || d.restart {
		return console.Usage("--signatures, --trust, --components, --manager and --restart are for sandboxes, and the current cluster is none").
			With("docs/spec/signatures.md describes signatures in other clusters")
	}
	return h.deployCluster(command.Context(), d)
}

// policy returns the requirements for signatures; nil if no flag sets them.
func (d *deploying) policy(command *cobra.Command) (*sandbox.Policy, error) {
	if !command.Flags().Changed("signatures") {
		if len(d.trust) > 0 || d.components != "" {
			return nil, console.Usage("--trust and --components have no effect without --signatures").With("set --signatures enforce or audit")
		}
		return nil, nil
	}
	p := &sandbox.Policy{Level: d.signatures, Components: d.components}
	for _, path := range d.trust {
		data, err := userfile.Read(command.Context(), path)
		if err != nil {
			return nil, console.Usage("--trust: %w", err)
		}
		p.Trust = append(p.Trust, data)
	}
	if err := p.Check(); err != nil {
		return nil, console.Usage("%w", err).With("--signatures off requires none; --trust FILE names the trusted key")
	}
	return p, nil
}

// where returns the sandbox to deploy to; nil means the current cluster. The rules are in the help text.
func (h *host) where(name string) (*sandbox.Sandbox, error) {
	if name != "" {
		return runningSandbox(name)
	}
	config, err := h.target.Config()
	if errors.Is(err, target.ErrNoCluster) {
		return runningSandbox("")
	}
	if err != nil {
		return nil, err
	}
	all, err := sandboxes()
	if err != nil {
		return nil, err
	}
	return sandbox.Owner(all, config.Host), nil
}

// deploySandbox installs definitions and RBAC rules into the hub, and leaves the rest to the sandbox.
func (h *host) deploySandbox(ctx context.Context, s *sandbox.Sandbox, d *deploying, policy *sandbox.Policy) error {
	order, err := d.order()
	if err != nil {
		return err
	}
	config, err := s.HubConfig()
	if err != nil {
		return err
	}
	hub, err := target.Of(config).Client()
	if err != nil {
		return err
	}
	objects, err := managerinstall.Render(managerinstall.Options{SingleCluster: true})
	if err != nil {
		return err
	}
	progress := h.console.Progress()
	defer progress.End()
	progress.Set("CRDs and RBAC", "Installing", "")
	report, err := managerinstall.Install(ctx, managerinstall.Installation{
		Config: config, Objects: playground.WithoutPods(objects), Wait: d.timeout,
	})
	if err != nil {
		return explainInstall(report, err)
	}
	progress.Set("CRDs and RBAC", "Ready", "")
	err = s.Deploy(ctx, hub, sandbox.Deployment{
		Order: order, Policy: policy, Samples: d.samples, Kyma: d.kyma, Channel: d.channel, Modules: d.modules, Wait: patience(d.wait, d.timeout),
	}, progress.Set)
	if err != nil {
		return explainDeploy(err)
	}
	progress.End()
	clusters := map[string]string{}
	for i, runtime := range s.Runtimes {
		clusters[kymaName(d.kyma, i)] = runtime.Name
	}
	document := deploymentDocument{Versioned: console.Kind("Deployment"), Sandbox: s.Name}
	if now, err := runningSandbox(s.Name); err == nil {
		document.Manager = now.Manager
	}
	return h.tell(ctx, hub, d, document, clusters)
}

// kymaName returns the name of the Kyma of the runtime with that index.
func kymaName(name string, index int) string {
	if index == 0 {
		return name
	}
	return fmt.Sprintf("%s-%d", name, index+1)
}

// explainDeploy gives the error of a Kyma that did not become Ready an exit code.
func explainDeploy(err error) error {
	if late := (*sandbox.NotReadyError)(nil); errors.As(err, &late) && errors.Is(err, context.DeadlineExceeded) {
		return console.TimedOut("Kyma %s is not Ready in time", late.Kyma).With("kyma status shows more; --timeout waits longer")
	}
	return err
}

// order returns the programs to run.
func (d *deploying) order() (sandbox.StartRequest, error) {
	var candidates []string
	if d.manager != "" {
		candidates = []string{d.manager}
	} else {
		if self, err := os.Executable(); err == nil {
			candidates = append(candidates, filepath.Join(filepath.Dir(self), managerProgram))
		}
		if root, err := localcluster.Root(); err == nil {
			candidates = append(candidates, filepath.Join(root, "bin", managerProgram))
		}
	}
	i := slices.IndexFunc(candidates, isFile)
	if i < 0 {
		return sandbox.StartRequest{}, (&console.Failure{Code: console.CodeError, Err: fmt.Errorf(
			"there is no program of the manager: looked for %s", strings.Join(candidates, " and "))}).
			With("make build-playground builds it in a checkout; --manager names another path")
	}
	program, err := filepath.Abs(candidates[i])
	order := sandbox.StartRequest{Program: program, Restart: d.restart}
	if folder := filepath.Dir(program); playground.HasOperators(folder) {
		order.Operators = folder
	}
	return order, err
}

// deployCluster installs the manager into the current cluster, with a Kyma for the cluster itself.
func (h *host) deployCluster(ctx context.Context, d *deploying) error {
	d.install.options.SingleCluster = true
	if err := d.install.check(); err != nil {
		return err
	}
	if d.install.options.Registry == "" {
		return console.Usage("the current cluster is no sandbox, and --registry is missing").
			With("set --registry and --image, or --sandbox NAME; kyma provision list shows the sandboxes")
	}
	config, err := h.target.Config()
	if err != nil {
		return err
	}
	question := "Install the lifecycle manager and a Kyma into " + config.Host + "?"
	if err := h.console.Confirm(ctx, "installing into "+config.Host, question); err != nil {
		return err
	}
	hub, err := h.target.Client()
	if err != nil {
		return err
	}
	objects, err := managerinstall.Render(d.install.options)
	if err != nil {
		return err
	}
	progress := h.console.Progress()
	defer progress.End()
	progress.Set("manager", "Installing", d.install.options.Reference())
	report, err := managerinstall.Install(ctx, managerinstall.Installation{
		Config: config, Objects: objects, Wait: patience(d.wait, d.timeout),
	})
	if err != nil {
		return explainInstall(report, err)
	}
	progress.Set("manager", string(report.State), report.Message)
	if err := d.offer(ctx, hub, progress); err != nil {
		return err
	}
	key, err := d.localKyma(ctx, hub)
	if err != nil {
		return err
	}
	if d.wait {
		waiting, cancel := context.WithTimeout(ctx, d.timeout)
		defer cancel()
		if err := sandbox.AwaitReady(waiting, hub, key, progress.Set); err != nil {
			return explainDeploy(err)
		}
	}
	progress.End()
	return h.tell(ctx, hub, d, deploymentDocument{Versioned: console.Kind("Deployment")}, map[string]string{d.kyma: config.Host})
}

// offer publishes and offers the sample modules in a cluster that is no sandbox.
func (d *deploying) offer(ctx context.Context, hub client.Client, progress *console.Progress) error {
	if !d.samples {
		return nil
	}
	host, plain := strings.CutPrefix(d.install.options.Registry, "http://")
	registry := component.Registry{Host: strings.TrimPrefix(host, "https://"), PlainHTTP: plain}
	progress.Set("catalog", "Publishing", "the sample modules in "+host)
	if err := playground.PublishModules(ctx, registry, nil); err != nil {
		return (&console.Failure{Code: console.CodeError, Err: err}).With("--samples=false leaves the sample modules out")
	}
	offers, err := playground.Offers()
	if err != nil {
		return err
	}
	for _, offer := range offers {
		if err := create(ctx, hub, offer); err != nil {
			return err
		}
	}
	progress.Set("catalog", "Ready", "")
	return nil
}

// localKyma creates a Kyma for the cluster itself.
func (d *deploying) localKyma(ctx context.Context, hub client.Client) (client.ObjectKey, error) {
	local := false
	kyma := &v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: d.kyma},
		Spec:       v1beta2.KymaSpec{Channel: d.channel, Remote: &local},
	}
	for _, name := range d.modules {
		kyma.Spec.Modules = append(kyma.Spec.Modules, v1beta2.Module{Name: name})
	}
	return client.ObjectKeyFromObject(kyma), create(ctx, hub, kyma)
}
