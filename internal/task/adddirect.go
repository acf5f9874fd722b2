package task

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/collection"
	"github.com/kyma-project/lifecycle-manager/internal/direct"
	"github.com/kyma-project/lifecycle-manager/internal/edit"
	"github.com/kyma-project/lifecycle-manager/internal/view"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
	"github.com/kyma-project/lifecycle-manager/pkg/manifest"
)

// place is the cluster that modules are installed into directly, and the Kyma that it belongs to, if the deed names one.
type place struct {
	*cluster
	scene *scene
	shelf *shelf
}

// elsewhere says that the cluster is not the one that the person is logged in to.
func (at *place) elsewhere() bool { return at.scene != nil && !at.scene.Here() }

// where finds the cluster of modules that are installed directly: that of the Kyma, or the one that the person is logged in to.
func (p *planner) where(ctx context.Context, kyma string) (*place, error) {
	if kyma == "" {
		c, err := connect(p.as.Config)
		return &place{cluster: c}, err
	}
	s, err := p.open(ctx, kyma)
	if err != nil {
		return nil, err
	}
	c, err := s.modules(ctx)
	return &place{cluster: c, scene: s}, err
}

// addDirectly installs modules without the lifecycle manager.
func (p *planner) addDirectly(ctx context.Context) (*plan, error) {
	at, err := p.where(ctx, p.deed.Kyma)
	if err != nil {
		return nil, err
	}
	source, err := p.stored(ctx, p.as, p.deed.Source)
	if err != nil {
		return nil, err
	}
	if at.shelf, err = p.shelf(ctx, at, source); err != nil {
		return nil, err
	}
	made := &plan{elsewhere: at.elsewhere()}
	made.warn(at.shelf.warnings)
	var confirm []string
	for _, wanted := range p.deed.Modules {
		way, why := p.oneDirectly(ctx, at, made, wanted)
		made.way, made.why = string(way), why
		if made.refusal() != "" {
			return made, nil
		}
		if way == view.DirectlyConfirmed {
			confirm = append(confirm, wanted.Name)
		}
	}
	if made.confirm = strings.Join(confirm, " "); made.confirm != "" {
		made.way = string(view.DirectlyConfirmed)
		made.why = "without the lifecycle manager nobody but you upgrades and repairs it, and full support is given up"
	}
	return made, nil
}

// oneDirectly adds the steps of one module to a plan, or why it is refused.
func (p *planner) oneDirectly(ctx context.Context, at *place, made *plan, wanted Wanted) (way view.Way, why string) {
	before := at.directly(ctx, wanted.Name)
	wish := edit.Wish{Name: wanted.Name, Channel: wanted.Channel, Version: wanted.Version}
	offer, err := at.shelf.find(wish, choiceOf(wanted.Namespace, before))
	if err != nil {
		made.refuse(err)
		return view.NoWay, ""
	}
	if err := ofModule(offer.template, wanted); err != nil {
		made.refuse(err)
		return view.NoWay, ""
	}
	made.taken = append(made.taken, at.shelf.taken(offer))
	asks := view.Wish{
		Module: wanted.Name, Type: offer.kind, Direct: before != nil, Kyma: at.scene != nil,
		WantsCommunity: p.deed.Community, WantsUnmanaged: p.deed.Direct,
	}
	if at.scene != nil && at.scene.Has(wanted.Name) {
		asks.Type = view.Managed
	}
	way, why = view.WayToInstall(asks)
	why = inWords(why)
	switch way {
	case view.ViaKyma, view.NoWay:
		made.refuse(refuse(WhyRefused, "%s", why))
		return way, why
	case view.Directly, view.DirectlyConfirmed:
	}
	if asks.Type == view.Community {
		made.warnings = append(made.warnings, fmt.Sprintf("%s is a community module: it comes without guarantees and without automatic upgrades",
			wanted.Name))
	}
	install := p.directPlan(at, offer)
	install.Unmanaged = asks.Type == view.Manageable
	install.CR = wanted.Resource
	install.DefaultCR = wanted.Resource == nil && direct.WantsDefault(wanted.Policy, before)
	if keep := at.shelf.keeps(offer); keep != nil {
		made.steps = append(made.steps, *keep)
	}
	made.steps = append(made.steps, p.installs(at.cluster, install, direct.Install))
	return way, why
}

// choiceOf says which namespace's templates count for a module that is installed already, or not.
func choiceOf(named string, before *view.Direct) view.Choice {
	choice := view.Choice{Named: named}
	if before != nil {
		choice.Before = before.Template.Namespace
	}
	return choice
}

// directPlan is what package direct is asked for.
func (p *planner) directPlan(at *place, offer offered) direct.Plan {
	made := direct.Plan{
		Config: at.config, Template: offer.template, Origin: at.shelf.origin, Release: offer.release, Access: p.options.Access,
		Store: p.options.Store, Wait: p.options.Patience, Signatures: p.options.Signatures,
	}
	if made.Origin == nil {
		made.Origin = view.OriginOf(offer.template)
	}
	linked := slices.ContainsFunc(offer.template.Spec.Resources, func(named v1beta2.Named) bool {
		return named.Name == "rawManifest" || named.Name == "raw-manifest"
	})
	if p.options.Registry != "" && !linked {
		made.Component = &direct.Component{Registry: p.options.Registry}
	}
	return made
}

// fetching is a context in which content is fetched: for people who are elsewhere not from every address that this program can reach.
func (e *Engine) fetching(ctx context.Context) context.Context {
	if !e.options.Shared {
		return ctx
	}
	return content.WithDialControl(ctx, collection.Control(e.options.Catalogs.AllowPrivate))
}

// installs is the step that carries a plan of package direct out.
func (p *planner) installs(c *cluster, how direct.Plan, call func(context.Context, direct.Plan) (direct.Report, error)) step {
	module, version := view.ModuleOf(how.Template), view.VersionOf(how.Template)
	return step{
		title: fmt.Sprintf("Install %s %s", module, version),
		try: func(ctx context.Context) ([]Change, error) {
			dry := how
			dry.DryRun = true
			report, err := call(p.fetching(ctx), dry)
			return c.changesOf(report.Differences), directly(err)
		},
		do: func(ctx context.Context, r *reporter) error {
			how.Progress = r.progress
			report, err := call(p.fetching(ctx), how)
			if err != nil {
				return directly(err)
			}
			return directEnd(report, r)
		},
	}
}

// progress tells what package direct does with an object.
func (r *reporter) progress(o manifest.ObjectReport) {
	state := string(o.Action)
	if state == "" {
		state = string(o.Health)
	}
	r.object(refOf(o.Group, o.Version, o.Kind, o.Namespace, o.Name), state, o.Message)
}

// refOf is a reference in the version that the cluster prefers; in none where it does not know the kind yet.
func (c *cluster) refOf(id inventory.ID) view.Ref {
	version := ""
	if mapping, err := c.RESTMapper().RESTMapping(id.GroupKind()); err == nil {
		version = mapping.GroupVersionKind.Version
	}
	return refOf(id.Group, version, id.Kind, id.Namespace, id.Name)
}

func refOf(group, version, kind, namespace, name string) view.Ref {
	return view.Ref{
		APIVersion: schema.GroupVersion{Group: group, Version: version}.String(), Kind: kind, Namespace: namespace, Name: name,
	}
}

// changesOf are the differences of package direct.
func (c *cluster) changesOf(differences []apply.Difference) []Change {
	all := []Change{}
	for _, d := range differences {
		if d.Change == "" {
			continue
		}
		change := Change{
			Object: c.refOf(d.ID), Change: d.Change, Fields: fieldsOf(d.Fields),
		}
		if d.Err != nil {
			change.Error = told(d.Err)
		}
		all = append(all, change)
	}
	return all
}

// directly gives an error of package direct its reason here.
func directly(err error) error {
	if refused := collection.Undialled(err); refused != nil {
		return refuse(WhyRefused, "the content of the module cannot be fetched: %s", refused)
	}
	switch direct.ReasonOf(err) {
	case direct.ReasonManaged, direct.ReasonManageable, direct.ReasonDowngrade, direct.ReasonBeingDeleted, direct.ReasonRefused,
		direct.ReasonNoContent, direct.ReasonUnsupported, direct.ReasonContentChanged, direct.ReasonPlanInvalid,
		content.ReasonDigestMismatch:
		return refuse(WhyRefused, "%s", told(err))
	case direct.ReasonNotInstalled:
		return refuse(WhyNotFound, "%s", told(err))
	case direct.ReasonBlocked, direct.ReasonForbidden:
		return refuse(WhyBlocked, "%s", told(err))
	}
	return err
}
