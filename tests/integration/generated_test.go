package integration

import (
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// chartThatGenerates returns a chart with the shapes of public ones: a password that is kept by a lookup of its own Secret, the checksum of
// that in what uses it, and a webhook with a certificate of its own authority. It also takes a colour from an object of others, and cannot do
// without.
func chartThatGenerates(name string) testkit.Files {
	return testkit.Chart(name, "1.0.0", testkit.Files{
		"values.yaml": "colour: grey\n",
		"templates/admin.yaml": `{{- $known := lookup "v1" "Secret" .Release.Namespace (printf "%s-admin" .Chart.Name) }}
apiVersion: v1
kind: Secret
metadata: {name: {{ .Chart.Name }}-admin}
data:
  password: {{ if $known }}{{ $known.data.password }}{{ else }}{{ randAlphaNum 24 | b64enc }}{{ end }}
  id: {{ uuidv4 | b64enc }}
`,
		"templates/webhook.yaml": `{{- $ca := genCA (printf "%s-ca" .Chart.Name) 3650 }}
{{- $cert := genSignedCert .Chart.Name nil (list (printf "%s.%s.svc" .Chart.Name .Release.Namespace)) 365 $ca }}
apiVersion: v1
kind: Secret
metadata: {name: {{ .Chart.Name }}-tls}
type: kubernetes.io/tls
data:
  tls.crt: {{ $cert.Cert | b64enc }}
  tls.key: {{ $cert.Key | b64enc }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: {{ .Chart.Name }}}
webhooks:
- name: lamps.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig:
    caBundle: {{ $ca.Cert | b64enc }}
    service: {name: {{ .Chart.Name }}, namespace: {{ .Release.Namespace }}}
  rules: [{apiGroups: [lamps.example.com], apiVersions: [v1], operations: [CREATE], resources: [lamps]}]
`,
		"templates/settings.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ .Chart.Name }}-settings}
data:
  colour: {{ .Values.colour }}
  theirs: {{ (lookup "v1" "ConfigMap" .Release.Namespace (printf "%s-theirs" .Chart.Name)).data.colour }}
  release: {{ printf "%d %t" .Release.Revision .Release.IsUpgrade | quote }}
  checksum: {{ include (print $.Template.BasePath "/admin.yaml") . | sha256sum }}
`,
	})
}

var _ = Describe("A chart that generates values", func() {
	It("keeps them in its runtime, through upgrades and until it is removed", func() {
		emptyHub()
		chart := testkit.Unique("chart")
		secret := func(name string) *corev1.Secret {
			return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}}
		}
		data := func(name string) map[string][]byte {
			GinkgoHelper()
			live, err := testkit.Live(env.Runtimes[0], secret(name))()
			Expect(err).NotTo(HaveOccurred())
			return live.Data
		}
		webhook := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: chart}}
		trusted := func() []byte {
			GinkgoHelper()
			live, err := testkit.Live(env.Runtimes[0], webhook)()
			Expect(err).NotTo(HaveOccurred())
			return live.Webhooks[0].ClientConfig.CABundle
		}
		theirs := configMap(chart + "-theirs")
		theirs.Data = map[string]string{"colour": "amber"}
		env.Runtimes[0].Create(theirs)
		manifest := standAlone(env.PushLayer(chartThatGenerates(chart).Gzip(), v1beta2.RefTypeHelmChart), withValues(`{"colour":"red"}`))
		kept := manifest.Name + ".generated"
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(HaveField("Status.Synced", HaveLen(5))))
		admin, tls, ca, values := data(chart+"-admin"), data(chart+"-tls"), trusted(), data(kept)
		Expect(admin).To(HaveKeyWithValue("password", HaveLen(24)))
		installed, err := settings(chart + "-settings")()
		Expect(err).NotTo(HaveOccurred())
		Expect(installed).To(And(HaveKeyWithValue("theirs", "amber"), HaveKeyWithValue("release", "1 false")))

		By("keeping what it looked up, whatever becomes of that")
		testkit.Edit(env.Runtimes[0], theirs, func(m *corev1.ConfigMap) { m.Data["colour"] = "teal" })
		expectHealed(env.Runtimes[0], configMap(chart+"-settings"))
		Expect(settings(chart + "-settings")()).To(Equal(installed))

		By("upgrading twice")
		secrets := func(store []byte) (values map[string]map[string]json.RawMessage) {
			GinkgoHelper()
			Expect(json.Unmarshal(store, &values)).To(Succeed())
			delete(values[manifest.Name], "release")
			return values
		}
		for i, colour := range []string{"green", "blue"} {
			testkit.Edit(env.Hub, manifest, withValues(fmt.Sprintf(`{"colour":%q}`, colour)))
			Eventually(settings(chart + "-settings")).Should(Equal(map[string]string{
				"colour": colour, "theirs": "teal", "release": fmt.Sprintf("%d true", i+2), "checksum": installed["checksum"],
			}))
			Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
			Expect(data(chart + "-admin")).To(Equal(admin))
			Expect(data(chart + "-tls")).To(Equal(tls))
			Expect(trusted()).To(Equal(ca))
			Expect(secrets(data(kept)["values.json"])).To(Equal(secrets(values["values.json"])))
		}
		atRest()
		expectNoCalls()

		By("putting back what is lost of its objects as it was")
		expectHealed(env.Runtimes[0], secret(chart+"-admin"))
		Expect(data(chart + "-admin")).To(Equal(admin))

		By("not making the values anew by itself")
		lost, err := testkit.Live(env.Runtimes[0], secret(kept))()
		Expect(err).NotTo(HaveOccurred())
		env.Runtimes[0].Delete(secret(kept))
		Eventually(testkit.Live(env.Hub, manifest)).Should(tells(v1beta2.StateError, v1beta2.ReasonGeneratedValuesLost, kept))
		Expect(data(chart + "-admin")).To(Equal(admin))
		lost.ResourceVersion, lost.UID, lost.ManagedFields = "", "", nil
		env.Runtimes[0].Create(lost)
		Eventually(testkit.Live(env.Hub, manifest), "90s").Should(ready())
		Expect(data(chart + "-admin")).To(Equal(admin))

		By("leaving no trace")
		remove(manifest)
		expectGone(env.Runtimes[0], secret(kept), secret(chart+"-admin"), secret(chart+"-tls"), webhook, configMap(chart+"-settings"))
	})
})
