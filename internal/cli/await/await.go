package await

import (
	"context"
	"errors"

	"sigs.k8s.io/controller-runtime/pkg/client"

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
	return ended(outcome, ask, progress.Cut())
}

// ended returns the error of an outcome. Why a module failed stands in its line above already; it is said again where that was cut.
func ended(outcome follow.Outcome, ask follow.Ask, again bool) error {
	end, why, _ := outcome.End()
	if !again {
		why = outcome.Standing()
	}
	switch end {
	case follow.Failed:
		return &console.Failure{Code: console.CodeError, Err: errors.New(why)}
	case follow.Warned:
		return &console.Failure{Code: console.CodeWarning, Err: errors.New(why)}
	case follow.Open:
		return console.TimedOut("%s after %s", why, ask.Timeout).
			With("it goes on without you: kyma status shows how it stands, --timeout waits longer")
	case follow.Done:
	}
	return nil
}

// Gone waits until objects are gone and shows every line on standard error.
func Gone(ctx context.Context, c *console.Console, cluster client.WithWatch, objects []follow.Object) error {
	progress := c.Progress()
	defer progress.End()
	return follow.AwaitGone(ctx, cluster, objects, func(line follow.Line) {
		progress.Set(line.Key, string(line.State), line.Text)
	})
}
