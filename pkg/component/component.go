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

// What a source is when nothing else is said: the words of the first Kyma CLI, which readers look for.
const (
	sourceName = "module-sources"
	typeGitHub = "Github"
	// labelRef says which branch or tag a source was built from.
	labelRef = "git.kyma-project.io/ref"
)

// resourceNamePattern is OCM's for names of resources.
var resourceNamePattern = regexp.MustCompile(`^[a-z0-9][-_+a-z0-9]*[a-z0-9]$`)

// Version is a component version to publish.
type Version struct {
	// Name is the OCM component name: a domain, a slash and at least one more segment, all lower case.
	Name string
	// Version is a semantic version; a "+" becomes ".build-" in the tag.
	Version string
	// Provider is the name of who provides it, and ProviderLabels say more about who that is.
	Provider       string
	ProviderLabels map[string]string
	// Schema is descriptor.SchemaV2 or descriptor.SchemaV3Alpha1; empty means the former.
	Schema string
	// Labels, which are signed with the component, say more about it. MoreLabels are those whose value is no text, or which are not signed.
	Labels     map[string]string
	MoreLabels []descriptor.Label
	// Sources are where it was made from.
	Sources []Source
	// Resources become layers, in this order.
	Resources []Resource
	// Signer signs it, if there is one. A version that is published already keeps the signatures that it has.
	Signer *Signer
	// Access is how Build gets at the images that it signs and that have no ImageDigest; Push does so by its registry's.
	Access Access
}

// Source is a git repository at a commit.
type Source struct {
	// Name is empty for module-sources, Type for Github, and Version for that of the component.
	Name, Type, Version string
	// RepoURL is an https address, and Commit the full hash of a commit.
	RepoURL, Commit string
	// Ref is the branch or tag that was built, such as refs/heads/main; may be empty.
	Ref string
	// Labels, which are signed with the component, say more about it.
	Labels     map[string]string
	MoreLabels []descriptor.Label
}

// Resource is content that travels inside the component version as a local blob, or an image that lies elsewhere.
type Resource struct {
	// Name is how readers ask for it, such as raw-manifest.
	Name string
	// Type is the OCM resource type; empty means PlainText, or directoryTree for a tar.
	Type string
	// Version is the resource's own; empty means that of the component.
	Version string
	// Relation is "local" or "external"; empty means the former for content and the latter for an image.
	Relation string
	// MediaType is the layer's media type; MediaTypeTar makes it a directory to readers. Empty means MediaTypeYAML.
	MediaType string
	// Data is the content.
	Data []byte
	// Image is the reference of an image instead of content.
	Image string
	// ImageDigest is the digest of the image's manifest: "sha256:...". Signatures cover it. Empty means that whoever signs finds it out.
	ImageDigest string
	// Access is where something else than content and images lies, as JSON with a type, such as that of a Helm chart.
	Access json.RawMessage
	// Labels, which are signed with the component, say more about it, such as operator.kyma-project.io/renderer: bundle. MoreLabels are
	// those whose value is no text, or which are not signed.
	Labels     map[string]string
	MoreLabels []descriptor.Label
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

// completeSources does for the sources what complete does for the rest.
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

// complete does for one resource what it does for the version.
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

// completeElsewhere does it for what is not in the component.
func (r Resource) completeElsewhere() (Resource, error) {
	r.Relation = cmp.Or(r.Relation, string(metav1.ExternalRelation))
	switch {
	case len(r.Data) > 0 || r.MediaType != "":
		return Resource{}, fmt.Errorf("resource %s lies elsewhere and has content or a media type too: keep one of them", r.Name)
	case r.Image != "" && len(r.Access) > 0:
		return Resource{}, fmt.Errorf("resource %s is an image and has another access too: keep one of them", r.Name)
	case r.Image != "":
		r.Type = cmp.Or(r.Type, typeImage)
	case r.Type == "":
		return Resource{}, fmt.Errorf("resource %s lies elsewhere and has no type", r.Name)
	}
	if known := digest.Digest(r.ImageDigest); known != "" && (known.Validate() != nil || known.Algorithm() != digest.SHA256) {
		return Resource{}, fmt.Errorf("resource %s has %q, which is no sha256 digest of an image", r.Name, r.ImageDigest)
	}
	return r, nil
}

// id is how messages name the version.
func (v Version) id() string { return v.Name + ":" + v.Version }
