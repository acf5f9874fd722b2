package editcmd

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/dustin/go-humanize/english"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

const (
	// namedKymas is how many Kymas a question names.
	namedKymas = 5
	// atOnce is how many Kymas are written concurrently.
	atOnce = 8
)

// runAll approves one content of a module in all Kymas in which it waits for their own users' consent. What fails in one Kyma does not hold
// the others.
func (a *approving) runAll(ctx context.Context, name string) error {
	if err := a.checked(); err != nil {
		return err
	}
	cluster, err := a.target.Client()
	if err != nil {
		return err
	}
	kymas, err := a.listKymas(ctx, cluster)
	if err != nil {
		return err
	}
	group, err := a.chosen(kymas, name)
	if err != nil {
		return err
	}
	a.showPending(name, &group.Pending)
	a.showGravest(&group.Pending)
	if err := a.ask(ctx, name, &group.Pending, "in "+kymasText(group.Kymas)); err != nil {
		return err
	}
	return a.approveGroup(ctx, cluster, name, group)
}

// listKymas returns the Kymas that the flags select.
func (a *approving) listKymas(ctx context.Context, cluster client.Reader) ([]v1beta2.Kyma, error) {
	selector, err := labels.Parse(a.selector)
	if err != nil {
		return nil, console.Usage("--selector: %w", err)
	}
	namespace, explicit, err := a.target.Namespace()
	if err != nil {
		return nil, err
	}
	options := []client.ListOption{client.MatchingLabelsSelector{Selector: selector}}
	if explicit {
		options = append(options, client.InNamespace(namespace))
	}
	var kymas v1beta2.KymaList
	if err := cluster.List(ctx, &kymas, options...); err != nil {
		return nil, err
	}
	if len(kymas.Items) == 0 {
		return nil, console.NotFound("there is no such Kyma").With("kyma kyma list shows those that there are")
	}
	return kymas.Items, nil
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
			"%s of module %s waits for your consent in %s", what, name, english.Plural(len(kymas), "Kyma", ""))}).
			With("kyma list shows what waits, and kyma status NAME whose consent is missing")
	case 1:
		return groups[0], nil
	}
	var texts []string
	for _, group := range groups {
		texts = append(texts, fmt.Sprintf("%s (%s)", group.Reference, english.Plural(len(group.Kymas), "Kyma", "")))
	}
	return kymaedit.PendingGroup{}, console.Usage("module %s has %d contents that wait: %s", name, len(groups), strings.Join(texts, ", ")).
		With("--version VERSION, or --version VERSION@DIGEST, names one")
}

// approveGroup writes the consent into every Kyma of a group, and prints what became of each.
func (a *approving) approveGroup(ctx context.Context, cluster client.WithWatch, name string, group kymaedit.PendingGroup) error {
	results := make([]approval, len(group.Kymas))
	slots := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for i, key := range group.Kymas {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			results[i] = a.approveIn(ctx, cluster, key, name, group.Reference)
		})
	}
	all.Wait()
	items, failed := []item{}, []string{}
	for i, result := range results {
		if result.err != nil {
			failed = append(failed, fmt.Sprintf("%s: %v", group.Kymas[i], result.err))
			continue
		}
		result.item.Version = group.Pending.Version
		items = append(items, result.item)
	}
	if err := a.print(items); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(failed) > 0 {
		more := ""
		if len(failed) > namedKymas {
			more = fmt.Sprintf(" and %d more", len(failed)-namedKymas)
		}
		return (&console.Failure{Code: console.CodeError, Err: fmt.Errorf("%d of %d Kymas were not changed: %s%s", len(failed), len(results),
			strings.Join(failed[:min(len(failed), namedKymas)], "; "), more)}).With("the same command again approves what is left")
	}
	return nil
}

// approval is the result for one Kyma.
type approval struct {
	item item
	err  error
}

func (a *approving) approveIn(ctx context.Context, cluster client.Client, key client.ObjectKey, name, reference string) approval {
	var change kymaedit.Change
	_, err := kymaedit.Apply(ctx, cluster, key, func(kyma *v1beta2.Kyma) error {
		asked := modulestatus.Effective(kyma)
		return kymaedit.EditEffective(kyma, &asked, func(kyma *v1beta2.Kyma) (err error) {
			change, err = kymaedit.Approve(kyma, name, reference)
			return err
		})
	}, kymaedit.Options{DryRun: kymaedit.DryRun(a.dryRun)})
	if err != nil {
		return approval{err: refusal(err, key.String())}
	}
	made := approval{item: item{Name: "module/" + name, Kyma: key.String(), Action: change.Action, Fields: change.Fields}}
	if a.dry() && change.Action != kymaedit.Unchanged {
		made.item.DryRun = a.dryRun
	}
	return made
}

// kymasText counts Kymas, and names the first of them.
func kymasText(keys []client.ObjectKey) string {
	var texts []string
	for _, key := range keys[:min(len(keys), namedKymas)] {
		texts = append(texts, key.String())
	}
	if more := len(keys) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("%d more", more))
	}
	return english.Plural(len(keys), "Kyma", "") + " (" + english.WordSeries(texts, "and") + ")"
}
