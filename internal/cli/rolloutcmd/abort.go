package rolloutcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/rolloutedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/rollouts"
)

func abort(c *call) *cobra.Command {
	command := &cobra.Command{
		Use:   "abort NAME",
		Short: "End a rollout, and set its channel back to the version before",
		Long: "No further Kyma gets the version, and the channel names the version before again. Kymas that have the new version keep it.\n" +
			"The decision is written first, then the channel: if it is interrupted in between, no further Kyma gets the version, and the same\n" +
			"command completes it.",
		Example: "  kyma rollout abort eventing\n  kyma rollout abort eventing --channel regular --yes\n" +
			"  kyma rollout abort eventing --dry-run=server",
	}
	c.channelFlag(command, "the channel whose rollout ends")
	c.deciding(command, rollouts.Abort)
	command.RunE = func(command *cobra.Command, args []string) error { return c.runAbort(command.Context(), args[0]) }
	return command
}

// runAbort writes the decision first and the channel then: if it is interrupted in between, no Kyma is admitted, and the
// same command heals it.
func (c *call) runAbort(ctx context.Context, name string) error {
	cluster, found, person, err := c.open(ctx, name)
	if err != nil {
		return err
	}
	if err := c.confirmAbort(ctx, cluster, found, person); err != nil {
		return err
	}
	written, done, err := c.decide(ctx, cluster, found, person, rollouts.Abort)
	if err != nil {
		return err
	}
	items := []item{c.item(written.Name, done)}
	set, setErr := c.setBack(ctx, cluster, client.ObjectKeyFromObject(written), done)
	if set != nil {
		items = append(items, *set)
	}
	if err := c.print(items); err != nil {
		return errors.Join(setErr, err)
	}
	if setErr != nil {
		return setErr
	}
	return c.taken(ctx, cluster, written, done)
}

// confirmAbort asks, once it is known what the abort would do. What would change nothing needs no answer.
func (c *call) confirmAbort(
	ctx context.Context, cluster client.Reader, found *v1beta2.ModuleRollout, person rollouts.Person,
) error {
	release := &v1beta2.ModuleReleaseMeta{}
	if err := cluster.Get(ctx, client.ObjectKeyFromObject(found), release); err != nil {
		release = nil // the decision does not need it; writing the channel says why it cannot be read
	}
	done, err := rollouts.Abort(found.DeepCopy(), release, rollouts.Request{Channel: c.channel, Person: person})
	if err != nil {
		return judged(err)
	}
	if c.dry() || done.Done == "" && done.Back == nil {
		return nil
	}
	version, _, _ := strings.Cut(done.Target, "@")
	question := fmt.Sprintf("Abort the rollout of %s %s", found.Name, version)
	if done.Back != nil {
		question += fmt.Sprintf(", and set %s back to %s", channelPhrase(done.Channel), done.Back.To)
	}
	return c.console.Confirm(ctx, "aborting the rollout of "+found.Name+" "+version, question+"? No further Kyma gets it.")
}

func channelPhrase(name string) string {
	if name == "" {
		return "the mandatory module"
	}
	return "channel " + name
}

// setBack writes the channel of an aborted rollout, and returns what changed.
func (c *call) setBack(ctx context.Context, cluster client.Client, key client.ObjectKey, done rollouts.Outcome) (*item, error) {
	version, _, _ := strings.Cut(done.Target, "@")
	if done.Back == nil {
		if done.Target != "" {
			c.console.Sayf("No other version of %s has completed, so that it keeps naming %s: kyma release set %s %s names another one.",
				channelPhrase(done.Channel), version, key.Name, "CHANNEL=VERSION")
		}
		return nil, nil //nolint:nilnil // there is nothing to set back
	}
	changed, err := rolloutedit.SetChannel(ctx, cluster, key, *done.Back, kymaedit.DryRun(c.dryRun))
	var moved *rolloutedit.MovedError
	switch {
	case errors.As(err, &moved):
		c.console.Sayf("The rollout of %s is aborted; %s, so that it stays.", version, moved)
		return nil, nil //nolint:nilnil // another person has set it
	case err != nil:
		return nil, c.halfDone(key, done, err)
	}
	set := item{Name: "modulereleasemeta/" + key.Name, Action: kymaedit.Unchanged, Channel: done.Channel, Version: done.Back.To}
	if changed {
		set.Action = "set back"
	}
	return &set, nil
}

// halfDone returns the error for a decision that is written while the channel is not.
func (c *call) halfDone(key client.ObjectKey, done rollouts.Outcome, err error) error {
	failure := &console.Failure{Code: console.CodeError, Err: fmt.Errorf(
		"the rollout is aborted and no further Kyma gets %s, but %s still names it: %w", done.Back.From, channelPhrase(done.Channel), err)}
	switch {
	case apierrors.IsForbidden(err):
		return failure.With("ask for the right to get and patch modulereleasemetas.operator.kyma-project.io, and repeat the command")
	case apierrors.IsNotFound(err) || meta.IsNoMatchError(err):
		failure.Err = fmt.Errorf("the rollout is aborted; the ModuleReleaseMeta %s is gone, so that nothing offers %s any more",
			key, done.Back.From)
		return failure
	}
	return failure.With("the same command completes it")
}
