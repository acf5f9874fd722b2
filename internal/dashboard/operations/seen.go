package operations

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
)

// saw keeps which version was seen of a source. Who may not write that reads it nevertheless: what others have written counted.
func saw(ctx context.Context, shelf communitycatalog.SourceStore, source communitycatalog.Source, found communitycatalog.Catalog) error {
	if err := shelf.Saw(ctx, source, found); !apierrors.IsForbidden(err) {
		return err
	}
	return nil
}

// saw keeps which version a plan has seen of a source that is kept. A preview writes nothing.
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

// warn adds what a user should know, once.
func (p *plan) warn(warnings []string) {
	for _, warning := range warnings {
		if !slices.Contains(p.warnings, warning) {
			p.warnings = append(p.warnings, warning)
		}
	}
}
