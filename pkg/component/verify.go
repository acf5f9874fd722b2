package component

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// The reasons why a component version fails verification. Each kind of tampering has its own reason.
const (
	// SignatureMissing: there is no signature with a trusted name.
	SignatureMissing = descriptor.ReasonSignatureMissing
	// SignatureInvalid: the descriptor was changed after it was signed, or its signature cannot be checked.
	SignatureInvalid = descriptor.ReasonSignatureInvalid
	// SignatureUntrusted: no trusted signer signed it.
	SignatureUntrusted = descriptor.ReasonSignatureUntrusted
	// DescriptorChanged: the bytes of the manifest or the descriptor do not match their digest.
	DescriptorChanged = "DescriptorChanged"
	// DescriptorInvalid: the content is not a readable component version.
	DescriptorInvalid = descriptor.ReasonInvalid
	// ResourceDropped: the descriptor was changed after it was signed, and there is content that no resource names any more.
	ResourceDropped = "ResourceDropped"
	// ResourceNotCovered: the descriptor has no digest for a resource, so that no signature covers it.
	ResourceNotCovered = "ResourceNotCovered"
	// DigestNotSigned: the descriptor has a digest that signatures leave out, so that anyone may have added it.
	DigestNotSigned = "DigestNotSigned"
	// ContentNotComparable: a digest was signed, but the content that the resource's access points to cannot be compared with it.
	ContentNotComparable = "ContentNotComparable"
	// LabelNotCovered: a label that must be signed is not marked for signing.
	LabelNotCovered = "LabelNotCovered"
	// BlobChanged: the content of a resource differs from what was signed.
	BlobChanged = "BlobChanged"
	// BlobMissing: the content of a resource is not there.
	BlobMissing = "BlobMissing"
	// BlobUnreadable: the content of a resource cannot be read at present.
	BlobUnreadable = "BlobUnreadable"
	// ImageChanged: the reference of an image leads to another image than the signed one.
	ImageChanged = "ImageChanged"
	// ImageMissing: the image is not in its registry.
	ImageMissing = "ImageMissing"
	// ImageUnreadable: the registry of the image cannot be reached at present.
	ImageUnreadable = "ImageUnreadable"
	// ComponentChanged: a referenced component differs from what was signed.
	ComponentChanged = "ComponentChanged"
	// ComponentMissing: a referenced component does not exist.
	ComponentMissing = "ComponentMissing"
	// ComponentUnreadable: a referenced component cannot be read at present.
	ComponentUnreadable = "ComponentUnreadable"
)

// The states of a Check.
const (
	StateVerified = "Verified"
	StateFailed   = "Failed"
	StateSkipped  = "Skipped"
)

// The kinds of a Check.
const (
	KindDescriptor = "Descriptor"
	KindSignature  = "Signature"
	KindBlob       = "Blob"
	KindImage      = "Image"
	KindComponent  = "Component"
	KindOther      = "Other"
)

// VerifyError reports why a component version failed verification.
type VerifyError struct {
	// Reason is one of the constants above.
	Reason string
	// Subject is the name of the signature or resource.
	Subject string
	// Err describes what is wrong and what to do.
	Err error
}

// Error returns the message without the reason, which is shown beside it.
func (e *VerifyError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *VerifyError) Unwrap() error { return e.Err }

// Check is the result of checking one thing.
type Check struct {
	// Kind is one of the kinds above, Name the name of the signature or resource.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// State is Verified, Failed or Skipped.
	State string `json:"state"`
	// Reason is why the check failed; empty if it did not.
	Reason string `json:"reason,omitempty"`
	// Message gives details of a failed or skipped check.
	Message string `json:"message,omitempty"`
	// Digest is the signed digest of a resource, and Image the reference of an image.
	Digest string `json:"digest,omitempty"`
	Image  string `json:"image,omitempty"`
}

// VerifyReport is the result of VerifyRef.
type VerifyReport struct {
	Component string `json:"component"`
	Version   string `json:"version"`
	// Digest is the digest of the component version's manifest.
	Digest string `json:"digest,omitempty"`
	// Signature is the first valid one; nil if there is none. Signatures are all valid ones, of different signers.
	Signature  *HeldSignature  `json:"signature,omitempty"`
	Signatures []HeldSignature `json:"signatures,omitempty"`
	Checks     []Check         `json:"checks"`
}

// VerifyOptions configure VerifyRef.
type VerifyOptions struct {
	// Offline skips images: it sends requests to the component's registry only.
	Offline bool
	// SignedLabels names labels of resources that must be signed, because they determine how content is used.
	SignedLabels []string
	// Now is the time at which certificates must be valid; zero means now.
	Now time.Time
}

// VerifyRef verifies that a component version, in a registry or an archive, is what a trusted signer signed:
//
//  1. A signature of the descriptor is valid.
//  2. Each resource has a digest that the signature covers.
//  3. Each blob in the component version is read, and has that digest.
//  4. Each image has that digest at its registry now.
//  5. All of that holds for the referenced components, whose digests the signature covers.
//
// VerifyRef runs all checks, even after one failed. The error is that of the first failed Check, a *VerifyError, or reports why the
// component version could not be opened.
func VerifyRef(ctx context.Context, ref Ref, trust *descriptor.Trust, options VerifyOptions) (VerifyReport, error) {
	report := VerifyReport{Component: ref.Name, Version: ref.Version}
	if trust == nil || len(trust.PublicKeys)+len(trust.Certificates) == 0 {
		return report, errors.New("no signer is trusted: give a public key or a certificate")
	}
	opened, err := Open(ctx, ref)
	if err != nil {
		return report, report.unopened(ref, err)
	}
	defer func() { _ = opened.Close() }()
	report.Component, report.Version, report.Digest = opened.Component.Name, opened.Component.Version, opened.Component.Digest
	if options.Now.IsZero() {
		options.Now = time.Now()
	}
	names := *trust
	if len(names.Names) == 0 {
		names.Names = []string{descriptor.SignatureName}
	}
	report.verifySignature(opened, &names, options.Now)
	for _, verify := range []func(context.Context, *Opened, VerifyOptions) ([]Check, error){verifyResources, verifyReferences} {
		checks, err := verify(ctx, opened, options)
		report.Checks = append(report.Checks, checks...)
		if err != nil {
			return report, err
		}
	}
	return report, report.Err()
}

// Err returns the first failure as a *VerifyError; nil if nothing failed.
func (r *VerifyReport) Err() error {
	for _, check := range r.Checks {
		if check.State == StateFailed {
			return &VerifyError{Reason: check.Reason, Subject: check.Name, Err: errors.New(check.Message)}
		}
	}
	return nil
}

// unopened returns the error of a component version that could not be opened, with a reason if it was tampered with.
func (r *VerifyReport) unopened(ref Ref, err error) error {
	err = fmt.Errorf("verify %s: %w", ref, err)
	var reason string
	switch {
	case errors.Is(err, descriptor.ErrDigestMismatch):
		reason, err = DescriptorChanged, fmt.Errorf("%w: its descriptor or manifest was changed in storage", err)
	case descriptor.ReasonOf(err) == descriptor.ReasonInvalid:
		reason = DescriptorInvalid
	default:
		return err
	}
	r.Checks = append(r.Checks, Check{Kind: KindDescriptor, Name: ref.Name, State: StateFailed, Reason: reason, Message: err.Error()})
	return &VerifyError{Reason: reason, Subject: ref.String(), Err: err}
}

// verifySignature checks the signature of the descriptor.
func (r *VerifyReport) verifySignature(opened *Opened, trust *descriptor.Trust, now time.Time) {
	verified, err := opened.Component.Verify(trust, now)
	if err == nil {
		r.Signatures = held(verified, opened.Component, trust)
		r.Signature = &r.Signatures[0]
		for _, signature := range r.Signatures {
			r.Checks = append(r.Checks, Check{Kind: KindSignature, Name: signature.Name, State: StateVerified})
		}
		return
	}
	failed := Check{
		Kind: KindSignature, Name: trust.Names[0], State: StateFailed,
		Reason: cmp.Or(descriptor.ReasonOf(err), SignatureInvalid), Message: err.Error(),
	}
	if failed.Reason == SignatureInvalid {
		if dropped := unnamedLayers(opened); len(dropped) > 0 {
			failed.Reason = ResourceDropped
			failed.Message += fmt.Sprintf("; it holds %s, which no resource names: a resource was dropped", dropped[0])
		}
	}
	r.Checks = append(r.Checks, failed)
}

// unnamedLayers returns the layers of the manifest that are neither the descriptor nor belong to a resource. OCM leaves none behind.
func unnamedLayers(opened *Opened) []string {
	known := map[string]bool{}
	for i := range opened.Component.Resources {
		known[localDigest(&opened.Component.Resources[i])] = true
	}
	for _, source := range sources(opened.Text) {
		known[source] = true
	}
	var found []string
	for _, layer := range opened.manifest.Layers {
		if !known[layer.Digest.String()] && !isDescriptor(layer.MediaType) {
			found = append(found, layer.Digest.String())
		}
	}
	return found
}
