package rolloutcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/rolloutedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/rollouts"
)

// decision changes a rollout in memory.
type decision func(*v1beta2.ModuleRollout, *v1beta2.ModuleReleaseMeta, rollouts.Request) (rollouts.Outcome, error)

func pause(c *call) *cobra.Command {
	command := &cobra.Command{
		Use:     "pause NAME",
		Short:   "Pause a rollout: no further Kyma gets the version",
		Long:    "Upgrades that have begun continue. It concerns all channels of the rollout, and lasts until kyma rollout resume.",
		Example: "  kyma rollout pause eventing\n  kyma rollout pause eventing --wait=false -o json",
	}
	return c.deciding(command, func(r *v1beta2.ModuleRollout, _ *v1beta2.ModuleReleaseMeta, _ rollouts.Request) (rollouts.Outcome, error) {
		return rollouts.Pause(r), nil
	})
}

func resume(c *call) *cobra.Command {
	command := &cobra.Command{
		Use:   "resume NAME",
		Short: "Let a paused or halted rollout go on",
		Long: "It ends a pause. A rollout that has halted goes on, and forgives the Kymas that have failed so far: kyma rollout status shows\n" +
			"which these are. Where several channels have halted, --channel names one.",
		Example: "  kyma rollout resume eventing\n  kyma rollout resume eventing --channel regular",
	}
	c.channelFlag(command, "the channel that has halted")
	return c.deciding(command, rollouts.Resume)
}

func approve(c *call) *cobra.Command {
	command := &cobra.Command{
		Use:   "approve NAME",
		Short: "Let the wave begin that waits for approval",
		Long: "It approves the wave that waits, for the version that it waits with, and no other. A wave without a Kyma that can become ready\n" +
			"passes. With --wave it is refused where another wave waits.",
		Example: "  kyma rollout approve eventing\n  kyma rollout approve eventing --wave rest\n" +
			"  kyma rollout approve eventing --channel regular",
	}
	c.channelFlag(command, "the channel whose wave waits")
	command.Flags().StringVar(&c.wave, "wave", "", "the wave that is meant; it is refused where another one waits")
	_ = command.RegisterFlagCompletionFunc("wave", c.completeWaves)
	return c.deciding(command, rollouts.Approve)
}

// deciding adds what all commands have in common that decide.
func (c *call) deciding(command *cobra.Command, decide decision) *cobra.Command {
	command.Args, command.ValidArgsFunction = named(true), c.completeRollouts
	command.RunE = func(command *cobra.Command, args []string) error {
		return c.runDecision(command.Context(), args[0], decide)
	}
	flags := command.Flags()
	flags.StringVar(&c.dryRun, "dry-run", string(kymaedit.DryRunNone),
		"none, client (show what would change) or server (let the API server check it too)")
	flags.BoolVar(&c.wait, "wait", true, "wait until the lifecycle manager has taken it up")
	flags.DurationVar(&c.timeout, "timeout", time.Minute, "how long to wait; a timeout is a failure")
	c.outputFlag(command, "how to write what changed", console.Table, console.JSON, console.YAML, console.Name)
	return command
}

// item is one thing that a command changed, or found as requested.
type item struct {
	Name    string          `json:"name"`
	Action  kymaedit.Action `json:"action"`
	Channel string          `json:"channel,omitempty"`
	Version string          `json:"version,omitempty"`
	Wave    string          `json:"wave,omitempty"`
	DryRun  string          `json:"dryRun,omitempty"`
}

type changeList struct {
	console.Versioned
	Items []item `json:"items"`
}

func (c *call) checked() error {
	switch kymaedit.DryRun(c.dryRun) {
	case kymaedit.DryRunNone, kymaedit.DryRunClient, kymaedit.DryRunServer:
	default:
		return console.Usage("--dry-run=%s is unknown", c.dryRun).With("use one of none, client and server")
	}
	if c.timeout < 0 || c.wait && c.timeout == 0 {
		return console.Usage("--timeout=%s is not positive", c.timeout).With("--wait=false does not wait")
	}
	return nil
}

func (c *call) dry() bool { return kymaedit.DryRun(c.dryRun) != kymaedit.DryRunNone }

// runDecision writes a decision and waits until the lifecycle manager has taken it up.
func (c *call) runDecision(ctx context.Context, name string, decide decision) error {
	cluster, found, person, err := c.open(ctx, name)
	if err != nil {
		return err
	}
	written, done, err := c.decide(ctx, cluster, found, person, decide)
	if err != nil {
		return err
	}
	if err := c.print([]item{c.item(written.Name, done)}); err != nil {
		return err
	}
	return c.taken(ctx, cluster, written, done)
}

// open returns the cluster, the rollout with a name, and who decides.
func (c *call) open(
	ctx context.Context, name string,
) (cluster client.WithWatch, found *v1beta2.ModuleRollout, person rollouts.Person, err error) {
	if err := c.checked(); err != nil {
		return nil, nil, person, err
	}
	if cluster, err = c.target.Client(); err != nil {
		return nil, nil, person, err
	}
	if _, found, err = c.find(ctx, cluster, name); err != nil {
		return nil, nil, person, err
	}
	return cluster, found, rolloutedit.PersonOf(ctx, cluster, c.target.UserName(), c.now()), ctx.Err()
}

// decide writes a decision, bound to the version of the rollout that it was made from.
func (c *call) decide(
	ctx context.Context, cluster client.Client, found *v1beta2.ModuleRollout, person rollouts.Person, decide decision,
) (*v1beta2.ModuleRollout, rollouts.Outcome, error) {
	key := client.ObjectKeyFromObject(found)
	written, done, err := rolloutedit.Decide(ctx, cluster, key, kymaedit.DryRun(c.dryRun),
		func(r *v1beta2.ModuleRollout, release *v1beta2.ModuleReleaseMeta) (rollouts.Outcome, error) {
			return decide(r, release, rollouts.Request{Channel: c.channel, Wave: c.wave, Person: person})
		})
	switch {
	case apierrors.IsNotFound(err):
		return nil, done, console.NotFound("the ModuleRollout %s is gone", key)
	case apierrors.IsForbidden(err):
		return nil, done, (&console.Failure{Code: console.CodeError, Err: fmt.Errorf("you may not change ModuleRollout %s: %w", key, err)}).
			With("ask for the right to get and patch modulerollouts.operator.kyma-project.io in its namespace")
	case err != nil:
		return nil, done, judged(err)
	}
	if done.Done == "" && done.Back == nil {
		c.console.Sayf("Nothing changed: %s.", done.Why)
	}
	return written, done, nil
}

// judged gives an error of package rollouts an exit code and a hint.
func judged(err error) error {
	var refused *rollouts.RefusedError
	var choice *rollouts.ChoiceError
	var unknown *rollouts.UnknownChannelError
	switch {
	case errors.As(err, &refused):
		return (&console.Failure{Code: console.CodeError, Err: err}).With("%s", refused.Remedy)
	case errors.As(err, &choice):
		return console.Usage("%w", err).With("name one by --channel")
	case errors.As(err, &unknown):
		return console.NotFound("%w", err).Known("channels", kymaedit.Similar(unknown.Channel, unknown.Channels), unknown.Channels)
	}
	return err
}

func (c *call) item(name string, done rollouts.Outcome) item {
	version, _, _ := strings.Cut(done.Target, "@")
	made := item{
		Name: "modulerollout/" + name, Action: kymaedit.Unchanged, Channel: done.Channel, Version: version, Wave: done.Wave,
	}
	if done.Done != "" {
		made.Action = kymaedit.Action(done.Done)
	}
	return made
}

// print writes what changed.
func (c *call) print(items []item) error {
	document := console.Document{
		Columns: []console.Column{{Name: "NAME"}, {Name: "ACTION"}, {Name: "CHANNEL"}, {Name: "VERSION"}, {Name: "WAVE"}},
	}
	for i := range items {
		action := string(items[i].Action)
		if c.dry() && items[i].Action != kymaedit.Unchanged {
			items[i].DryRun = c.dryRun
			action += " (dry run)"
		}
		document.Rows = append(document.Rows, []string{items[i].Name, action, items[i].Channel, items[i].Version, items[i].Wave})
		document.Names = append(document.Names, items[i].Name)
	}
	document.Data = changeList{console.Kind("ChangeList"), items}
	return c.console.Print(c.output.Format, document)
}

// taken waits until the lifecycle manager has taken up a change, unless there is none or waiting is disabled.
func (c *call) taken(ctx context.Context, cluster client.WithWatch, written *v1beta2.ModuleRollout, done rollouts.Outcome) error {
	if !c.wait || c.dry() || done.Done == "" {
		return nil
	}
	return c.awaitObserved(ctx, cluster, written)
}
