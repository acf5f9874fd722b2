package descriptor

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/distribution/reference"
)

// The resources of a component version that describe the module.
const (
	ResourceDefaultCR = "default-cr"
	ResourceTemplate  = "moduletemplate"
)

// imageTypes are the resource types of images. The type of a resource is signed, its access is not.
var imageTypes = []string{"ociImage", "ociImage/v1", "ociArtifact", "ociArtifact/v1"}

// Coverage is what the signature of a component version covers, as far as a module is made of it.
type Coverage struct {
	// Contents are installed, each in its format and under the digest that was signed.
	Contents Contents
	// DefaultCR and Template are the layers of the resources default-cr and moduletemplate; nil where there is none.
	DefaultCR, Template *Layer
	// Images are the resources that are images by their type.
	Images []CoveredImage
}

// CoveredImage is an image resource.
type CoveredImage struct {
	// Resource is its name, and Version its version.
	Resource, Version string
	// Digest of its manifest: "sha256:...".
	Digest string
	// Reference with that digest; empty where the component says none, or one that is not bound to Resource and Version.
	Reference string
	// Unbound is the reference that is not: a signature does not cover it, and it names another image or tag than the resource.
	Unbound string
}

// Localized are the references of all images that have one.
func (c *Coverage) Localized() []string {
	var references []string
	for _, image := range c.Images {
		if image.Reference != "" {
			references = append(references, image.Reference)
		}
	}
	return references
}

// Coverage holds a component version whose signature was verified to what that signature covers. A signature does not cover where something
// lies, so that whoever may write to the registry can change every access:
//
//  1. What is installed or describes the module lies under the digest that was signed.
//  2. A label that says how something is rendered is signed.
//  3. What is an image by its type has a digest that was signed, and its reference no other.
//  4. The reference of an image belongs to it where its last segment and its tag are name and version of the resource, which are signed.
//     Without that it could be put in the place of another image.
//
// The error is an *Error with reason SignatureInvalid.
func (c *Component) Coverage() (*Coverage, error) {
	found, err := c.listed()
	if err != nil {
		return nil, err
	}
	for i := range c.Resources {
		if resource := &c.Resources[i]; resource.describes() || resource.Installs() {
			if err := c.checkContent(resource); err != nil {
				return nil, err
			}
		}
	}
	for i := range c.Resources {
		if resource := &c.Resources[i]; slices.Contains(imageTypes, resource.Type) {
			image, err := c.coveredImage(resource)
			if err != nil {
				return nil, err
			}
			found.Images = append(found.Images, image)
		}
	}
	return found, nil
}

// Unsigned is the Coverage of a component version that nobody has to sign: what its descriptor says, as it says it.
func (c *Component) Unsigned() (*Coverage, error) {
	found, err := c.listed()
	if err != nil {
		return nil, err
	}
	for _, resource := range c.ImageResources() {
		image := CoveredImage{Resource: resource.Name, Version: resource.Version, Reference: resource.Access.ImageReference}
		_, image.Digest, _ = strings.Cut(image.Reference, "@")
		found.Images = append(found.Images, image)
	}
	return found, nil
}

// listed is what the descriptor says of content.
func (c *Component) listed() (found *Coverage, err error) {
	found = &Coverage{}
	if found.Contents, err = c.Contents(); err != nil {
		return nil, err
	}
	if found.DefaultCR, err = c.optional(ResourceDefaultCR); err != nil {
		return nil, err
	}
	found.Template, err = c.optional(ResourceTemplate)
	return found, err
}

// describes tells the resources that have a meaning by their name.
func (r *Resource) describes() bool {
	return slices.Contains([]string{ResourceManifest, ResourceConfig, ResourceDefinitions, ResourceDefaultCR, ResourceTemplate}, r.Name)
}

func (c *Component) checkContent(r *Resource) error {
	digest, ok := r.SignedDigest()
	if !ok {
		return c.unsigned("resource %s has no digest that is signed: sign the component with the digests of all resources", r.Name)
	}
	if r.Access.LocalReference != digest {
		return c.unsigned("resource %s points to %q, and %s was signed", r.Name, r.Access.LocalReference, digest)
	}
	for _, label := range r.Labels {
		if label.Name == LabelRenderer && !label.Signing {
			return c.unsigned("label %s of resource %s is not signed: mark it with signing: true and sign again", label.Name, r.Name)
		}
	}
	return nil
}

func (c *Component) coveredImage(r *Resource) (CoveredImage, error) {
	image := CoveredImage{Resource: r.Name, Version: r.Version}
	digest, ok := r.SignedDigest()
	if !ok {
		return image, c.unsigned("image %s has no digest that is signed: sign the component with the digests of all resources", r.Name)
	}
	image.Digest = digest
	name, pinned, has := strings.Cut(r.Access.ImageReference, "@")
	switch {
	case has && pinned != digest:
		return image, c.unsigned("image %s points to %s, and %s was signed", r.Name, pinned, digest)
	case name == "":
	case image.Binds(name):
		image.Reference = name + "@" + digest
	default:
		image.Unbound = r.Access.ImageReference
	}
	return image, nil
}

var (
	unnamable = regexp.MustCompile(`[^a-z0-9]+`)
	// distinct is what follows the name of a resource, where several images have the same.
	distinct = regexp.MustCompile(`^(-[0-9a-f]{8,64})*$`)
)

// Binds tells whether a reference without digest names the image that the resource is by its name and version. Both may be written as OCM
// wants names and versions: docs/packaging.md says how.
func (i *CoveredImage) Binds(text string) bool {
	named, err := reference.ParseNormalizedNamed(text)
	if err != nil {
		return false
	}
	name := plainName(path.Base(reference.Path(named)))
	rest, same := strings.CutPrefix(strings.TrimPrefix(plainName(i.Resource), "image-"), strings.TrimPrefix(name, "image-"))
	if !same || !distinct.MatchString(rest) {
		return false
	}
	tagged, ok := named.(reference.Tagged)
	return !ok || plainVersion(tagged.Tag()) == plainVersion(i.Version)
}

// plainName is a name in the characters that names of resources and of images have in common.
func plainName(name string) string {
	return strings.Trim(unnamable.ReplaceAllString(strings.ToLower(name), "-"), "-")
}

// plainVersion makes a tag and the version that stands for it equal: v1.2.3 and 1.2.3, latest and 0.0.0-latest.
func plainVersion(version string) string {
	version, _, _ = strings.Cut(version, "+sha256.")
	version = strings.TrimPrefix(strings.TrimPrefix(version, "0.0.0-"), "tag-")
	return plainName(strings.TrimPrefix(version, "v"))
}
