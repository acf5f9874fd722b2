package editcmd

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
)

// goingBack is one call of `kyma rollback`.
type goingBack struct {
	*change
	to        int64
	unvouched bool
}

func rollback(c *change) *cobra.Command {
	g := &goingBack{change: c}
	c.unchanged = func(*session, *v1beta2.KymaSpec, string) string { return "already there" }
	command := &cobra.Command{
		Use:   "rollback NAME",
		Short: "Roll a module back to its previous version",
		Long: "The module gets the last version that succeeded, or that of the revision that --to names; kyma history shows them. The version\n" +
			"that it leaves is avoided until another one is offered, or until kyma retry. Custom resources and definitions stay as they are.\n" +
			"Where the author of that version does not vouch for the way back (rollbackTo of its ModuleTemplate), you type the name of the " +
			"module.\n" +
			"It is for the cluster of the lifecycle manager.",
		Example: "  kyma rollback notes\n" +
			"  kyma rollback notes --to 7\n" +
			"  kyma rollback notes --kyma kcp-system/demo --yes --wait=false",
		Args:              names(1, 1, "NAME"),
		ValidArgsFunction: one(c.completeEnabled),
		RunE:              func(command *cobra.Command, args []string) error { return g.run(command.Context(), args[0]) },
	}
	c.flags(command)
	command.Flags().Int64Var(&g.to, "to", 0, "the revision to go back to (default: the last one that succeeded)")
	command.Flags().BoolVar(&g.unvouched, "unvouched", false, "with --yes: go back although the author does not vouch for it")
	_ = command.RegisterFlagCompletionFunc("to", c.completeRevisions)
	return command
}

func (g *goingBack) run(ctx context.Context, name string) error {
	if g.to < 0 {
		return console.Usage("--to=%d is no revision", g.to).With("kyma history %s shows them", name)
	}
	s, manifest, err := g.openModule(ctx, name)
	if err != nil {
		return err
	}
	way, err := s.FindWayBack(name, manifest, g.to)
	if err != nil {
		return judged(err)
	}
	if !way.Already && !g.dry() {
		if err := g.confirm(ctx, s, name, way); err != nil {
			return err
		}
	}
	g.goes = way.To.Version
	done, err := g.apply(ctx, s, func(kyma *v1beta2.Kyma) ([]kymaedit.Change, error) {
		if way.Already {
			return []kymaedit.Change{{Module: name, Action: kymaedit.Unchanged}}, nil
		}
		return []kymaedit.Change{kymaedit.GoBack(&kyma.Spec, name, way)}, nil
	})
	if err != nil {
		return err
	}
	return g.follow(ctx, s, done.After, []waitfor.Expectation{{Module: name, Version: way.To.Version}})
}

// confirm asks before a module goes back. Without the word of the author of what it leaves, the module's name must be typed.
func (g *goingBack) confirm(ctx context.Context, s *session, name string, way kymaedit.WayBack) error {
	from, _, _ := strings.Cut(way.Avoid, "@")
	deed := fmt.Sprintf("going back from version %s of module %s to %s", from, name, way.To.Version)
	question := fmt.Sprintf("Go back from version %s of module %s to %s in Kyma %s?", from, name, way.To.Version, s.Key())
	if way.Unvouched == "" {
		return g.console.Confirm(ctx, deed, question)
	}
	question += "\nThe author does not vouch for that: " + way.Unvouched + "."
	return g.console.ConfirmTyped(ctx, deed, question, name, "--unvouched --yes", g.unvouched && g.console.Yes)
}

func retry(c *change) *cobra.Command {
	command := &cobra.Command{
		Use:   "retry NAME",
		Short: "Retry the version that a module was rolled back from",
		Long: "A version that a module went back from is held: it does not come again before another one is offered, or its template or\n" +
			"component changes. This releases it once, and removes what kyma rollback wrote. Should it fail again, it is held again.",
		Example:           "  kyma retry notes\n  kyma retry notes --kyma kcp-system/demo --timeout 10m",
		Args:              names(1, 1, "NAME"),
		ValidArgsFunction: one(c.completeEnabled),
		RunE:              func(command *cobra.Command, args []string) error { return c.retry(command.Context(), args[0]) },
	}
	c.flags(command)
	return command
}

func (c *change) retry(ctx context.Context, name string) error {
	s, manifest, err := c.openModule(ctx, name)
	if err != nil {
		return err
	}
	var history []v1beta2.Revision
	if manifest != nil {
		history = manifest.Status.Revisions
	}
	done, err := c.apply(ctx, s, func(kyma *v1beta2.Kyma) ([]kymaedit.Change, error) {
		change := kymaedit.Retry(&kyma.Spec, name, history)
		if change.Action == kymaedit.Unchanged {
			return nil, judged(&kymaedit.NothingHeldError{Module: name})
		}
		return []kymaedit.Change{change}, nil
	})
	if err != nil {
		return err
	}
	return c.follow(ctx, s, done.After, []waitfor.Expectation{{Module: name, Version: s.Version(&done.spec, name)}})
}

// openModule opens the Kyma, its catalog, and the Manifest of one of its modules, nil when it has none. It is for the lifecycle manager's
// cluster: a runtime has no Manifests, and its Kyma cannot name what is avoided.
func (c *change) openModule(ctx context.Context, name string) (*session, *v1beta2.Manifest, error) {
	s, err := c.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	if modulestatus.IsCopy(s.Kyma) {
		return nil, nil, console.Usage("Kyma %s is the one that the user of a runtime edits: this is for the cluster of the lifecycle manager",
			s.Key()).With("ask there, or choose another channel")
	}
	if err := s.Load(ctx, s); err != nil {
		return nil, nil, err
	}
	if !s.Has(name) {
		return nil, nil, c.absent(s, name, slices.Contains(c.directThere(ctx, s), name))
	}
	manifests, err := s.manifests(ctx)
	return s, manifests[name], err
}

// completeRevisions completes the revisions of a module, with their versions.
func (c *change) completeRevisions(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	s, err := c.open(command.Context())
	if err != nil || len(args) == 0 {
		return nil, nothing
	}
	manifests, err := s.manifests(command.Context())
	manifest := manifests[args[0]]
	if err != nil || manifest == nil {
		return nil, nothing
	}
	var found []string
	for _, r := range manifest.Status.Revisions {
		if revision.KeyOf(r) != revision.Of(&manifest.Spec) {
			found = append(found, strconv.FormatInt(r.Number, 10)+"\t"+r.Version)
		}
	}
	return found, nothing
}

// one completes the first argument only.
func one(complete cobra.CompletionFunc) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, text string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, nothing
		}
		return complete(command, args, text)
	}
}
