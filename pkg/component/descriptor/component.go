package descriptor

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
)

// The access types of which more than the type is read. Each may also be written with "/v1".
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

// directoryMediaTypes are the media types of layers that hold a directory.
var directoryMediaTypes = []string{
	"application/x-tar", "application/x-tar+gzip", "application/tar", "application/tar+gzip", "application/x-tgz",
}

// Component is the content of one component version's descriptor.
type Component struct {
	// Name is the OCM component name, such as kyma-project.io/module/template-operator.
	Name string
	// Version is the version as the descriptor writes it; a "+" in it is a "+" here.
	Version string
	// Provider is the name of the component's provider.
	Provider string
	// Schema is the descriptor's schema: SchemaV2 or SchemaV3Alpha1.
	Schema string
	// Labels are the component's own labels.
	Labels []Label
	// Resources are the component's resources in the descriptor's order.
	Resources []Resource

	// Repository is where the component was read: "host[/sub]/component-descriptors", or "host[/sub]" with SHA256 mapping. Joined with
	// RepositoryName it is the repository that holds the layers. Decode leaves it empty.
	Repository string
	// RepositoryName is the rest of the repository's path: the component's name, or its sha256.
	RepositoryName string
	// Digest is the digest of the OCI manifest that was read; Decode leaves it empty.
	Digest string

	// Signatures are the descriptor's signatures, unverified; call Verify.
	Signatures []Signature
	// document is the descriptor as JSON, the input of the signed digest; kept only if there is a signature.
	document json.RawMessage
}

// Resource is content that a component version holds or points to.
type Resource struct {
	Name     string
	Version  string
	Type     string
	Relation string
	Labels   []Label
	Access   Access
	// Digest is the digest of the resource's content; nil if the descriptor has none.
	Digest *DigestSpec
}

// Access is where the content of a resource is. Only the fields that its Type has are set.
type Access struct {
	// Type is the access type as written, such as localBlob, localOciBlob/v1, ociArtifact.
	Type string
	// LocalReference is the digest of a layer of the component version's own manifest.
	LocalReference string
	// MediaType is the media type of a local blob. If the descriptor has none, Get takes it from the manifest's layer.
	MediaType string
	// ReferenceName is the name for publishing a local blob on its own.
	ReferenceName string
	// ImageReference is the reference of an OCI artifact.
	ImageReference string
}

// DigestSpec is a digest with the algorithms that it was made by.
type DigestSpec struct {
	HashAlgorithm          string `json:"hashAlgorithm"`
	NormalisationAlgorithm string `json:"normalisationAlgorithm"`
	Value                  string `json:"value"`
}

// Label is a named value of any JSON type.
type Label struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
	// Version is the version of the value's format, for writers of labels; Decode leaves it empty.
	Version string `json:"-"`
	// Signing reports whether signatures cover the label.
	Signing bool `json:"signing,omitempty"`
}

// Layer returns the layer of the component's repository that holds the named resource: its digest, its media type, and whether it is a
// directory (a tar) rather than a single file. Fetch the layer by that digest. The error is an *Error with ReasonInvalid.
func (c *Component) Layer(name string) (layer, mediaType string, dir bool, err error) {
	found := slices.IndexFunc(c.Resources, func(r Resource) bool { return r.Name == name })
	if found < 0 {
		return "", "", false, invalid("component %s:%s has no resource %s: publish it with one", c.Name, c.Version, name)
	}
	if slices.ContainsFunc(c.Resources[found+1:], func(r Resource) bool { return r.Name == name }) {
		return "", "", false, invalid("component %s:%s has several resources %s: it is ambiguous", c.Name, c.Version, name)
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

// Images returns the references of the images that the component lists, in its order: all resources with access type ociArtifact. The older
// ociRegistry does not count, which is compatible with the public lifecycle manager.
func (c *Component) Images() []string {
	var references []string
	for _, r := range c.ImageResources() {
		references = append(references, r.Access.ImageReference)
	}
	return references
}

// ImageResources returns the resources of Images.
func (c *Component) ImageResources() []*Resource {
	var images []*Resource
	for i := range c.Resources {
		if r := &c.Resources[i]; r.Access.Type == accessOCIArtifact && r.Access.ImageReference != "" {
			images = append(images, r)
		}
	}
	return images
}

// isLayer reports whether the resource is a layer of the component version's own manifest.
func (a Access) isLayer() bool {
	base := strings.TrimSuffix(a.Type, "/v1")
	return base == accessLocalBlob || base == accessLocalOCIBlob
}

// check validates the fields that this package returns by the rules of OCM.
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
