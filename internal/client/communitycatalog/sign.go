package communitycatalog

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/errdef"

	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// mediaStatement is the media type of the text that cosign signs for an artifact.
const mediaStatement = "application/vnd.dev.cosign.simplesigning.v1+json"

// Sign signs a text as openssl and cosign do: its SHA-256, with RSA PKCS #1 v1.5, in base64. The same text and key give the same bytes.
func Sign(key *rsa.PrivateKey, text []byte) (string, error) {
	sum := sha256.Sum256(text)
	signature, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		return "", fmt.Errorf("sign the catalog: %w", err)
	}
	return base64.StdEncoding.EncodeToString(signature), nil
}

// PushSignature signs the catalog with this digest that was pushed to address, and stores the signature where cosign does. Other signatures
// are kept, and a catalog that the key has already signed is not signed again.
func PushSignature(ctx context.Context, address, pushed string, key *rsa.PrivateKey, limits Limits) error {
	image, err := content.ParseImage(strings.TrimPrefix(address, "oci://"))
	if err != nil {
		return err
	}
	to, done, err := openRegistry(image, limits)
	if err != nil {
		return err
	}
	defer done()
	if to.signed(ctx, pushed, &key.PublicKey) == nil {
		return nil
	}
	tag := signatureTag(pushed)
	layers, err := to.signatures(ctx, tag)
	if err != nil {
		return err
	}
	if len(layers) >= maxLayers {
		return invalid("%s has %d signatures beside it, which is the most that is read: delete the tag %s first", to.where, len(layers), tag)
	}
	said := statement{}
	said.Critical.Type, said.Critical.Image.Digest = signedType, pushed
	said.Critical.Identity.Reference = image.Registry + "/" + image.Repository
	text, err := json.Marshal(said)
	if err != nil {
		return err
	}
	signature, err := Sign(key, text)
	if err != nil {
		return err
	}
	layer := ocispec.Descriptor{
		MediaType: mediaStatement, Digest: digest.FromBytes(text), Size: int64(len(text)),
		Annotations: map[string]string{annotationSignature: signature},
	}
	if _, err := oras.PushBytes(ctx, to.Repository, layer.MediaType, text); err != nil {
		return explainedAnswer(to.where, err)
	}
	return to.tag(ctx, tag, append(layers, layer))
}

// signatures returns the layers of the existing signatures.
func (a *registryRepository) signatures(ctx context.Context, tag string) ([]ocispec.Descriptor, error) {
	described, err := a.Resolve(ctx, tag)
	switch {
	case errors.Is(err, errdef.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, explainedAnswer(a.where, err)
	}
	manifest, err := a.manifest(ctx, described)
	return manifest.Layers, err
}

// tag pushes the image in which cosign expects signatures.
func (a *registryRepository) tag(ctx context.Context, tag string, layers []ocispec.Descriptor) error {
	config := ocispec.Image{RootFS: ocispec.RootFS{Type: "layers"}}
	for _, layer := range layers {
		config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, layer.Digest)
	}
	text, err := json.Marshal(config)
	if err != nil {
		return err
	}
	described, err := oras.PushBytes(ctx, a.Repository, ocispec.MediaTypeImageConfig, text)
	if err != nil {
		return explainedAnswer(a.where, err)
	}
	manifest, err := json.Marshal(ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest, Config: described, Layers: layers,
	})
	if err != nil {
		return err
	}
	if _, err := oras.TagBytes(ctx, a.Repository, ocispec.MediaTypeImageManifest, manifest, tag); err != nil {
		return explainedAnswer(a.where, err)
	}
	return nil
}
