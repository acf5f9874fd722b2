package editcmd

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/await"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
)

// kymas returns the group `kyma kyma`; package getcmd adds list and get.
func kymas(c *console.Console, t *target.Target) *cobra.Command {
	command := &cobra.Command{Use: "kyma", Short: "Kymas: the clusters that have modules"}
	call := func() *change { return &change{console: c, target: t} }
	command.AddCommand(create(call()), connect(call()), disconnect(call()), setChannel(call()), setRelease(call()))
	return command
}

// creating is one call of `kyma kyma create`.
type creating struct {
	*change
	channel                                           string
	modules                                           []string
	local, beta, internal, modulesOnly, ignoreWindows bool
}

func create(c *change) *cobra.Command {
	k := &creating{change: c}
	command := &cobra.Command{
		Use:   "create NAME",
		Short: "Create a Kyma",
		Long: "Creates a Kyma in the namespace of --namespace, or in " + v1beta2.DefaultNamespace + ". Its modules go to the cluster\n" +
			"that kyma kyma connect gives access to or, with --local, to the Kyma's own cluster.",
		Example: "  kyma kyma create demo --module notes --module beacon:fast\n" +
			"  kyma kyma create here --local\n" +
			"  kyma kyma create demo --dry-run=client -o yaml",
		Args: names(1, 1, "NAME"),
		RunE: func(command *cobra.Command, args []string) error { return k.run(command.Context(), args[0]) },
	}
	c.flags(command)
	flags := command.Flags()
	flags.StringVarP(&k.channel, "channel", "c", v1beta2.DefaultChannel, "channel of its modules")
	flags.StringArrayVar(&k.modules, "module", nil, "module to have, as NAME, NAME@VERSION or NAME:CHANNEL; may be repeated")
	flags.BoolVar(&k.local, "local", false, "its modules go to the cluster that it lives in; cannot be changed later")
	flags.BoolVar(&k.beta, "beta", false, "show it beta modules")
	flags.BoolVar(&k.internal, "internal", false, "show it internal modules")
	flags.BoolVar(&k.modulesOnly, "modules-only", false, "put nothing but modules into its cluster: no Kyma and no catalog")
	flags.BoolVar(&k.ignoreWindows, "skip-maintenance-windows", false, "upgrades with downtime start at once")
	_ = flags.MarkHidden("kyma")
	return command
}

func (k *creating) run(ctx context.Context, name string) error {
	kyma, err := k.wanted(name)
	if err != nil {
		return err
	}
	cluster, err := k.target.Client()
	if err != nil {
		return err
	}
	s := &session{cluster, kymaedit.StandOf(kyma)}
	if err := s.Load(ctx, s); err != nil {
		return err
	}
	for _, module := range kyma.Spec.Modules {
		wish := kymaedit.ModuleRequest{Name: module.Name, Channel: module.Channel, Version: module.Version}
		if err := s.check(&v1beta2.KymaSpec{Channel: kyma.Spec.Channel}, wish); err != nil {
			return err
		}
	}
	action, err := k.write(ctx, s)
	if err != nil {
		return err
	}
	i := item{Name: "kyma/" + s.Key().String(), Kyma: s.Key().String(), Action: action, Channel: kyma.Spec.Channel}
	if k.dry() {
		i.DryRun = k.dryRun
	}
	if err := k.print([]item{i}); err != nil {
		return err
	}
	if !k.wait || k.dry() {
		return nil
	}
	return k.ready(ctx, s)
}

// ready waits, unless there is nothing to wait for: a Kyma without access to its cluster.
func (k *creating) ready(ctx context.Context, s *session) error {
	if !k.local {
		var secrets metav1.PartialObjectMetadataList
		secrets.SetGroupVersionKind(secretKind.GroupVersion().WithKind("SecretList"))
		labelled := client.MatchingLabels{v1beta2.LabelKymaName: s.Kyma.Name}
		if err := s.List(ctx, &secrets, client.InNamespace(s.Kyma.Namespace), labelled); err == nil && len(secrets.Items) == 0 {
			k.console.Sayf("Nothing leads to its cluster yet: kyma kyma connect %s --runtime KUBECONFIG does.", s.Kyma.Name)
			return nil
		}
	}
	return k.awaitKyma(ctx, s, s.Kyma.Generation)
}

// awaitKyma waits until a whole Kyma is ready.
func (c *change) awaitKyma(ctx context.Context, s *session, generation int64) error {
	return await.Follow(ctx, c.console, s.WithWatch, waitfor.Options{
		Kyma: s.Key(), Generation: generation, Timeout: c.timeout, Again: c.again,
	})
}

// wanted returns the Kyma that the flags describe.
func (k *creating) wanted(name string) (*v1beta2.Kyma, error) {
	if err := k.checked(); err != nil {
		return nil, err
	}
	namespace, explicit, err := k.target.Namespace()
	if err != nil {
		return nil, err
	}
	if before, after, cut := strings.Cut(name, "/"); cut {
		namespace, name = before, after
	} else if !explicit {
		namespace = v1beta2.DefaultNamespace
	}
	if !kymaedit.IsChannel(k.channel) {
		return nil, console.Usage("--channel=%s is not a channel", k.channel).With("a channel is 3 to 32 lower-case letters, such as regular")
	}
	asked, err := wishes(k.modules, "")
	if err != nil {
		return nil, err
	}
	remote := !k.local
	kyma := &v1beta2.Kyma{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: k.labels()},
		Spec:       v1beta2.KymaSpec{Channel: k.channel, Remote: &remote, SkipMaintenanceWindows: k.ignoreWindows},
	}
	for _, wish := range asked {
		kymaedit.Enable(&kyma.Spec, wish)
	}
	return kyma, nil
}

func (k *creating) labels() map[string]string {
	labels := map[string]string{}
	for label, on := range map[string]bool{v1beta2.LabelBeta: k.beta, v1beta2.LabelInternal: k.internal} {
		if on {
			labels[label] = v1beta2.EnabledValue
		}
	}
	if k.modulesOnly {
		labels[v1beta2.LabelSync] = "false"
	}
	return labels
}

// write creates the Kyma. An equal one that exists is accepted.
func (k *creating) write(ctx context.Context, s *session) (kymaedit.Action, error) {
	namespace := s.Kyma.Namespace
	action, err := kymaedit.Create(ctx, s, s.Kyma, kymaedit.DryRun(k.dryRun))
	if exists, is := errors.AsType[*kymaedit.ExistsError](err); is {
		return "", (&console.Failure{Code: console.CodeError, Err: exists}).With("kyma add and kyma kyma set-channel change it")
	}
	if apierrors.IsNotFound(err) {
		return "", console.NotFound("there is no namespace %s, or the lifecycle manager is not installed: %w", namespace, err).
			With("kyma install puts it there")
	}
	return action, err
}

func setChannel(c *change) *cobra.Command {
	command := &cobra.Command{
		Use:   "set-channel [NAME] CHANNEL",
		Short: "Set the channel of a Kyma",
		Long: "Sets the channel that the modules of a Kyma follow unless they name another one. --selector, --state, --on-channel,\n" +
			"--with-module and --all-kymas select many Kymas.",
		Example: "  kyma kyma set-channel fast\n  kyma kyma set-channel demo fast --dry-run=client\n" +
			"  kyma kyma set-channel fast --on-channel regular --selector ring=canary",
		Args: names(1, 2, "[NAME] CHANNEL"),
		ValidArgsFunction: func(command *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
			found, _ := c.completeChannels(command, args, text)
			if len(args) == 0 {
				more, _ := c.target.CompleteKymas(command, args, text)
				found = append(found, more...)
			}
			return found, nothing
		},
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) == 2 && c.kyma == "" {
				c.kyma = args[0]
			}
			return c.runSetChannel(command.Context(), args[len(args)-1])
		},
	}
	c.flags(command)
	c.bulkFlag(command)
	return command
}

func (c *change) runSetChannel(ctx context.Context, channel string) error {
	if !kymaedit.IsChannel(channel) {
		return console.Usage("%q is not a channel", channel).With("a channel is 3 to 32 lower-case letters, such as regular")
	}
	many, err := c.many()
	switch {
	case err != nil:
		return err
	case many:
		return c.setChannelBulk(ctx, channel)
	}
	s, err := c.open(ctx)
	if err != nil {
		return err
	}
	if err := s.Load(ctx, s); err != nil {
		return err
	}
	if err := s.mayFollow(channel); err != nil {
		return err
	}
	done, err := c.apply(ctx, s, func(kyma *v1beta2.Kyma) ([]kymaedit.Change, error) {
		return []kymaedit.Change{kymaedit.SetChannel(&kyma.Spec, channel)}, nil
	})
	if err != nil || !c.wait || c.dry() {
		return err
	}
	return c.awaitKyma(ctx, s, done.After.Generation)
}
