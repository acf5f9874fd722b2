package crdsafety_test

import (
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
)

// lamps returns a definition with a field and a version for each name; the last version is stored.
func lamps(fields []string, versions ...string) *apiextensionsv1.CustomResourceDefinition {
	properties := map[string]apiextensionsv1.JSONSchemaProps{}
	for _, field := range fields {
		properties[field] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	}
	schema := &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"spec": {Type: "object", Properties: properties},
	}}
	crd := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "example.com", Scope: apiextensionsv1.ClusterScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "lamps", Kind: "Lamp"},
	}}
	crd.Name = "lamps.example.com"
	for i, version := range versions {
		crd.Spec.Versions = append(crd.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: version, Served: true, Storage: i == len(versions)-1,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema},
		})
	}
	return crd
}

func convertedBy(crd *apiextensionsv1.CustomResourceDefinition, client *apiextensionsv1.WebhookClientConfig) *apiextensionsv1.CustomResourceDefinition {
	crd.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
	if client != nil {
		crd.Spec.Conversion.Webhook = &apiextensionsv1.WebhookConversion{ClientConfig: client}
	}
	return crd
}

func TestServes(t *testing.T) {
	service := func(name string) *apiextensionsv1.WebhookClientConfig {
		return &apiextensionsv1.WebhookClientConfig{Service: &apiextensionsv1.ServiceReference{Namespace: "default", Name: name}}
	}
	at := func(url string) *apiextensionsv1.WebhookClientConfig {
		return &apiextensionsv1.WebhookClientConfig{URL: &url}
	}
	colour := []string{"colour"}
	unserved := lamps(colour, "v1", "v2")
	unserved.Spec.Versions[0].Served = false
	required := lamps(colour, "v1")
	required.Spec.Versions[0].Schema.OpenAPIV3Schema.Required = []string{"spec"}
	for name, test := range map[string]struct {
		live, used *apiextensionsv1.CustomResourceDefinition
		want       []string
	}{
		"the same":                              {lamps(colour, "v1"), lamps(colour, "v1"), nil},
		"a further field and a further version": {lamps([]string{"colour", "size"}, "v1", "v2"), lamps(colour, "v1"), nil},
		"a field is gone":                       {lamps(nil, "v1"), lamps(colour, "v1"), []string{crdsafety.FieldRemoved}},
		"a version is no longer served":         {unserved, lamps(colour, "v1"), []string{crdsafety.VersionRemoved}},
		"more is required":                      {required, lamps(colour, "v1"), []string{crdsafety.RequiredAdded}},
		"a webhook of the newer one converts":   {convertedBy(lamps(colour, "v1", "v2"), service("new")), lamps(colour, "v1"), []string{crdsafety.UnknownChange}},
		"another service converts":              {convertedBy(lamps(colour, "v1"), service("new")), convertedBy(lamps(colour, "v1"), service("old")), []string{crdsafety.UnknownChange}},
		"the same service converts":             {convertedBy(lamps(colour, "v1"), service("one")), convertedBy(lamps(colour, "v1"), service("one")), nil},
		"the same address converts":             {convertedBy(lamps(colour, "v1"), at("https://a")), convertedBy(lamps(colour, "v1"), at("https://a")), nil},
		"another address converts":              {convertedBy(lamps(colour, "v1"), at("https://a")), convertedBy(lamps(colour, "v1"), at("https://b")), []string{crdsafety.UnknownChange}},
		"a service in place of an address":      {convertedBy(lamps(colour, "v1"), service("one")), convertedBy(lamps(colour, "v1"), at("https://a")), []string{crdsafety.UnknownChange}},
		"a converter without an address":        {convertedBy(lamps(colour, "v1"), nil), convertedBy(lamps(colour, "v1"), at("https://a")), []string{crdsafety.UnknownChange}},
		"there is none":                         {nil, lamps(colour, "v1"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, finding := range crdsafety.Serves(test.live, test.used) {
				got = append(got, finding.Rule)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
