package descriptor

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// Requirement says how much a missing or bad signature matters.
type Requirement string

const (
	// RequireOff does not look at signatures.
	RequireOff Requirement = "off"
	// RequireAudit looks, tells what enforce would refuse, and goes on.
	RequireAudit Requirement = "audit"
	// RequireEnforce refuses what is not signed as it has to be.
	RequireEnforce Requirement = "enforce"
)

// Allowance is something that no signature covers and a policy accepts all the same.
type Allowance string

const (
	// AllowValues accepts values for charts (spec.values of a Manifest).
	AllowValues Allowance = "values"
	// AllowCustomResources accepts another default custom resource than that of the component, of a kind that its content defines.
	AllowCustomResources Allowance = "customResources"
	// AllowTargetNamespace accepts a namespace for objects that name none.
	AllowTargetNamespace Allowance = "targetNamespace"
	// AllowCRDChanges accepts that a change of a CustomResourceDefinition breaks a safety rule.
	AllowCRDChanges Allowance = "crdChanges"
)

// Allowances are all that there are.
func Allowances() []Allowance {
	return []Allowance{AllowValues, AllowCustomResources, AllowTargetNamespace, AllowCRDChanges}
}

// SignaturePolicy says what is asked of the signatures of some components. It is shared and not to be changed; nil asks for nothing.
type SignaturePolicy struct {
	Require Requirement
	Trust   Trust
	// Allow is what need not be covered.
	Allow []Allowance
	// Closed says that what belongs to no component version is refused, as is what a component version does not hold, although no signature
	// is asked for: another rule of the same policy enforces, and this one must not be a way around it.
	Closed bool
	// Unmatched says that no rule is about these components, and why they are refused.
	Unmatched bool
	// ID tells policies apart: it is equal for equal ones.
	ID string
}

// Asks tells whether signatures are looked at.
func (p *SignaturePolicy) Asks() bool { return p != nil && p.Require != RequireOff && p.Require != "" }

// Enforced tells whether what is not signed as it has to be is refused.
func (p *SignaturePolicy) Enforced() bool { return p != nil && p.Require == RequireEnforce }

// Binds tells whether content is held to the component version that it says it comes from.
func (p *SignaturePolicy) Binds() bool { return p != nil && (p.Asks() || p.Closed) }

// Floor is the policy that holds everything to the component version that it says it comes from, and asks for no signature.
func (p *SignaturePolicy) Floor() *SignaturePolicy {
	return &SignaturePolicy{Require: RequireOff, Allow: p.Allow, Closed: true, ID: p.ID}
}

// Allows tells whether something need not be covered.
func (p *SignaturePolicy) Allows(what Allowance) bool {
	return p == nil || slices.Contains(p.Allow, what)
}

// Judge verifies a component version and tells what its signature covers. What no signature is asked of is covered as its descriptor says
// it. The error is an *Error with a signature reason; a policy that only audits gets it too.
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

// Fingerprint is equal for policies that ask for the same: 16 hex digits.
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
