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

// imageTypes are the resource types of images. The type of a resource is signed, but its access is not.
var imageTypes = []string{"ociImage", "ociImage/v1", "ociArtifact", "ociArtifact/v1"}

// Coverage is the part of a component version that its signature covers, as far as it concerns the module.
type Coverage struct {
	// Contents are the installed layers, each with its format and its signed digest.
	Contents Contents
	// DefaultCR and Template are the layers of the resources default-cr and moduletemplate; nil if there is no such resource.
	DefaultCR, Template *Layer
	// Images are the resources with the type of an image.
	Images []CoveredImage
}

// CoveredImage is an image resource.
type CoveredImage struct {
	// Resource and Version are the name and the version of the resource.
	Resource, Version string
	// Digest is the digest of its manifest: "sha256:...".
	Digest string
	// Reference is the reference with that digest; empty if the component has none, or one that is not bound to Resource and Version.
	Reference string
	// Unbound is a reference that is not bound: no signature covers it, and it names another image or tag than the resource.
	Unbound string
}

// Localized returns the references of all images that have one.
func (c *Coverage) Localized() []string {
	var references []string
	for _, image := range c.Images {
		if image.Reference != "" {
			references = append(references, image.Reference)
		}
	}
	return references
}

// Coverage checks a component version, whose signature was verified, and returns what that signature covers. A signature does not cover
// the location of content, so that a user with write access to the registry can change every access:
//
//  1. What is installed or describes the module has the digest that was signed.
//  2. A label that determines how something is rendered is signed.
//  3. A resource with the type of an image has a signed digest, and its reference has no other.
//  4. The reference of an image is bound to it if the reference's last segment and tag are the name and the version of the resource, which
//     are signed. Otherwise it could replace another image.
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

// Unsigned returns the Coverage of a component version that needs no signature: what its descriptor says.
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

// listed returns the contents and images of the descriptor.
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

// describes reports whether the resource's name has a meaning.
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
	// distinct matches the suffix of a resource name where several images have the same name.
	distinct = regexp.MustCompile(`^(-[0-9a-f]{8,64})*$`)
)

// Binds reports whether a reference without digest names the same image as the resource's name and version. Both may be adapted to OCM's
// rules for names and versions, as docs/packaging.md describes.
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

// plainName reduces a name to the characters that names of resources and of images have in common.
func plainName(name string) string {
	return strings.Trim(unnamable.ReplaceAllString(strings.ToLower(name), "-"), "-")
}

// plainVersion maps a tag and the equivalent version to the same text: v1.2.3 and 1.2.3, latest and 0.0.0-latest.
func plainVersion(version string) string {
	version, _, _ = strings.Cut(version, "+sha256.")
	version = strings.TrimPrefix(strings.TrimPrefix(version, "0.0.0-"), "tag-")
	return plainName(strings.TrimPrefix(version, "v"))
}
