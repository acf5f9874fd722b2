package editcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// found is a module in one version, with the release that offers it, if there is one.
type found struct {
	template *v1beta2.ModuleTemplate
	release  *v1beta2.ModuleReleaseMeta
	// offered reports whether any release offers a module of that name: then it is no community module.
	offered bool
	// origin is the catalog that the template came from, nil if it came from none.
	origin *modulestatus.Origin
	// from describes where it was found, for users; empty for the catalog of origin.
	from string
}

// describe returns where a module comes from, before anything is asked or done.
func (f found) describe() string {
	text := fmt.Sprintf("%s %s comes from ", modulestatus.ModuleOf(f.template), f.template.ModuleVersion())
	switch {
	case f.origin == nil:
		return text + f.from + "."
	case f.from == "":
		return text + "the catalog " + f.origin.URL + "."
	}
	return text + f.from + ", which was taken from the catalog " + f.origin.URL + "."
}

// find returns the template of a wish: from the file of --template, or else from the one namespace of the cluster that counts for the
// module. before is the installed module, nil if there is none.
func (d *directFlags) find(
	ctx context.Context, c *console.Console, cluster client.Client, before *modulestatus.Direct, wish kymaedit.ModuleRequest,
) (found, error) {
	if d.template != "" && d.namespace != "" {
		return found{}, console.Usage("--template and --template-namespace exclude each other")
	}
	templates, err := d.templates(ctx, c, cluster, wish.Name)
	from := "the file " + d.template
	if where := d.component(); console.Code(err) == console.CodeNotFound && d.template == "" && where != nil && where.Name != "" {
		templates, err = d.carried(ctx, c, *where, wish)
		from = "component " + where.Name + " of " + where.Registry
	} else if err == nil && d.template == "" {
		templates, err = d.ofOneNamespace(templates, before, wish.Name)
		from = ""
	}
	if err != nil {
		return found{}, err
	}
	made, err := d.among(ctx, cluster, templates, nil, wish)
	if made.template != nil {
		made.origin = modulestatus.OriginOf(made.template)
		made.from = cmp.Or(from, "the ModuleTemplate "+made.template.Namespace+"/"+made.template.Name)
	}
	return made, err
}

// ofOneNamespace returns the templates of the one namespace that counts for a module.
func (d *directFlags) ofOneNamespace(
	templates []v1beta2.ModuleTemplate, before *modulestatus.Direct, name string,
) ([]v1beta2.ModuleTemplate, error) {
	choice := modulestatus.Choice{Named: d.namespace}
	if before != nil {
		choice.Before = before.Template.Namespace
	}
	namespace, err := choice.Among(name, modulestatus.NamespacesOf(templates))
	if err != nil {
		return nil, undecided(err)
	}
	return slices.DeleteFunc(templates, func(t v1beta2.ModuleTemplate) bool { return t.Namespace != namespace }), nil
}

// undecided gives an error of modulestatus.Choice an exit code and a hint.
func undecided(err error) error {
	failure := console.Usage("%w", err)
	if _, absent := errors.AsType[*modulestatus.AbsentError](err); absent {
		failure = console.NotFound("%w", err)
	}
	return failure.With("--template-namespace NAMESPACE names it; kyma catalog list shows who offers what")
}

// among chooses from templates of a module, all of one namespace or of none, with the release that belongs to them: from more, or from
// the cluster.
func (d *directFlags) among(
	ctx context.Context, cluster client.Client, templates []v1beta2.ModuleTemplate, more []v1beta2.ModuleReleaseMeta,
	wish kymaedit.ModuleRequest,
) (found, error) {
	var releases v1beta2.ModuleReleaseMetaList
	if err := cluster.List(ctx, &releases); err != nil && !unserved(err) {
		return found{}, err
	}
	for i := range more {
		more[i].Namespace = "" // it is in no cluster
	}
	releases.Items = slices.Concat(releases.Items, more)
	namespace := ""
	if len(templates) > 0 {
		namespace = templates[0].Namespace
	}
	release, err := modulestatus.ReleaseOf(wish.Name, namespace, releases.Items)
	if err != nil {
		return found{}, undecided(err)
	}
	offered := slices.ContainsFunc(releases.Items, func(r v1beta2.ModuleReleaseMeta) bool { return r.Name == wish.Name })
	offer := kymaedit.Offer{Module: wish.Name, Channels: map[string]string{}}
	if release != nil {
		offer = kymaedit.Offers([]v1beta2.ModuleReleaseMeta{*release}, nil)[wish.Name]
	}
	offer.Versions = versions(templates)
	template, err := choose(offer, templates, wish)
	return found{template: template, release: release, offered: offered}, err
}
