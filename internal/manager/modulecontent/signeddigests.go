package modulecontent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// SignedDigests is what a Manifest may install, since it says which component version it comes from. Nil covers everything: nothing has to
// be signed.
type SignedDigests struct {
	// Policy is what the component is held to.
	Policy *descriptor.SignaturePolicy
	// Verified tells who signed the component version; nil where no signature is requested, or none holds.
	Verified *descriptor.Verification
	// Problem says why nothing is covered; nil when something is.
	Problem error
	// coverage is what the component version holds; nil while that is not known.
	coverage *descriptor.Coverage
	// source is where its layers lie.
	source *v1beta2.ImageSpec
	// floor is what is refused although this is only an audit: the policy enforces elsewhere, and naming a component that is audited must not
	// be a way around that. Nil where there is none.
	floor *SignedDigests
}

// Refuses reports whether what is not covered is refused. Otherwise that is only told.
func (c *SignedDigests) Refuses() bool { return c != nil && (c.Policy.Enforced() || !c.Policy.Asks()) }

// Signed says which content component versions vouch for.
type Signed interface {
	// SignedDigests costs no call once the component version was read. A positive retry says that it is still being read.
	SignedDigests(ctx context.Context, key module.ComponentKey) (cover *SignedDigests, retry time.Duration, err error)
	// PolicyID names the policy for a component without a call; empty when nothing has to be signed.
	PolicyID(component string) string
}

// PolicyID names the policy that a component is held to.
func (c *Components) PolicyID(component string) string {
	if c.Signatures == nil {
		return ""
	}
	if policy := c.Signatures(component); policy.Binds() {
		return policy.ID
	}
	return ""
}

// SignedDigests answers for what a Manifest says that it comes from. Without a name that is nothing.
func (c *Components) SignedDigests(ctx context.Context, key module.ComponentKey) (cover *SignedDigests, retry time.Duration, err error) {
	if c.Signatures == nil {
		return nil, 0, nil
	}
	cover = &SignedDigests{Policy: c.Signatures(key.Name)}
	if !cover.Policy.Binds() {
		return nil, 0, nil
	}
	if !cover.Refuses() && cover.Policy.Closed {
		cover.floor = &SignedDigests{Policy: cover.Policy.Floor()}
	}
	if err := nameable(key); err != nil {
		cover.refuse(err)
		return cover, 0, nil // the caller is told by Problem
	}
	judged, retry, err := c.judge(ctx, key)
	switch reason := descriptor.ReasonOf(err); {
	case reason == descriptor.ReasonUnreachable, reason == descriptor.ReasonUnauthorized, err != nil && reason == "":
		return cover, retry, err
	case err != nil:
		cover.refuse(err)
		return cover, retry, nil // the caller is told by Problem
	case judged == nil:
		return cover, retry, nil
	}
	cover.coverage, cover.Verified, cover.Problem = judged.coverage, judged.verified, judged.problem
	cover.source = judged.component.Source
	if cover.floor != nil {
		cover.floor.coverage, cover.floor.Problem, cover.floor.source = judged.floor, judged.floorProblem, cover.source
	}
	return cover, 0, nil
}

// refuse says that nothing is covered, and why.
func (c *SignedDigests) refuse(problem error) {
	c.Problem = problem
	if c.floor != nil {
		c.floor.Problem = problem
	}
}

// nameable returns why a key cannot be a component version. The name is written by the author of a Manifest, and untrusted.
func nameable(key module.ComponentKey) error {
	switch {
	case key.Name == "":
		return fmt.Errorf("it names no component version that could be verified: set the annotation %s", v1beta2.AnnotationOCMComponentName)
	case key.Version == "":
		return errors.New("it names no component version that could be verified: set spec.version")
	}
	if err := descriptor.CheckIdentity(key.Name, key.Version); err != nil {
		return fmt.Errorf("it names no component version that could be verified: %w", err)
	}
	return nil
}
