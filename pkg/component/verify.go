package component

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// The reasons why a component version is not what was signed. Each kind of tampering has its own.
const (
	// SignatureMissing: there is no signature of a name that counts.
	SignatureMissing = descriptor.ReasonSignatureMissing
	// SignatureInvalid: the descriptor was changed after it was signed, or its signature cannot be checked.
	SignatureInvalid = descriptor.ReasonSignatureInvalid
	// SignatureUntrusted: nobody who is trusted signed it.
	SignatureUntrusted = descriptor.ReasonSignatureUntrusted
	// DescriptorChanged: the bytes of the manifest or the descriptor are not those of their digest.
	DescriptorChanged = "DescriptorChanged"
	// DescriptorInvalid: what lies there is no component version that can be read.
	DescriptorInvalid = descriptor.ReasonInvalid
	// ResourceDropped: the descriptor was changed after it was signed, and there is content that no resource names any more.
	ResourceDropped = "ResourceDropped"
	// ResourceNotCovered: the descriptor has no digest of a resource that a signature would cover.
	ResourceNotCovered = "ResourceNotCovered"
	// DigestNotSigned: the descriptor has a digest that signatures leave out, so that anybody can have put it there.
	DigestNotSigned = "DigestNotSigned"
	// ContentNotComparable: a digest was signed, and what the access of the resource leads to cannot be compared with it.
	ContentNotComparable = "ContentNotComparable"
	// LabelNotCovered: a label that has to be signed is not marked for it.
	LabelNotCovered = "LabelNotCovered"
	// BlobChanged: the content of a resource is other than what was signed.
	BlobChanged = "BlobChanged"
	// BlobMissing: the content of a resource is not there.
	BlobMissing = "BlobMissing"
	// BlobUnreadable: the content of a resource cannot be read now.
	BlobUnreadable = "BlobUnreadable"
	// ImageChanged: the reference of an image leads to another image than what was signed.
	ImageChanged = "ImageChanged"
	// ImageMissing: the image is not at its registry.
	ImageMissing = "ImageMissing"
	// ImageUnreadable: the registry of the image cannot be asked now.
	ImageUnreadable = "ImageUnreadable"
	// ComponentChanged: a component that this one refers to is another one than what was signed.
	ComponentChanged = "ComponentChanged"
	// ComponentMissing: a component that this one refers to is not there.
	ComponentMissing = "ComponentMissing"
	// ComponentUnreadable: a component that this one refers to cannot be asked for now.
	ComponentUnreadable = "ComponentUnreadable"
)

// The states of a Check.
const (
	StateVerified = "Verified"
	StateFailed   = "Failed"
	StateSkipped  = "Skipped"
)

// The kinds of what is checked.
const (
	KindDescriptor = "Descriptor"
	KindSignature  = "Signature"
	KindBlob       = "Blob"
	KindImage      = "Image"
	KindComponent  = "Component"
	KindOther      = "Other"
)

// VerifyError says what is wrong with a component version.
type VerifyError struct {
	// Reason is one of the constants above.
	Reason string
	// Subject is the signature or resource.
	Subject string
	// Err says what and what to do.
	Err error
}

// Error is the message alone: the reason is shown beside it.
func (e *VerifyError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *VerifyError) Unwrap() error { return e.Err }

// Check is one thing that was looked at.
type Check struct {
	// Kind is one of the kinds above, Name that of the signature or the resource.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// State is Verified, Failed or Skipped.
	State string `json:"state"`
	// Reason is why it failed; empty when it did not.
	Reason string `json:"reason,omitempty"`
	// Message says more, where it failed or was skipped.
	Message string `json:"message,omitempty"`
	// Digest is what was signed of a resource, and Image the reference of an image.
	Digest string `json:"digest,omitempty"`
	Image  string `json:"image,omitempty"`
}

// VerifyReport says what was looked at, and what came out.
type VerifyReport struct {
	Component string `json:"component"`
	Version   string `json:"version"`
	// Digest is that of the component version's manifest.
	Digest string `json:"digest,omitempty"`
	// Signature is the first one that holds; nil when there is none. Signatures are all of them, of different signers.
	Signature  *HeldSignature  `json:"signature,omitempty"`
	Signatures []HeldSignature `json:"signatures,omitempty"`
	Checks     []Check         `json:"checks"`
}

// VerifyOptions say how far VerifyRef goes.
type VerifyOptions struct {
	// Offline skips images: nobody is asked but the registry of the component.
	Offline bool
	// SignedLabels are names of labels of resources that count only if they are signed, because they say how content is used.
	SignedLabels []string
	// Now is the time at which certificates have to be valid; zero means now.
	Now time.Time
}

// VerifyRef tells whether a component version, in a registry or an archive, is what somebody who is trusted signed:
//
//  1. A signature of the descriptor holds.
//  2. Each resource has a digest that the signature covers.
//  3. Each blob that the component version holds is read, and has that digest.
//  4. Each image has that digest at its registry now.
//  5. All of that holds for the components that it refers to, which have the digests that the signature covers.
//
// Everything is looked at, also after something failed. The error is that of the first Check that failed, a *VerifyError; or it says why
// the component version could not be opened.
func VerifyRef(ctx context.Context, ref Ref, trust *descriptor.Trust, options VerifyOptions) (VerifyReport, error) {
	report := VerifyReport{Component: ref.Name, Version: ref.Version}
	if trust == nil || len(trust.PublicKeys)+len(trust.Certificates) == 0 {
		return report, errors.New("nobody is trusted: give a public key or a certificate")
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

// Err is the first failure as a *VerifyError; nil when nothing failed.
func (r *VerifyReport) Err() error {
	for _, check := range r.Checks {
		if check.State == StateFailed {
			return &VerifyError{Reason: check.Reason, Subject: check.Name, Err: errors.New(check.Message)}
		}
	}
	return nil
}

// unopened is the error of a component version that could not be opened, with a reason where it was tampered with.
func (r *VerifyReport) unopened(ref Ref, err error) error {
	err = fmt.Errorf("verify %s: %w", ref, err)
	var reason string
	switch {
	case errors.Is(err, descriptor.ErrDigestMismatch):
		reason, err = DescriptorChanged, fmt.Errorf("%w: somebody changed its descriptor or manifest where it lies", err)
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

// unnamedLayers are the layers of the manifest that neither are the descriptor nor belong to a resource. OCM leaves none behind.
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
