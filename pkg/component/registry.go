package component

import (
	"context"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// Registry says where a component version goes and how to get in.
type Registry struct {
	// Host is the registry's host with an optional port, without scheme and path.
	Host string
	// SubPath is the path below the host; may be empty.
	SubPath string
	// Mapping is how component names become repositories; empty means descriptor.URLPath.
	Mapping descriptor.Mapping
	// PlainHTTP speaks http instead of https.
	PlainHTTP bool
	// Credentials are what to log in with; nil means anonymous.
	Credentials *Credentials
}

// Credentials are a login at a registry: a user with a password, or an identity token instead of the password.
type Credentials struct {
	Username, Password, IdentityToken string
}

// url is the registry's address with its scheme: without one, the OCM library would guess.
func (r Registry) url() string {
	if r.PlainHTTP {
		return "http://" + r.Host
	}
	return "https://" + r.Host
}

// reader reads back what is there, with the same login.
func (r Registry) reader() *descriptor.Reader {
	reader := &descriptor.Reader{Registry: r.Host, SubPath: r.SubPath, Mapping: r.Mapping}
	reader.PlainHTTP = r.PlainHTTP
	if r.Credentials != nil {
		login := auth.Credential{
			Username: r.Credentials.Username, Password: r.Credentials.Password, RefreshToken: r.Credentials.IdentityToken,
		}
		reader.Credentials = func(context.Context, string) (auth.Credential, error) { return login, nil }
	}
	return reader
}
