package component

import (
	"context"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// Registry is where a component version is published, and how it is accessed.
type Registry struct {
	// Host is the registry's host with an optional port, without scheme and path.
	Host string
	// SubPath is the path below the host; may be empty.
	SubPath string
	// Mapping is how component names become repositories; empty means descriptor.URLPath.
	Mapping descriptor.Mapping
	// PlainHTTP uses HTTP instead of HTTPS for this host.
	PlainHTTP bool
	// Credentials are the login for this host; nil means those of Access.
	Credentials *Credentials
	// Access is for this registry and those of the component's images; its Mapping is ignored.
	Access Access
}

// Credentials are a login at a registry: a user with a password, or an identity token instead of the password.
type Credentials struct {
	Username, Password, IdentityToken string
}

// access returns the registry's Access, with the settings of its other fields for its host.
func (r Registry) access() Access {
	access := r.Access
	if r.PlainHTTP {
		access = access.withPlain(r.Host)
	}
	if r.Credentials != nil {
		login := auth.Credential{
			Username: r.Credentials.Username, Password: r.Credentials.Password, RefreshToken: r.Credentials.IdentityToken,
		}
		access.Credentials = func(ctx context.Context, host string) (auth.Credential, error) {
			if host == r.Host {
				return login, nil
			}
			if r.Access.Credentials == nil {
				return auth.EmptyCredential, nil
			}
			return r.Access.Credentials(ctx, host)
		}
	}
	return access
}

// reader returns a reader with the same access.
func (r Registry) reader() *descriptor.Reader {
	access := r.access()
	reader := &descriptor.Reader{Registry: r.Host, SubPath: r.SubPath, Mapping: r.Mapping}
	reader.PlainHTTP, reader.Policy, reader.Credentials = access.plain(r.Host), access.Policy, access.Credentials
	return reader
}
