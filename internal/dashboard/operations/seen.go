package operations

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
)

// saw records which version of a source was seen. If the user may not write that, the source is used nevertheless: the version that
// others have recorded was checked.
func saw(ctx context.Context, shelf communitycatalog.SourceStore, source communitycatalog.Source, found communitycatalog.Catalog) error {
	if err := shelf.Saw(ctx, source, found); !apierrors.IsForbidden(err) {
		return err
	}
	return nil
}

// saw records which version of a stored source a plan has seen. A preview writes nothing.
func (p *planner) saw(ctx context.Context, source communitycatalog.Source, found communitycatalog.Catalog) error {
	if !p.start || source.Name == "" || source.Seen(found) <= source.Version {
		return nil
	}
	shelf, _, err := p.shelfOf(ctx, p.as)
	if err != nil {
		return err
	}
	return saw(ctx, shelf, source, found)
}

// warn adds warnings for the user, each of them once.
func (p *plan) warn(warnings []string) {
	for _, warning := range warnings {
		if !slices.Contains(p.warnings, warning) {
			p.warnings = append(p.warnings, warning)
		}
	}
}
