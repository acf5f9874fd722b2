package component

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"

	metav1 "github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc/meta/v1"
	"github.com/opencontainers/go-digest"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// The media types that readers distinguish: a plain layer is an oci-ref, a tar is an oci-dir.
const (
	MediaTypeYAML = "application/yaml"
	MediaTypeTar  = "application/x-tar"
)

// The default resource types of content: OCM's types of a file and of a directory.
const (
	typePlainText     = "PlainText"
	typeDirectoryTree = "directoryTree"
	typeImage         = "ociImage"
)

// The defaults of a source: the terms of the first Kyma CLI, which readers look for.
const (
	sourceName = "module-sources"
	typeGitHub = "Github"
	// labelRef holds the branch or tag that a source was built from.
	labelRef = "git.kyma-project.io/ref"
)

// resourceNamePattern is OCM's pattern of resource names.
var resourceNamePattern = regexp.MustCompile(`^[a-z0-9][-_+a-z0-9]*[a-z0-9]$`)

// Version is a component version to publish.
type Version struct {
	// Name is the OCM component name: a domain, a slash and at least one more segment, all lower case.
	Name string
	// Version is a semantic version; a "+" becomes ".build-" in the tag.
	Version string
	// Provider is the name of the provider, and ProviderLabels describe it further.
	Provider       string
	ProviderLabels map[string]string
	// Schema is descriptor.SchemaV2 or descriptor.SchemaV3Alpha1; empty means the former.
	Schema string
	// Labels are signed with the component. MoreLabels are labels that are not signed, or whose value is not a string.
	Labels     map[string]string
	MoreLabels []descriptor.Label
	// Sources are what the component was built from.
	Sources []Source
	// Resources become layers, in this order.
	Resources []Resource
	// Signer signs the component; nil leaves it unsigned. A version that is already published keeps its signatures.
	Signer *Signer
	// Access is how Build reads the images that it signs and that have no ImageDigest; Push uses the access of its registry.
	Access Access
}

// Source is a git repository at a commit.
type Source struct {
	// The defaults: Name is module-sources, Type is Github, and Version is the component's.
	Name, Type, Version string
	// RepoURL is an https address, and Commit the full hash of a commit.
	RepoURL, Commit string
	// Ref is the branch or tag that was built, such as refs/heads/main; may be empty.
	Ref string
	// Labels are signed with the component.
	Labels     map[string]string
	MoreLabels []descriptor.Label
}

// Resource is content inside the component version (a local blob), or a reference to an image elsewhere.
type Resource struct {
	// Name is the name by which readers find the resource, such as raw-manifest.
	Name string
	// Type is the OCM resource type; empty means PlainText, or directoryTree for a tar.
	Type string
	// Version is the resource's version; empty means the component's.
	Version string
	// Relation is "local" or "external"; empty means the former for content and the latter for an image.
	Relation string
	// MediaType is the layer's media type; with MediaTypeTar, readers treat it as a directory. Empty means MediaTypeYAML.
	MediaType string
	// Data is the content.
	Data []byte
	// Image is the reference of an image, instead of Data.
	Image string
	// ImageDigest is the digest of the image's manifest: "sha256:...". Signatures cover it. If it is empty, signing looks it up.
	ImageDigest string
	// Access locates resources that are neither content nor images, such as a Helm chart, as JSON with a type.
	Access json.RawMessage
	// Labels are signed with the component, such as operator.kyma-project.io/renderer: bundle. MoreLabels are labels that are not signed, or
	// whose value is not a string.
	Labels     map[string]string
	MoreLabels []descriptor.Label
}

// complete returns a copy with defaults filled in, and refuses what OCM or some registries would reject later.
func (v Version) complete() (Version, error) {
	if err := descriptor.CheckIdentity(v.Name, v.Version); err != nil {
		return Version{}, err
	}
	if v.Provider == "" {
		return Version{}, fmt.Errorf("component %s has no provider: set provider", v.id())
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
		r.Version = cmp.Or(r.Version, v.Version)
		r, err := r.complete()
		if err != nil {
			return Version{}, fmt.Errorf("component %s: %w", v.id(), err)
		}
		resources = append(resources, r)
	}
	v.Resources = resources
	return v.completeSources()
}

// completeSources does the same for the sources.
func (v Version) completeSources() (Version, error) {
	sources := make([]Source, 0, len(v.Sources))
	for _, source := range v.Sources {
		source.Name, source.Type = cmp.Or(source.Name, sourceName), cmp.Or(source.Type, typeGitHub)
		source.Version = cmp.Or(source.Version, v.Version)
		if source.RepoURL == "" || source.Commit == "" {
			return Version{}, fmt.Errorf("component %s: source %s needs the address of its repository and a commit", v.id(), source.Name)
		}
		sources = append(sources, source)
	}
	v.Sources = sources
	return v, nil
}

// complete does the same for one resource.
func (r Resource) complete() (Resource, error) {
	if !resourceNamePattern.MatchString(r.Name) {
		return Resource{}, fmt.Errorf("%q is no name for a resource: use lower case letters, digits and - _ + between them", r.Name)
	}
	if r.Relation != "" && r.Relation != string(metav1.LocalRelation) && r.Relation != string(metav1.ExternalRelation) {
		return Resource{}, fmt.Errorf("resource %s has relation %q: use %s or %s",
			r.Name, r.Relation, metav1.LocalRelation, metav1.ExternalRelation)
	}
	if r.Image != "" || len(r.Access) > 0 {
		return r.completeElsewhere()
	}
	if r.ImageDigest != "" {
		return Resource{}, fmt.Errorf("resource %s has the digest of an image and no image", r.Name)
	}
	if len(r.Data) == 0 {
		return Resource{}, fmt.Errorf("resource %s is empty: several registries refuse empty layers", r.Name)
	}
	r.Relation = cmp.Or(r.Relation, string(metav1.LocalRelation))
	r.MediaType = cmp.Or(r.MediaType, MediaTypeYAML)
	if r.Type == "" {
		r.Type = typePlainText
		if r.MediaType == MediaTypeTar {
			r.Type = typeDirectoryTree
		}
	}
	return r, nil
}

// completeElsewhere does the same for a resource whose content is outside the component.
func (r Resource) completeElsewhere() (Resource, error) {
	r.Relation = cmp.Or(r.Relation, string(metav1.ExternalRelation))
	switch {
	case len(r.Data) > 0 || r.MediaType != "":
		return Resource{}, fmt.Errorf("resource %s is stored elsewhere and has content or a media type too: keep one of them", r.Name)
	case r.Image != "" && len(r.Access) > 0:
		return Resource{}, fmt.Errorf("resource %s is an image and has another access too: keep one of them", r.Name)
	case r.Image != "":
		r.Type = cmp.Or(r.Type, typeImage)
	case r.Type == "":
		return Resource{}, fmt.Errorf("resource %s is stored elsewhere and has no type", r.Name)
	}
	if known := digest.Digest(r.ImageDigest); known != "" && (known.Validate() != nil || known.Algorithm() != digest.SHA256) {
		return Resource{}, fmt.Errorf("resource %s has %q, which is no sha256 digest of an image", r.Name, r.ImageDigest)
	}
	return r, nil
}

// id is the version's name in messages.
func (v Version) id() string { return v.Name + ":" + v.Version }
