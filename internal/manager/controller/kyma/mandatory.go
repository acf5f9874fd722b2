package kyma

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// indexMandatory finds the releases of modules that every Kyma has.
const indexMandatory = "mandatory"

// isMandatory is the index function, and reports whether a release makes its module mandatory.
func isMandatory(o client.Object) []string {
	if release, ok := o.(*v1beta2.ModuleReleaseMeta); ok && release.Spec.Mandatory != nil {
		return []string{v1beta2.EnabledValue}
	}
	return nil
}

// mandatory adds the releases of the mandatory modules, including those that are being deleted.
func (r *Reconciler) mandatory(ctx context.Context, world *module.Snapshot) error {
	releases := &v1beta2.ModuleReleaseMetaList{}
	err := r.Client.List(ctx, releases, client.InNamespace(world.Kyma.Namespace),
		client.MatchingFields{indexMandatory: v1beta2.EnabledValue}, client.UnsafeDisableDeepCopy)
	if err != nil {
		return fmt.Errorf("list the mandatory modules of Kyma %s: %w", client.ObjectKeyFromObject(world.Kyma), err)
	}
	for i := range releases.Items {
		world.Mandatory = append(world.Mandatory, &releases.Items[i])
	}
	return nil
}

// affected returns the Kymas that a change of a module's release or template concerns: all of them for a mandatory module, else those that
// have it. seen are the releases as the event shows them; one that is gone or no longer mandatory is found nowhere else.
func (r *Reconciler) affected(ctx context.Context, namespace, name string, seen ...client.Object) []reconcile.Request {
	release := &v1beta2.ModuleReleaseMeta{}
	key := client.ObjectKey{Namespace: namespace, Name: name}
	if err := r.Client.Get(ctx, key, release, client.DisableReadYourWritesConsistency); err == nil {
		seen = append(seen, release)
	}
	if !slices.ContainsFunc(seen, func(o client.Object) bool { return len(isMandatory(o)) > 0 }) {
		return r.kymasWith(ctx, namespace, name)
	}
	return r.kymasIn(ctx, func(*v1beta2.Kyma) bool { return true }, client.InNamespace(namespace))
}

// kymasIn returns the Kymas of the cache that a list selects and a function accepts.
func (r *Reconciler) kymasIn(ctx context.Context, wanted func(*v1beta2.Kyma) bool, options ...client.ListOption) []reconcile.Request {
	kymas := &v1beta2.KymaList{}
	err := r.Client.List(ctx, kymas, append(options, client.UnsafeDisableDeepCopy, client.DisableReadYourWritesConsistency)...)
	if err != nil {
		return nil // the cache is shutting down; nothing is left to wake
	}
	requests := make([]reconcile.Request, 0, len(kymas.Items))
	for i := range kymas.Items {
		if wanted(&kymas.Items[i]) {
			requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&kymas.Items[i])})
		}
	}
	return requests
}
