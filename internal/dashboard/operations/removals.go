package operations

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/apply"
)

// mostRemovals bounds how many objects of a module a preview lists.
const mostRemovals = 200

// removals returns the objects that the lifecycle manager deletes along with modules of a Kyma: those that their Manifests list. What
// cannot be told is a warning.
func (s *hubContext) removals(ctx context.Context, names []string) (changes []Change, warnings []string) {
	for _, name := range names {
		known := s.StatusOf(name)
		if known == nil || known.Manifest == nil {
			continue // nothing is installed yet
		}
		manifest := &v1beta2.Manifest{}
		switch err := s.Get(ctx, client.ObjectKey{Namespace: known.Manifest.Namespace, Name: known.Manifest.Name}, manifest); {
		case apierrors.IsNotFound(err):
		case err != nil:
			warnings = append(warnings,
				fmt.Sprintf("which objects of module %s are deleted in the runtime cannot be told: %s", name, errorText(err)))
		default:
			changes = append(changes, s.removalsOf(manifest)...)
			if len(manifest.Status.InventoryShards) > 0 {
				warnings = append(warnings, fmt.Sprintf("module %s has more objects than its Manifest lists: they are deleted, too", name))
			}
		}
	}
	if left := len(changes) - mostRemovals; left > 0 {
		changes = changes[:mostRemovals]
		warnings = append(warnings, fmt.Sprintf("%d more objects are deleted than are listed here", left))
	}
	return changes, warnings
}

func (s *hubContext) removalsOf(manifest *v1beta2.Manifest) []Change {
	all := make([]Change, 0, len(manifest.Status.Synced))
	for _, o := range manifest.Status.Synced {
		ref := refOf(o.Group, o.Version, o.Kind, o.Namespace, o.Name)
		all = append(all, Change{Kyma: s.Key().String(), Object: ref, Change: apply.ChangeDelete, Fields: []Field{}})
	}
	return all
}
