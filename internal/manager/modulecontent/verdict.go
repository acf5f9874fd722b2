package modulecontent

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// maxProblems is how many problems a verdict names.
const maxProblems = 5

// Verdict is what the policy for signatures says of a Manifest.
type Verdict struct {
	// Policy names the policy, and Require says how much it asks.
	Policy  string
	Require descriptor.Requirement
	// Reason is Verified, SignatureNotRequired, why it is not, or what kept it from being told; Known is false then.
	Reason, Message string
	Known           bool
	// Verified tells who signed; nil where no signature holds or none is requested.
	Verified *descriptor.Verification
	// Retry is when to ask again; zero means that an event tells.
	Retry time.Duration
}

// PolicyID names the policy that a Manifest is held to, without a call; empty when nothing has to be signed.
func (c *Contents) PolicyID(m *v1beta2.Manifest) string {
	if c.Signed == nil {
		return ""
	}
	return c.Signed.PolicyID(componentOf(m).Name)
}

// Judge returns what the policy says of all that a Manifest installs, whether or not it refuses it. It costs no call once the content is
// rendered.
func (c *Contents) Judge(
	ctx context.Context, m *v1beta2.Manifest, capabilities func(context.Context) (Capabilities, error),
) Verdict {
	cover, retry, err := c.Signed.SignedDigests(ctx, componentOf(m))
	verdict := Verdict{Known: true}
	switch {
	case cover == nil:
		return verdict
	case err != nil:
		return verdict.unknown(cover, err, retry)
	case cover.coverage == nil && cover.Problem == nil:
		return verdict.unknown(cover, ErrPending, retry)
	}
	verdict.Policy, verdict.Require, verdict.Verified = cover.Policy.ID, cover.Policy.Require, cover.Verified
	if cover.Problem != nil {
		verdict.Reason = cmp.Or(descriptor.ReasonOf(cover.Problem), v1beta2.ReasonContentNotCovered)
		verdict.Message = cover.Problem.Error()
		return verdict
	}
	held := &covering{cover: cover, manifest: m}
	if _, err := c.read(ctx, m, capabilities, held); err != nil {
		return verdict.unknown(cover, err, retryJudge)
	}
	switch {
	case len(held.problems) > 0:
		verdict.Reason, verdict.Message = v1beta2.ReasonContentNotCovered, listed(held.problems)
	case cover.Verified == nil:
		verdict.Reason, verdict.Message = v1beta2.ReasonSignatureNotRequired, v1beta2.MessageSignatureNotRequired
	default:
		verdict.Reason, verdict.Message = v1beta2.ReasonVerified, v1beta2.MessageSignatureVerified
	}
	return verdict
}

// Covered reports whether nothing of it would be refused.
func (v Verdict) Covered() bool {
	return v.Known && (v.Reason == v1beta2.ReasonVerified || v.Reason == v1beta2.ReasonSignatureNotRequired)
}

// retryJudge is the pause after content that could not be read.
const retryJudge = 30 * time.Second

func (v Verdict) unknown(cover *SignedDigests, err error, retry time.Duration) Verdict {
	v.Policy, v.Require, v.Known, v.Retry = cover.Policy.ID, cover.Policy.Require, false, max(retry, time.Second)
	v.Reason, v.Message = v1beta2.ReasonPending, "it is not known yet: "+err.Error()
	if !errors.Is(err, ErrPending) {
		v.Reason = cmp.Or(descriptor.ReasonOf(err), content.ReasonOf(err))
	}
	return v
}

func listed(problems []string) string {
	text := strings.Join(problems[:min(len(problems), maxProblems)], "; ")
	if len(problems) > maxProblems {
		text += "; and more"
	}
	return text
}
