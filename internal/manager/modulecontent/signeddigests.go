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

// SignedDigests is what a Manifest may install according to the component version that it names. Nil covers everything: nothing has to be
// signed.
type SignedDigests struct {
	// Policy is the policy for the component.
	Policy *descriptor.SignaturePolicy
	// Verified names the signer of the component version; nil where no signature is required, or none holds.
	Verified *descriptor.Verification
	// Problem is the reason why nothing is covered; nil when something is.
	Problem error
	// coverage is what the component version holds; nil while that is not known.
	coverage *descriptor.Coverage
	// source is the location of its layers.
	source *v1beta2.ImageSpec
	// floor is enforced although this is only an audit: the policy enforces elsewhere, and naming an audited component must not be a way
	// around that. Nil where there is none.
	floor *SignedDigests
}

// Refuses reports whether content that is not covered is refused. Otherwise it is only reported.
func (c *SignedDigests) Refuses() bool { return c != nil && (c.Policy.Enforced() || !c.Policy.Asks()) }

// Signed returns the content that component versions cover.
type Signed interface {
	// SignedDigests makes no request once the component version was read. A positive retry means that it is still being read.
	SignedDigests(ctx context.Context, key module.ComponentKey) (cover *SignedDigests, retry time.Duration, err error)
	// PolicyID returns the name of the policy for a component without a request; empty when nothing has to be signed.
	PolicyID(component string) string
}

// PolicyID returns the name of the policy for a component.
func (c *Components) PolicyID(component string) string {
	if c.Signatures == nil {
		return ""
	}
	if policy := c.Signatures(component); policy.Binds() {
		return policy.ID
	}
	return ""
}

// SignedDigests returns the digests for the component version that a Manifest names. Without a name nothing is covered.
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
		return cover, 0, nil // the caller finds it in Problem
	}
	judged, retry, err := c.judge(ctx, key)
	switch reason := descriptor.ReasonOf(err); {
	case reason == descriptor.ReasonUnreachable, reason == descriptor.ReasonUnauthorized, err != nil && reason == "":
		return cover, retry, err
	case err != nil:
		cover.refuse(err)
		return cover, retry, nil // the caller finds it in Problem
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

// refuse records that nothing is covered, and why.
func (c *SignedDigests) refuse(problem error) {
	c.Problem = problem
	if c.floor != nil {
		c.floor.Problem = problem
	}
}

// nameable returns why a key cannot be a component version. The name comes from the author of a Manifest, and is untrusted.
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
