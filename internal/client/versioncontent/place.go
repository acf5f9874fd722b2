package versioncontent

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"

	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// Place is a registry with components.
type Place struct {
	// Registry is host[:port][/path], with http:// in front for one without TLS.
	Registry string
	// Mapping of component names to repositories; empty means that of OCM.
	Mapping descriptor.Mapping
	// From says who names it, for messages: "the lifecycle manager (flag --oci-registry-host)".
	From string
}

// place is where one component version is.
type place struct {
	Place
	name, version string
	// moved means that layers are not where a Manifest says, but in this registry.
	moved bool
}

// String returns "host/path//component:version".
func (p place) String() string {
	return strings.Trim(withoutScheme(p.Registry), "/") + "//" + p.name + ":" + p.version
}

// host returns the host of the registry.
func (p place) host() string {
	host, _, _ := strings.Cut(withoutScheme(p.Registry), "/")
	return host
}

// locate returns where the component version of a template is:
//
//  1. in the Loader's Registry
//  2. where the descriptor of the template says
//  3. where the hub's manager reads components
func (l *Loader) locate(release *v1beta2.ModuleReleaseMeta, template *v1beta2.ModuleTemplate) (place, error) {
	at := place{name: componentName(release, template), version: template.ModuleVersion()}
	told, mapping, err := directinstall.Located(template, release)
	switch {
	case l.Registry != "":
		at.Place = Place{Registry: l.Registry, Mapping: l.Access.Mapping, From: "you"}
	case err == nil && told != nil:
		at.name, at.version = told.Name, told.Version
		at.Place = Place{Registry: withoutScheme(told.Registry), Mapping: mapping, From: "ModuleTemplate " + template.Name}
	case l.Hub.Registry != "":
		at.Place = l.Hub
	default:
		return at, unlocated(at)
	}
	if at.name == "" {
		return at, unnamed(template)
	}
	return at, nil
}

func componentName(release *v1beta2.ModuleReleaseMeta, template *v1beta2.ModuleTemplate) string {
	name := ""
	if release != nil {
		name = release.Spec.OCMComponentName
	}
	return cmp.Or(name, template.Annotations[v1beta2.AnnotationOCMComponentName], template.Annotations[v1beta2.AnnotationFQDN])
}

// placeOf returns where the layers of a Manifest are.
func (l *Loader) placeOf(manifest *v1beta2.Manifest) (place, error) {
	at := place{
		name:    cmp.Or(manifest.Annotations[v1beta2.AnnotationOCMComponentName], manifest.Annotations[v1beta2.AnnotationFQDN]),
		version: manifest.Spec.Version,
	}
	found, err := PlaceOf(manifest)
	if err != nil {
		return at, err
	}
	at.Place = found
	if l.Registry != "" {
		at.Place, at.moved = Place{Registry: l.Registry, Mapping: found.Mapping, From: "you"}, true
	}
	return at, nil
}

// repository returns the repository of a layer that a Manifest names, without its name.
func (p place) repository(repo string) string {
	if !p.moved {
		return repo
	}
	if strings.HasSuffix(repo, "/"+descriptorFolder) {
		return strings.TrimSuffix(p.Registry, "/") + "/" + descriptorFolder
	}
	return p.Registry
}

// PlaceOf returns the registry that a Manifest of a module is installed from: where the lifecycle manager reads components, if nothing else
// says so.
func PlaceOf(manifest *v1beta2.Manifest) (Place, error) {
	source := v1beta2.ImageSpec{}
	if err := json.Unmarshal(manifest.Spec.Install.Source.Raw, &source); err != nil || source.Repo == "" || source.Ref == "" {
		return Place{}, foreignSource(manifest.Name)
	}
	at := Place{Registry: source.Repo, From: "Manifest " + manifest.Name}
	if trimmed, ok := strings.CutSuffix(source.Repo, "/"+descriptorFolder); ok {
		at.Registry = trimmed
	} else {
		at.Mapping = descriptor.SHA256
	}
	return at, nil
}

// descriptorFolder is the folder of component versions in a registry, in the mapping urlPath.
const descriptorFolder = "component-descriptors"

// reader returns a reader for the registry of a component.
func (l *Loader) reader(at place) *descriptor.Reader {
	host, below, _ := strings.Cut(strings.Trim(withoutScheme(at.Registry), "/"), "/")
	return &descriptor.Reader{
		Registry: host, SubPath: below, Mapping: cmp.Or(at.Mapping, l.Access.Mapping),
		Registries: descriptor.Registries{
			PlainHTTP: l.plain(at, host), Credentials: l.credentials(at), Policy: l.Access.Policy,
			Transport: content.Transport(), // it honours content.WithDialControl
		},
	}
}

// oci returns a client for the layers of a component.
func (l *Loader) oci(at place) *content.OCI {
	return &content.OCI{Store: l.store, Registries: content.Registries{
		PlainHTTP:   func(host string) bool { return l.plain(at, host) },
		Credentials: l.credentials(at), Policy: l.Access.Policy,
	}}
}

// plain reports whether a host is asked without TLS: because the user says so, or because its place does.
func (l *Loader) plain(at place, host string) bool {
	return l.allowsPlain(host) || at.withoutTLS(host)
}

func (l *Loader) allowsPlain(host string) bool {
	return l.Access.PlainHTTP || l.Access.Policy != nil && l.Access.Policy(host).PlainHTTP
}

func (p place) withoutTLS(host string) bool {
	return strings.HasPrefix(p.Registry, "http://") && strings.EqualFold(host, p.host())
}

// credentials returns the logins of the user. A registry that only the hub calls one without TLS gets none: a user who can write there
// could have a login sent in clear text.
func (l *Loader) credentials(at place) func(ctx context.Context, host string) (auth.Credential, error) {
	if l.Access.Credentials == nil {
		return nil
	}
	return func(ctx context.Context, host string) (auth.Credential, error) {
		if at.withoutTLS(host) && !l.allowsPlain(host) {
			return auth.EmptyCredential, nil
		}
		return l.Access.Credentials(ctx, host)
	}
}

func withoutScheme(address string) string {
	if _, rest, has := strings.Cut(address, "://"); has {
		return rest
	}
	return address
}
