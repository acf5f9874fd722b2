package component

import (
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// maxReferences limits the referenced components that are verified with one component, indirect ones included.
const maxReferences = 64

// referring verifies the components that a component version refers to, directly or indirectly.
type referring struct {
	options VerifyOptions
	checks  []Check
	seen    int
}

// verifyReferences checks the referenced components, which are stored beside the component. The signature covers the digest of each
// descriptor, and so the digests in that descriptor: referenced components need no signature of their own.
func verifyReferences(ctx context.Context, opened *Opened, options VerifyOptions) ([]Check, error) {
	work := &referring{options: options}
	err := work.all(ctx, opened, "")
	return work.checks, errors.Join(err, ctx.Err())
}

func (r *referring) all(ctx context.Context, of *Opened, prefix string) error {
	also, err := readWritten(of.Text)
	if err != nil {
		return err
	}
	for i := range also.References {
		if err := r.one(ctx, of, &also.References[i], prefix); err != nil {
			return err
		}
	}
	return nil
}

// one checks one reference: its digest, then the content of the component.
func (r *referring) one(ctx context.Context, of *Opened, to *writtenReference, prefix string) error {
	check := Check{Kind: KindComponent, Name: prefix + to.Name, State: StateVerified, Digest: digestText(to.Digest)}
	identity := to.ComponentName + ":" + to.Version
	r.seen++
	switch {
	case to.Digest == nil || to.Digest.Value == "":
		return r.add(check.fails(ResourceNotCovered, "component %s is referred to without a digest, so no signature covers it", identity))
	case r.seen > maxReferences:
		return r.add(check.fails(ContentNotComparable, "there are more than %d components to verify: verify %s on its own",
			maxReferences, identity))
	}
	ref := of.Ref
	ref.Name, ref.Version = to.ComponentName, to.Version
	opened, err := Open(ctx, ref)
	if err != nil {
		return r.add(check.unopened(identity, err))
	}
	check = check.compared(opened, to.Digest, identity)
	r.checks = append(r.checks, check)
	if check.State == StateVerified {
		var checks []Check
		checks, err = verifyResources(ctx, opened, r.options)
		for _, found := range checks {
			found.Name = check.Name + "/" + found.Name
			r.checks = append(r.checks, found)
		}
		err = errors.Join(err, r.all(ctx, opened, check.Name+"/"))
	}
	return errors.Join(err, opened.Close())
}

func (r *referring) add(check Check) error {
	r.checks = append(r.checks, check)
	return nil
}

// compared compares the signed part of a referenced component with the digest of the reference.
func (c Check) compared(opened *Opened, digest *descriptor.DigestSpec, identity string) Check {
	sum, err := signedSum(opened.Text, digest)
	switch {
	case err != nil:
		return c.fails(ContentNotComparable, "component %s cannot be compared with the digest that was signed of it: %w", identity, err)
	case sum != digest.Value:
		return c.fails(ComponentChanged, "component %s is another one than was signed: its digest is %s, and %s was signed",
			identity, sum, digest.Value)
	}
	return c
}

// unopened returns the check of a component that could not be read.
func (c Check) unopened(identity string, err error) Check {
	switch {
	case errors.Is(err, descriptor.ErrDigestMismatch):
		return c.fails(DescriptorChanged, "component %s was changed in storage: %w", identity, err)
	case descriptor.ReasonOf(err) == descriptor.ReasonInvalid:
		return c.fails(DescriptorInvalid, "component %s cannot be read: %w", identity, err)
	case missingContent(err):
		return c.fails(ComponentMissing, "component %s, which is referred to, is not there: %w", identity, err)
	}
	return c.fails(ComponentUnreadable, "component %s, which is referred to, cannot be requested: %w", identity, err)
}

// signedSum returns the digest of the signed part of a descriptor, by the algorithms of another digest.
func signedSum(text []byte, like *descriptor.DigestSpec) (string, error) {
	normalised, err := descriptor.Normalise(text, like.NormalisationAlgorithm)
	if err != nil {
		return "", err
	}
	switch like.HashAlgorithm {
	case "SHA-256", "sha256":
		sum := sha256.Sum256(normalised)
		return hex.EncodeToString(sum[:]), nil
	case "SHA-512", "sha512":
		sum := sha512.Sum512(normalised)
		return hex.EncodeToString(sum[:]), nil
	}
	return "", fmt.Errorf("the digest is a %q, and only SHA-256 and SHA-512 count", like.HashAlgorithm)
}
