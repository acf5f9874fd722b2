package runtimes

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

type claimKey struct{}

// Claiming returns a context for the calls that read and write the claim on a runtime itself: they are sent also to a
// runtime that is no hub's or another hub's.
func Claiming(ctx context.Context) context.Context { return context.WithValue(ctx, claimKey{}, true) }

// IsClaiming reports whether a call is one of those.
func IsClaiming(ctx context.Context) bool { return ctx.Value(claimKey{}) != nil }

const (
	// retryClaimed is when a runtime of another hub is looked at again without an event.
	retryClaimed = 30 * time.Second
	// longestHub is some three times the length of the UIDs that API servers make.
	longestHub = 100
)

// ClaimedBy returns the refusal of a runtime that another hub has claimed. What the runtime says of its holder is cut and quoted where it
// is no identity, and not part of a command then: its administrators can write anything there, also what a shell would run.
func ClaimedBy(self, holder string, kyma types.NamespacedName) *Problem {
	remedy := fmt.Sprintf("To take it over, annotate Kyma %s with %s=%s", kyma, v1beta2.AnnotationTakeOverFrom, holder)
	if len(holder) > longestHub || strings.ContainsFunc(holder, notOfIdentity) {
		holder = strconv.QuoteToASCII(holder[:min(len(holder), longestHub)])
		remedy = "No hub has that identity. To take the runtime over, remove the annotation there"
	}
	return &Problem{
		Reason: v1beta2.ReasonRuntimeClaimed, Retry: retryClaimed,
		Message: fmt.Sprintf("hub %s manages this runtime, as the annotation %s of its namespace %s says, and this hub is %s: nothing is "+
			"written there. %s; or delete this Kyma, which leaves the runtime as it is",
			holder, v1beta2.AnnotationHub, v1beta2.RuntimeNamespace, self, remedy),
	}
}

// notOfIdentity reports whether a character is in no UID.
func notOfIdentity(r rune) bool {
	return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
}
