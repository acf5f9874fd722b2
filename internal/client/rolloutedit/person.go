package rolloutedit

import (
	"context"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/internal/client/rollouts"
)

// PersonOf returns who decides, and when: as the API server knows the user, by its clock. Where it does not say, fallback is the name, and
// the time is now.
func PersonOf(ctx context.Context, c client.Client, fallback string, now time.Time) rollouts.Person {
	person := rollouts.Person{Name: fallback, At: now}
	review := &authenticationv1.SelfSubjectReview{}
	if err := c.Create(ctx, review); err != nil {
		return person // an API server may be too old for it, or not allow it: the decision counts all the same
	}
	if review.Status.UserInfo.Username != "" {
		person.Name = review.Status.UserInfo.Username
	}
	if !review.CreationTimestamp.IsZero() {
		person.At = review.CreationTimestamp.Time
	}
	return person
}
