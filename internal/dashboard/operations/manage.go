package operations

import (
	"context"
	"fmt"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
	"github.com/kyma-project/lifecycle-manager/pkg/moduleversion"
)

// The ways of requests for which there is no flowchart.
const (
	wayKyma     = "Kyma"
	wayResource = "CustomResource"
	wayRelease  = "Release"
	wayRollout  = "Rollout"
	// wayItself is that of requests about a Kyma as an object.
	wayItself = "KymaItself"
)

// manage plans to let the lifecycle manager manage a module again, or to release it.
func (p *planner) manage(ctx context.Context) (*plan, error) {
	s, err := p.open(ctx, p.deed.Kyma)
	if err != nil {
		return nil, err
	}
	name, managed := p.deed.Module, p.deed.Kind == Manage
	made := &plan{way: wayKyma}
	if !s.Has(name) {
		made.refused = s.absent(name)
		if s.Here() && s.directly(ctx, name) != nil {
			made.refused = refuse(WhyRefused, "module %s is installed without the lifecycle manager: delete it, and then add it to "+
				"Kyma %s; delete its custom resources first", name, s.Key())
		}
		return made, nil
	}
	if !managed {
		made.warnings = append(made.warnings, "the workloads stay, but are neither upgraded nor repaired")
	}
	c := &change{hubContext: s, ask: waitfor.Options{Timeout: p.options.Patience}, edit: func(spec *v1beta2.KymaSpec) error {
		if kymaedit.Entry(spec, name) == nil {
			return refuse(WhyNotFound, "Kyma %s no longer has module %s", s.Key(), name)
		}
		kymaedit.Manage(spec, name, managed, p.deed.Policy)
		return nil
	}, wants: func(*v1beta2.KymaSpec) []waitfor.Expectation {
		return []waitfor.Expectation{{Module: name, Managed: managed, Unmanaged: !managed}}
	}}
	waiting := "Wait until the lifecycle manager manages it"
	if !managed {
		waiting = "Wait until the lifecycle manager has released it"
	}
	made.steps = c.steps("Change the Kyma "+p.deed.Kyma, waiting)
	return made, nil
}

// channel plans to set the channel of a Kyma, or the channel or version of one of its modules.
func (p *planner) channel(ctx context.Context) (*plan, error) {
	s, err := p.open(ctx, p.deed.Kyma)
	if err != nil {
		return nil, err
	}
	made := &plan{way: wayKyma}
	c := &change{hubContext: s, ask: waitfor.Options{Timeout: p.options.Patience}}
	if p.deed.Module == "" {
		c.edit = func(spec *v1beta2.KymaSpec) error { return s.setChannel(spec, p.deed.Channel) }
	} else {
		wish := kymaedit.ModuleRequest{Name: p.deed.Module, Channel: p.deed.Channel, Version: p.deed.Version}
		c.edit = func(spec *v1beta2.KymaSpec) error { return s.setModule(spec, wish) }
		c.wants = func(after *v1beta2.KymaSpec) []waitfor.Expectation {
			return []waitfor.Expectation{wanted(after, wish.Name)}
		}
	}
	after := s.Asked.DeepCopy()
	if err := c.edit(after); err != nil {
		return made.refuse(err), nil
	}
	made.warnings = s.lowered(after)
	made.steps = c.steps("Change the Kyma "+p.deed.Kyma, "Wait until the modules run")
	return made, nil
}

// setChannel lets a Kyma follow another channel, if that offers all modules that follow the Kyma's channel.
func (s *hubContext) setChannel(spec *v1beta2.KymaSpec, channel string) error {
	kymaedit.SetChannel(spec, channel)
	for i := range spec.Modules {
		module := &spec.Modules[i]
		if module.Channel != "" || module.Version != "" {
			continue
		}
		if err := s.check(spec, kymaedit.ModuleRequest{Name: module.Name}); err != nil {
			return err
		}
	}
	return nil
}

// setModule gives a module a channel or a version of its own, or neither.
func (s *hubContext) setModule(spec *v1beta2.KymaSpec, wish kymaedit.ModuleRequest) error {
	if kymaedit.Entry(spec, wish.Name) == nil {
		return s.absent(wish.Name)
	}
	if wish.Channel == "" && wish.Version == "" {
		kymaedit.Follow(spec, wish.Name)
		return s.check(spec, wish)
	}
	if err := s.check(spec, wish); err != nil {
		return err
	}
	kymaedit.Enable(spec, wish)
	return judged(s.NotLower(wish))
}

// lowered warns of modules whose version would become lower, which the lifecycle manager refuses: they stay as they are.
func (s *hubContext) lowered(after *v1beta2.KymaSpec) []string {
	var all []string
	for i := range after.Modules {
		name := after.Modules[i].Name
		installed, target := s.StatusOf(name), s.Version(after, name)
		if installed != nil && target != "" && moduleversion.IsDowngrade(installed.Version, target) {
			all = append(all, fmt.Sprintf("%s stays at version %s, which is installed: the channel offers %s, and no lower version is installed "+
				"over a higher one", name, installed.Version, target))
		}
	}
	return all
}
