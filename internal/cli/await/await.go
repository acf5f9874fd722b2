package await

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/follow"
)

// Follow waits as follow.Wait does and shows every line on standard error. The error has the exit code: none for Ready, 1 for Error,
// 2 for Warning, 3 for a timeout, 130 when it was interrupted.
func Follow(ctx context.Context, c *console.Console, cluster client.WithWatch, ask follow.Ask) error {
	progress := c.Progress()
	outcome, err := follow.Wait(ctx, cluster, ask, func(line follow.Line) {
		progress.Set(line.Key, string(line.State), line.Text)
	})
	progress.End()
	if err != nil {
		return err
	}
	return Ended(outcome, ask)
}

// Ended is the error of an outcome.
func Ended(outcome follow.Outcome, ask follow.Ask) error {
	switch outcome.State {
	case v1beta2.StateReady, v1beta2.StateUnmanaged, follow.StateGone:
		return nil
	case v1beta2.StateError:
		return &console.Failure{Code: console.CodeError, Err: fmt.Errorf("%s", summary(outcome, v1beta2.StateError))}
	case v1beta2.StateWarning:
		return &console.Failure{Code: console.CodeWarning, Err: fmt.Errorf("%s", summary(outcome, v1beta2.StateWarning))}
	default:
		return console.TimedOut("%s within %s", open(outcome), ask.Timeout).
			With("it goes on without you: kyma status shows how it stands, --timeout waits longer")
	}
}

// summary names the first line in a state and counts the others.
func summary(outcome follow.Outcome, state v1beta2.State) string {
	first, count := follow.Line{}, 0
	for _, line := range outcome.Lines {
		if line.State != state {
			continue
		}
		if count++; count == 1 {
			first = line
		}
	}
	text := fmt.Sprintf("%s is in state %s", first.Key, state)
	if first.Text != "" {
		text += ": " + first.Text
	}
	if count > 1 {
		text += fmt.Sprintf(" (and %d more)", count-1)
	}
	return text
}

// open names the first line that is not as it was asked for.
func open(outcome follow.Outcome) string {
	for _, line := range outcome.Lines {
		switch line.State {
		case v1beta2.StateReady, v1beta2.StateUnmanaged, follow.StateGone:
		default:
			return fmt.Sprintf("%s is still %s", line.Key, line.State)
		}
	}
	return "nothing came"
}

// Gone waits until objects are gone and shows every line on standard error.
func Gone(ctx context.Context, c *console.Console, cluster client.WithWatch, objects []follow.Object) error {
	progress := c.Progress()
	defer progress.End()
	return follow.AwaitGone(ctx, cluster, objects, func(line follow.Line) {
		progress.Set(line.Key, string(line.State), line.Text)
	})
}
