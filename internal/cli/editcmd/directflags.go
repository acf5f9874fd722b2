package editcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/catalogcmd"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/registryauth"
)

// directFlags are the flags for modules that are installed without the lifecycle manager.
type directFlags struct {
	community, unmanaged bool
	template, registry   string
	signatures           string
	// namespace is where templates in the cluster are taken from; if it is empty, the rules of package modulestatus decide.
	namespace string
	login     registryauth.Options
	// again reads the catalog that a module came from; nil for commands that do not.
	again *catalogcmd.Again
}

// add adds all of them.
func (d *directFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&d.community, "community", false, "install community modules, directly: without guarantees and automatic upgrades")
	flags.BoolVar(&d.unmanaged, "unmanaged", false, "install modules directly that the lifecycle manager could manage")
	d.addSource(flags)
}

// addSource adds the flags that name the content of such modules.
func (d *directFlags) addSource(flags *pflag.FlagSet) {
	flags.StringVar(&d.template, "template", "",
		"file with the ModuleTemplate of a module that is installed directly (default: the cluster's)")
	flags.StringVar(&d.namespace, "template-namespace", "",
		"namespace of the cluster that its ModuleTemplate is taken from (default: the one that it came from, else kyma-system, else kcp-system, "+
			"else the only one that has it)")
	flags.StringVar(&d.registry, "registry", "",
		"registry with the component of such a module: [oci://|http://]HOST[:PORT][/PATH], and //NAME where nothing else names the component")
	d.login.AddFlagsFor(flags, "registry-")
	console.AddSignaturesFile(flags, &d.signatures)
}

// addAgain adds the flags for reading again the catalog of a module that is installed directly.
func (d *directFlags) addAgain(flags *pflag.FlagSet, c *change) {
	d.again = catalogcmd.NewAgain(c.console, c.target)
	d.again.Dry = c.dry
	d.again.AddFlags(flags)
}

func (d *directFlags) isSet() bool { return d.community || d.unmanaged }

// access returns the access to registries.
func (d *directFlags) access(c *console.Console) (directinstall.Access, error) {
	access, err := d.login.Access(c.In, d.registry)
	if err != nil {
		return directinstall.Access{}, console.Usage("%w", err)
	}
	return directinstall.Access(access), nil
}

// ofCatalog returns the options for reading the catalog that a module came from. It may be at another server than --registry names, so
// the TLS options of that one do not apply to it.
func (d *directFlags) ofCatalog() registryauth.Options {
	return registryauth.Options{
		CAFile: d.login.CAFile, DockerConfig: d.login.DockerConfig, PlainHTTP: d.login.PlainHTTP && d.registry == "",
	}
}

// component returns the location of the content that --registry names; nil without the flag.
func (d *directFlags) component() *directinstall.Component {
	where := d.registry
	for _, scheme := range []string{"oci://", "https://", "http://"} {
		where = strings.TrimPrefix(where, scheme)
	}
	if where == "" {
		return nil
	}
	registry, name, _ := strings.Cut(where, "//")
	return &directinstall.Component{Registry: strings.Trim(registry, "/"), Name: name}
}

// carried returns the template of a component that --registry names: the one that it contains, or an equivalent one.
func (d *directFlags) carried(
	ctx context.Context, c *console.Console, where directinstall.Component, wish kymaedit.ModuleRequest,
) ([]v1beta2.ModuleTemplate, error) {
	if wish.Version == "" {
		return nil, console.Usage("the version of module %s is missing: only a component offers it", wish.Name).
			With("say %s@VERSION, or --to VERSION to upgrade it", wish.Name)
	}
	access, err := d.access(c)
	if err != nil {
		return nil, err
	}
	where.Version = wish.Version
	template, err := directinstall.TemplateOf(ctx, where, access)
	if err != nil {
		return nil, directError(err, directinstall.Report{Module: wish.Name})
	}
	if holds := modulestatus.ModuleOf(template); holds != wish.Name {
		return nil, console.NotFound("there is no module %s: component %s holds module %s", wish.Name, where.Name, holds)
	}
	template.Namespace = ""
	return []v1beta2.ModuleTemplate{*template}, nil
}

// templates returns all available templates of a module.
func (d *directFlags) templates(
	ctx context.Context, c *console.Console, cluster client.Client, name string,
) ([]v1beta2.ModuleTemplate, error) {
	var all []v1beta2.ModuleTemplate
	where := "this cluster has no ModuleTemplate of it"
	if d.template != "" {
		where = d.template + " has no ModuleTemplate of it"
		documents, err := objects(ctx, c.In, d.template)
		if err != nil {
			return nil, err
		}
		if all, err = templatesIn(documents, d.template); err != nil {
			return nil, err
		}
		for i := range all {
			all[i].Namespace = "" // it names its intended namespace, but is in a file
		}
	} else {
		var list v1beta2.ModuleTemplateList
		if err := cluster.List(ctx, &list); err != nil && !unserved(err) {
			return nil, err
		}
		all = list.Items
	}
	var known []string
	for i := range all {
		known = append(known, modulestatus.ModuleOf(&all[i]))
	}
	all = slices.DeleteFunc(all, func(t v1beta2.ModuleTemplate) bool { return modulestatus.ModuleOf(&t) != name })
	if len(all) > 0 {
		return all, nil
	}
	failure := console.NotFound("there is no module %s: %s", name, where)
	if similar := kymaedit.Similar(name, known); len(similar) > 0 {
		return nil, failure.With("did you mean %s?", strings.Join(similar, " or "))
	}
	return nil, failure.With("--template takes a file, kyma catalog pull %s --from URL puts one into the cluster", name)
}

// templatesIn returns the ModuleTemplates among the objects of a file.
func templatesIn(documents []*unstructured.Unstructured, file string) ([]v1beta2.ModuleTemplate, error) {
	var all []v1beta2.ModuleTemplate
	for _, document := range documents {
		if document.GroupVersionKind().GroupKind() != templateKind.GroupKind() {
			continue
		}
		var template v1beta2.ModuleTemplate
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(document.Object, &template); err != nil {
			return nil, fmt.Errorf("%s: ModuleTemplate %s: %w", file, document.GetName(), err)
		}
		all = append(all, template)
	}
	return all, nil
}

var templateKind = v1beta2.GroupVersion.WithKind("ModuleTemplate")

// versions returns the versions of templates, newest first.
func versions(templates []v1beta2.ModuleTemplate) []string {
	var all []string
	for i := range templates {
		all = append(all, templates[i].ModuleVersion())
	}
	return kymaedit.Newest(all)
}

// choose returns the template of the version that a wish leads to.
func choose(offer kymaedit.Offer, templates []v1beta2.ModuleTemplate, wish kymaedit.ModuleRequest) (*v1beta2.ModuleTemplate, error) {
	version, err := offer.Choose(wish)
	if err != nil {
		return nil, console.NotFound("%w", err)
	}
	at := slices.IndexFunc(templates, func(t v1beta2.ModuleTemplate) bool { return t.ModuleVersion() == version })
	return &templates[at], nil
}

// directModules returns the modules that are installed without the lifecycle manager; none for users who may not read their records.
func directModules(ctx context.Context, reader client.Reader) []string {
	installed, err := directinstall.List(ctx, reader)
	if err != nil {
		return nil
	}
	var all []string
	for _, module := range installed {
		all = append(all, module.Module)
	}
	return all
}

// recorded returns the record of a module that is installed without the lifecycle manager; nil also for users who may not read the
// records.
func recorded(ctx context.Context, reader client.Reader, name string) *modulestatus.Direct {
	found, err := directinstall.Find(ctx, reader, name)
	if err != nil {
		return nil
	}
	return found
}

// typeOf returns the type of a module, by the only definition: a module that a release offers, or that is marked as managed, is no
// community module.
func typeOf(f found) modulestatus.Type {
	switch f.template.Labels[v1beta2.LabelManagedBy] {
	case v1beta2.ManagedByKyma, v1beta2.ManagedByLifecycleManager:
		return modulestatus.Manageable
	}
	if f.offered {
		return modulestatus.Manageable
	}
	return modulestatus.Community
}
