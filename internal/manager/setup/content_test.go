package setup

import (
	"errors"
	"testing"

	"github.com/kyma-project/lifecycle-manager/internal/manager/runtimes"
	"github.com/kyma-project/lifecycle-manager/pkg/content"
)

// A version can be published again without an event: refused content is requested again before a user gives up waiting.
func TestRefusedContentIsAskedForAgainSoon(t *testing.T) {
	for _, reason := range []string{
		content.ReasonArchiveRefused, content.ReasonContentInvalid, content.ReasonContentTooLarge, content.ReasonContentNotFound,
		content.ReasonDigestMismatch, content.ReasonRegistryUnreachable, content.ReasonRegistryUnauthorized, content.ReasonInternal,
	} {
		told := contentProblem(&content.Error{Reason: reason, Err: errors.New("no")})
		problem, ok := errors.AsType[*runtimes.Problem](told)
		if !ok {
			t.Fatalf("%s: %T is no problem", reason, told)
		}
		if problem.Retry <= 0 || problem.Retry > longestPause {
			t.Errorf("%s: asked for again after %v, want at most %v", reason, problem.Retry, longestPause)
		}
	}
}
