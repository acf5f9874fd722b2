package operations

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/waitfor"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// upgrade plans to bring modules to other versions: those of a Kyma all at once, one Kyma after the other, and then those that are
// installed directly. Custom resources of users are not touched.
func (p *planner) upgrade(ctx context.Context) (*plan, error) {
	made := &plan{way: string(modulestatus.ViaKyma), why: "custom resources stay as they are"}
	var directs []Item
	for _, kyma := range p.deed.kymas() {
		s, err := p.open(ctx, kyma)
		if err != nil {
			return nil, err
		}
		var items []Item
		for _, item := range p.deed.Items {
			if item.Kyma != kyma {
				continue
			}
			if s.Has(item.Module) {
				if item.Namespace != "" {
					return made.refuse(refuse(WhyInvalid, "module %s is the Kyma's: its template is beside the Kyma, omit field namespace",
						item.Module)), nil
				}
				items = append(items, item)
			} else {
				directs = append(directs, item)
			}
		}
		if err := s.suspended(ctx, items); err != nil {
			return made.refuse(err), nil
		}
		if err := s.upgrade(made, items, p.options.Patience); err != nil {
			return made.refuse(err), nil
		}
	}
	for _, item := range p.deed.Items {
		if item.Kyma == "" {
			directs = append(directs, item)
		}
	}
	for _, item := range directs {
		if err := p.upgradeDirectly(ctx, made, item); err != nil || made.refused != nil {
			return made, err
		}
	}
	return made, nil
}

// suspended refuses to upgrade modules that the lifecycle manager skips: the upgrade would begin when the label is removed, at a time
// when it is no longer expected. A Manifest that may not be read does not block the upgrade: the wait reports what it waits for.
func (s *hubContext) suspended(ctx context.Context, items []Item) error {
	const means = "%s is suspended by the label %s, and stays as it is: remove the label first"
	if module.KymaSuspended(s.Kyma) && len(items) > 0 {
		return refuse(WhyRefused, means, "Kyma "+s.Key().String(), v1beta2.LabelSkipReconciliation)
	}
	for _, item := range items {
		known := s.StatusOf(item.Module)
		if known == nil || known.Manifest == nil {
			continue
		}
		manifest := &v1beta2.Manifest{}
		err := s.Get(ctx, client.ObjectKey{Namespace: known.Manifest.Namespace, Name: known.Manifest.Name}, manifest)
		switch {
		case unserved(err), apierrors.IsForbidden(err):
		case err != nil:
			return err
		case module.ManifestSuspended(manifest):
			return refuse(WhyRefused, means, fmt.Sprintf("module %s of Kyma %s", item.Module, s.Key()), v1beta2.LabelSkipReconciliation)
		}
	}
	return nil
}

// goalOf returns the target of an entry of a Kyma.
func (s *hubContext) goalOf(spec *v1beta2.KymaSpec, item Item) (wish kymaedit.ModuleRequest, changes bool, err error) {
	entry := kymaedit.Entry(spec, item.Module)
	if entry == nil {
		return wish, false, s.absent(item.Module)
	}
	wish, changes, err = s.Goal(entry, spec, kymaedit.ModuleRequest{Channel: item.Channel, Version: item.Version})
	return wish, changes, judged(err)
}

// upgrade adds the steps for some modules of one Kyma.
func (s *hubContext) upgrade(made *plan, items []Item, patience time.Duration) error {
	if len(items) == 0 {
		return nil
	}
	c := &change{hubContext: s, ask: waitfor.Options{Timeout: patience}, edit: func(spec *v1beta2.KymaSpec) error {
		for _, item := range items {
			wish, changes, err := s.goalOf(spec, item)
			if err != nil {
				return err
			}
			if changes {
				kymaedit.Enable(spec, wish)
			}
		}
		return nil
	}, wants: func(after *v1beta2.KymaSpec) (wants []waitfor.Expectation) {
		for _, item := range items {
			wants = append(wants, waitfor.Expectation{Module: item.Module, Version: s.Version(after, item.Module)})
		}
		return wants
	}}
	for _, item := range items {
		if _, _, err := s.goalOf(&s.Asked, item); err != nil {
			return err
		}
	}
	steps := c.steps(fmt.Sprintf("Change the Kyma %s", s.Key()), fmt.Sprintf("Wait until the modules of %s run", s.Key()))
	edits := steps[0].try
	steps[0].try = func(ctx context.Context) ([]Change, error) {
		changes, err := edits(ctx)
		if err != nil {
			return changes, err
		}
		more, err := s.templatesChange(items)
		return append(changes, more...), err
	}
	for _, each := range steps {
		made.steps = append(made.steps, each.of(s.Key().String()))
	}
	return nil
}

// templatesChange returns for each module how its template differs in the target version.
func (s *hubContext) templatesChange(items []Item) ([]Change, error) {
	after := s.Asked.DeepCopy()
	var all []Change
	for _, item := range items {
		wish, changes, err := s.goalOf(after, item)
		if err != nil {
			return nil, err
		}
		if changes {
			kymaedit.Enable(after, wish)
		}
		installed := ""
		if known := s.StatusOf(item.Module); known != nil {
			installed = known.Version
		}
		target := s.Version(after, item.Module)
		ref := modulestatus.Ref{Kind: modulestatus.KindModule, Namespace: s.Kyma.Namespace, Name: item.Module}
		change, err := compared(ref, shownTemplate(s.Template(item.Module, installed), installed),
			shownTemplate(s.Template(item.Module, target), target))
		if err != nil {
			return nil, err
		}
		all = append(all, change)
	}
	return all, nil
}

// shownTemplate returns the part of a template that has an effect, and the version.
func shownTemplate(template *v1beta2.ModuleTemplate, version string) any {
	shown := struct {
		Version  string                      `json:"version,omitempty"`
		Template *v1beta2.ModuleTemplateSpec `json:"template,omitempty"`
	}{Version: version}
	if template != nil {
		spec := template.Spec.DeepCopy()
		spec.Channel, spec.Version, spec.Descriptor.Raw, spec.Descriptor.Object = "", "", nil, nil
		shown.Template = spec
	}
	return shown
}

// upgradeDirectly adds the step for a module that is installed without the lifecycle manager, which was confirmed when it was installed.
func (p *planner) upgradeDirectly(ctx context.Context, made *plan, item Item) error {
	at, err := p.where(ctx, item.Kyma)
	if err != nil {
		return err
	}
	made.elsewhere = made.elsewhere || at.elsewhere()
	before := at.directly(ctx, item.Module)
	if before == nil {
		made.refused = refuse(WhyNotFound, "module %s is not installed here: add it", item.Module)
		if at.scene != nil {
			made.refused = at.scene.absent(item.Module)
		}
		return nil
	}
	var source *communitycatalog.Source
	if item.Namespace == "" { // otherwise the request names where it comes from now
		if source, err = p.again(ctx, p.as, at, before); err != nil {
			made.refuse(err)
			return nil
		}
	}
	if at.shelf, err = p.readAvailable(ctx, at, source); err != nil {
		return notAsked(made, item.Module, source, err)
	}
	made.warn(at.shelf.warnings)
	wish := kymaedit.ModuleRequest{Name: item.Module, Channel: item.Channel, Version: item.Version}
	offer, err := at.shelf.find(wish, choiceOf(item.Namespace, before))
	if err != nil {
		made.refuse(err)
		return nil
	}
	taken := at.shelf.taken(offer)
	taken.Kyma = item.Kyma
	made.taken = append(made.taken, taken)
	if len(made.steps) == 0 {
		made.way = string(modulestatus.Directly)
	}
	upgrade := p.directPlan(at, offer)
	upgrade.Unmanaged = true
	if keep := at.shelf.keeps(offer); keep != nil {
		made.steps = append(made.steps, keep.of(item.Kyma))
	}
	made.steps = append(made.steps, p.installs(at.cluster, upgrade, directinstall.Upgrade).of(item.Kyma))
	return nil
}

// notAsked refuses an upgrade whose source cannot be used. Other errors are returned unchanged.
func notAsked(made *plan, module string, source *communitycatalog.Source, err error) error {
	if source == nil || ReasonOf(err) == "" {
		return err
	}
	made.refuse(refuse(ReasonOf(err), "module %s is not upgraded, and stays as it is: it came from the catalog %s: %s",
		module, source.URL, err))
	return nil
}
