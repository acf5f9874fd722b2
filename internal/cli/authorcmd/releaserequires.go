package authorcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/packaging"
	"github.com/kyma-project/lifecycle-manager/pkg/requirements"
)

// satisfiable refuses a version that no Kyma could install which follows its channel, since what it needs is not offered. --force offers it
// all the same. What the place of the release cannot tell is not judged.
func (a *author) satisfiable(ctx context.Context, r *releasing, store releases, moves []packaging.Move) error {
	for _, move := range moves {
		if !move.Changes() {
			continue
		}
		template, err := store.template(ctx, move.To)
		if err != nil {
			return err
		}
		why, err := lacking(ctx, store, move.Channel, modulestatus.Requires(template))
		if err != nil || len(why) == 0 {
			if err != nil {
				return err
			}
			continue
		}
		text := fmt.Sprintf("no Kyma of channel %s could install %s %s: %s", move.Channel, store.meta().Name, move.To, strings.Join(why, "; "))
		if !r.force {
			return (&console.Failure{Code: console.CodeError, Err: fmt.Errorf("%s", text)}).
				With("release that module first; --force offers the version all the same, and Kymas wait")
		}
		a.console.Sayf("Warning: %s.", text)
	}
	return nil
}

// lacking returns why no Kyma of a channel could meet some requirements.
func lacking(ctx context.Context, store releases, channel string, requires []requirements.Requirement) ([]string, error) {
	found := map[string]*v1beta2.ModuleReleaseMeta{}
	for _, module := range requirements.Modules(requires) {
		release, known, err := store.release(ctx, module)
		if err != nil || !known {
			return nil, err
		}
		found[module] = release
	}
	return packaging.Unsatisfiable(channel, requires, func(module string) *v1beta2.ModuleReleaseMeta { return found[module] }), nil
}
