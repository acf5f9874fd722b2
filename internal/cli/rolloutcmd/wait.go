package rolloutcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/await"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/rollouts"
)

// waitCompleted waits until a rollout has completed, or cannot any more.
func (c *call) waitCompleted(ctx context.Context, name string) error {
	cluster, err := c.target.Client()
	if err != nil {
		return err
	}
	var last rollouts.Rollout
	progress := c.console.Progress()
	err = c.until(ctx, cluster, name, func(ctx context.Context) (bool, error) {
		if last, err = c.described(ctx, cluster, name); err != nil {
			return false, err
		}
		c.progress(progress, &last)
		return completed(&last)
	})
	progress.End()
	if errors.Is(err, errTimeout) {
		err = console.TimedOut("rollout %s has not completed after %s: %s", name, c.timeout, firstOpen(&last)).
			With("it goes on: kyma rollout status %s shows how far it is", name)
	}
	if last.Name == "" || c.isText() {
		return err
	}
	return errors.Join(c.printStatus(&last), err)
}

// errTimeout ends a wait.
var errTimeout = errors.New("timeout")

// until looks once, and then after every change of rollouts and releases, until look returns true or an error, or until the timeout. The
// timeout is for the waiting: the first look is not part of it, so that a slow API server leaves no caller without an answer.
func (c *call) until(
	ctx context.Context, cluster client.WithWatch, name string, look func(context.Context) (bool, error),
) error {
	namespace, _, err := c.scope(name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	events, err := await.EventsOrTicks(ctx, cluster, namespace, watched()...)
	if err != nil {
		return err
	}
	if done, err := look(ctx); done || err != nil {
		return err
	}
	bounded := ctx
	if c.timeout > 0 {
		var end context.CancelFunc
		bounded, end = context.WithTimeout(ctx, c.timeout)
		defer end()
	}
	for done := false; err == nil && !done; {
		if err = await.Burst(bounded, events); err == nil {
			done, err = look(bounded)
		}
	}
	if ctx.Err() == nil && errors.Is(bounded.Err(), context.DeadlineExceeded) && err != nil {
		return errTimeout
	}
	return err
}

// progress shows each channel in a line.
func (c *call) progress(lines *console.Progress, r *rollouts.Rollout) {
	if len(r.Channels) == 0 {
		lines.Set("rollout "+r.Name, string(r.Phase), r.Trouble())
	}
	for i := range r.Channels {
		channel := &r.Channels[i]
		ready, total, failed := sums(channel)
		text := fmt.Sprintf("%s, %d of %d ready", channel.To.Version, ready, total)
		if failed > 0 {
			text += fmt.Sprintf(", %d failed", failed)
		}
		if channel.Wave != "" {
			text += ", wave " + channel.Step()
		}
		if channel.WaitsFor != rollouts.ForKymas && channel.WaitsFor != rollouts.ForNothing {
			text += ": " + channel.Message
		}
		lines.Set(channel.Title(), string(channel.Phase), text)
	}
}

// completed reports whether every channel has completed; the error says why one cannot.
func completed(r *rollouts.Rollout) (bool, error) {
	if r.Problem != "" {
		why := fmt.Errorf("rollout %s cannot be carried out: %s", r.Name, console.OneLine(r.Problem))
		return false, &console.Failure{Code: console.CodeError, Err: why}
	}
	if len(r.Channels) == 0 && r.Observed {
		why := fmt.Errorf("rollout %s has nothing to wait for: %s", r.Name, console.OneLine(r.Trouble()))
		return false, &console.Failure{Code: console.CodeError, Err: why}
	}
	all := r.Observed
	for i := range r.Channels {
		channel := &r.Channels[i]
		if channel.Offered != "" {
			all = false
			continue // the status speaks of an earlier version
		}
		word := ended[channel.Phase]
		if word != "" && channel.WaitsFor != rollouts.ForManager {
			why := fmt.Errorf("rollout %s %s on %s: %s", r.Name, word, channel.Title(), console.OneLine(channel.Message))
			return false, (&console.Failure{Code: console.CodeError, Err: why}).
				With("kyma rollout status %s shows which Kymas failed, and what to do", r.Name)
		}
		all = all && channel.Phase == v1beta2.RolloutCompleted
	}
	return all, nil
}

// ended are the phases after which a rollout does not complete by itself, in words.
var ended = map[v1beta2.RolloutPhase]string{
	v1beta2.RolloutHalted: "has halted", v1beta2.RolloutRollingBack: "goes back", v1beta2.RolloutRolledBack: "went back",
	v1beta2.RolloutAborted: "was aborted",
}

// firstOpen returns what the first channel that is not through waits for.
func firstOpen(r *rollouts.Rollout) string {
	for i := range r.Channels {
		if channel := &r.Channels[i]; channel.Phase != v1beta2.RolloutCompleted || channel.Offered != "" {
			return channel.Title() + ": " + console.OneLine(channel.Message)
		}
	}
	if trouble := r.Trouble(); trouble != "" {
		return trouble
	}
	return "the lifecycle manager has not taken up the last change"
}

// awaitObserved waits until the lifecycle manager has taken up a change of a rollout.
func (c *call) awaitObserved(ctx context.Context, cluster client.WithWatch, written *v1beta2.ModuleRollout) error {
	key := client.ObjectKeyFromObject(written)
	err := c.until(ctx, cluster, key.String(), func(ctx context.Context) (bool, error) {
		current := &v1beta2.ModuleRollout{}
		if err := cluster.Get(ctx, key, current); err != nil {
			return false, err
		}
		return current.Status.ObservedGeneration >= written.Generation, nil
	})
	if errors.Is(err, errTimeout) {
		return console.TimedOut("the change of rollout %s is written, and the lifecycle manager has not taken it up after %s",
			key.Name, c.timeout.Round(time.Second)).With("kyma check shows whether the lifecycle manager runs")
	}
	return err
}
