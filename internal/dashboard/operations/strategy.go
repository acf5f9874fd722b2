package operations

import (
	"context"
	"fmt"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
)

// strategy plans to let a module follow its channel by itself, or only after a person has agreed.
func (p *planner) strategy(ctx context.Context) (*plan, error) {
	s, err := p.open(ctx, p.deed.Kyma)
	if err != nil {
		return nil, err
	}
	name, made := p.deed.Module, &plan{way: wayKyma}
	if !s.Has(name) {
		return made.refuse(s.absent(name)), nil
	}
	c := &change{hubContext: s, ask: waitfor.Options{Timeout: p.options.Patience}, edit: func(spec *v1beta2.KymaSpec) error {
		if kymaedit.Entry(spec, name) == nil {
			return refuse(WhyNotFound, "Kyma %s no longer has module %s", s.Key(), name)
		}
		kymaedit.Enable(spec, kymaedit.ModuleRequest{Name: name, Strategy: p.deed.Strategy})
		return nil
	}, wants: func(*v1beta2.KymaSpec) []waitfor.Expectation { return []waitfor.Expectation{{Module: name}} }}
	steps := c.steps("Change the Kyma "+p.deed.Kyma, "Wait until "+name+" runs")
	if p.deed.Strategy == v1beta2.UpgradeManual {
		made.why = "what the channel offers waits until a person agrees, and what is installed runs on"
		made.steps = steps[:1] // nothing is installed by that
		return made, nil
	}
	made.why = "what the channel offers is installed by itself"
	if pending := modulestatus.PendingOf(s.Kyma, name); modulestatus.Awaits(pending) {
		made.warnings = append(made.warnings, fmt.Sprintf(
			"version %s waits for consent: it is installed now, unless the hub's policy asks for it",
			pending.Version))
	}
	made.steps = steps
	return made, nil
}
