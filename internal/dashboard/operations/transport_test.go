package operations

import (
	"net/http"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	authenticationv1client "k8s.io/client-go/kubernetes/typed/authentication/v1"
	"k8s.io/client-go/rest"
)

type roundTripper = http.RoundTripper

// holding delays writes of a resource, other than dry runs, until the gate opens.
type holding struct {
	next     http.RoundTripper
	resource string
	gate     <-chan struct{}
}

// RoundTrip implements http.RoundTripper.
func (h *holding) RoundTrip(request *http.Request) (*http.Response, error) {
	writes := request.Method != http.MethodGet && request.URL.Query().Get("dryRun") == ""
	if writes && strings.Contains(request.URL.Path, "/"+h.resource) {
		select {
		case <-h.gate:
		case <-request.Context().Done():
			return nil, request.Context().Err()
		}
	}
	return h.next.RoundTrip(request)
}

// refusedLogin waits until the cluster no longer accepts a token: API servers cache the result for a while.
func (b *bench) refusedLogin(config *rest.Config) {
	b.Helper()
	access, err := authenticationv1client.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	late, again := time.After(patience), time.NewTicker(200*time.Millisecond)
	defer again.Stop()
	for {
		_, err := access.SelfSubjectReviews().Create(b.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if apierrors.IsUnauthorized(err) {
			return
		}
		select {
		case <-again.C:
		case <-late:
			b.Fatalf("the token is still good: %v", err)
		}
	}
}
