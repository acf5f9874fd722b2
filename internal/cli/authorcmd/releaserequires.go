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

// satisfiable refuses a version that no Kyma could install which follows its channel, since what it needs is not offered, and one with
// which no Kyma could install what another module offers there. --force offers it anyway. What the place of the release cannot tell is not
// judged.
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
		if err != nil {
			return err
		}
		name := store.meta().Name
		if len(why) > 0 {
			err = a.unlessForced(r, "release that module first", "no Kyma of channel %s could install %s %s: %s",
				move.Channel, name, move.To, strings.Join(why, "; "))
		}
		if err != nil {
			return err
		}
		broken, err := breaking(ctx, store, move)
		if len(broken) > 0 {
			err = a.unlessForced(r, "release a version that works with it first", "with %s %s no Kyma of channel %s could install %s",
				name, move.To, move.Channel, strings.Join(broken, "; "))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unlessForced returns why a version is refused; with --force it is only told.
func (a *author) unlessForced(r *releasing, remedy, format string, values ...any) error {
	if r.force {
		a.console.Sayf("Warning: %s.", fmt.Sprintf(format, values...))
		return nil
	}
	return (&console.Failure{Code: console.CodeError, Err: fmt.Errorf(format, values...)}).
		With("%s; --force offers the version anyway, and Kymas wait", remedy)
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

// breaking returns which versions of other modules a move makes impossible to install. What was impossible before is no reason against it.
func breaking(ctx context.Context, store releases, move packaging.Move) ([]string, error) {
	others, err := store.others(ctx, move.Channel)
	if err != nil {
		return nil, err
	}
	name := store.meta().Name
	var broken []string
	for i := range others {
		needed := requirements.On(modulestatus.Requires(&others[i]), name)
		if requirements.Accepts(needed, name, move.To) || move.From != "" && !requirements.Accepts(needed, name, move.From) {
			continue
		}
		words := make([]string, len(needed))
		for at, one := range needed {
			words[at] = one.String()
		}
		broken = append(broken, others[i].ModuleName()+" "+others[i].ModuleVersion()+", which needs "+strings.Join(words, " and "))
	}
	return broken, nil
}
