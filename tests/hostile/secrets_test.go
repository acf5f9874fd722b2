package hostile

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// confiding returns a Manifest whose chart has three Secrets: from the content, from the values, and from the hub for module deployer.
func confiding(name string) *v1beta2.Manifest {
	GinkgoHelper()
	secret := func(name, annotations, value string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Secret\nmetadata: {name: %s, annotations: {%s}}\nstringData: {key: %s}\n", name, annotations, value)
	}
	chart := testkit.Chart(name, "1.0.0", testkit.Files{
		"values.yaml":            "key: none\n",
		"templates/content.yaml": secret(name+"-content", "", contentSecret.secret),
		"templates/values.yaml":  secret(name+"-values", "", "{{ .Values.key | quote }}"),
		"templates/hub.yaml":     secret(name+"-hub", v1beta2.AnnotationInjectData+`: "true"`, "none"),
	})
	env.Hub.Create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: v1beta2.DefaultNamespace, Name: name + "-hub", Labels: map[string]string{v1beta2.LabelModuleName: "deployer"},
		},
		Data: map[string][]byte{"key": []byte(deployerData.secret)},
	})
	return testkit.Manifest(name, env.PushLayer(chart.Gzip(), v1beta2.RefTypeHelmChart), testkit.Remote(name), func(m *v1beta2.Manifest) {
		m.Labels[v1beta2.LabelModuleName] = "deployer"
		m.Spec.Values = &runtime.RawExtension{Raw: []byte(`{"key":"` + valuesSecret.secret + `"}`)}
	})
}

// read returns the content of a Secret in the first runtime.
func read(name string) func() (string, error) {
	return func() (string, error) {
		secret := &corev1.Secret{}
		err := env.Runtimes[0].Client.Get(context.Background(), client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: name}, secret)
		return string(secret.Data["key"]), err
	}
}

// parroting repeats in its response to writes what it received, in the form that repeat determines.
func parroting(repeat func(w http.ResponseWriter, body string)) bait {
	return on(writes, func(_ *trap, w http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(io.LimitReader(req.Body, 1<<20)) // as much as can be read
		for _, c := range []*canary{contentSecret, valuesSecret, deployerData} {
			c.seen(string(body))
		}
		repeat(w, string(body))
	})
}

// status repeats it as API servers do.
func status(code int, reason string) func(http.ResponseWriter, string) {
	return func(w http.ResponseWriter, body string) {
		text, _ := json.Marshal(metav1.Status{ // it cannot fail
			Status: metav1.StatusFailure, Code: int32(code), Reason: metav1.StatusReason(reason),
			Message: `Secret "a" is invalid: data: Invalid value: ` + body,
			Details: &metav1.StatusDetails{Name: body, Causes: []metav1.StatusCause{{Message: body, Field: body}}},
		})
		answerJSON(w, code, string(text))
	}
}

var _ = DescribeTable("Secrets of the content, of the values and of the hub stay where they belong", func(repeat func(http.ResponseWriter, string), ends string) {
	name := testkit.Unique("confiding")
	t := setTrap(parroting(repeat))
	defer t.spring()
	manifest := confiding(name)
	env.Hub.Create(testkit.NewAccessSecret(name, t.kubeconfig()), manifest)
	DeferCleanup(letGoOf, manifest)
	Eventually(t.met.Load).Should(BeNumerically(">=", 3), "all Secrets were sent")
	Eventually(func() (string, error) { return statusOf(manifest) }).Should(ContainSubstring(ends))
	expectNoLeaks()
},
	Entry("when a runtime finds them invalid and repeats them", status(422, "Invalid"), `"state":"Error"`),
	Entry("when a runtime forbids them and repeats them", status(403, "Forbidden"), `"state":"Error"`),
	Entry("when a runtime has a conflict and repeats them", status(409, "Conflict"), "it changed during each of several attempts"),
	Entry("when a runtime fails and repeats them", status(500, "InternalError"), `"state":"Error"`),
	Entry("when a runtime gives an unknown reason and repeats them", status(418, "canary"), `"state":"Error"`),
	Entry("when a runtime repeats them as plain text", func(w http.ResponseWriter, body string) { http.Error(w, body, http.StatusBadGateway) }, `"state":"Error"`),
	Entry("when a runtime accepts them and sends an unreadable response", func(w http.ResponseWriter, body string) {
		answerJSON(w, http.StatusCreated, "{"+body)
	}, `"state":"Error"`),
	Entry("when a runtime accepts them and answers with another object", func(w http.ResponseWriter, body string) {
		answerJSON(w, http.StatusCreated, fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{"name":%q,"namespace":%q,"annotations":{"a":%q}}}`, body, body, body, body))
	}, `"type":"Ready"`),
	Entry("when a runtime redirects to them", func(w http.ResponseWriter, body string) {
		w.Header()["Location"] = []string{"https://127.0.0.1:1/?" + strings.ReplaceAll(body, "\n", " ")}
		w.WriteHeader(http.StatusTemporaryRedirect)
	}, `"state":"Error"`),
)

var _ = Describe("Secrets of the content, of the values and of the hub", func() {
	It("are only where they belong when all goes well, and the content server shows them to authorised users only", func() {
		name := testkit.Unique("confiding")
		manifest := confiding(name)
		env.AccessSecret(name, env.Runtimes[0])
		env.Hub.Create(manifest)
		DeferCleanup(letGoOf, manifest)
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		Expect(read(name + "-content")()).To(Equal(contentSecret.secret))
		Expect(read(name + "-values")()).To(Equal(valuesSecret.secret))
		Expect(read(name + "-hub")()).To(Equal(deployerData.secret))
		expectHiddenContent(name)
		expectNoLeaks()
	})

	It("are not shown when the chart's own schema refuses them", func() {
		name := testkit.Unique("confiding")
		manifest := confiding(name)
		chart := testkit.Chart(name, "1.0.0", testkit.Files{
			"values.schema.json": `{"type":"object","properties":{"key":{"type":"string","maxLength":3,"pattern":"^[0-9]+$","enum":["one","two"],"const":"one"}}}`,
			"templates/map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + "}\n",
		})
		manifest.Spec.Install.Source = testkit.Raw(env.PushLayer(chart.Gzip(), v1beta2.RefTypeHelmChart))
		env.AccessSecret(name, env.Runtimes[0])
		env.Hub.Create(manifest)
		DeferCleanup(letGoOf, manifest)
		Eventually(func() (string, error) { return statusOf(manifest) }).Should(ContainSubstring(v1beta2.ReasonValuesInvalid))
		expectNoLeaks()
	})
})

// statusOf returns the status of a Manifest as text.
func statusOf(manifest *v1beta2.Manifest) (string, error) {
	live, err := testkit.Live(env.Hub, manifest)()
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(live.Status)
	return string(text), err
}

// letGoOf deletes a Manifest without waiting, its access Secret first, as deleteKyma does for a Kyma.
func letGoOf(manifest *v1beta2.Manifest) {
	GinkgoHelper()
	env.Hub.Delete(testkit.NewAccessSecret(manifest.Name, nil), manifest)
	struck = append(struck, manifest)
}
