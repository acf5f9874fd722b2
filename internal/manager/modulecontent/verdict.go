package modulecontent

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// maxProblems is the number of problems that a verdict names.
const maxProblems = 5

// Verdict is the result of the signature policy for a Manifest.
type Verdict struct {
	// Policy is the name of the policy, and Require what it requires.
	Policy  string
	Require descriptor.Requirement
	// Reason is Verified, SignatureNotRequired, why neither applies, or why the result is not known; Known is false then.
	Reason, Message string
	Known           bool
	// Verified names the signer; nil where no signature holds or none is required.
	Verified *descriptor.Verification
	// Retry is the time after which to ask again; zero means that an event will follow.
	Retry time.Duration
}

// PolicyID returns the name of the policy for a Manifest, without a request; empty when nothing has to be signed.
func (c *Contents) PolicyID(m *v1beta2.Manifest) string {
	if c.Signed == nil {
		return ""
	}
	return c.Signed.PolicyID(componentOf(m).Name)
}

// Judge returns the policy's verdict on everything that a Manifest installs, whether or not it refuses it. It makes no request once the
// content is rendered.
func (c *Contents) Judge(
	ctx context.Context, m *v1beta2.Manifest, capabilities func(context.Context) (runtimes.Capabilities, error),
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

// Covered reports whether nothing of the Manifest would be refused.
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
