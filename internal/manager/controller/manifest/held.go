package manifest

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// freeHeld removes the finalizers of others from a Manifest that only they hold, when its cluster is gone: what they wait for will never
// happen, and its Kyma would wait forever. Upstream does the same.
func (r *Reconciler) freeHeld(ctx context.Context, manifest *v1beta2.Manifest) error {
	if !heldByOthers(manifest) || !r.clusterGone(ctx, manifest) {
		return nil
	}
	free := manifest.DeepCopy()
	free.Finalizers = nil
	err := r.Client.Patch(ctx, free, client.MergeFromWithOptions(manifest, client.MergeFromWithOptimisticLock{}))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove the finalizers of others from Manifest %s: %w", client.ObjectKeyFromObject(manifest), err)
	}
	return nil
}

// heldByOthers reports whether everything of a Manifest is removed, and only finalizers of others hold it.
func heldByOthers(manifest *v1beta2.Manifest) bool {
	return !manifest.DeletionTimestamp.IsZero() && len(manifest.Finalizers) > 0 && !slices.ContainsFunc(manifest.Finalizers, isOurs)
}

// clusterGone reports whether a Manifest belongs to a runtime without an access Secret. It reads the cache only.
func (r *Reconciler) clusterGone(ctx context.Context, manifest *v1beta2.Manifest) bool {
	target, err := r.targetOf(ctx, manifest)
	if err != nil || target.Local {
		return false
	}
	secrets := &corev1.SecretList{}
	err = r.Client.List(ctx, secrets, client.InNamespace(target.Namespace), client.MatchingLabels{v1beta2.LabelKymaName: target.Name},
		client.UnsafeDisableDeepCopy)
	return err == nil && len(secrets.Items) == 0
}
