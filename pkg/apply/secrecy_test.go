package apply

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/pkg/inventory"
)

// tells checks that an error is specific enough and holds none of the object's values.
func (f *fixture) tells(outcome Outcome, says string) {
	f.Helper()
	if outcome.Err == nil {
		f.Errorf("%s: no error", outcome.ID)
		return
	}
	message := outcome.Err.Error()
	if !strings.Contains(message, says) {
		f.Errorf("%q does not say %q", message, says)
	}
	for _, form := range []string{password, base64.StdEncoding.EncodeToString([]byte(password)), "Passw0rd"} {
		if strings.Contains(message, form) {
			f.Errorf("%q holds %q", message, form)
		}
	}
}

func TestErrorsOfTheServerHoldNoData(t *testing.T) {
	f := onServer(t)
	for _, test := range []struct{ name, document, says string }{
		{"a key that is not allowed", "{apiVersion: v1, kind: Secret, metadata: {name: x}, stringData: {'not a key': PW}}", "data[not a key]"},
		{"data that is not base64", "{apiVersion: v1, kind: Secret, metadata: {name: x}, data: {k: PW}}", "illegal base64 data"},
		{"data of the wrong type", "{apiVersion: v1, kind: Secret, metadata: {name: x}, data: PW}", "cannot unmarshal string"},
		{"a field that does not exist", "{apiVersion: v1, kind: Secret, metadata: {name: x}, dataa: {k: PW}}", `unknown field "dataa"`},
		{"a type that requires other keys", "{apiVersion: v1, kind: Secret, metadata: {name: x}, type: kubernetes.io/tls, stringData: {k: PW}}",
			"data[tls.crt]: FieldValueRequired"},
		{"a key of a ConfigMap that is not allowed", "{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {'not a key': PW}}",
			"data[not a key]"},
		{"a label's value", "{apiVersion: v1, kind: Service, metadata: {name: x, labels: {k: PW}}, spec: {ports: [{port: 80}]}}",
			"metadata.labels: Invalid value: a valid label must be"},
		{"a field's value", "{apiVersion: v1, kind: Service, metadata: {name: x}, spec: {type: PW, ports: [{port: 80}]}}",
			`spec.type: Unsupported value: supported values: "ClusterIP"`},
	} {
		object := f.object(strings.ReplaceAll(test.document, "PW", "'"+password+"'"))
		t.Run(test.name+", created", func(t *testing.T) {
			f.T = t
			outcome := f.cluster.Apply(t.Context(), newSteps(object), f.opts)[0]
			f.is(outcome, Refused, ClassRefused)
			f.tells(outcome, test.says)
		})
		t.Run(test.name+", changed", func(t *testing.T) {
			f.T = t
			step := inventory.Step{Object: object, Why: inventory.WhyDrifted, Entry: inventory.Entry{UID: "x", Fields: "a:"}}
			outcome := f.cluster.Apply(t.Context(), []inventory.Step{step}, f.opts)[0]
			f.is(outcome, Refused, ClassRefused)
			f.tells(outcome, "")
		})
	}
}

func TestImmutableSecretIsNotQuoted(t *testing.T) {
	i := &installation{fixture: onServer(t)}
	const immutable = "{apiVersion: v1, kind: Secret, metadata: {name: x}, immutable: true, stringData: {k: PW}}"
	i.installs(Created, i.object(strings.ReplaceAll(immutable, "PW", "first-Passw0rd")))
	outcome := i.install(i.object(strings.ReplaceAll(immutable, "PW", password)))[0]
	i.is(outcome, Refused, ClassFieldImmutable)
	i.tells(outcome, "data: field is immutable")
}

// chatty is an admission webhook that denies everything and repeats all that it received.
func chatty(writer http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	var review struct {
		Request struct {
			UID    string          `json:"uid"`
			Object json.RawMessage `json:"object"`
			Old    json.RawMessage `json:"oldObject"`
		} `json:"request"`
	}
	_ = json.Unmarshal(body, &review)
	message := "I was shown " + string(review.Request.Object) + " instead of " + string(review.Request.Old)
	answer, err := json.Marshal(map[string]any{
		"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
		"response": map[string]any{"uid": review.Request.UID, "allowed": false, "status": map[string]any{"message": message, "code": 403}},
	})
	if err != nil {
		panic(err) // a map of strings
	}
	writer.Header().Set("Content-Type", "application/json")
	_, _ = writer.Write(answer)
}

func TestDenialsOfAWebhookHoldNoData(t *testing.T) {
	f := onServer(t)
	existing := f.exists(f.object("{apiVersion: v1, kind: Secret, metadata: {name: old}, stringData: {k: '"+password+"'}}"), manager)
	f.denyAll()
	thing := "{apiVersion: v1, kind: Service, metadata: {name: x, annotations: {k: 'PW'}}, spec: {ports: [{port: 80}]}}"
	for _, document := range []string{
		"{apiVersion: v1, kind: Secret, metadata: {name: x}, stringData: {k: 'PW'}}",
		"{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {k: 'PW'}}",
		thing,
	} {
		object := f.object(strings.ReplaceAll(document, "PW", password))
		outcome := f.cluster.Apply(t.Context(), newSteps(object), f.opts)[0]
		f.is(outcome, Refused, ClassAdmissionDenied)
		f.tells(outcome, `admission webhook "chatty.example.org" denied the request`)
	}
	for _, seen := range []inventory.Live{{}, f.live(existing)} {
		outcome := f.delete(recordedAs(existing), seen)
		f.is(outcome, Refused, ClassAdmissionDenied)
		f.tells(outcome, `admission webhook "chatty.example.org" denied the request`)
	}
}

// denyAll registers the webhook for the test's namespace until the test ends.
func (f *fixture) denyAll() {
	f.Helper()
	webhook := httptest.NewTLSServer(http.HandlerFunc(chatty))
	f.Cleanup(webhook.Close)
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: webhook.Certificate().Raw})
	configuration := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
		"metadata": map[string]any{"name": f.namespace},
		"webhooks": []any{map[string]any{
			"name": "chatty.example.org", "sideEffects": "None", "admissionReviewVersions": []any{"v1"},
			"clientConfig":      map[string]any{"url": webhook.URL, "caBundle": base64.StdEncoding.EncodeToString(authority)},
			"namespaceSelector": map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": f.namespace}},
			"rules": []any{map[string]any{
				"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "operations": []any{"*"},
				"resources": []any{"secrets", "configmaps", "services", "pods"},
			}},
		}},
	}}
	made := f.exists(configuration, "test")
	f.Cleanup(func() {
		_ = f.theirs(made).Delete(f.Context(), made.GetName(), metav1.DeleteOptions{})
	})
	probe := f.object("{apiVersion: v1, kind: ConfigMap, metadata: {generateName: probe-}}")
	f.await("admission has seen the webhook", func() bool {
		_, err := f.theirs(probe).Create(f.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return Classify(err) == ClassAdmissionDenied
	})
}
