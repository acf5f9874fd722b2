package task

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/direct"
	"github.com/kyma-project/lifecycle-manager/internal/view"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/manifest"
)

// removeDirectly takes down a module that was installed without the lifecycle manager, from its record.
func (p *planner) removeDirectly(ctx context.Context, at *place) (*plan, error) {
	name := p.deed.Module
	removal := direct.Removal{
		Config: at.config, Module: name, Wait: p.options.Patience, Cascade: p.deed.Cascade, Previewed: resourcesOf(p.deed.Previewed),
	}
	dry := removal
	dry.DryRun = true
	report, err := direct.Delete(ctx, dry)
	made := &plan{elsewhere: at.elsewhere()}
	switch {
	case direct.ReasonOf(err) == direct.ReasonForbidden:
		made.way = string(view.Blocked)
		return made.refuse(refuse(WhyBlocked, "%s", told(err))), nil
	case err != nil:
		return nil, directly(err)
	case report.Reason == direct.ReasonNotInstalled:
		return gone(name), nil
	}
	p.decide(made, view.Leaving{Module: name, Direct: true}, blockingResources(report.Blocking))
	if made.refusal() != "" {
		return made, nil
	}
	made.steps = []step{{
		title: fmt.Sprintf("Delete %s %s", name, report.Previous),
		try:   func(context.Context) ([]Change, error) { return at.removals(report), nil },
		do: func(ctx context.Context, r *reporter) error {
			removal.Progress = r.progress
			report, err := direct.Delete(ctx, removal)
			if err != nil {
				return directly(err)
			}
			return directEnd(report, r)
		},
	}}
	return made, nil
}

// removals are what a dry run of a deletion says: what people made, and then what the module consists of.
func (c *cluster) removals(report direct.Report) []Change {
	all := []Change{}
	for _, b := range blockingResources(report.Blocking) {
		all = append(all, Change{Object: b.Ref, Change: apply.ChangeDelete, Fields: []Field{}})
	}
	for _, o := range report.Objects {
		change := Change{Object: c.refOf(o.ID), Change: apply.ChangeDelete, Fields: []Field{}}
		if o.Action == apply.Kept {
			change.Change, change.Error = apply.ChangeUnchanged, o.Message
		}
		all = append(all, change)
	}
	return all
}

// blockingResources are the objects of package direct.
func blockingResources(resources []direct.Resource) []Blocking {
	all := []Blocking{}
	for _, r := range resources {
		b := Blocking{
			Ref: refOf(r.Group, r.Version, r.Kind, r.Namespace, r.Name), UID: types.UID(r.UID), Deleting: r.Deleting, Finalizers: r.Finalizers,
		}
		if b.Finalizers == nil {
			b.Finalizers = []string{}
		}
		all = append(all, b)
	}
	return all
}

// resourcesOf are the objects of a preview, for package direct.
func resourcesOf(shown []Shown) []direct.Resource {
	var all []direct.Resource
	for _, one := range shown {
		gvk := schema.FromAPIVersionAndKind(one.APIVersion, one.Kind)
		all = append(all, direct.Resource{
			ID:      inventory.ID{Group: gvk.Group, Kind: gvk.Kind, Namespace: one.Namespace, Name: one.Name},
			Version: gvk.Version, UID: string(one.UID),
		})
	}
	return all
}

// directEnd is what a report of package direct means.
func directEnd(report direct.Report, r *reporter) error {
	switch {
	case report.Ready, report.State == manifest.StateReady, report.State == manifest.StateGone:
		return nil
	case report.State == manifest.StateError:
		return refuse(WhyRefused, "module %s: %s: %s", report.Module, report.Reason, report.Message)
	}
	r.say(report.Message)
	return refuse(WhyRefused, "module %s is still %s: %s; to resume goes on where it was", report.Module, report.State, report.Message)
}
