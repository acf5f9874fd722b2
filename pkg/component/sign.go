package component

import (
	"cmp"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-component-model/ocm/pkg/contexts/ocm"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/accessmethods/localblob"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/accessmethods/ociartifact"
	"github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc"
	metav1 "github.com/open-component-model/ocm/pkg/contexts/ocm/compdesc/meta/v1"
	"oras.land/oras-go/v2/registry/remote"
	"oras.land/oras-go/v2/registry/remote/auth"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// Signer is who signs.
type Signer struct {
	// Name of the signature; empty means descriptor.SignatureName.
	Name string
	// Key makes the signature.
	Key *rsa.PrivateKey
	// Algorithm is descriptor.AlgorithmPKCS1v15 or descriptor.AlgorithmPSS; empty means the former, which every version of OCM can verify.
	Algorithm string
	// Chain are certificates that go into the signature: that of the key first, then those of who issued it. May be empty.
	Chain []*x509.Certificate
}

// ReadSigner reads a private key (PKCS #1 or #8) and a chain of certificates, which may be empty, from PEM.
func ReadSigner(key, chain []byte) (*Signer, error) {
	block, _ := pem.Decode(key)
	if block == nil {
		return nil, errors.New("the private key is not in PEM")
	}
	signer := &Signer{}
	read, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		read, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	}
	if err != nil {
		return nil, errors.New("the private key cannot be read: write it as PKCS #8 or PKCS #1, without a password")
	}
	found, known := read.(*rsa.PrivateKey)
	if !known {
		return nil, fmt.Errorf("the private key is a %T: only RSA signs components", read)
	}
	signer.Key = found
	for rest := chain; ; {
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("the chain holds a %q that is no certificate: %w", block.Type, err)
		}
		signer.Chain = append(signer.Chain, certificate)
	}
	if strings.TrimSpace(string(chain)) != "" && len(signer.Chain) == 0 {
		return nil, errors.New("the chain of certificates is not in PEM")
	}
	return signer, signer.check()
}

func (s *Signer) check() error {
	switch {
	case s.Key == nil:
		return errors.New("there is no private key to sign with")
	case s.Algorithm != "" && s.Algorithm != descriptor.AlgorithmPKCS1v15 && s.Algorithm != descriptor.AlgorithmPSS:
		return fmt.Errorf("signature algorithm %q is unknown: use %s or %s", s.Algorithm, descriptor.AlgorithmPKCS1v15, descriptor.AlgorithmPSS)
	case len(s.Chain) > 0 && !s.Key.PublicKey.Equal(s.Chain[0].PublicKey):
		return fmt.Errorf("the first certificate, of %q, is not that of the private key", s.Chain[0].Subject)
	}
	return nil
}

// Sign signs a component version that a registry has, and returns the new digest of its manifest. Digests of its resources that its
// descriptor lacks are found out first: what has no digest is not covered. A signature of the same name is replaced, others stay.
//
// The registry's login is for images of that registry; those of others are asked for anonymously.
func Sign(ctx context.Context, registry Registry, name, version string, signer *Signer) (string, error) {
	if err := descriptor.CheckIdentity(name, version); err != nil {
		return "", err
	}
	if _, err := registry.reader().Get(ctx, name, version); err != nil {
		return "", fmt.Errorf("sign component %s:%s: %w", name, version, err)
	}
	err := registry.within(func(repository ocm.Repository) (err error) {
		found, err := repository.LookupComponentVersion(name, version)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, found.Close()) }()
		if err := registry.sign(ctx, found.GetDescriptor(), signer); err != nil {
			return err
		}
		return found.Update()
	})
	if err != nil {
		return "", fmt.Errorf("sign component %s:%s: %w", name, version, err)
	}
	signed, err := registry.reader().Get(ctx, name, version)
	if err != nil {
		return "", fmt.Errorf("component %s:%s was signed and cannot be read back: %w", name, version, err)
	}
	return signed.Digest, nil
}

// sign puts a signature into a descriptor.
func (r Registry) sign(ctx context.Context, of *compdesc.ComponentDescriptor, signer *Signer) error {
	if err := signer.check(); err != nil {
		return err
	}
	for i := range of.Resources {
		if err := r.digest(ctx, &of.Resources[i]); err != nil {
			return fmt.Errorf("resource %s: %w", of.Resources[i].Name, err)
		}
	}
	normalised, sum, err := compdesc.NormHash(of, compdesc.JsonNormalisationV2, crypto.SHA256.New())
	if err != nil || len(normalised) == 0 {
		return fmt.Errorf("normalise the descriptor: %w", err)
	}
	made, err := signer.sign(sum)
	if err != nil {
		return err
	}
	of.Signatures.Set(metav1.Signature{
		Name: cmp.Or(signer.Name, descriptor.SignatureName),
		Digest: metav1.DigestSpec{
			HashAlgorithm: crypto.SHA256.String(), NormalisationAlgorithm: compdesc.JsonNormalisationV2, Value: sum,
		},
		Signature: made,
	})
	return nil
}

// sign signs a digest in hex. The library could do it, but what version 0.11 of it writes for PSS no version of it can verify.
func (s *Signer) sign(sum string) (made metav1.SignatureSpec, err error) {
	hashed, err := hex.DecodeString(sum)
	if err != nil {
		return made, err
	}
	made.Algorithm, made.MediaType = descriptor.AlgorithmPKCS1v15, descriptor.MediaTypeSignatureRSA
	var value []byte
	if s.Algorithm == descriptor.AlgorithmPSS {
		made.Algorithm, made.MediaType = descriptor.AlgorithmPSS, descriptor.MediaTypeSignaturePSS
		value, err = rsa.SignPSS(rand.Reader, s.Key, crypto.SHA256, hashed, nil)
	} else {
		value, err = rsa.SignPKCS1v15(rand.Reader, s.Key, crypto.SHA256, hashed)
	}
	if err != nil {
		return made, fmt.Errorf("sign the descriptor: %w", err)
	}
	made.Value = hex.EncodeToString(value)
	if len(s.Chain) > 0 {
		header := map[string]string{descriptor.PEMAlgorithm: made.Algorithm}
		text := pem.EncodeToMemory(&pem.Block{Type: descriptor.PEMSignature, Headers: header, Bytes: value})
		for _, certificate := range s.Chain {
			text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})...)
		}
		made.Value, made.MediaType, made.Issuer = string(text), descriptor.MediaTypeSignaturePEM, s.Chain[0].Subject.String()
	}
	return made, nil
}

// digest notes the digest of a resource's content, where the descriptor has none. That of a local blob is the name by which it lies there.
func (r Registry) digest(ctx context.Context, of *compdesc.Resource) error {
	if of.Digest != nil || compdesc.IsNoneAccess(of.Access) {
		return nil
	}
	access, err := ocm.DefaultContext().AccessSpecForSpec(of.Access)
	if err != nil {
		return err
	}
	made := &metav1.DigestSpec{HashAlgorithm: crypto.SHA256.String(), NormalisationAlgorithm: descriptor.DigestBlob}
	switch access := access.(type) {
	case *ociartifact.AccessSpec:
		made.NormalisationAlgorithm = descriptor.DigestArtifact
		made.Value, err = r.imageDigest(ctx, access.ImageReference)
	case *localblob.AccessSpec: // which stands for localOciBlob too
		made.Value = access.LocalReference
	default:
		err = fmt.Errorf("its digest cannot be found out for access type %q: put it into the descriptor before", of.Access.GetType())
	}
	value, sha := strings.CutPrefix(made.Value, "sha256:")
	if err != nil {
		return err
	}
	if !sha {
		return fmt.Errorf("it lies under %q, which is no sha256 digest", made.Value)
	}
	made.Value, of.Digest = value, made
	return nil
}

// imageDigest is the digest of an image's manifest.
func (r Registry) imageDigest(ctx context.Context, reference string) (string, error) {
	if _, pinned, ok := strings.Cut(reference, "@"); ok {
		return pinned, nil
	}
	repository, err := remote.NewRepository(reference)
	if err != nil {
		return "", fmt.Errorf("image %s: %w", reference, err)
	}
	client := &auth.Client{Cache: auth.NewCache()}
	if repository.Reference.Registry == r.Host {
		repository.PlainHTTP = r.PlainHTTP
		client.Credential = r.reader().Credentials
	}
	repository.Client = client
	found, err := repository.Resolve(ctx, repository.Reference.ReferenceOrDefault())
	if err != nil {
		return "", fmt.Errorf("image %s: %w", reference, err)
	}
	return found.Digest.String(), nil
}

// signed tells whether a component version carries the signature that a signer would make.
func (s *Signer) signed(there *descriptor.Component) bool {
	name := cmp.Or(s.Name, descriptor.SignatureName)
	return slices.ContainsFunc(there.Signatures, func(known descriptor.Signature) bool { return known.Name == name })
}
