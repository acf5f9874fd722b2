package collectioncmd

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kyma-project/lifecycle-manager/internal/collection"
)

// saw keeps which version was seen of a source that is kept.
func (a *Again) saw(ctx context.Context, source collection.Source, found collection.Collection) error {
	if source.Name == "" || a.Dry != nil && a.Dry() || source.Seen(found) <= source.Version {
		return nil
	}
	shelf, err := a.home(ctx)
	if err != nil {
		return err
	}
	return a.keepSeen(ctx, shelf, source, found)
}

// keepSeen keeps which version was seen of a source. Who may not write that is told, and reads it all the same: what others have written
// counted.
func (c *call) keepSeen(ctx context.Context, shelf collection.Shelf, source collection.Source, found collection.Collection) error {
	err := shelf.Saw(ctx, source, found)
	if apierrors.IsForbidden(err) {
		c.console.Sayf("You may not note at the source %s that version %d of its catalog was seen: %v", source.Name, source.Seen(found), err)
		return nil
	}
	return err
}
