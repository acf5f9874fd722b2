package editcmd

import (
	"context"
	"errors"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/kymaedit"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// fresh returns a version of a module that is installed directly:
//
//  1. from where a flag points: a file, a component, or a namespace of the cluster
//  2. from the catalog that it came from, which is read again, and from nowhere else: the copy in the cluster is not verified
//  3. from the namespace of the cluster that it came from
func (d *directFlags) fresh(
	ctx context.Context, c *console.Console, cluster client.Client, before *modulestatus.Direct, wish kymaedit.ModuleRequest,
) (found, error) {
	where := d.component()
	flagged := d.template != "" || d.namespace != "" || where != nil && where.Name != ""
	if flagged || before == nil || before.Origin == nil {
		return d.find(ctx, c, cluster, before, wish)
	}
	catalog, origin, err := d.again.Read(ctx, d.ofCatalog(), wish.Name, *before.Origin)
	if err != nil {
		if failure, is := errors.AsType[*console.Failure](err); is && failure.Hint != "" {
			return found{}, err
		}
		return found{}, (&console.Failure{Code: console.Code(err), Err: err}).
			With("--template takes a file; kyma catalog pull, and then kyma add %s --community, takes it from elsewhere", wish.Name)
	}
	templates := slices.DeleteFunc(catalog.Templates, func(t v1beta2.ModuleTemplate) bool { return modulestatus.ModuleOf(&t) != wish.Name })
	if len(templates) == 0 {
		return found{}, console.NotFound("there is no module %s: %s has no ModuleTemplate of it", wish.Name, origin.URL)
	}
	for i := range templates {
		templates[i].Namespace = "" // it is in no cluster yet
	}
	made, err := d.among(ctx, cluster, templates, catalog.Releases, wish)
	made.origin = &origin
	return made, err
}

// keep stores the template of a module that came from a catalog beside the installed one, so that the cluster has the template of the
// installed version. If the user may not do that, or the cluster has no such kind, only the record holds it.
func (c *change) keep(ctx context.Context, module found, before *modulestatus.Direct) error {
	template := module.template
	if module.origin == nil || template.Namespace != "" {
		return nil
	}
	template.ObjectMeta = metav1.ObjectMeta{Name: template.Name, Labels: template.Labels, Annotations: template.Annotations}
	delete(template.Labels, v1beta2.LabelManagedBy) // a catalog must not set it
	metav1.SetMetaDataAnnotation(&template.ObjectMeta, communitycatalog.AnnotationSource, module.origin.URL)
	if err := module.origin.Note(template); err != nil {
		return err
	}
	if template.Namespace = before.Template.Namespace; template.Namespace == "" || template.Namespace == v1beta2.RuntimeNamespace {
		template.Namespace = metav1.NamespaceDefault
	}
	_, err := c.store(ctx, template, false)
	switch {
	case apierrors.IsForbidden(err), console.Code(err) == console.CodeNotFound:
		template.Namespace = ""
		return nil
	case err != nil:
		if failure, is := errors.AsType[*console.Failure](err); is {
			return (&console.Failure{Code: failure.Code, Err: failure.Err}).With("kyma catalog pull %s@%s --from %s --force replaces it",
				modulestatus.ModuleOf(template), template.ModuleVersion(), module.origin.URL)
		}
	}
	return err
}
