package operations

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// removeDirectly plans to delete a module that was installed without the lifecycle manager, from its record.
func (p *planner) removeDirectly(ctx context.Context, at *place) (*plan, error) {
	name := p.deed.Module
	removal := directinstall.Removal{
		Config: at.config, Module: name, Wait: p.options.Patience, Cascade: p.deed.Cascade, Previewed: resourcesOf(p.deed.Previewed),
	}
	dry := removal
	dry.DryRun = true
	report, err := directinstall.Delete(ctx, dry)
	made := &plan{elsewhere: at.elsewhere()}
	switch {
	case directinstall.ReasonOf(err) == directinstall.ReasonForbidden:
		made.way = string(modulestatus.Blocked)
		return made.refuse(refuse(WhyBlocked, "%s", errorText(err))), nil
	case err != nil:
		return nil, directly(err)
	case report.Reason == directinstall.ReasonNotInstalled:
		return gone(name), nil
	}
	p.decide(made, modulestatus.DeleteInput{Module: name, Direct: true}, blockingResources(report.Blocking))
	if made.refusal() != "" {
		return made, nil
	}
	made.steps = []step{{
		title: fmt.Sprintf("Delete %s %s", name, report.Previous),
		try:   func(context.Context) ([]Change, error) { return at.removals(report), nil },
		do: func(ctx context.Context, r *reporter) error {
			removal.Progress = r.progress
			report, err := directinstall.Delete(ctx, removal)
			if err != nil {
				return directly(err)
			}
			return directEnd(report, r)
		},
	}}
	return made, nil
}

// removals returns the changes of a deletion's dry run: first the objects that users made, then those of the module.
func (c *cluster) removals(report directinstall.Report) []Change {
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

// blockingResources converts the resources of package directinstall.
func blockingResources(resources []directinstall.Resource) []Blocking {
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

// resourcesOf converts the objects of a preview for package directinstall.
func resourcesOf(shown []PreviewedObject) []directinstall.Resource {
	var all []directinstall.Resource
	for _, one := range shown {
		gvk := schema.FromAPIVersionAndKind(one.APIVersion, one.Kind)
		all = append(all, directinstall.Resource{
			ID:      inventory.ID{Group: gvk.Group, Kind: gvk.Kind, Namespace: one.Namespace, Name: one.Name},
			Version: gvk.Version, UID: string(one.UID),
		})
	}
	return all
}

// directEnd returns the error that a report of package directinstall means, nil for success.
func directEnd(report directinstall.Report, r *reporter) error {
	switch {
	case report.Ready, report.State == installer.StateReady, report.State == installer.StateGone:
		return nil
	case report.State == installer.StateError:
		return refuse(WhyRefused, "module %s: %s: %s", report.Module, report.Reason, report.Message)
	}
	r.say(report.Message)
	return refuse(WhyRefused, "module %s is still %s: %s; resuming continues where it was", report.Module, report.State, report.Message)
}
