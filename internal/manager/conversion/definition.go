package conversion

import (
	"bytes"
	"encoding/json"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1alpha1"
)

// Definitions are the names of the CustomResourceDefinitions whose kinds are converted.
var Definitions = []string{"kymas.operator.kyma-project.io", "manifests.operator.kyma-project.io"}

// convertPath is the path that serves conversions.
const convertPath = "/convert"

// Endpoint is the address at which the API server reaches the webhook: a Service, or a URL outside the cluster.
type Endpoint struct {
	// Service of the cluster, at port 443; ignored when URL is set.
	Service types.NamespacedName
	// URL is "https://host[:port]".
	URL string
}

// hosts returns the names that the certificate must have. host is the host of URL.
func (e Endpoint) hosts(host string) []string {
	if e.URL != "" {
		return []string{host}
	}
	return []string{e.Service.Name + "." + e.Service.Namespace + ".svc", e.Service.Name + "." + e.Service.Namespace + ".svc.cluster.local"}
}

// conversion returns the conversion for a definition.
func (e Endpoint) conversion(bundle []byte) *apiextensionsv1.CustomResourceConversion {
	path, port := convertPath, int32(443)
	client := &apiextensionsv1.WebhookClientConfig{CABundle: bundle}
	if e.URL != "" {
		address := e.URL + convertPath
		client.URL = &address
	} else {
		client.Service = &apiextensionsv1.ServiceReference{Namespace: e.Service.Namespace, Name: e.Service.Name, Path: &path, Port: &port}
	}
	return &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.WebhookConverter,
		Webhook:  &apiextensionsv1.WebhookConversion{ClientConfig: client, ConversionReviewVersions: []string{"v1"}},
	}
}

// lists reports whether a definition serves v1alpha1.
func lists(crd *apiextensionsv1.CustomResourceDefinition) bool {
	for i := range crd.Spec.Versions {
		if crd.Spec.Versions[i].Name == v1alpha1.GroupVersion.Version && crd.Spec.Versions[i].Served {
			return true
		}
	}
	return false
}

// says reports whether a definition already has a conversion.
func says(crd *apiextensionsv1.CustomResourceDefinition, conversion *apiextensionsv1.CustomResourceConversion) bool {
	return equality.Semantic.DeepEqual(crd.Spec.Conversion, conversion)
}

// trusted reports whether a definition has a CA bundle, whatever else differs.
func trusted(crd *apiextensionsv1.CustomResourceDefinition, bundle []byte) bool {
	c := crd.Spec.Conversion
	return c != nil && c.Webhook != nil && c.Webhook.ClientConfig != nil && bytes.Equal(c.Webhook.ClientConfig.CABundle, bundle)
}

// patch returns the merge patch that sets the conversion of a definition. It removes the other kind of address.
func patch(conversion *apiextensionsv1.CustomResourceConversion, resourceVersion string) ([]byte, error) {
	client := map[string]any{"caBundle": conversion.Webhook.ClientConfig.CABundle, "service": nil, "url": nil}
	if service := conversion.Webhook.ClientConfig.Service; service != nil {
		client["service"] = service
	} else {
		client["url"] = conversion.Webhook.ClientConfig.URL
	}
	data, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": resourceVersion},
		"spec": map[string]any{"conversion": map[string]any{
			"strategy": conversion.Strategy,
			"webhook":  map[string]any{"clientConfig": client, "conversionReviewVersions": conversion.Webhook.ConversionReviewVersions},
		}},
	})
	if err != nil {
		return nil, fmt.Errorf("write a patch: %w", err)
	}
	return data, nil
}
