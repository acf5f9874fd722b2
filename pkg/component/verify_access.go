package component

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// The prefixes of the known access types; a version may follow.
const (
	accessLocal    = "localBlob"
	accessLocalOCI = "localOciBlob"
	accessImage    = "ociArtifact"
	accessRegistry = "ociRegistry"
)

// resourceKind returns the Check kind of a resource.
func resourceKind(resource *descriptor.Resource) string {
	kind, _, _ := strings.Cut(resource.Access.Type, "/")
	switch kind {
	case accessLocal, accessLocalOCI:
		return KindBlob
	case accessImage, accessRegistry:
		return KindImage
	default:
		return KindOther
	}
}

// localDigest returns the digest of the blob that a resource points to. Older component archives write it with a dot.
func localDigest(resource *descriptor.Resource) string {
	if value, ok := strings.CutPrefix(resource.Access.LocalReference, "sha256."); ok {
		return "sha256:" + value
	}
	return resource.Access.LocalReference
}

// excluded is OCM's value of a digest for content that is excluded from signing.
const excluded = "NO-DIGEST"

// checkDigest returns why the content of a resource cannot be compared with a signed digest; nil if it can, or if the resource has no
// content. A signature covers type and digest, not access, which everyone with write access to the registry can rewrite. So the digest
// determines what the content must be, and an access that leads to something else is a failure.
func checkDigest(r *descriptor.Resource) *VerifyError {
	fails := func(reason, format string, args ...any) *VerifyError {
		return &VerifyError{Reason: reason, Subject: r.Name, Err: fmt.Errorf("resource %s "+format, append([]any{r.Name}, args...)...)}
	}
	nothing := descriptor.HoldsNothing(r.Access.Type)
	switch {
	case nothing && r.Digest != nil:
		return fails(DigestNotSigned, "has access type %s, with which no signature covers a digest, and yet it has digest %s: it is invented; "+
			"take it out, or restore the access", r.Access.Type, digestText(r.Digest))
	case nothing && !isContent(r):
		return nil
	case nothing || r.Digest == nil || r.Digest.Value == "" || r.Digest.HashAlgorithm == excluded:
		return fails(ResourceNotCovered, "has no digest that a signature covers: sign the component with the digests of all resources")
	}
	wanted, what := KindBlob, "a blob"
	if r.Digest.NormalisationAlgorithm == descriptor.DigestArtifact {
		wanted, what = KindImage, "an image"
	}
	known := wanted == KindImage || r.Digest.NormalisationAlgorithm == descriptor.DigestBlob
	switch _, ok := r.SignedDigest(); {
	case known && resourceKind(r) != wanted:
		return fails(ContentNotComparable, "is %s by its signed digest, and its access type %q leads to none that can be read: "+
			"it was rewritten, or has to be checked by other tools", what, r.Access.Type)
	case !ok:
		return fails(ContentNotComparable, "has a digest by %s and %s, and SHA-256 by %s or %s can be compared: sign it anew with such a one",
			r.Digest.HashAlgorithm, r.Digest.NormalisationAlgorithm, descriptor.DigestBlob, descriptor.DigestArtifact)
	case wanted == KindImage && r.Access.ImageReference == "":
		return fails(ContentNotComparable, "is an image, and its access of type %q has no reference to it: restore it", r.Access.Type)
	}
	return nil
}

// isContent reports whether the type or the name of a resource, which are signed, imply that it has content.
func isContent(r *descriptor.Resource) bool {
	named := []string{descriptor.ResourceManifest, descriptor.ResourceConfig, descriptor.ResourceDefinitions}
	return r.Type == typeImage || slices.Contains(named, r.Name) || r.Installs()
}

// covered reports whether a signature covers the content of a resource, as far as this is known without reading it.
func covered(r *descriptor.Resource) bool {
	if checkDigest(r) != nil || descriptor.HoldsNothing(r.Access.Type) {
		return false
	}
	digest, _ := r.SignedDigest()
	_, pinned, has := strings.Cut(r.Access.ImageReference, "@")
	return resourceKind(r) == KindBlob && localDigest(r) == digest || resourceKind(r) == KindImage && (!has || pinned == digest)
}
