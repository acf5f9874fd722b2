package artifact

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
)

// described is a component version that was read.
type described struct {
	component module.Component
	source    *descriptor.Component
	last      atomic.Pointer[judgement]
}

// judgement is what a component version is worth under a policy.
type judgement struct {
	policy *descriptor.SignaturePolicy
	// until is when a certificate expires, and the judgement with it; zero means never.
	until time.Time
	// component is what it can install.
	component module.Component
	// cover holds the digests that the signature vouches for.
	cover map[string]bool
	// err says why it is refused.
	err error
}

// judge gives the last judgement if it is about the same policy and still holds, or makes a new one.
func (d *described) judge(policy *descriptor.SignaturePolicy, now time.Time, log logr.Logger) *judgement {
	last := d.last.Load()
	if last != nil && last.policy == policy && (last.until.IsZero() || !now.After(last.until)) {
		return last
	}
	made := &judgement{policy: policy, component: d.component}
	if policy.Asks() {
		made.verify(d.source, policy, now)
		if made.component.Warning != "" && (last == nil || last.component.Warning != made.component.Warning) {
			log.Info("A component is not signed as it should be", "component", d.source.Name, "version", d.source.Version,
				"problem", made.component.Warning)
		}
	}
	d.last.Store(made)
	return made
}

// verify looks at the signature, and at whether what is going to be installed is what was signed.
func (j *judgement) verify(source *descriptor.Component, policy *descriptor.SignaturePolicy, now time.Time) {
	until, err := source.Verify(&policy.Trust, now)
	var images []string
	if err == nil {
		images, err = vouched(source)
	}
	switch {
	case err == nil:
		j.until, j.cover = until, signedDigests(source)
		if policy.Enforced() {
			j.component.LocalizedImages = images
		}
	case policy.Enforced():
		j.err = err
	default:
		j.component.Warning = err.Error()
	}
}

// vouched holds what is used of a component version to what its signature covers, and returns its images, each with the digest that was
// signed. A signature does not cover where something lies:
//
//  1. What is installed lies under the digest that was signed.
//  2. A label that says how something is rendered is signed.
//  3. An image has a digest that was signed, and its reference no other.
func vouched(c *descriptor.Component) (images []string, err error) {
	for i := range c.Resources {
		resource := &c.Resources[i]
		if used(resource) {
			if err := vouchedContent(c, resource); err != nil {
				return nil, err
			}
		}
	}
	for _, resource := range c.ImageResources() {
		digest, ok := resource.SignedDigest()
		reference, pinned, has := strings.Cut(resource.Access.ImageReference, "@")
		switch {
		case !ok:
			return nil, unsigned(c, "image %s has no digest that is signed: sign the component with the digests of all resources", resource.Name)
		case has && pinned != digest:
			return nil, unsigned(c, "image %s points to %s, and %s was signed", resource.Name, pinned, digest)
		}
		images = append(images, reference+"@"+digest)
	}
	return images, nil
}

// used tells whether a resource is installed or configures what is.
func used(r *descriptor.Resource) bool {
	return r.Name == rawManifest || r.Name == config || r.Name == definitions || isInstallation(r)
}

func vouchedContent(c *descriptor.Component, r *descriptor.Resource) error {
	digest, ok := r.SignedDigest()
	if !ok {
		return unsigned(c, "resource %s has no digest that is signed: sign the component with the digests of all resources", r.Name)
	}
	if r.Access.LocalReference != digest {
		return unsigned(c, "resource %s points to %s, and %s was signed", r.Name, r.Access.LocalReference, digest)
	}
	for _, label := range r.Labels {
		if label.Name == v1beta2.LabelRenderer && !label.Signing {
			return unsigned(c, "label %s of resource %s is not signed: mark it with signing: true and sign again", label.Name, r.Name)
		}
	}
	return nil
}

func unsigned(c *descriptor.Component, format string, args ...any) error {
	return &descriptor.Error{
		Reason: descriptor.ReasonSignatureInvalid,
		Err:    fmt.Errorf("component %s:%s: "+format, append([]any{c.Name, c.Version}, args...)...),
	}
}

// signedDigests are those of everything that a verified component version holds.
func signedDigests(c *descriptor.Component) map[string]bool {
	cover := map[string]bool{}
	for i := range c.Resources {
		if digest, ok := c.Resources[i].SignedDigest(); ok {
			cover[digest] = true
		}
	}
	return cover
}
