package editcmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/valueflags"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// adding is one call of `kyma add`.
type adding struct {
	*change
	channel   string
	policy    string
	defaultCR bool
	crFile    string
	direct    directFlags
	// required is flag --with-requirements.
	required bool
	// adopt is flag --adopt.
	adopt  bool
	values valueflags.Flags

	cr *unstructured.Unstructured
}

func add(c *change) *cobra.Command {
	a := &adding{change: c}
	command := &cobra.Command{
		Use:     "add NAME[@VERSION|:CHANNEL]...",
		Aliases: []string{"enable"},
		Short:   "Enable modules",
		Long: "Enables modules in a Kyma; the lifecycle manager installs and upgrades them. NAME follows the Kyma's channel,\n" +
			"NAME:CHANNEL another one, NAME@VERSION stays at a version. What is there already stays as it is,\n" +
			"unless requested otherwise. A module that needs others which the Kyma does not have waits for them; --with-requirements\n" +
			"adds them, too.\n\n" +
			"--values and --set write values for the chart of a module into the Kyma. As with helm upgrade, they take the place of those that\n" +
			"were given before.\n\n" +
			"With --community, or --unmanaged, modules are installed directly, and only you upgrade them.\n\n" +
			"--selector, --state, --on-channel, --with-module and --all-kymas select many Kymas: what would change is counted and asked first,\n" +
			"and the same command again does only what is left.\n\n" +
			"With --adopt, a module changes hands while it runs: a Kyma takes over what is installed directly, and a direct installation what\n" +
			"kubectl, Helm or a Kyma installed and let go of. --dry-run shows what changes in each object.",
		Example: "  kyma add notes\n" +
			"  kyma add notes:fast beacon@1.2.0 --kyma kcp-system/demo\n" +
			"  kyma add notes --policy Ignore --wait=false\n" +
			"  kyma add notes --with-requirements --upgrade-strategy Manual\n" +
			"  kyma add notes --values values.yaml --set size=3\n" +
			"  kyma add docker-registry@0.15.0 --community --template docker-registry-0.15.0.yaml\n" +
			"  kyma add notes --selector ring=canary --dry-run=client\n" +
			"  kyma add notes --adopt --dry-run=client\n" +
			"  kyma add notes --unmanaged --adopt",
		Args:              names(1, -1, "NAME[@VERSION|:CHANNEL]"),
		ValidArgsFunction: c.completeWishes,
		RunE:              func(command *cobra.Command, args []string) error { return a.run(command.Context(), args) },
	}
	c.flags(command)
	c.bulkFlag(command)
	flags := command.Flags()
	flags.StringVarP(&a.channel, "channel", "c", "", "channel of the modules that name neither channel nor version")
	flags.StringVar(&a.policy, "policy", "",
		"customResourcePolicy: CreateAndDelete or Ignore (default: as it is, CreateAndDelete for a new module)")
	c.strategyFlag(command)
	flags.BoolVar(&a.required, "with-requirements", false, "add the modules that these need and the Kyma does not have, too")
	flags.BoolVar(&a.adopt, "adopt", false, "take over what runs already: what is installed directly or, directly, what nothing owns")
	a.values.Add(flags, "for the chart of the module, in place of those in the Kyma")
	flags.BoolVar(&a.defaultCR, "default-cr", false, "create the default custom resource: the same as --policy CreateAndDelete")
	flags.StringVar(&a.crFile, "cr", "", "file with a custom resource to create in place of the default one")
	flags.Bool("default-config-cr", false, "")
	flags.StringVar(&a.crFile, "config-cr-path", "", "")
	_ = flags.MarkHidden("default-config-cr")
	_ = flags.MarkHidden("config-cr-path")
	a.direct.add(flags)
	_ = command.RegisterFlagCompletionFunc("channel", c.completeChannels)
	_ = command.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions(policies, nothing))
	command.PreRunE = func(command *cobra.Command, _ []string) error {
		old, err := command.Flags().GetBool("default-config-cr")
		a.defaultCR = a.defaultCR || old
		return err
	}
	return command
}

var policies = []string{string(v1beta2.CustomResourcePolicyCreateAndDelete), string(v1beta2.CustomResourcePolicyIgnore)}

func (a *adding) run(ctx context.Context, args []string) error {
	asked, err := a.wanted(ctx, args)
	if err != nil {
		return err
	}
	many, err := a.many()
	switch {
	case err != nil:
		return err
	case many:
		return a.runBulk(ctx, asked)
	case a.direct.isSet():
		return a.direct.install(ctx, a, asked)
	}
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	if err := s.Load(ctx, s); err != nil {
		return err
	}
	installed := a.directThere(ctx, s)
	for _, wish := range asked {
		if err := mayAdd(ctx, s, wish, !a.adopt && slices.Contains(installed, wish.Name)); err != nil {
			return err
		}
	}
	if a.cr != nil && !s.Here() {
		return console.Usage("--cr: the modules of Kyma %s are in another cluster", s.Key()).
			With("create the custom resource there, and use --policy Ignore here")
	}
	asked, waiting, err := a.withRequirements(ctx, s, asked)
	if err != nil {
		return err
	}
	if err := a.handOver(ctx, s, asked, installed); err != nil {
		return err
	}
	done, err := a.apply(ctx, s, s.enable(asked))
	if err != nil {
		return err
	}
	a.remark(done)
	wants := slices.DeleteFunc(running(&done.spec, done.changes), func(want waitfor.Expectation) bool { return waiting[want.Module] != "" })
	if err := a.follow(ctx, s, done.After, wants); err != nil {
		return err
	}
	if err := a.left(waiting); err != nil {
		return err
	}
	return a.createCR(ctx, s)
}

// enable returns the edit that adds modules to the Kyma.
func (s *session) enable(asked []kymaedit.ModuleRequest) editor {
	return func(kyma *v1beta2.Kyma) (changes []kymaedit.Change, err error) {
		for _, wish := range asked {
			if err := s.check(&kyma.Spec, wish); err != nil {
				return nil, err
			}
			changes = append(changes, kymaedit.Enable(&kyma.Spec, wish))
			if problem := kymaedit.RefusedValues(kyma, wish); problem != "" {
				return nil, fmt.Errorf("values for module %s cannot be used: %s", wish.Name, problem)
			}
		}
		return changes, nil
	}
}

// wanted evaluates arguments and flags.
func (a *adding) wanted(ctx context.Context, args []string) ([]kymaedit.ModuleRequest, error) {
	if err := a.checkFlags(args); err != nil {
		return nil, err
	}
	policy := v1beta2.CustomResourcePolicy(a.policy)
	switch {
	case a.crFile != "":
		policy = v1beta2.CustomResourcePolicyIgnore
	case a.defaultCR:
		policy = v1beta2.CustomResourcePolicyCreateAndDelete
	}
	asked, err := wishes(args, a.channel)
	if err != nil {
		return nil, err
	}
	values, err := a.readValues(ctx)
	if err != nil {
		return nil, err
	}
	for i := range asked {
		asked[i].Policy, asked[i].Strategy, asked[i].Values = policy, v1beta2.UpgradeStrategy(a.strategy), values
	}
	if a.crFile != "" {
		a.cr, err = oneObject(ctx, a.console.In, a.crFile)
	}
	return asked, err
}

// readValues returns the values that flags give; nil without any.
func (a *adding) readValues(ctx context.Context) (*runtime.RawExtension, error) {
	if !a.values.IsSet() {
		return nil, nil
	}
	values, err := a.values.Read(ctx)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	raw := &runtime.RawExtension{Raw: text}
	if problem := module.ValuesProblem(raw); problem != "" {
		return nil, fmt.Errorf("%s cannot be used: %s", a.values.Names(), problem)
	}
	return raw, nil
}

// checkFlags refuses flags that have no such value, and those that exclude each other.
func (a *adding) checkFlags(args []string) error {
	if a.channel != "" && !kymaedit.IsChannel(a.channel) {
		return console.Usage("--channel=%s is not a channel", a.channel).With("a channel is 3 to 32 lower-case letters, such as regular")
	}
	if a.policy != "" && !slices.Contains(policies, a.policy) {
		return console.Usage("--policy=%s is unknown", a.policy).With("use CreateAndDelete or Ignore")
	}
	if err := a.checkStrategy(); err != nil {
		return err
	}
	policy := v1beta2.CustomResourcePolicy(a.policy)
	switch {
	case a.values.IsSet() && (a.direct.isSet() || len(args) > 1):
		return console.Usage("%s: values are for one module of a Kyma", a.values.Names())
	case a.required && a.direct.isSet():
		return console.Usage("--with-requirements is for modules of a Kyma")
	case a.strategy != "" && a.direct.isSet():
		return console.Usage("--upgrade-strategy is for modules of a Kyma: only you upgrade a module that is installed directly")
	case a.crFile != "" && (a.defaultCR || policy == v1beta2.CustomResourcePolicyCreateAndDelete):
		return console.Usage("--cr and the default custom resource exclude each other")
	case a.defaultCR && policy == v1beta2.CustomResourcePolicyIgnore:
		return console.Usage("--default-cr and --policy Ignore exclude each other")
	case a.crFile != "" && len(args) > 1:
		return console.Usage("--cr is for one module, not for %d", len(args))
	}
	return nil
}

// mayAdd decides by the flowchart of package modulestatus whether a module may be added to the Kyma.
func mayAdd(ctx context.Context, s *session, wish kymaedit.ModuleRequest, isDirect bool) error {
	return admitted(s.MayAdd(wish, isDirect, func() bool { return kymaedit.Community(ctx, s, wish.Name) }))
}

// admitted returns the error of a decision against a module.
func admitted(way modulestatus.InstallMethod, why string, err error) error {
	if way != modulestatus.ViaKyma && why != "" {
		return &console.Failure{Code: console.CodeError, Err: errors.New(why)}
	}
	return judged(err)
}

// remark prints a hint if the result may be unexpected.
func (a *adding) remark(done applied) {
	for _, change := range done.changes {
		if entry := kymaedit.Entry(&done.spec, change.Module); entry != nil && !kymaedit.IsManaged(entry) {
			a.console.Sayf("%s is not managed (managed: false): kyma manage %s changes that.", change.Module, change.Module)
		}
		if gone := kymaedit.LostValues(done.Before, done.After, change.Module); len(gone) > 0 {
			a.console.Sayf("%s: these values take the place of those that the Kyma had. No longer set: %s.", change.Module,
				console.OneLine(strings.Join(gone, ", ")))
		}
	}
}
