package conversion

import (
	"context"
	"errors"
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"

	"github.com/kyma-project/lifecycle-manager/api/v1alpha1"
	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

const (
	// maxReview bounds one request: etcd accepts objects of 1.5 MiB, and API servers send them one by one or a page at a time.
	maxReview = 16 << 20
	// maxReviews is the number of requests that are processed at once; further ones wait.
	maxReviews = 16
)

// NewHandler returns a handler for ConversionReviews.
func NewHandler() (http.Handler, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(v1alpha1.AddToScheme(scheme), v1beta2.AddToScheme(scheme)); err != nil {
		return nil, err
	}
	registry := conversion.NewRegistry()
	err := errors.Join(
		register(registry, scheme, "Kyma", &v1beta2.Kyma{}, &v1alpha1.Kyma{}, v1alpha1.KymaFromHub, v1alpha1.KymaToHub),
		register(registry, scheme, "Manifest", &v1beta2.Manifest{}, &v1alpha1.Manifest{}, v1alpha1.ManifestFromHub, v1alpha1.ManifestToHub),
	)
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+convertPath, limited(conversion.NewWebhookHandler(scheme, registry)))
	return mux, nil
}

func register[H, S client.Object](
	registry conversion.Registry, scheme *runtime.Scheme, kind string, hub H, spoke S, fromHub func(H, S) error, toHub func(S, H) error,
) error {
	spokes := conversion.NewSpokeConverter(spoke,
		func(_ context.Context, from H, to S) error { return fromHub(from, to) },
		func(_ context.Context, from S, to H) error { return toHub(from, to) })
	converter, err := conversion.NewHubSpokeConverter(hub, spokes)(scheme)
	if err != nil {
		return err
	}
	return registry.RegisterConverter(schema.GroupKind{Group: v1beta2.GroupVersion.Group, Kind: kind}, converter)
}

// limited bounds the size of requests, and how many are processed at once.
func limited(next http.Handler) http.Handler {
	places := make(chan struct{}, maxReviews)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		case <-req.Context().Done():
			return
		}
		req.Body = http.MaxBytesReader(w, req.Body, maxReview)
		next.ServeHTTP(w, req)
	})
}
