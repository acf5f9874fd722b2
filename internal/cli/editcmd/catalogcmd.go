package editcmd

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/catalogcmd"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// catalog returns the group `kyma catalog`; package getcmd adds list, show and search.
func catalog(c *change) *cobra.Command {
	command := &cobra.Command{Use: "catalog", Short: "List and inspect available modules"}
	command.AddCommand(pull(c))
	return command
}

// pulling is one call of `kyma catalog pull`.
type pulling struct {
	*change
	from  *catalogcmd.From
	force bool
}

func pull(c *change) *cobra.Command {
	p := &pulling{change: c, from: catalogcmd.NewFrom(c.console, c.target)}
	command := &cobra.Command{
		Use:   "pull NAME[@VERSION]",
		Short: "Put the ModuleTemplate of a community module into the cluster",
		Long: "Reads a catalog, which is a file, an https address or an artifact of a registry with ModuleTemplates as YAML or JSON,\n" +
			"and stores the template of a module in the namespace of --namespace (default: default). kyma add --community installs it then.",
		Example: "  kyma catalog pull docker-registry --from https://kyma-project.github.io/community-modules/all-modules.yaml\n" +
			"  kyma catalog pull docker-registry@0.15.0 --from all-modules.yaml -n modules",
		Args: names(1, 1, "NAME[@VERSION]"),
		RunE: func(command *cobra.Command, args []string) error { return p.run(command.Context(), args[0]) },
	}
	flags := command.Flags()
	p.from.AddFlags(flags, "catalog: a file, https://HOST/PATH or oci://HOST/PATH:TAG; - reads standard input")
	flags.BoolVar(&p.force, "force", false, "put it in place of another one of its name")
	c.dryRunFlag(flags)
	c.outputFlag(flags)
	_ = command.MarkFlagRequired("from")
	return command
}

func (p *pulling) run(ctx context.Context, arg string) error {
	p.timeout = time.Minute
	if err := p.checked(); err != nil {
		return err
	}
	wish, err := kymaedit.ParseWish(arg)
	if err != nil || wish.Channel != "" {
		return console.Usage("%q: write NAME or NAME@VERSION", arg)
	}
	templates, err := p.read(ctx, wish.Name)
	if err != nil {
		return err
	}
	template, err := choose(kymaedit.Offer{Module: wish.Name, Versions: versions(templates)}, templates, wish)
	if err != nil {
		return err
	}
	if err := p.place(template); err != nil {
		return err
	}
	action, err := p.store(ctx, template, p.force)
	if err != nil {
		return err
	}
	i := item{Name: "moduletemplate/" + template.Name, Action: action, Version: template.Spec.Version}
	if p.dry() {
		i.DryRun = p.dryRun
	}
	return p.print([]item{i})
}

// read reads the templates of a module from the catalog.
func (p *pulling) read(ctx context.Context, name string) ([]v1beta2.ModuleTemplate, error) {
	templates, err := p.offered(ctx)
	if err != nil {
		return nil, err
	}
	var all []v1beta2.ModuleTemplate
	known := map[string]kymaedit.Offer{}
	for _, template := range templates {
		known[modulestatus.ModuleOf(&template)] = kymaedit.Offer{Module: modulestatus.ModuleOf(&template)}
		if modulestatus.ModuleOf(&template) == name {
			all = append(all, template)
		}
	}
	if len(all) == 0 {
		return nil, console.NotFound("%w", kymaedit.Check(known, &v1beta2.KymaSpec{}, kymaedit.ModuleRequest{Name: name}))
	}
	return all, nil
}

// offered returns all templates of the catalog.
func (p *pulling) offered(ctx context.Context) ([]v1beta2.ModuleTemplate, error) {
	file, err := p.from.File()
	if err != nil {
		return nil, err
	}
	if !file {
		in, err := p.from.Read(ctx)
		return in.Templates, err
	}
	documents, err := objects(ctx, p.console.In, p.from.Address())
	if err != nil {
		return nil, err
	}
	return templatesIn(documents, p.from.Address())
}

// place sets where the template is stored. The namespace of the lifecycle manager's own catalog is reserved.
func (p *pulling) place(template *v1beta2.ModuleTemplate) error {
	namespace, explicit, err := p.target.Namespace()
	if err != nil {
		return err
	}
	if !explicit && namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	if namespace == v1beta2.RuntimeNamespace {
		return console.Usage("namespace %s is for the lifecycle manager's own catalog", namespace).With("set --namespace")
	}
	template.ObjectMeta = metav1.ObjectMeta{
		Namespace: namespace, Name: template.Name, Labels: template.Labels, Annotations: template.Annotations,
	}
	delete(template.Labels, v1beta2.LabelManagedBy)
	if template.Annotations == nil {
		template.Annotations = map[string]string{}
	}
	template.Annotations[communitycatalog.AnnotationSource] = p.from.Address()
	for _, note := range []string{modulestatus.AnnotationOrigin, communitycatalog.AnnotationVersion, communitycatalog.AnnotationExpires} {
		delete(template.Annotations, note) // they describe the catalog, and not the template
	}
	if origin := p.from.Origin(); origin != nil {
		return origin.Note(template)
	}
	return nil
}

// store creates the template, or compares it with the existing one.
func (c *change) store(ctx context.Context, template *v1beta2.ModuleTemplate, force bool) (kymaedit.Action, error) {
	cluster, err := c.target.Client()
	if err != nil {
		return "", err
	}
	there := &v1beta2.ModuleTemplate{}
	err = cluster.Get(ctx, client.ObjectKeyFromObject(template), there)
	switch {
	case err == nil:
		return c.replace(ctx, cluster, there, template, force)
	case unserved(err) && !apierrors.IsNotFound(err):
		return "", console.NotFound("this cluster has no ModuleTemplates").With("kyma add --community --template FILE needs none")
	case !apierrors.IsNotFound(err):
		return "", err
	case kymaedit.DryRun(c.dryRun) == kymaedit.DryRunClient:
		return "pulled", nil
	}
	options := []client.CreateOption{client.FieldOwner(kymaedit.FieldManager)}
	if c.dry() {
		options = append(options, client.DryRunAll)
	}
	if err := cluster.Create(ctx, template, options...); err != nil {
		if apierrors.IsNotFound(err) {
			return "", console.NotFound("cannot store the template in namespace %s: %w", template.Namespace, err)
		}
		return "", err
	}
	return "pulled", nil
}

// replace changes the existing template, if it differs and force is set. An equal one may come from another catalog.
func (c *change) replace(
	ctx context.Context, cluster client.Client, there, template *v1beta2.ModuleTemplate, force bool,
) (kymaedit.Action, error) {
	from, to := there.DeepCopy(), there.DeepCopy()
	to.Spec = *template.Spec.DeepCopy()
	if to.Spec.Readiness == "" {
		to.Spec.Readiness = from.Spec.Readiness // the API's default is no difference
	}
	text := unified("moduletemplate/"+there.Name, "moduletemplate/"+there.Name, shownTemplate(from), shownTemplate(to))
	for _, note := range []string{communitycatalog.AnnotationSource, modulestatus.AnnotationOrigin} {
		if value, noted := template.Annotations[note]; noted {
			metav1.SetMetaDataAnnotation(&to.ObjectMeta, note, value)
		} else {
			delete(to.Annotations, note)
		}
	}
	if text == "" && maps.Equal(from.Annotations, to.Annotations) {
		return kymaedit.Unchanged, nil
	}
	if text != "" {
		c.console.Sayf("%s", strings.TrimRight(text, "\n"))
	}
	if text != "" && !force {
		return "", (&console.Failure{
			Code: console.CodeError,
			Err:  fmt.Errorf("moduleTemplate %s/%s already exists and differs", there.Namespace, there.Name),
		}).With("--force replaces it")
	}
	options := []client.PatchOption{client.FieldOwner(kymaedit.FieldManager)}
	switch kymaedit.DryRun(c.dryRun) {
	case kymaedit.DryRunClient:
		return kymaedit.Changed, nil
	case kymaedit.DryRunServer:
		options = append(options, client.DryRunAll)
	case kymaedit.DryRunNone, "":
	}
	return kymaedit.Changed, cluster.Patch(ctx, to, client.MergeFromWithOptions(from, client.MergeFromWithOptimisticLock{}), options...)
}
