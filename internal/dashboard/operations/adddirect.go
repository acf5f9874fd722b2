package operations

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// place is the cluster that modules are installed into directly, and the Kyma that it belongs to, if the request names one.
type place struct {
	*cluster
	scene *hubContext
	shelf *available
}

// elsewhere reports whether the cluster is not the one that the user is logged in to.
func (at *place) elsewhere() bool { return at.scene != nil && !at.scene.Here() }

// where returns the cluster of modules that are installed directly: that of the Kyma, or the one that the user is logged in to.
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

// addDirectly plans to install modules without the lifecycle manager.
func (p *planner) addDirectly(ctx context.Context) (*plan, error) {
	at, err := p.where(ctx, p.deed.Kyma)
	if err != nil {
		return nil, err
	}
	source, err := p.stored(ctx, p.as, p.deed.Source)
	if err != nil {
		return nil, err
	}
	if at.shelf, err = p.readAvailable(ctx, at, source); err != nil {
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
		if way == modulestatus.DirectlyConfirmed {
			confirm = append(confirm, wanted.Name)
		}
	}
	if made.confirm = strings.Join(confirm, " "); made.confirm != "" {
		made.way = string(modulestatus.DirectlyConfirmed)
		made.why = "without the lifecycle manager you upgrade and repair it yourself, and lose full support"
	}
	return made, nil
}

// oneDirectly adds the steps of one module to a plan, or the reason why it is refused.
func (p *planner) oneDirectly(ctx context.Context, at *place, made *plan, wanted Wanted) (way modulestatus.InstallMethod, why string) {
	before := at.directly(ctx, wanted.Name)
	wish := kymaedit.ModuleRequest{Name: wanted.Name, Channel: wanted.Channel, Version: wanted.Version}
	offer, err := at.shelf.find(wish, choiceOf(wanted.Namespace, before))
	if err != nil {
		made.refuse(err)
		return modulestatus.NoWay, ""
	}
	if err := ofModule(offer.template, wanted); err != nil {
		made.refuse(err)
		return modulestatus.NoWay, ""
	}
	made.taken = append(made.taken, at.shelf.taken(offer))
	asks := modulestatus.InstallInput{
		Module: wanted.Name, Type: offer.kind, Direct: before != nil, Kyma: at.scene != nil,
		WantsCommunity: p.deed.Community, WantsUnmanaged: p.deed.Direct,
	}
	if at.scene != nil && at.scene.Has(wanted.Name) {
		asks.Type = modulestatus.Managed
	}
	way, why = modulestatus.WayToInstall(asks)
	why = inWords(why)
	switch way {
	case modulestatus.ViaKyma, modulestatus.NoWay:
		made.refuse(refuse(WhyRefused, "%s", why))
		return way, why
	case modulestatus.Directly, modulestatus.DirectlyConfirmed:
	}
	if asks.Type == modulestatus.Community {
		made.warnings = append(made.warnings, fmt.Sprintf("%s is a community module: it comes without guarantees and without automatic upgrades",
			wanted.Name))
	}
	install := p.directPlan(at, offer)
	install.Unmanaged = asks.Type == modulestatus.Manageable
	install.CR = wanted.Resource
	install.DefaultCR = wanted.Resource == nil && directinstall.WantsDefault(wanted.Policy, before)
	if keep := at.shelf.keeps(offer); keep != nil {
		made.steps = append(made.steps, *keep)
	}
	made.steps = append(made.steps, p.installs(at.cluster, install, directinstall.Install))
	return way, why
}

// choiceOf returns how the namespace of a template is chosen, depending on the template that an installed module came from.
func choiceOf(named string, before *modulestatus.Direct) modulestatus.Choice {
	choice := modulestatus.Choice{Named: named}
	if before != nil {
		choice.Before = before.Template.Namespace
	}
	return choice
}

// directPlan returns the plan for package directinstall.
func (p *planner) directPlan(at *place, offer offered) directinstall.Plan {
	made := directinstall.Plan{
		Config: at.config, Template: offer.template, Origin: at.shelf.origin, Release: offer.release, Access: p.options.Access,
		Store: p.options.Store, Wait: p.options.Patience, Signatures: p.options.Signatures,
	}
	if made.Origin == nil {
		made.Origin = modulestatus.OriginOf(offer.template)
	}
	linked := slices.ContainsFunc(offer.template.Spec.Resources, func(named v1beta2.Named) bool {
		return named.Name == "rawManifest" || named.Name == "raw-manifest"
	})
	if p.options.Registry != "" && !linked {
		made.Component = &directinstall.Component{Registry: p.options.Registry}
	}
	return made
}

// fetching returns a context for fetching content. If users on other machines use the server, it excludes addresses that catalogs may not
// be read from.
func (e *Engine) fetching(ctx context.Context) context.Context {
	if !e.options.Shared {
		return ctx
	}
	return content.WithDialControl(ctx, communitycatalog.Control(e.options.Catalogs.AllowPrivate))
}

// installs returns the step that carries out a plan of package directinstall.
func (p *planner) installs(
	c *cluster, how directinstall.Plan, call func(context.Context, directinstall.Plan) (directinstall.Report, error),
) step {
	module, version := modulestatus.ModuleOf(how.Template), how.Template.ModuleVersion()
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

// progress reports what package directinstall does with an object.
func (r *reporter) progress(o installer.ObjectReport) {
	state := string(o.Action)
	if state == "" {
		state = string(o.Health)
	}
	r.object(refOf(o.Group, o.Version, o.Kind, o.Namespace, o.Name), state, o.Message)
}

// refOf returns a reference in the version that the cluster prefers, or without a version if it does not serve the kind yet.
func (c *cluster) refOf(id inventory.ID) modulestatus.Ref {
	version := ""
	if mapping, err := c.RESTMapper().RESTMapping(id.GroupKind()); err == nil {
		version = mapping.GroupVersionKind.Version
	}
	return refOf(id.Group, version, id.Kind, id.Namespace, id.Name)
}

func refOf(group, version, kind, namespace, name string) modulestatus.Ref {
	return modulestatus.Ref{
		APIVersion: schema.GroupVersion{Group: group, Version: version}.String(), Kind: kind, Namespace: namespace, Name: name,
	}
}

// changesOf converts the differences of package directinstall.
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
			change.Error = errorText(d.Err)
		}
		all = append(all, change)
	}
	return all
}

// directly gives an error of package directinstall a reason of this package.
func directly(err error) error {
	if refused := communitycatalog.Undialled(err); refused != nil {
		return refuse(WhyRefused, "the content of the module cannot be fetched: %s", refused)
	}
	switch directinstall.ReasonOf(err) {
	case directinstall.ReasonManaged, directinstall.ReasonManageable, directinstall.ReasonDowngrade, directinstall.ReasonBeingDeleted,
		directinstall.ReasonRefused, directinstall.ReasonNoContent, directinstall.ReasonUnsupported, directinstall.ReasonContentChanged,
		directinstall.ReasonPlanInvalid, directinstall.ReasonOwnershipConflict,
		content.ReasonDigestMismatch:
		return refuse(WhyRefused, "%s", errorText(err))
	case directinstall.ReasonNotInstalled:
		return refuse(WhyNotFound, "%s", errorText(err))
	case directinstall.ReasonBlocked, directinstall.ReasonForbidden:
		return refuse(WhyBlocked, "%s", errorText(err))
	}
	return err
}
