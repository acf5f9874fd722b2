package descriptor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// Requirement is how strictly signatures are required.
type Requirement string

const (
	// RequireOff ignores signatures.
	RequireOff Requirement = "off"
	// RequireAudit verifies signatures and reports what RequireEnforce would refuse, but refuses nothing.
	RequireAudit Requirement = "audit"
	// RequireEnforce refuses what is not signed as required.
	RequireEnforce Requirement = "enforce"
)

// Allowance is something that no signature covers and that a policy nevertheless accepts.
type Allowance string

const (
	// AllowValues accepts values for charts (spec.values of a Manifest).
	AllowValues Allowance = "values"
	// AllowCustomResources accepts another default custom resource than the component's, of a kind that its content defines.
	AllowCustomResources Allowance = "customResources"
	// AllowTargetNamespace accepts a namespace for objects without one.
	AllowTargetNamespace Allowance = "targetNamespace"
	// AllowCRDChanges accepts a change of a CustomResourceDefinition that breaks a safety rule.
	AllowCRDChanges Allowance = "crdChanges"
)

// Allowances returns all allowances.
func Allowances() []Allowance {
	return []Allowance{AllowValues, AllowCustomResources, AllowTargetNamespace, AllowCRDChanges}
}

// SignaturePolicy is the signature policy of some components. It is shared and must not be changed; nil requires nothing.
type SignaturePolicy struct {
	Require Requirement
	Trust   Trust
	// Allow lists what a signature need not cover.
	Allow []Allowance
	// Closed refuses content that belongs to no component version, and content that its component version does not hold, although this rule
	// requires no signature: another rule of the same policy enforces, and this one must not bypass it.
	Closed bool
	// Unmatched means that no rule matches these components, so that they are refused.
	Unmatched bool
	// ID identifies the policy: equal policies have equal IDs.
	ID string
}

// Asks reports whether signatures are verified.
func (p *SignaturePolicy) Asks() bool { return p != nil && p.Require != RequireOff && p.Require != "" }

// Enforced reports whether content is refused if it is not signed as required.
func (p *SignaturePolicy) Enforced() bool { return p != nil && p.Require == RequireEnforce }

// Binds reports whether content must match the component version that it claims to come from.
func (p *SignaturePolicy) Binds() bool { return p != nil && (p.Asks() || p.Closed) }

// Floor returns a policy that only requires content to match the component version that it claims to come from, without signatures.
func (p *SignaturePolicy) Floor() *SignaturePolicy {
	return &SignaturePolicy{Require: RequireOff, Allow: p.Allow, Closed: true, ID: p.ID}
}

// Allows reports whether something need not be covered.
func (p *SignaturePolicy) Allows(what Allowance) bool {
	return p == nil || slices.Contains(p.Allow, what)
}

// Judge verifies a component version and returns what its signature covers. If no signature is required, everything in its descriptor
// counts as covered. The error is an *Error with a signature reason, also under a policy that only audits.
func (p *SignaturePolicy) Judge(c *Component, now time.Time) (*Verification, *Coverage, error) {
	if p.Unmatched {
		return nil, nil, &Error{Reason: ReasonSignatureUntrusted, Err: fmt.Errorf(
			"no rule of the signature policy is about component %s, and where any rule enforces, all others are refused: add a rule for it", c.Name)}
	}
	if !p.Asks() {
		coverage, err := c.Unsigned()
		return nil, coverage, err
	}
	verified, err := c.Verify(&p.Trust, now)
	if err != nil {
		return nil, nil, err
	}
	coverage, err := c.Coverage()
	return verified, coverage, err
}

// Fingerprint returns 16 hex digits that are equal for policies with the same requirements.
func (p *SignaturePolicy) Fingerprint() string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %d %q %q %q %t %t\n", p.Require, p.Trust.Names, p.Trust.Signers, p.Trust.Subjects, p.Trust.Revoked, p.Allow,
		p.Closed, p.Unmatched)
	for _, key := range p.Trust.PublicKeys {
		fmt.Fprintln(sum, KeyID(key))
	}
	for _, certificate := range p.Trust.Certificates {
		fmt.Fprintf(sum, "%x\n", sha256.Sum256(certificate.Raw))
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
