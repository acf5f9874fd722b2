package crdsafety_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/crdsafety"
)

// FuzzDefinitions: whatever two definitions and an object contain, there is a result, it is reproducible, its rules are known and its
// message fits. Both definitions are untrusted.
func FuzzDefinitions(f *testing.F) {
	spec := func(schema string) string {
		return `{"metadata":{"name":"a"},"spec":{"group":"g","names":{"kind":"K"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":` + schema + `}}]}}`
	}
	f.Add(spec(`{"type":"object","properties":{"a":{"type":"string","default":"b","enum":["b"]}}}`), spec(`{"type":"object"}`), `{"apiVersion":"g/v1","kind":"K","a":"b"}`)
	f.Add(spec(`{"type":"object","additionalProperties":{"type":"array","items":{"x-kubernetes-int-or-string":true}}}`),
		spec(`{"type":"object","x-kubernetes-preserve-unknown-fields":true,"x-kubernetes-validations":[{"rule":"has(self.a)"}]}`), `{"apiVersion":"g/v1","kind":"K","metadata":1}`)
	f.Add(`{"spec":{"preserveUnknownFields":true,"versions":[{"name":"v1"},{"name":"v1"}]}}`, spec(`{"items":[{}],"not":{},"multipleOf":0}`), `{"apiVersion":"g/v0","kind":"K"}`)
	f.Fuzz(func(t *testing.T, old, changed, object string) {
		before, after := &apiextensionsv1.CustomResourceDefinition{}, &apiextensionsv1.CustomResourceDefinition{}
		if json.Unmarshal([]byte(old), before) != nil || json.Unmarshal([]byte(changed), after) != nil {
			return
		}
		findings := crdsafety.Compare(before, after)
		if len(findings) != len(crdsafety.Compare(before, after)) {
			t.Fatal("another answer the second time")
		}
		u := &unstructured.Unstructured{}
		if v, err := crdsafety.NewValidator(after); err == nil && json.Unmarshal([]byte(object), &u.Object) == nil {
			evidence := crdsafety.NewEvidence(before, after, u.GroupVersionKind().Version, findings)
			evidence.Add(u)
			if left := evidence.Weigh(); len(left) > len(findings) {
				t.Fatalf("of %d findings, %d are left", len(findings), len(left))
			}
			findings = append(findings, v.Validate(u)...)
		}
		for _, finding := range findings {
			if !crdsafety.Known(finding.Rule) || finding.Message == "" {
				t.Fatalf("got %+v", finding)
			}
		}
		if len(crdsafety.Refuse(findings, crdsafety.Rules())) > 0 {
			t.Fatal("a rule cannot be allowed")
		}
		if message := crdsafety.Message(findings); len(message) > 8<<10 || !utf8.ValidString(message) || (message == "") != (len(findings) == 0) {
			t.Fatalf("%d bytes: %s", len(message), message)
		}
	})
}
