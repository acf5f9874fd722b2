package catalogcmd

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
)

// saw records which version of a stored source was seen.
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

// keepSeen records which version of a source was seen. A user who may not write that gets a message, and the source is used nevertheless:
// the version that others have recorded was checked.
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
