package operations

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
)

// back plans to let a module go back to the version before:
//
//  1. a module that the Kyma does not have, or without a way back, is refused
//  2. so is one that runs another version than the user saw, or whose way back leads elsewhere by now
//  3. the user types the name of the module: what ran in between may have changed what it works on
func (p *planner) back(ctx context.Context) (*plan, error) {
	s, made, manifest, err := p.openHistory(ctx)
	if err != nil || made.refused != nil {
		return made, err
	}
	name := p.deed.Module
	way, err := s.FindWayBack(name, manifest, 0)
	if none, is := errors.AsType[*kymaedit.NoWayBackError](err); is {
		return made.refuse(refuse(WhyRefused, "%s", none)), nil
	}
	if err != nil {
		return nil, err
	}
	switch {
	case way.Avoid != p.deed.Target:
		return made.refuse(refuse(WhyBusy, "module %s of Kyma %s would leave %s meanwhile, and not %s: look at it again", name, s.Key(),
			way.Avoid, p.deed.Target)), nil
	case way.To.Version != p.deed.Version:
		return made.refuse(refuse(WhyBusy, "the way back of module %s leads to %s meanwhile, and not to %s: look at it again", name,
			way.To.Version, p.deed.Version)), nil
	}
	made.confirm = name
	from, _, _ := strings.Cut(way.Avoid, "@")
	made.why = fmt.Sprintf("module %s of Kyma %s leaves version %s for %s; its custom resources and definitions stay as they are", name,
		s.Key(), from, way.To.Version)
	if way.Unvouched != "" {
		made.warnings = append(made.warnings, "the author does not vouch for that: "+way.Unvouched)
	}
	c := s.historyChange(p, func(spec *v1beta2.KymaSpec) { kymaedit.GoBack(spec, name, way) })
	c.wants = func(*v1beta2.KymaSpec) []waitfor.Expectation {
		return []waitfor.Expectation{{Module: name, Version: way.To.Version}}
	}
	made.steps = c.steps("Avoid version "+from, "Wait until version "+way.To.Version+" runs")
	return made, nil
}

// retry plans to try the version again that a module went back from.
func (p *planner) retry(ctx context.Context) (*plan, error) {
	s, made, manifest, err := p.openHistory(ctx)
	if err != nil || made.refused != nil {
		return made, err
	}
	name := p.deed.Module
	var history []v1beta2.Revision
	if manifest != nil {
		history = manifest.Status.Revisions
	}
	after := s.Asked.DeepCopy()
	if kymaedit.Retry(after, name, history).Action == kymaedit.Unchanged {
		return made.refuse(refuse(WhyRefused, "%s", &kymaedit.NothingHeldError{Module: name})), nil
	}
	made.why = "what the module went back from is installed once more; should it fail again, it is avoided again"
	c := s.historyChange(p, func(spec *v1beta2.KymaSpec) { kymaedit.Retry(spec, name, history) })
	c.wants = func(after *v1beta2.KymaSpec) []waitfor.Expectation {
		return []waitfor.Expectation{{Module: name, Version: s.Version(after, name)}}
	}
	made.steps = c.steps("Avoid no version", "Wait until "+name+" runs")
	return made, nil
}

// openHistory opens the Kyma of the request with the Manifest of the module, nil if it has none yet. The plan is refused if the Kyma has
// no such module, or is no hub's.
func (p *planner) openHistory(ctx context.Context) (*hubContext, *plan, *v1beta2.Manifest, error) {
	s, err := p.open(ctx, p.deed.Kyma)
	if err != nil {
		return nil, nil, nil, err
	}
	made := &plan{way: wayKyma}
	switch {
	case modulestatus.IsCopy(s.Kyma):
		made.refused = refuse(WhyRefused, "Kyma %s is the copy that a hub keeps here: the history of its modules is on the hub", s.Key())
	case !s.Has(p.deed.Module):
		made.refused = s.absent(p.deed.Module)
	}
	known := s.StatusOf(p.deed.Module)
	if made.refused != nil || known == nil || known.Manifest == nil {
		return s, made, nil, nil //nolint:nilerr // a module without a Manifest has no history
	}
	manifest := &v1beta2.Manifest{}
	err = s.Get(ctx, client.ObjectKey{Namespace: known.Manifest.Namespace, Name: known.Manifest.Name}, manifest)
	if unserved(err) {
		return s, made, nil, nil
	}
	return s, made, manifest, err
}

// historyChange returns the edit of the entry of a module that the Kyma must still have.
func (s *hubContext) historyChange(p *planner, edit func(*v1beta2.KymaSpec)) *change {
	return &change{hubContext: s, ask: waitfor.Options{Timeout: p.options.Patience}, edit: func(spec *v1beta2.KymaSpec) error {
		if kymaedit.Entry(spec, p.deed.Module) == nil {
			return refuse(WhyNotFound, "Kyma %s no longer has module %s", s.Key(), p.deed.Module)
		}
		edit(spec)
		return nil
	}}
}
