package editcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/asks"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
	"github.com/kyma-project/lifecycle-manager/pkg/permissions"
)

// approving is one call of `kyma approve`.
type approving struct {
	*change
	version string
	all     bool
	reader  asks.Reader
}

// readTime is how long one version may take to be read before a question is asked: the status has a summary.
const readTime = 20 * time.Second

func approve(c *change) *cobra.Command {
	a := &approving{change: c, reader: asks.Reader{Console: c.console, Timeout: readTime}}
	c.unchanged = func(*session, *v1beta2.KymaSpec, string) string { return "already approved" }
	command := &cobra.Command{
		Use:   "approve NAME",
		Short: "Agree to the version of a module that waits for consent",
		Long: "A version waits for consent because the module's upgradeStrategy is Manual, or because the approval policy of the hub asks for\n" +
			"it. This shows what it asks for and the installed version does not, asks, and writes the consent into the Kyma: for this version\n" +
			"and this content only. Hub and runtime agree each for itself; call it where consent is missing. kyma permissions shows all that\n" +
			"a version may do.\n\n" +
			"With --all, or the flags that select Kymas, the users of all of them agree to the same content. It does not wait then.",
		Example: "  kyma approve notes\n" +
			"  kyma approve notes --version 1.1.0 --yes --wait=false\n" +
			"  kyma approve notes --all --selector ring=canary\n" +
			"  kyma approve notes --dry-run=client",
		Args:              names(1, 1, "NAME"),
		ValidArgsFunction: one(c.completePending),
	}
	c.flags(command)
	c.bulkFlag(command)
	flags := command.Flags()
	flags.StringVar(&a.version, "version", "", "the version that may be approved, or VERSION@DIGEST (default: the one that waits)")
	flags.BoolVar(&a.all, "all", false, "agree for all Kymas in which the version waits for your consent")
	a.reader.AddFlags(flags)
	command.RunE = func(command *cobra.Command, args []string) error {
		many, err := a.forMany()
		switch {
		case err != nil:
			return err
		case many:
			return a.runAll(command.Context(), args[0])
		}
		return a.run(command.Context(), args[0])
	}
	return command
}

// forMany reports whether the users of many Kymas agree, and returns what is wrong with the flags.
func (a *approving) forMany() (bool, error) {
	a.bulk.selection.All = a.bulk.selection.All || a.all && !a.bulk.selection.Given()
	many, err := a.many()
	if many && a.waitsForMany() {
		return false, console.Usage("--wait is for one Kyma").With("kyma release status shows how many have the version")
	}
	return many, err
}

func (a *approving) run(ctx context.Context, name string) error {
	s, err := a.open(ctx)
	if err != nil {
		return err
	}
	if !s.Has(name) && s.StatusOf(name) == nil {
		return a.absent(s, name, slices.Contains(a.directThere(ctx, s), name))
	}
	consent, err := s.FindConsent(name, a.version)
	if err != nil {
		return judged(err)
	}
	if !consent.Already {
		a.show(ctx, s, &consent)
		if err := a.ask(ctx, name, &consent.Pending, "in Kyma "+s.Key().String()); err != nil {
			return err
		}
	}
	a.goes = consent.Pending.Version
	done, err := a.apply(ctx, s, agree(name, consent.Reference))
	if err != nil {
		return judged(err)
	}
	if len(consent.Others) > 0 {
		a.console.Sayf("It may also need the consent of others: %s.", modulestatus.Consenters(consent.Others))
	}
	return a.follow(ctx, s, done.After, []waitfor.Expectation{{Module: name, Version: consent.Pending.Version}})
}

// agree returns the edit that approves a content. It fails when something else waits by now.
func agree(name, reference string) editor {
	return func(kyma *v1beta2.Kyma) ([]kymaedit.Change, error) {
		change, err := kymaedit.Approve(kyma, name, reference)
		return []kymaedit.Change{change}, err
	}
}

// ask asks before consent is given.
func (a *approving) ask(ctx context.Context, name string, pending *v1beta2.PendingVersion, where string) error {
	if a.dry() {
		return nil
	}
	deed := fmt.Sprintf("approving version %s of module %s %s", pending.Version, name, where)
	return a.console.Confirm(ctx, deed, fmt.Sprintf("Approve version %s of module %s %s?", pending.Version, name, where))
}

// show says what the version asks for: all of it where a person is asked and the content can be read, and otherwise what the status says.
func (a *approving) show(ctx context.Context, s *session, consent *kymaedit.Consent) {
	a.showPending(consent.Module, &consent.Pending)
	if !a.console.Asks || a.console.Yes || a.dry() {
		a.showGravest(&consent.Pending)
		return
	}
	answer, err := a.read(ctx, s, consent)
	if err != nil || answer.FromStatus() || answer.Reference != consent.Reference {
		for _, note := range answer.Notes {
			a.console.Sayf("%s", console.OneLine(note))
		}
		a.showGravest(&consent.Pending)
		return
	}
	for _, line := range answer.Lines() {
		a.console.Sayf("  %-9s %-8s %s", line.Severity, line.Change, console.OneLine(line.Sentence))
	}
	a.console.Sayf("%s", permissions.Limits)
}

// read reads what the version asks for and the installed one does not.
func (a *approving) read(ctx context.Context, s *session, consent *kymaedit.Consent) (asks.Answer, error) {
	if err := s.Load(ctx, s); err != nil {
		return asks.Answer{}, err
	}
	return a.reader.Read(ctx, s, &s.KymaContext, asks.Question{
		Module: consent.Module, Version: consent.Pending.Version, Against: s.InstalledVersion(consent.Module),
	})
}

// showPending writes the summary of a version that waits.
func (a *approving) showPending(name string, pending *v1beta2.PendingVersion) {
	text := fmt.Sprintf("Version %s of module %s waits for consent", pending.Version, name)
	if counts := modulestatus.PendingCounts(pending.Counts); counts != "" {
		text += ", with " + counts
	}
	if pending.Deadline != nil {
		text += "; without it, it is installed at " + pending.Deadline.UTC().Format(time.RFC3339)
	}
	if pending.Downtime {
		text += "; after that it waits for a maintenance window"
	}
	a.console.Sayf("%s.", text)
}

func (a *approving) showGravest(pending *v1beta2.PendingVersion) {
	for _, sentence := range pending.Gravest {
		a.console.Sayf("  %s", console.OneLine(sentence))
	}
}

// unapproved gives an error about consent an exit code and a hint; nil for any other error.
func unapproved(err error) error {
	var none *kymaedit.NoConsentError
	var elsewhere *kymaedit.ConsentElsewhereError
	var moved *kymaedit.PendingChangedError
	switch failure := (&console.Failure{Code: console.CodeError, Err: err}); {
	case errors.As(err, &none):
		return failure.With("kyma status %s shows what it waits for", none.Module)
	case errors.As(err, &moved):
		return failure.With("nothing was approved; kyma approve %s shows what waits now", moved.Module)
	case errors.As(err, &elsewhere) && slices.Contains(elsewhere.From, v1beta2.ConsentHub):
		return failure.With("ask the operator of the hub to call kyma approve %s there", elsewhere.Module)
	case errors.As(err, &elsewhere):
		return failure.With("call kyma approve %s in the runtime, for Kyma %s/%s", elsewhere.Module, v1beta2.RuntimeNamespace,
			v1beta2.RuntimeKymaName)
	}
	return nil
}

// completePending completes modules with a version that waits for consent.
func (c *change) completePending(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	s, err := c.open(command.Context())
	if err != nil {
		return nil, nothing
	}
	var found []string
	for i := range s.Kyma.Status.Modules {
		if entry := &s.Kyma.Status.Modules[i]; modulestatus.Awaits(entry.Pending) {
			found = append(found, strings.TrimRight(entry.Name+"\t"+entry.Pending.Version, "\t"))
		}
	}
	return found, nothing
}
