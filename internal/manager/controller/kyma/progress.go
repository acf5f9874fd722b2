package kyma

import (
	"context"
	"time"

	"github.com/kyma-project/lifecycle-manager/internal/manager/sharding"
	"github.com/kyma-project/lifecycle-manager/internal/module"
)

// progressOf returns for how long the Manifests' upgrades have been observed, by name, without those that no pass of this replica's
// Manifest controller confirmed. A Kyma and its Manifests have the same bucket, so that the same replica has both.
func (r *Reconciler) progressOf(ctx context.Context, world *module.Snapshot) map[string]time.Duration {
	var progress map[string]time.Duration
	for i := range world.Manifests {
		manifest := &world.Manifests[i]
		observed, known := r.Progress.For(manifest, sharding.Since(ctx), world.Now.Time)
		if !known {
			continue
		}
		if progress == nil {
			progress = map[string]time.Duration{}
		}
		progress[manifest.Name] = observed
	}
	return progress
}
