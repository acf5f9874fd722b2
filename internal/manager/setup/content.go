package setup

import (
	"context"
	"errors"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/contentserver"
	"github.com/kyma-project/lifecycle-manager/internal/manager/controller/manifest"
	"github.com/kyma-project/lifecycle-manager/internal/manager/modulecontent"
	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/internal/signcoverage"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// First pauses before content is requested again, which the back-off lengthens: retryRegistry where the registry may answer differently
// next time, or the hub, which is not asked, and retryContent where only another spec helps, or publishing the version again, which causes
// no event. None is longer than longestPause.
const (
	retryPending  = time.Second
	retryRegistry = 5 * time.Second
	retryContent  = 45 * time.Second
)

// contentPort connects the Manifest controller to the artifacts.
type contentPort struct {
	contents *modulecontent.Contents
	// url is the address of the content server; empty when there is none.
	url string
}

// Sources returns the sources of a Manifest.
func (p *contentPort) Sources(m *v1beta2.Manifest) ([]v1beta2.ResolvedSource, error) {
	sources, err := p.contents.Sources(m)
	return sources, contentProblem(err)
}

// Parts fetches and renders the sources of a Manifest.
func (p *contentPort) Parts(
	ctx context.Context, m *v1beta2.Manifest, capabilities func(context.Context) (runtimes.Capabilities, error),
) ([]manifest.Part, error) {
	read, err := p.contents.Read(ctx, m, capabilities)
	if err != nil {
		return nil, contentProblem(err)
	}
	parts := make([]manifest.Part, 0, len(read))
	for _, part := range read {
		parts = append(parts, manifest.Part{
			Source: part.Source, Steps: part.Rendered.Steps, Hooks: part.Rendered.Hooks, Generated: part.Rendered.Generated,
			GeneratedAnew: part.Rendered.GeneratedAnew, Namespace: part.Namespace, CreateNamespace: part.CreateNamespace,
		})
	}
	return parts, nil
}

// Current returns the digest that a source resolves to now.
func (p *contentPort) Current(ctx context.Context, m *v1beta2.Manifest, name string) (string, error) {
	resolved, err := p.contents.Current(ctx, m, name)
	return resolved.Digest, err
}

// URL returns the address at which the content server serves a source.
func (p *contentPort) URL(m *v1beta2.Manifest, name string) string {
	if p.url == "" {
		return ""
	}
	return p.url + contentserver.Path(m.Namespace, m.Name, name)
}

// Policy returns the name of the signature policy for a Manifest.
func (p *contentPort) Policy(m *v1beta2.Manifest) string { return p.contents.PolicyID(m) }

// Judge returns the result of the signature policy for a Manifest.
func (p *contentPort) Judge(
	ctx context.Context, m *v1beta2.Manifest, capabilities func(context.Context) (runtimes.Capabilities, error),
) manifest.Signed {
	verdict := p.contents.Judge(ctx, m, capabilities)
	signed := manifest.Signed{
		Status: metav1.ConditionFalse, Reason: verdict.Reason, Message: verdict.Message, Retry: verdict.Retry,
		Signature: v1beta2.SignatureStatus{Policy: verdict.Policy, Require: string(verdict.Require), Reason: verdict.Reason},
	}
	switch {
	case !verdict.Known:
		signed.Status = metav1.ConditionUnknown
	case verdict.Covered():
		signed.Status = metav1.ConditionTrue
	}
	if verdict.Verified != nil {
		signed.Signature.Digest, signed.Signature.Signers = verdict.Verified.Digest, signcoverage.Signers(verdict.Verified)
	}
	return signed
}

// contentProblem converts an error about content into the controller's type; nil stays nil.
func contentProblem(err error) error {
	if errors.Is(err, modulecontent.ErrPending) {
		return &runtimes.Problem{Reason: v1beta2.ReasonApplying, Message: err.Error(), Retry: retryPending, Passing: true}
	}
	problem, known := errors.AsType[*content.Error](err)
	if !known {
		return err
	}
	retry := retryContent
	switch problem.Reason {
	case content.ReasonRegistryUnreachable, content.ReasonRegistryUnauthorized, content.ReasonContentNotFound, content.ReasonDigestMismatch,
		content.ReasonInternal, v1beta2.ReasonValuesNotFound:
		retry = retryRegistry
	}
	return &runtimes.Problem{
		Reason: problem.Reason, Message: problem.Error(), Retry: max(problem.RetryAfter, retry),
		Passing: errors.Is(err, modulecontent.ErrValuesChanged), // it ends when the Kyma takes them up
	}
}
