package descriptor

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
)

// The access types of which we read more than the type. Each may also be written with "/v1".
const (
	accessLocalBlob    = "localBlob"
	accessLocalOCIBlob = "localOciBlob"
	accessOCIArtifact  = "ociArtifact"
	accessOCIRegistry  = "ociRegistry"
	accessNone         = "none"
)

// The relations that a resource can have to its component.
const (
	relationLocal    = "local"
	relationExternal = "external"
)

// directoryMediaTypes are those of layers that hold a directory.
var directoryMediaTypes = []string{
	"application/x-tar", "application/x-tar+gzip", "application/tar", "application/tar+gzip", "application/x-tgz",
}

// Component is one component version as its descriptor tells it.
type Component struct {
	// Name is the OCM component name, such as kyma-project.io/module/template-operator.
	Name string
	// Version is the version as the descriptor writes it; a "+" in it is a "+" here.
	Version string
	// Provider is the name of who provides the component.
	Provider string
	// Schema is the descriptor's schema: SchemaV2 or SchemaV3Alpha1.
	Schema string
	// Labels are the component's own labels.
	Labels []Label
	// Resources are the component's resources in the descriptor's order.
	Resources []Resource

	// Repository is where the component was read: "host[/sub]/component-descriptors", or "host[/sub]" with SHA256 mapping.
	// Together with RepositoryName it is the repository that holds the layers. Decode leaves it empty.
	Repository string
	// RepositoryName is the rest of the repository's path: the component's name, or the sha256 of it.
	RepositoryName string
	// Digest is the digest of the OCI manifest that was read.
	Digest string

	// Signatures are those that the descriptor carries; Verify says what they are worth.
	Signatures []Signature
	// document is the descriptor as JSON, which is what was signed; kept only where there is a signature.
	document json.RawMessage
}

// Resource is one thing that a component version holds or points to.
type Resource struct {
	Name     string
	Version  string
	Type     string
	Relation string
	Labels   []Label
	Access   Access
	// Digest is what the descriptor says about the resource's content; nil when it says nothing.
	Digest *DigestSpec
}

// Access says how to get at a resource. Only the fields that its Type has are set.
type Access struct {
	// Type is the access type as written, such as localBlob, localOciBlob/v1, ociArtifact.
	Type string
	// LocalReference is the digest of a layer of the component version's own manifest.
	LocalReference string
	// MediaType is the media type of a local blob. When the descriptor does not tell, Get takes it from the manifest's layer.
	MediaType string
	// ReferenceName is the name under which a local blob would be published on its own.
	ReferenceName string
	// ImageReference is the reference of an OCI artifact.
	ImageReference string
}

// DigestSpec is a digest together with how it was made.
type DigestSpec struct {
	HashAlgorithm          string `json:"hashAlgorithm"`
	NormalisationAlgorithm string `json:"normalisationAlgorithm"`
	Value                  string `json:"value"`
}

// Label is a named value of any JSON type.
type Label struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
	// Version is that of the value's format, for whoever writes labels; Decode leaves it empty.
	Version string `json:"-"`
	// Signing says that signatures cover the label.
	Signing bool `json:"signing,omitempty"`
}

// Layer says which layer of the component's repository holds the resource of that name: its digest, its media type, and
// whether it is a directory (a tar) rather than a single file. The layer is fetched by that digest.
func (c *Component) Layer(name string) (layer, mediaType string, dir bool, err error) {
	found := slices.IndexFunc(c.Resources, func(r Resource) bool { return r.Name == name })
	if found < 0 {
		return "", "", false, invalid("component %s:%s has no resource %s: publish it with one", c.Name, c.Version, name)
	}
	if slices.ContainsFunc(c.Resources[found+1:], func(r Resource) bool { return r.Name == name }) {
		return "", "", false, invalid("component %s:%s has several resources %s: which one is meant cannot be told", c.Name, c.Version, name)
	}
	access := c.Resources[found].Access
	if !access.isLayer() {
		return "", "", false, invalid("resource %s of component %s:%s has access type %q, which is no layer: publish it as %s",
			name, c.Name, c.Version, access.Type, accessLocalBlob)
	}
	if reference := digest.Digest(access.LocalReference); reference.Validate() != nil || reference.Algorithm() != digest.SHA256 {
		return "", "", false, invalid("resource %s of component %s:%s points to %q, which is no sha256 digest",
			name, c.Name, c.Version, access.LocalReference)
	}
	return access.LocalReference, access.MediaType, slices.Contains(directoryMediaTypes, access.MediaType), nil
}

// Images returns the references of the images that the component lists, in its order: all resources with access type
// ociArtifact. The older ociRegistry does not count, as it does not in the public lifecycle manager.
func (c *Component) Images() []string {
	var references []string
	for _, r := range c.ImageResources() {
		references = append(references, r.Access.ImageReference)
	}
	return references
}

// ImageResources are the resources that Images names.
func (c *Component) ImageResources() []*Resource {
	var images []*Resource
	for i := range c.Resources {
		if r := &c.Resources[i]; r.Access.Type == accessOCIArtifact && r.Access.ImageReference != "" {
			images = append(images, r)
		}
	}
	return images
}

// isLayer tells whether the resource lies in the component version's own manifest.
func (a Access) isLayer() bool {
	base := strings.TrimSuffix(a.Type, "/v1")
	return base == accessLocalBlob || base == accessLocalOCIBlob
}

// check holds a decoded component to what OCM demands of the fields that this package hands out.
func (c *Component) check() error {
	if err := CheckIdentity(c.Name, c.Version); err != nil {
		return invalid("component descriptor says what it is of in a way that OCM does not allow: %w", err)
	}
	for i, r := range c.Resources {
		switch {
		case r.Name == "":
			return invalid("resource %d of component %s:%s has no name", i+1, c.Name, c.Version)
		case r.Access.Type == "":
			return invalid("resource %s of component %s:%s has no access with a type", r.Name, c.Name, c.Version)
		case r.Relation != relationLocal && r.Relation != relationExternal:
			return invalid("resource %s of component %s:%s has relation %q instead of %s or %s",
				r.Name, c.Name, c.Version, r.Relation, relationLocal, relationExternal)
		}
	}
	return nil
}
