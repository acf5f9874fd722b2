package component

import (
	"cmp"
	"context"
	"crypto"
	"fmt"
	"slices"
	"strings"

	"github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc"
	metav1 "github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc/meta/v1"
	_ "github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc/normalizations" // registers them

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// imageDigester returns the digest that an image reference names now.
type imageDigester func(ctx context.Context, reference string) (string, error)

// SignRef signs a component version in a registry or an archive, and returns the new digest of its manifest. It first looks up missing
// digests of resources, those of images at their registries, since a signature does not cover a resource without a digest. It replaces a
// signature of the same name and keeps others; it writes nothing if the signer has already signed the same content.
func SignRef(ctx context.Context, ref Ref, signer *Signer) (string, error) {
	if err := signer.check(); err != nil {
		return "", fmt.Errorf("sign %s: %w", ref, err)
	}
	opened, err := Open(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("sign %s: %w", ref, err)
	}
	digest, err := rewrite(ctx, opened.Ref, func(ctx context.Context, of *compdesc.ComponentDescriptor) error {
		return signer.seal(ctx, of, opened.ImageDigest)
	})
	if closing := opened.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return "", fmt.Errorf("sign %s: %w", ref, err)
	}
	return digest, nil
}

// Sign is SignRef for a component version in a registry.
func Sign(ctx context.Context, registry Registry, name, version string, signer *Signer) (string, error) {
	return SignRef(ctx, Ref{Registry: &registry, Name: name, Version: version}, signer)
}

// seal adds a signature to a descriptor.
func (s *Signer) seal(ctx context.Context, of *compdesc.ComponentDescriptor, images imageDigester) error {
	if err := s.check(); err != nil {
		return err
	}
	for i := range of.Resources {
		if err := setDigest(ctx, &of.Resources[i], images); err != nil {
			return fmt.Errorf("resource %s: %w", of.Resources[i].Name, err)
		}
	}
	hash, normalisation := cmp.Or(s.Hash, crypto.SHA256), cmp.Or(s.Normalisation, descriptor.NormalisationV2)
	normalised, sum, err := compdesc.NormHash(of, normalisation, hash.New())
	if err != nil || len(normalised) == 0 {
		return fmt.Errorf("normalise the descriptor: %w", err)
	}
	made, err := s.sign(hash, sum)
	if err != nil {
		return err
	}
	if strings.HasSuffix(of.SchemaVersion(), descriptor.SchemaV3Alpha1) {
		made.Issuer = "" // the library writes it there and then refuses to read it
	}
	name := cmp.Or(s.Name, descriptor.SignatureName)
	digest := metav1.DigestSpec{HashAlgorithm: hash.String(), NormalisationAlgorithm: normalisation, Value: sum}
	known := of.Signatures.GetByName(name)
	if known != nil && known.Digest == digest && s.made(known.Signature, made, hash, sum) {
		return nil
	}
	// Remove all of that name: an old tool appended a second one where it should have replaced the first.
	of.Signatures = slices.DeleteFunc(of.Signatures, func(other metav1.Signature) bool { return other.Name == name })
	of.Signatures.Set(metav1.Signature{Name: name, Digest: digest, Signature: made})
	return nil
}

// setDigest records the digest of a resource's content if the descriptor has none. The digest of a local blob is its name; setDigest
// refuses a descriptor with a different one.
func setDigest(ctx context.Context, of *compdesc.Resource, images imageDigester) error {
	if compdesc.IsNoneAccess(of.Access) {
		if of.Digest != nil && descriptor.HoldsNothing(of.Access.GetType()) {
			return fmt.Errorf("it has access type %s and a digest, which no signature would cover: take one of them out", of.Access.GetType())
		}
		return nil
	}
	access, err := locate(of.Access)
	if known := of.Digest; known != nil {
		if err == nil && access.blob != nil && known.NormalisationAlgorithm == descriptor.DigestBlob &&
			known.HashAlgorithm == crypto.SHA256.String() && *access.blob != "sha256:"+known.Value {
			return fmt.Errorf("its digest is sha256:%s, but it is stored as %s: one of them was changed", known.Value, *access.blob)
		}
		return nil
	}
	if err != nil {
		return err
	}
	made := &metav1.DigestSpec{HashAlgorithm: crypto.SHA256.String(), NormalisationAlgorithm: descriptor.DigestBlob}
	switch {
	case access.image != nil:
		made.NormalisationAlgorithm = descriptor.DigestArtifact
		made.Value, err = pinnedOr(ctx, *access.image, images)
	case access.blob != nil:
		made.Value = *access.blob
	default:
		err = fmt.Errorf("its digest cannot be found out for access type %q: put it into the descriptor before", of.Access.GetType())
	}
	value, sha := strings.CutPrefix(made.Value, "sha256:")
	if err != nil {
		return err
	}
	if !sha {
		return fmt.Errorf("it is stored as %q, which is no sha256 digest", made.Value)
	}
	made.Value, of.Digest = value, made
	return nil
}

// pinnedOr returns the digest in an image's reference, or else the one that its registry returns.
func pinnedOr(ctx context.Context, reference string, images imageDigester) (string, error) {
	if _, pinned, ok := strings.Cut(reference, "@"); ok {
		return pinned, nil
	}
	digest, err := images(ctx, reference)
	if err != nil {
		name, _, _ := strings.Cut(reference[strings.LastIndexByte(reference, '/')+1:], ":")
		return "", fmt.Errorf("the digest of image %s cannot be found out: %w; "+
			"name the image by its digest, %s@sha256:..., to sign it without its registry", reference, err, name)
	}
	return digest, nil
}

// signed reports whether a component version has the signature that a signer would make.
func (s *Signer) signed(there *descriptor.Component) bool {
	name := cmp.Or(s.Name, descriptor.SignatureName)
	return slices.ContainsFunc(there.Signatures, func(known descriptor.Signature) bool { return known.Name == name })
}
