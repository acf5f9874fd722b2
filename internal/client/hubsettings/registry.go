package hubsettings

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/versioncontent"
)

// looked is how many Manifests are looked at to find a registry.
const looked = 20

// FindPlace returns where the manager of a hub reads components: as its flags say, or else as a Manifest that it wrote does, best one of
// the module. The result is zero where neither is known.
func (s *Settings) FindPlace(ctx context.Context, from client.Reader, namespace, module string) versioncontent.Place {
	if s.Place.Registry != "" {
		return s.Place
	}
	for _, labels := range []client.MatchingLabels{
		{v1beta2.LabelModuleName: module}, {v1beta2.LabelManagedBy: v1beta2.ManagedByLifecycleManager},
	} {
		var found v1beta2.ManifestList
		if err := from.List(ctx, &found, client.InNamespace(namespace), labels, client.Limit(looked)); err != nil {
			return versioncontent.Place{}
		}
		for i := range found.Items {
			if at, err := versioncontent.PlaceOf(&found.Items[i]); err == nil {
				return at
			}
		}
	}
	return versioncontent.Place{}
}
