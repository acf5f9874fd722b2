package editcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
)

// managing is one call of `kyma manage` or `kyma unmanage`.
type managing struct {
	*change
	policy  string
	managed bool
}

func manage(c *change) *cobra.Command {
	m := &managing{change: c, managed: true}
	command := &cobra.Command{
		Use:     "manage NAME...",
		Short:   "Let the lifecycle manager manage modules again",
		Example: "  kyma manage notes\n  kyma manage notes --policy Ignore",
		RunE:    func(command *cobra.Command, args []string) error { return m.run(command.Context(), args) },
	}
	m.prepare(command)
	return command
}

func unmanage(c *change) *cobra.Command {
	m := &managing{change: c}
	command := &cobra.Command{
		Use:     "unmanage NAME...",
		Short:   "Stop managing modules: what runs stays, without upgrades and repairs",
		Example: "  kyma unmanage notes\n  kyma unmanage notes beacon --yes",
		RunE:    func(command *cobra.Command, args []string) error { return m.run(command.Context(), args) },
	}
	m.prepare(command)
	return command
}

func (m *managing) prepare(command *cobra.Command) {
	command.Args = names(1, -1, "NAME")
	command.ValidArgsFunction = m.completeEnabled
	m.flags(command)
	command.Flags().StringVar(&m.policy, "policy", "", "customResourcePolicy: CreateAndDelete or Ignore (default: as it is)")
	_ = command.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions(policies, nothing))
}

func (m *managing) run(ctx context.Context, args []string) error {
	if m.policy != "" && !slices.Contains(policies, m.policy) {
		return console.Usage("--policy=%s is unknown", m.policy).With("use CreateAndDelete or Ignore")
	}
	s, err := m.open(ctx)
	if err != nil {
		return err
	}
	if err := s.Load(ctx, s); err != nil {
		return err
	}
	for _, name := range args {
		if kymaedit.Entry(&s.Asked, name) == nil {
			return m.absent(s, name, slices.Contains(m.directThere(ctx, s), name))
		}
	}
	if !m.managed && !m.dry() {
		modules := strings.Join(args, ", ")
		question := fmt.Sprintf("Stop managing %s in Kyma %s? What runs stays, and is neither upgraded nor repaired.", modules, s.Key())
		if err := m.console.Confirm(ctx, fmt.Sprintf("no longer managing %s in Kyma %s", modules, s.Key()), question); err != nil {
			return err
		}
	}
	done, err := m.apply(ctx, s, func(kyma *v1beta2.Kyma) (changes []kymaedit.Change, err error) {
		for _, name := range args {
			changes = append(changes, kymaedit.Manage(&kyma.Spec, name, m.managed, v1beta2.CustomResourcePolicy(m.policy)))
		}
		return changes, nil
	})
	if err != nil {
		return err
	}
	var wants []waitfor.Expectation
	for _, name := range args {
		wants = append(wants, waitfor.Expectation{Module: name, Managed: m.managed, Unmanaged: !m.managed})
	}
	return m.follow(ctx, s, done.After, wants)
}
