package component

import (
	"cmp"
	"fmt"
	"regexp"

	"github.com/opencontainers/go-digest"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// The media types that readers tell apart: a plain layer is an oci-ref, a tar is an oci-dir.
const (
	MediaTypeYAML = "application/yaml"
	MediaTypeTar  = "application/x-tar"
)

// The resource types that content gets which does not say: they are OCM's for a file and for a directory.
const (
	typePlainText     = "PlainText"
	typeDirectoryTree = "directoryTree"
	typeImage         = "ociImage"
)

// resourceNamePattern is OCM's for names of resources.
var resourceNamePattern = regexp.MustCompile(`^[a-z0-9][-_+a-z0-9]*[a-z0-9]$`)

// Version is a component version to publish.
type Version struct {
	// Name is the OCM component name: a domain, a slash and at least one more segment, all lower case.
	Name string
	// Version is a semantic version; a "+" becomes ".build-" in the tag.
	Version string
	// Provider is the name of who provides it.
	Provider string
	// Schema is descriptor.SchemaV2 or descriptor.SchemaV3Alpha1; empty means the former.
	Schema string
	// Resources become layers, in this order.
	Resources []Resource
	// Signer signs it, if there is one. A version that is published already keeps the signatures that it has.
	Signer *Signer
}

// Resource is content that travels inside the component version as a local blob, or an image that lies elsewhere.
type Resource struct {
	// Name is how readers ask for it, such as raw-manifest.
	Name string
	// Type is the OCM resource type; empty means PlainText, or directoryTree for a tar.
	Type string
	// MediaType is the layer's media type; MediaTypeTar makes it a directory to readers. Empty means MediaTypeYAML.
	MediaType string
	// Data is the content.
	Data []byte
	// Image is the reference of an image instead of content.
	Image string
	// Labels, which are signed with the component, say more about it, such as operator.kyma-project.io/renderer: bundle.
	Labels map[string]string
}

// complete fills in what may be left out, in a copy, and refuses what OCM or some registry would choke on later.
func (v Version) complete() (Version, error) {
	if err := descriptor.CheckIdentity(v.Name, v.Version); err != nil {
		return Version{}, err
	}
	if v.Provider == "" {
		return Version{}, fmt.Errorf("component %s has no provider: say who provides it", v.id())
	}
	switch v.Schema {
	case "":
		v.Schema = descriptor.SchemaV2
	case descriptor.SchemaV2, descriptor.SchemaV3Alpha1:
	default:
		return Version{}, fmt.Errorf("component %s wants schema %q: use %s or %s",
			v.id(), v.Schema, descriptor.SchemaV2, descriptor.SchemaV3Alpha1)
	}
	resources := make([]Resource, 0, len(v.Resources))
	seen := map[string]bool{}
	for _, r := range v.Resources {
		if seen[r.Name] {
			return Version{}, fmt.Errorf("component %s has two resources %s: give them different names", v.id(), r.Name)
		}
		seen[r.Name] = true
		r, err := r.complete()
		if err != nil {
			return Version{}, fmt.Errorf("component %s: %w", v.id(), err)
		}
		resources = append(resources, r)
	}
	v.Resources = resources
	return v, nil
}

// complete does for one resource what it does for the version.
func (r Resource) complete() (Resource, error) {
	if !resourceNamePattern.MatchString(r.Name) {
		return Resource{}, fmt.Errorf("%q is no name for a resource: use lower case letters, digits and - _ + between them", r.Name)
	}
	if r.Image != "" {
		if len(r.Data) > 0 || r.MediaType != "" {
			return Resource{}, fmt.Errorf("resource %s is an image and has content or a media type too: keep one of them", r.Name)
		}
		r.Type = cmp.Or(r.Type, typeImage)
		return r, nil
	}
	if len(r.Data) == 0 {
		return Resource{}, fmt.Errorf("resource %s is empty: several registries refuse empty layers", r.Name)
	}
	if r.MediaType == "" {
		r.MediaType = MediaTypeYAML
	}
	if r.Type == "" {
		r.Type = typePlainText
		if r.MediaType == MediaTypeTar {
			r.Type = typeDirectoryTree
		}
	}
	return r, nil
}

// id is how messages name the version.
func (v Version) id() string { return v.Name + ":" + v.Version }

// difference compares the version with the one that a registry has, and names the first thing that differs with both
// sides of it. Two empty strings mean that they are the same.
func (v Version) difference(there *descriptor.Component) (offered, existing string) {
	pairs := [][2]string{
		{"schema " + v.Schema, "schema " + there.Schema},
		{"provider " + v.Provider, "provider " + there.Provider},
	}
	for i := range max(len(v.Resources), len(there.Resources)) {
		pair := [2]string{"no further resource", "no further resource"}
		if i < len(v.Resources) {
			r := v.Resources[i]
			pair[0] = describe(r.Name, r.Type, r.MediaType, r.content())
		}
		if i < len(there.Resources) {
			r := there.Resources[i]
			pair[1] = describe(r.Name, r.Type, r.Access.MediaType, r.Access.LocalReference+r.Access.ImageReference)
		}
		pairs = append(pairs, pair)
	}
	for _, pair := range pairs {
		if pair[0] != pair[1] {
			return pair[0], pair[1]
		}
	}
	return "", ""
}

// content names what the resource holds: bytes by their digest, an image by its reference.
func (r Resource) content() string {
	if r.Image != "" {
		return r.Image
	}
	return digest.FromBytes(r.Data).String()
}

// describe puts everything about a resource that counts into one line.
func describe(name, kind, mediaType, content string) string {
	return fmt.Sprintf("resource %s of type %s with %s %s", name, kind, mediaType, content)
}
