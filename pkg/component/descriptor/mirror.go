package descriptor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// mirrorPatience is shorter than the patience with the registry, which is tried next.
const mirrorPatience = 10 * time.Second

// repositories returns the endpoints of a repository in the order in which they are tried: the registry itself comes last.
func (r *Reader) repositories(of registry.Reference) ([]*remote.Repository, error) {
	hosts := content.Registries{PlainHTTP: func(string) bool { return r.PlainHTTP }, Policy: r.Policy}
	endpoints, err := hosts.Endpoints(of.Registry, of.Repository)
	if err != nil {
		return nil, err
	}
	client, found := r.client(), make([]*remote.Repository, 0, len(endpoints))
	for _, at := range endpoints {
		found = append(found, &remote.Repository{
			Client:    client,
			Reference: registry.Reference{Registry: at.Host, Repository: at.Repository, Reference: of.Reference},
			PlainHTTP: at.PlainHTTP, MaxMetadataBytes: maxManifest,
		})
	}
	return found, nil
}

// eachOf tries one endpoint after the other until one succeeds. If all fail, the error is that of the last, which is the registry itself,
// followed by those of the mirrors.
func eachOf[T any](
	ctx context.Context, places []*remote.Repository, read func(context.Context, *remote.Repository) (T, error),
) (answer T, err error) {
	var said []string
	for i, from := range places {
		limit := mirrorPatience
		if i == len(places)-1 {
			limit = patience
		}
		answer, err = readWithin(ctx, limit, from, read)
		if err == nil || ctx.Err() != nil {
			return answer, err
		}
		if i < len(places)-1 {
			said = append(said, fmt.Sprintf("mirror %s: %v", from.Reference.Registry, err))
		}
	}
	if len(said) > 0 {
		err = fmt.Errorf("%w (%s)", err, strings.Join(said, "; "))
	}
	return answer, err
}

// readWithin reads from one endpoint. Its error has a reason, and no address that the server chose.
func readWithin[T any](
	ctx context.Context, limit time.Duration, from *remote.Repository, read func(context.Context, *remote.Repository) (T, error),
) (T, error) {
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	answer, err := read(within, from)
	if err != nil {
		err = &Error{Reason: reasonFor(err), Err: content.WithoutAddresses(err)}
	}
	return answer, err
}
