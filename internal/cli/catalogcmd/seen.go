package catalogcmd

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
)

// saw keeps which version was seen of a source that is kept.
func (a *Again) saw(ctx context.Context, source communitycatalog.Source, found communitycatalog.Catalog) error {
	if source.Name == "" || a.Dry != nil && a.Dry() || source.Seen(found) <= source.Version {
		return nil
	}
	shelf, err := a.home(ctx)
	if err != nil {
		return err
	}
	return a.keepSeen(ctx, shelf, source, found)
}

// keepSeen keeps which version was seen of a source. Who may not write that is told, and reads it nevertheless: what others have written
// counted.
func (c *call) keepSeen(
	ctx context.Context, shelf communitycatalog.SourceStore, source communitycatalog.Source, found communitycatalog.Catalog,
) error {
	err := shelf.Saw(ctx, source, found)
	if apierrors.IsForbidden(err) {
		c.console.Sayf("You may not note at the source %s that version %d of its catalog was seen: %v", source.Name, source.Seen(found), err)
		return nil
	}
	return err
}
