package catalogcmd

import (
	"context"
	"fmt"

	"github.com/spf13/pflag"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kyma-project/lifecycle-manager/internal/cli/console"
	"github.com/kyma-project/lifecycle-manager/internal/cli/target"
	"github.com/kyma-project/lifecycle-manager/internal/client/communitycatalog"
	"github.com/kyma-project/lifecycle-manager/internal/client/modulestatus"
	"github.com/kyma-project/lifecycle-manager/internal/client/registryauth"
)

// Again reads the catalog that an installed module came from again, for a command of another package.
type Again struct {
	call
	// Dry reports whether nothing may be written, not even the version that was seen; nil means false.
	Dry func() bool
}

// NewAgain returns an Again for one call of a command.
func NewAgain(c *console.Console, t *target.Target) *Again {
	return &Again{call: call{console: c, target: t}}
}

// AddFlags adds the flags that only the calling user can set. Address, digest and key are known.
func (a *Again) AddFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&a.allowPrivate, "allow-private-catalogs", false,
		"ask the catalog that a module came from on addresses of private networks and of this machine too")
}

// Read reads the catalog again, as the cluster keeps it now or otherwise as it was requested then, and returns its new origin.
// Certificates are those of access; its login is for the registries of modules.
func (a *Again) Read(
	ctx context.Context, access registryauth.Options, module string, origin modulestatus.Origin,
) (communitycatalog.Catalog, modulestatus.Origin, error) {
	a.login.CAFile, a.login.PlainHTTP, a.login.DockerConfig = access.CAFile, access.PlainHTTP, access.DockerConfig
	stays := func(err error) error {
		return withExitCode(fmt.Errorf("module %s stays as it is: it came from the catalog %.300q: %w", module, origin.URL, err))
	}
	kept, err := a.kept(ctx, origin.Name != "")
	if err != nil {
		return communitycatalog.Catalog{}, origin, stays(err)
	}
	before := communitycatalog.Source{
		Name: origin.Name, URL: origin.URL, Digest: origin.RequestedDigest(), Key: origin.Key, Version: origin.Version,
	}
	source, err := communitycatalog.Again(before, kept, false)
	if err != nil {
		return communitycatalog.Catalog{}, origin, stays(err)
	}
	found, digest, err := a.fetch(ctx, source)
	if err != nil {
		return found, origin, stays(err)
	}
	if err := a.saw(ctx, source, found); err != nil {
		return found, origin, stays(err)
	}
	return found, modulestatus.Origin{
		Name: source.Name, URL: source.URL, Digest: digest, Pinned: source.Digest != "", Key: source.Key, Version: source.Seen(found),
	}, nil
}

// home returns the store of the cluster's sources.
func (a *Again) home(ctx context.Context) (communitycatalog.SourceStore, error) {
	cluster, err := a.target.Client()
	if err != nil {
		return communitycatalog.SourceStore{}, err
	}
	namespace, err := communitycatalog.Home(ctx, cluster)
	return communitycatalog.SourceStore{Client: cluster, Namespace: namespace}, err
}

// kept returns the sources of the cluster. If they are not needed, users who may not see them get none.
func (a *Again) kept(ctx context.Context, needed bool) ([]communitycatalog.Source, error) {
	shelf, err := a.home(ctx)
	if shelf.Client != nil && err != nil && !needed {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := shelf.List(ctx)
	if apierrors.IsForbidden(err) && !needed {
		return nil, nil
	}
	return all, err
}
