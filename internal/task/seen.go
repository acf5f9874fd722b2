package task

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kyma-project/lifecycle-manager/internal/collection"
)

// saw keeps which version was seen of a source. Who may not write that reads it all the same: what others have written counted.
func saw(ctx context.Context, shelf collection.Shelf, source collection.Source, found collection.Collection) error {
	if err := shelf.Saw(ctx, source, found); !apierrors.IsForbidden(err) {
		return err
	}
	return nil
}

// saw keeps which version a plan has seen of a source that is kept. A preview writes nothing.
func (p *planner) saw(ctx context.Context, source collection.Source, found collection.Collection) error {
	if !p.start || source.Name == "" || source.Seen(found) <= source.Version {
		return nil
	}
	shelf, _, err := p.shelfOf(ctx, p.as)
	if err != nil {
		return err
	}
	return saw(ctx, shelf, source, found)
}

// warn adds what a person should know, once.
func (p *plan) warn(warnings []string) {
	for _, warning := range warnings {
		if !slices.Contains(p.warnings, warning) {
			p.warnings = append(p.warnings, warning)
		}
	}
}
