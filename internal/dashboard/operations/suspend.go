package operations

import (
	"context"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// suspend plans to let the lifecycle manager leave a Kyma alone, or to end that. It changes one label.
func (p *planner) suspend(ctx context.Context) (*plan, error) {
	s, err := p.open(ctx, p.deed.Kyma)
	if err != nil {
		return nil, err
	}
	on, made := p.deed.Kind == Suspend, &plan{way: wayItself}
	if modulestatus.IsCopy(s.Kyma) {
		return made.refuse(refuse(WhyRefused, "Kyma %s is the copy that a hub keeps here: it is suspended and resumed on the hub", s.Key())), nil
	}
	made.why = "the lifecycle manager takes up what was changed meanwhile, and installs, upgrades and repairs again"
	title := "Remove the label from the Kyma " + p.deed.Kyma
	if on {
		title = "Label the Kyma " + p.deed.Kyma
		made.why = "what runs stays as it is until the Kyma is resumed"
		made.warnings = append(made.warnings,
			"until then no module is added, upgraded or removed, and changes of the Kyma have no effect; a deletion of the Kyma is carried out "+
				"all the same")
		if s.Kyma.DeletionTimestamp != nil {
			return made.refuse(refuse(WhyRefused, "Kyma %s is being deleted: that is not suspended", s.Key())), nil
		}
	}
	write := func(ctx context.Context, dry kymaedit.DryRun) (Change, error) {
		result, err := kymaedit.Apply(ctx, s.WithWatch, s.Key(), func(kyma *v1beta2.Kyma) error {
			kymaedit.Suspend(kyma, on)
			return nil
		}, kymaedit.Options{DryRun: dry})
		if err != nil {
			return Change{}, s.explain(err)
		}
		return compared(kymaRef(s.Kyma), shownLabels(result.Before), shownLabels(result.After))
	}
	made.steps = []step{{
		title: title,
		try: func(ctx context.Context) ([]Change, error) {
			change, err := write(ctx, kymaedit.DryRunServer)
			if err != nil {
				return nil, err
			}
			return []Change{change}, nil
		},
		do: func(ctx context.Context, r *reporter) error {
			change, err := write(ctx, kymaedit.DryRunNone)
			if err == nil {
				r.object(change.Object, string(change.Change), "")
				r.wrote(change)
			}
			return err
		},
	}}
	return made, nil
}

// shownLabels returns the labels of a Kyma, for a comparison.
func shownLabels(kyma *v1beta2.Kyma) any {
	return map[string]any{"metadata": map[string]any{"labels": kyma.Labels}}
}
