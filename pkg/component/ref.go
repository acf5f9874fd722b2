package component

import (
	"fmt"
	"os"
	"path"
	"strings"

	"oras.land/oras-go/v2/registry"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// The schemes that a reference can begin with.
const (
	schemeOCI   = "oci://"
	schemeHTTPS = "https://"
	schemeHTTP  = "http://"
)

// Ref names a component version in a registry or in an archive: either Registry or Path is set.
type Ref struct {
	// Registry is the component's registry; nil for an archive.
	Registry *Registry
	// Path is the path of an archive: a directory, or a file that ends in .tar, .tgz or .tar.gz.
	Path string
	// Name is the component's name and Version its version. Both may be empty for an archive with exactly one version.
	Name, Version string
	// Access is for the images of a component in an archive. For a component in a registry, the registry's Access is used.
	Access Access
}

// ParseRef parses a reference to a component version:
//
//  1. oci://host[:port][/sub]//name:version is in a registry, accessed by HTTPS unless access sets HTTP for the host.
//  2. https:// and http:// instead of oci:// set the protocol.
//  3. Everything else is the path of an archive: path[//name[:version]].
//
// The version of a component in a registry may be omitted only if the caller fills it in; Open requires it.
func ParseRef(text string, access Access) (Ref, error) {
	for _, scheme := range []string{schemeOCI, schemeHTTPS, schemeHTTP} {
		if rest, ok := strings.CutPrefix(text, scheme); ok {
			return parseRemote(text, rest, scheme == schemeHTTP, access)
		}
	}
	if scheme, _, ok := strings.Cut(text, "://"); ok {
		return Ref{}, fmt.Errorf("reference %q begins with %s://: use oci://, https:// or http:// for a registry, or the path of an archive",
			text, scheme)
	}
	file, identity, named := strings.Cut(text, "//")
	if _, err := os.Lstat(text); err == nil && named { // a path is a path, however many slashes it has
		file, identity = text, ""
	}
	if file == "" {
		return Ref{}, fmt.Errorf("reference %q names neither a registry nor an archive", text)
	}
	found := Ref{Path: path.Clean(file), Access: access}
	found.Name, found.Version, _ = strings.Cut(identity, ":")
	return found, found.checkIdentity(text)
}

func parseRemote(text, rest string, plainHTTP bool, access Access) (Ref, error) {
	where, identity, ok := strings.Cut(rest, "//")
	if !ok || identity == "" {
		return Ref{}, fmt.Errorf("reference %q names no component: write host[:port][/path]//name:version, with two slashes before the name",
			text)
	}
	if strings.Contains(where, "@") { // the text is not repeated: a password may stand there
		return Ref{}, fmt.Errorf("the reference to component %s has a login in it: give it by flags or by a docker configuration", identity)
	}
	host, sub, _ := strings.Cut(where, "/")
	bare := strings.Count(host, ":") > 1 && !strings.HasPrefix(host, "[") // an address of IPv6 stands in brackets
	if err := (registry.Reference{Registry: host}).ValidateRegistry(); err != nil || bare {
		return Ref{}, fmt.Errorf("reference %q has no host: %q is not HOST or HOST:PORT", text, host)
	}
	found := Ref{Access: access, Registry: &Registry{
		Host: strings.ToLower(host), SubPath: strings.Trim(sub, "/"), Mapping: access.Mapping, PlainHTTP: plainHTTP, Access: access,
	}}
	found.Name, found.Version, _ = strings.Cut(identity, ":")
	return found, found.checkIdentity(text)
}

// checkIdentity refuses invalid names and versions; both may be empty.
func (r Ref) checkIdentity(text string) error {
	name, version := r.Name, r.Version
	if name == "" && version == "" {
		return nil
	}
	if version == "" {
		version = "0.0.0"
	}
	if err := descriptor.CheckIdentity(name, version); err != nil {
		return fmt.Errorf("reference %q: %w", text, err)
	}
	return nil
}

// String returns the reference in the notation of ParseRef.
func (r Ref) String() string {
	identity := r.Name
	if r.Version != "" {
		identity += ":" + r.Version
	}
	where := r.Path
	if r.Registry != nil {
		scheme := schemeOCI
		if r.Registry.PlainHTTP {
			scheme = schemeHTTP
		}
		where = scheme + path.Join(r.Registry.Host, strings.Trim(r.Registry.SubPath, "/"))
	}
	if identity == "" {
		return where
	}
	return where + "//" + identity
}

// access returns the Access for the registries of the component's images.
func (r Ref) access() Access {
	if r.Registry != nil {
		return r.Registry.access()
	}
	return r.Access
}

// check refuses a reference that names two places or none.
func (r Ref) check() error {
	switch {
	case r.Registry != nil && r.Path != "":
		return fmt.Errorf("reference %s names a registry and the archive %s: keep one of them", r, r.Path)
	case r.Registry == nil && r.Path == "":
		return fmt.Errorf("component %s is neither in a registry nor in an archive: give its location", r)
	case r.Registry != nil:
		return descriptor.CheckIdentity(r.Name, r.Version)
	default:
		return nil
	}
}
