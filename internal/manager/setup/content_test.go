package setup

import (
	"errors"
	"testing"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/modulecontent"
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

// Values that the Kyma is about to take up are no error of the module; values that are gone are.
func TestValuesThatAreChangedArePassing(t *testing.T) {
	for name, test := range map[string]struct {
		cause   error
		passing bool
	}{"changed": {modulecontent.ErrValuesChanged, true}, "gone": {errors.New("there is none"), false}} {
		told := contentProblem(content.Errorf(v1beta2.ReasonValuesNotFound, "Secret a: %w", test.cause))
		problem, ok := errors.AsType[*runtimes.Problem](told)
		if !ok || problem.Passing != test.passing || problem.Retry != retryRegistry {
			t.Errorf("%s: %+v", name, told)
		}
	}
}
