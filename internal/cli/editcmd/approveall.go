package editcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize/english"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
)

// runAll approves one content of a module in all selected Kymas in which it waits for their own users' consent.
func (a *approving) runAll(ctx context.Context, name string) error {
	b, err := a.openBulk(ctx, false)
	if err != nil {
		return err
	}
	group, err := a.chosen(b.kymas, name)
	if err != nil {
		return err
	}
	a.showPending(name, &group.Pending)
	a.showGravest(&group.Pending)
	waits := map[client.ObjectKey]bool{}
	for _, key := range group.Kymas {
		waits[key] = true
	}
	b.kymas = slices.DeleteFunc(b.kymas, func(kyma v1beta2.Kyma) bool { return !waits[client.ObjectKeyFromObject(&kyma)] })
	a.goes = group.Pending.Version
	what := fmt.Sprintf("version %s of module %s in", a.goes, name)
	b.doing, b.question = "approving "+what, "Approve "+what
	agreed := agree(name, group.Reference)
	return b.carryOut(ctx, b.edits(ctx, func(_ *session, kyma *v1beta2.Kyma) ([]kymaedit.Change, string, error) {
		changes, err := agreed(kyma)
		if !anyChange(changes) {
			return changes, "is approved already", err
		}
		return changes, "approve " + name + " " + a.goes, err
	}, func(*session, applied) []waitfor.Expectation { return nil }))
}

// chosen returns the only content that waits. Consent is for one: of several, the user must name it.
func (a *approving) chosen(kymas []v1beta2.Kyma, name string) (kymaedit.PendingGroup, error) {
	groups := kymaedit.GroupPending(kymas, name, a.version)
	switch len(groups) {
	case 0:
		what := "no version"
		if a.version != "" {
			what = "version " + a.version
		}
		return kymaedit.PendingGroup{}, (&console.Failure{Code: console.CodeError, Err: fmt.Errorf(
			"%s of module %s waits for your consent in %s", what, name, plural(len(kymas)))}).
			With("kyma list shows what waits, and kyma status NAME whose consent is missing")
	case 1:
		return groups[0], nil
	}
	var texts []string
	for _, group := range groups {
		texts = append(texts, fmt.Sprintf("%s (%s)", group.Reference, plural(len(group.Kymas))))
	}
	return kymaedit.PendingGroup{}, console.Usage("module %s has %s that wait: %s", name,
		english.Plural(len(groups), "content", ""), strings.Join(texts, ", ")).
		With("--version VERSION, or --version VERSION@DIGEST, names one")
}
