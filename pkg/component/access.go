package component

import (
	"context"
	"errors"
	"time"

	"oras.land/oras-go/v2/registry"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

const (
	// requestTime bounds one request, its body included: the layer of an image may have gigabytes.
	requestTime = 30 * time.Minute
	// maxManifest is what registries accept as a manifest.
	maxManifest = 4 << 20
)

// Access configures requests to registries. The zero value uses HTTPS without a login. Proxies come from the environment.
type Access struct {
	// Credentials returns the login for a host (host[:port]); nil, or the empty credential, means anonymous.
	Credentials func(ctx context.Context, host string) (auth.Credential, error)
	// Policy returns the settings of a host: certificates, plain HTTP, mirrors to read from; nil means no special settings.
	Policy func(host string) content.HostPolicy
	// Mapping maps component names to repositories in registries that ParseRef reads; empty means descriptor.URLPath.
	Mapping descriptor.Mapping
	// PlainHTTP uses HTTP for every host.
	PlainHTTP bool
}

// plain reports whether a host is accessed by HTTP.
func (a Access) plain(host string) bool {
	return a.PlainHTTP || a.Policy != nil && a.Policy(host).PlainHTTP
}

// withPlain returns the access with HTTP for one more host.
func (a Access) withPlain(plain string) Access {
	policy := a.Policy
	a.Policy = func(host string) (found content.HostPolicy) {
		if policy != nil {
			found = policy(host)
		}
		found.PlainHTTP = found.PlainHTTP || host == plain
		return found
	}
	return a
}

// registries converts the access for pkg/content.
func (a Access) registries() content.Registries {
	return content.Registries{PlainHTTP: a.plain, Credentials: a.Credentials, Policy: a.Policy, Timeout: requestTime}
}

// session is an Access in use: it keeps connections and tokens for the duration of one call.
type session struct {
	content.Registries
	client *auth.Client
}

func (a Access) session() *session {
	known := a.registries()
	return &session{Registries: known, client: known.Client()}
}

// repository returns one repository of a host, for writing.
func (s *session) repository(host, path string) (*remote.Repository, error) {
	endpoints, err := s.Endpoints(host, path)
	if err != nil {
		return nil, err
	}
	return s.at(endpoints[len(endpoints)-1])
}

// repositories returns the endpoints that serve a repository, in the order in which they are tried: its own registry comes last.
func (s *session) repositories(host, path string) ([]*remote.Repository, error) {
	endpoints, err := s.Endpoints(host, path)
	if err != nil {
		return nil, err
	}
	found := make([]*remote.Repository, 0, len(endpoints))
	for _, endpoint := range endpoints {
		repository, err := s.at(endpoint)
		if err != nil {
			return nil, err
		}
		found = append(found, repository)
	}
	return found, nil
}

func (s *session) at(endpoint content.Endpoint) (*remote.Repository, error) {
	reference := registry.Reference{Registry: endpoint.Host, Repository: endpoint.Repository}
	if err := reference.ValidateRegistry(); err != nil {
		return nil, err
	}
	if err := reference.ValidateRepository(); err != nil {
		return nil, err
	}
	return &remote.Repository{
		Client: s.client, Reference: reference, PlainHTTP: endpoint.PlainHTTP, MaxMetadataBytes: maxManifest,
		// Images are copied without their referrers, so whether the registry supports the referrers API does not matter.
		SkipReferrersGC: true,
	}, nil
}

// registryError gives an error of a registry the same reason as descriptor.Reader does.
func registryError(err error) error {
	if known := (*descriptor.Error)(nil); errors.As(err, &known) { // what was read is wrong, not how it was read
		return err
	}
	typed := (*content.Error)(nil)
	err = content.RegistryError(err)
	if !errors.As(err, &typed) {
		return err
	}
	reason := descriptor.ReasonUnreachable
	switch typed.Reason {
	case content.ReasonRegistryUnauthorized:
		reason = descriptor.ReasonUnauthorized
	case content.ReasonContentNotFound:
		reason = descriptor.ReasonNotFound
	}
	return &descriptor.Error{Reason: reason, Err: err}
}
