package await

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
)

// Follow waits as waitfor.Wait does and shows every line on standard error. The error has the exit code: none for Ready, 1 for Error, 2
// for Warning, 3 for a timeout, 130 for an interruption.
func Follow(ctx context.Context, c *console.Console, cluster client.WithWatch, ask waitfor.Options) error {
	progress := c.Progress()
	outcome, err := waitfor.Wait(ctx, cluster, ask, func(line waitfor.Progress) {
		progress.Set(line.Key, string(line.State), line.Text)
	})
	progress.End()
	if err != nil {
		return err
	}
	return ended(outcome, ask, progress.Cut())
}

// ended returns the error of an outcome. The reason of a failure is in its line above; it is printed again if that line was cut.
func ended(outcome waitfor.Outcome, ask waitfor.Options, again bool) error {
	end, why, _ := outcome.End()
	if !again {
		why = outcome.Summary()
	}
	switch end {
	case waitfor.Failed:
		return &console.Failure{Code: console.CodeError, Err: errors.New(why)}
	case waitfor.Warned:
		return &console.Failure{Code: console.CodeWarning, Err: errors.New(why)}
	case waitfor.Open:
		return console.TimedOut("%s after %s", why, ask.Timeout).
			With("it continues in the background: kyma status shows its state, --timeout waits longer")
	case waitfor.Done:
	}
	return nil
}

// Gone waits until objects are gone and shows every line on standard error.
func Gone(ctx context.Context, c *console.Console, cluster client.WithWatch, objects []waitfor.Object) error {
	progress := c.Progress()
	defer progress.End()
	return waitfor.AwaitGone(ctx, cluster, objects, func(line waitfor.Progress) {
		progress.Set(line.Key, string(line.State), line.Text)
	})
}
