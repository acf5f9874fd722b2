package conversion

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

const (
	oldKyma = `{"apiVersion":"operator.kyma-project.io/v1alpha1","kind":"Kyma","metadata":{"name":"k","uid":"u"},"spec":{"components":[{"name":"istio"}]}}`
	newKyma = `{"apiVersion":"operator.kyma-project.io/v1beta2","kind":"Kyma","metadata":{"name":"k"},"spec":{"channel":"fast"}}`
)

func TestReviews(t *testing.T) {
	handler, err := NewHandler()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		to      string
		objects []string
		fails   string
		says    []string
	}{
		"to the stored version": {"operator.kyma-project.io/v1beta2", []string{oldKyma}, "",
			[]string{`"apiVersion":"operator.kyma-project.io/v1beta2"`, `"modules":[{"name":"istio"`, `"channel":"regular"`, `"uid":"u"`}},
		"back, with fields that v1alpha1 lacks in an annotation": {"operator.kyma-project.io/v1alpha1", []string{newKyma}, "",
			[]string{`"apiVersion":"operator.kyma-project.io/v1alpha1"`, `operator.kyma-project.io/v1beta2`, `fast`}},
		"several at once": {"operator.kyma-project.io/v1beta2", []string{oldKyma, strings.Replace(oldKyma, "istio", "second", 1)}, "",
			[]string{"istio", "second"}},
		"a kind that is not converted":      {"operator.kyma-project.io/v1beta2", []string{strings.Replace(oldKyma, `"Kyma"`, `"Watcher"`, 1)}, "Watcher", nil},
		"a version that is not known":       {"operator.kyma-project.io/v9", []string{oldKyma}, "v9", nil},
		"a version that is no longer known": {"operator.kyma-project.io/v1beta2", []string{strings.Replace(oldKyma, "v1alpha1", "v1beta1", 1)}, "v1beta1", nil},
		"an invalid object":                 {"operator.kyma-project.io/v1beta2", []string{`{"kind":7}`}, "kind", nil},
		"a damaged annotation is named":     {"operator.kyma-project.io/v1beta2", []string{strings.Replace(oldKyma, `"uid"`, `"annotations":{"operator.kyma-project.io/v1beta2":"x"},"uid"`, 1)}, "operator.kyma-project.io/v1beta2", nil},
	} {
		t.Run(name, func(t *testing.T) {
			review := &apiextensionsv1.ConversionReview{Request: &apiextensionsv1.ConversionRequest{UID: "7", DesiredAPIVersion: test.to}}
			for _, object := range test.objects {
				review.Request.Objects = append(review.Request.Objects, runtime.RawExtension{Raw: []byte(object)})
			}
			body, err := json.Marshal(review)
			if err != nil {
				t.Fatal(err)
			}
			answer := post(handler, body)
			got := &apiextensionsv1.ConversionReview{}
			if err := json.Unmarshal(answer.Body.Bytes(), got); err != nil || got.Response == nil || got.Response.UID != "7" {
				t.Fatalf("%d %s: %v", answer.Code, answer.Body, err)
			}
			if test.fails != "" {
				if got.Response.Result.Status != metav1.StatusFailure || !strings.Contains(got.Response.Result.Message, test.fails) {
					t.Errorf("result %+v, want a failure that says %s", got.Response.Result, test.fails)
				}
				return
			}
			if got.Response.Result.Status != metav1.StatusSuccess || len(got.Response.ConvertedObjects) != len(test.objects) {
				t.Fatalf("result %+v", got.Response.Result)
			}
			for _, part := range test.says {
				if !strings.Contains(answer.Body.String(), part) {
					t.Errorf("the answer does not say %s: %s", part, answer.Body)
				}
			}
		})
	}
}

func post(handler http.Handler, body []byte) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodPost, "/convert", bytes.NewReader(body)))
	return answer
}

func TestRequestsThatAreNoReviews(t *testing.T) {
	handler, err := NewHandler()
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range map[string]string{
		"nothing": "", "no JSON": "{", "a review without a request": "{}",
		"too much data": `{"kind":"` + strings.Repeat("x", maxReview) + `"}`,
	} {
		if code := post(handler, []byte(body)).Code; code != http.StatusBadRequest {
			t.Errorf("%s: %d", name, code)
		}
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/convert", nil))
	if answer.Code != http.StatusMethodNotAllowed {
		t.Errorf("reading it: %d", answer.Code)
	}
}

func FuzzReview(f *testing.F) {
	f.Add(`{"request":{"uid":"1","desiredAPIVersion":"operator.kyma-project.io/v1beta2","objects":[` + oldKyma + `]}}`)
	f.Add(`{"request":{"uid":"1","desiredAPIVersion":"operator.kyma-project.io/v1alpha1","objects":[` + newKyma + `]}}`)
	handler, err := NewHandler()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body string) {
		if answer := post(handler, []byte(body)); answer.Code != http.StatusOK && answer.Code != http.StatusBadRequest {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
	})
}

func TestConvert_WhatADefinitionIsTold(t *testing.T) {
	service := Endpoint{Service: types.NamespacedName{Namespace: "kcp-system", Name: "klm"}}
	address := Endpoint{Service: service.Service, URL: "https://127.0.0.1:9443"}
	for name, test := range map[string]struct {
		endpoint Endpoint
		hosts    string
		patch    string
	}{
		"in the cluster": {service, "klm.kcp-system.svc klm.kcp-system.svc.cluster.local",
			`"clientConfig":{"caBundle":"Y2E=","service":{"namespace":"kcp-system","name":"klm","path":"/convert","port":443},"url":null}`},
		"outside of it": {address, "127.0.0.1",
			`"clientConfig":{"caBundle":"Y2E=","service":null,"url":"https://127.0.0.1:9443/convert"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(test.endpoint.hosts("127.0.0.1"), " "); got != test.hosts {
				t.Errorf("hosts %s, want %s", got, test.hosts)
			}
			conversion := test.endpoint.conversion([]byte("ca"))
			data, err := patch(conversion, "5")
			if err != nil || !strings.Contains(string(data), test.patch) || !strings.Contains(string(data), `"resourceVersion":"5"`) {
				t.Errorf("patch %s, %v", data, err)
			}
			crd := &apiextensionsv1.CustomResourceDefinition{}
			if says(crd, conversion) || trusted(crd, []byte("ca")) {
				t.Error("a definition without conversion says it already")
			}
			crd.Spec.Conversion = conversion
			if !says(crd, test.endpoint.conversion([]byte("ca"))) || says(crd, test.endpoint.conversion([]byte("cb"))) || !trusted(crd, []byte("ca")) {
				t.Error("what it says is not seen")
			}
		})
	}
}
