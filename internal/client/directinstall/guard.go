package directinstall

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
)

// guard returns the type of a module, and refuses modules that are not for this package:
//
//  1. A Kyma for this cluster has the module: refused in any case.
//  2. Its template is marked as managed, or a ModuleReleaseMeta offers it: manageable, and refused unless the Plan sets Unmanaged.
//  3. Otherwise it is a community module.
//
// A cluster that does not serve our kinds has none of them. Objects that may not be read are assumed to exist.
func (j *job) guard(ctx context.Context, plan *Plan) (modulestatus.Type, error) {
	releases, err := listed[v1beta2.ModuleReleaseMeta](ctx, j, "modulereleasemetas")
	if err != nil && (!plan.Unmanaged || ReasonOf(err) != ReasonForbidden) {
		return "", err
	}
	if plan.Release != nil {
		releases = append(releases, *plan.Release)
	}
	offers := func(release v1beta2.ModuleReleaseMeta) bool {
		return release.Spec.ModuleName == j.module || release.Name == j.module
	}
	mandatory := slices.ContainsFunc(releases, func(release v1beta2.ModuleReleaseMeta) bool {
		return offers(release) && release.Spec.Mandatory != nil
	})
	kymas, err := listed[v1beta2.Kyma](ctx, j, "kymas")
	if err != nil {
		return "", err
	}
	for i := range kymas {
		if manages(&kymas[i], j.module, mandatory) {
			return modulestatus.Managed, refuse(ReasonManaged,
				"module %s is managed by the Kyma %s/%s: use that, or take the module out of it first",
				j.module, kymas[i].Namespace, kymas[i].Name)
		}
	}
	if !manageable(plan.Template) && !slices.ContainsFunc(releases, offers) {
		return modulestatus.Community, nil
	}
	if !plan.Unmanaged {
		return modulestatus.Manageable, refuse(ReasonManageable,
			"module %s can be managed by a Kyma: installed without one, it is neither upgraded nor repaired, so request this explicitly", j.module)
	}
	return modulestatus.Manageable, nil
}

// manageable reports whether a template is marked as managed by the lifecycle manager.
func manageable(template *v1beta2.ModuleTemplate) bool {
	by := template.Labels[v1beta2.LabelManagedBy]
	return by == v1beta2.ManagedByKyma || by == v1beta2.ManagedByLifecycleManager
}

// manages reports whether a Kyma manages a module of this very cluster. A Kyma on a hub is for another cluster, unless it is local; the
// Kyma that the hub keeps in a runtime is for that runtime.
func manages(kyma *v1beta2.Kyma, module string, mandatory bool) bool {
	local := kyma.Spec.Remote != nil && !*kyma.Spec.Remote
	if !local && (kyma.Namespace != v1beta2.RuntimeNamespace || kyma.Name != v1beta2.RuntimeKymaName) {
		return false
	}
	for _, wanted := range kyma.Spec.Modules {
		if wanted.Name == module && (wanted.Managed == nil || *wanted.Managed) {
			return true
		}
	}
	for i := range kyma.Status.Modules { // the status has it until its objects are gone
		if status := &kyma.Status.Modules[i]; status.Name == module && status.State != v1beta2.StateUnmanaged {
			return true
		}
	}
	return mandatory
}

// listed reads all objects of one of our kinds.
func listed[T any](ctx context.Context, j *job, resource string) ([]T, error) {
	gvr := v1beta2.GroupVersion.WithResource(resource)
	list, err := j.cluster.Dynamic.Resource(gvr).List(ctx, metav1.ListOptions{})
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return nil, nil
	case apierrors.IsForbidden(err):
		served, asked := j.serves(resource)
		if asked == nil && !served {
			return nil, nil
		}
		return nil, refuse(ReasonForbidden, "it cannot be seen whether a Kyma manages module %s: %w", j.module, err)
	case err != nil:
		return nil, err
	}
	found := make([]T, len(list.Items))
	for i := range list.Items {
		if err := convert(&list.Items[i], &found[i]); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func convert(object *unstructured.Unstructured, into any) error {
	return runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into)
}

// serves reports whether the cluster serves one of our kinds; discovery requires no permission.
func (j *job) serves(resource string) (bool, error) {
	client, err := discovery.NewDiscoveryClientForConfig(j.cluster.Config)
	if err != nil {
		return false, err
	}
	list, err := client.ServerResourcesForGroupVersion(v1beta2.GroupVersion.String())
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == resource }), nil
}
