package integration

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// mapIn returns a ConfigMap of a namespace as YAML.
func mapIn(namespace, name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: %s, name: %s}\n", namespace, name)
}

// accountNamed returns a ServiceAccount; answers about it may be repeated, unlike those about objects that hold data.
func accountNamed(name string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}}
}

// deny makes the first runtime refuse ServiceAccounts whose name begins like this, by a policy, and waits until it does.
func deny(prefix string) (lift func()) {
	GinkgoHelper()
	runtime := env.Runtimes[0]
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: prefix},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"serviceaccounts"}},
				},
			}}},
			Validations: []admissionregistrationv1.Validation{{
				Expression: fmt.Sprintf("!object.metadata.name.startsWith(%q)", prefix), Message: "such names are not wanted here",
			}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: prefix},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: prefix, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	runtime.Create(policy, binding)
	lift = func() { runtime.Delete(binding, policy) }
	DeferCleanup(lift)
	Eventually(func() error {
		return runtime.Client.Create(ctx(), accountNamed(prefix+"-probe"), client.DryRunAll)
	}).Should(Satisfy(apierrors.IsInvalid), "the policy holds")
	return lift
}

// admitter serves an admission webhook: what decide returns is the answer, and without one the webhook cannot be used.
func admitter(decide func(context.Context) *admissionv1.AdmissionResponse) http.HandlerFunc {
	return func(out http.ResponseWriter, req *http.Request) {
		review := &admissionv1.AdmissionReview{}
		if err := json.NewDecoder(req.Body).Decode(review); err != nil || review.Request == nil {
			http.Error(out, "no review", http.StatusBadRequest)
			return
		}
		if review.Response = decide(req.Context()); review.Response == nil {
			http.Error(out, "no pod answers", http.StatusServiceUnavailable)
			return
		}
		review.Response.UID = review.Request.UID
		_ = json.NewEncoder(out).Encode(review)
	}
}

// denyByWebhook makes the first runtime ask a webhook about ConfigMaps whose name begins like this, which says no.
func denyByWebhook(prefix, words string) {
	GinkgoHelper()
	server := httptest.NewTLSServer(admitter(func(context.Context) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Result: &metav1.Status{Message: words}}
	}))
	DeferCleanup(server.Close)
	none, fail, exact := admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.Fail, admissionregistrationv1.Exact
	webhook := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: prefix},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "keeper.example.com", SideEffects: &none, FailurePolicy: &fail, MatchPolicy: &exact, AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				URL: &server.URL, CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
			},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
			MatchConditions: []admissionregistrationv1.MatchCondition{{
				Name: "name", Expression: fmt.Sprintf("object.metadata.name.startsWith(%q)", prefix),
			}},
		}},
	}
	env.Runtimes[0].Create(webhook)
	DeferCleanup(func() { env.Runtimes[0].Delete(webhook) })
	Eventually(func() error {
		return env.Runtimes[0].Client.Create(ctx(), configMap(prefix+"-probe"), client.DryRunAll)
	}).Should(MatchError(ContainSubstring(words)), "the webhook is asked")
}

// expectQuiet sees that an error that no one does anything about costs nothing: no writes, no lines of the log.
func expectQuiet(manifest *v1beta2.Manifest) {
	GinkgoHelper()
	atRest()
	hub, lines := hubCalls.Snapshot(), env.Log.Count()
	live, err := testkit.Live(env.Hub, manifest)()
	Expect(err).NotTo(HaveOccurred())
	Consistently(func() int { return writes(hubCalls.Since(hub)).Total() }, 4*time.Second).Should(BeZero(), "writes to the hub")
	Expect(env.Log.Count()-lines).To(BeNumerically("<=", 5), "lines of the log")
	now, err := testkit.Live(env.Hub, manifest)()
	Expect(err).NotTo(HaveOccurred())
	Expect(now.ResourceVersion).To(Equal(live.ResourceVersion))
}

// touch makes the manager look again.
func touch(manifest *v1beta2.Manifest) {
	GinkgoHelper()
	testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.Version += "-again" })
}

var _ = Describe("An object that the runtime refuses", func() {
	BeforeEach(emptyHub)

	It("by a policy is named with the policy's words, the rest is applied, and lifting it heals", func() {
		name := testkit.Unique("denied")
		lift := deny(name)
		manifest := standAlone(publish(testkit.RawManifest([]byte("apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: " + name + "}\n---\n" + mapNamed("good-"+name, "1.0.0")))))
		Eventually(testkit.Live(env.Hub, manifest)).Should(tells(v1beta2.StateError, v1beta2.ReasonAdmissionDenied, name, "such names are not wanted here"))
		Expect(settings("good-" + name)()).NotTo(BeNil())
		expectQuiet(manifest)
		lift()
		Eventually(func() error {
			return env.Runtimes[0].Client.Create(ctx(), accountNamed(name+"-probe"), client.DryRunAll)
		}).Should(Succeed())
		touch(manifest)
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
		remove(manifest)
	})

	It("by a webhook is named with the webhook, of an object that holds data without its words", func() {
		name := testkit.Unique("denied")
		denyByWebhook(name, "the secret is 4711")
		manifest := standAlone(publish(testkit.RawManifest([]byte(mapNamed(name, "1.0.0") + "---\n" + mapNamed("good-"+name, "1.0.0")))))
		Eventually(testkit.Live(env.Hub, manifest)).Should(And(tells(v1beta2.StateError, v1beta2.ReasonAdmissionDenied, name, "keeper.example.com"),
			HaveField("Status.LastOperation.Operation", Not(ContainSubstring("4711")))))
		Expect(settings("good-" + name)()).NotTo(BeNil())
		expectQuiet(manifest)
		remove(manifest)
	})

	It("by a quota is named with the quota", func() {
		name, space := testkit.Unique("many"), testkit.Unique("space")
		quota := &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: "few"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/configmaps": resource.MustParse("0")}},
		}
		env.Runtimes[0].Create(spaceNamed(space), quota)
		probe := configMap("probe")
		probe.Namespace = space
		allowed := func() error { return env.Runtimes[0].Client.Create(ctx(), probe.DeepCopy(), client.DryRunAll) }
		Eventually(allowed).Should(MatchError(ContainSubstring("exceeded quota"))) // once the API server goes by it
		manifest := standAlone(publish(testkit.RawManifest([]byte(mapIn(space, name)))))
		Eventually(testkit.Live(env.Hub, manifest)).Should(tells(v1beta2.StateError, v1beta2.ReasonQuotaExceeded, name, "few"))
		expectQuiet(manifest)
		env.Runtimes[0].Delete(quota)
		Eventually(testkit.Gone(env.Runtimes[0], quota)).Should(BeTrue())
		Eventually(allowed).Should(Succeed())
		touch(manifest)
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
		remove(manifest)
	})

	It("because a field cannot be changed is named with what to do, and what runs is kept until a user does it", func() {
		name := testkit.Unique("fixed")
		fixed := func(version string) v1beta2.ImageSpec {
			return publish(testkit.RawManifest([]byte(mapNamed(name, version) + "immutable: true\n")))
		}
		manifest := standAlone(fixed("1.0.0"))
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
		next := fixed("1.1.0")
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.Install.Source = testkit.Raw(next) })
		Eventually(testkit.Live(env.Hub, manifest)).Should(tells(v1beta2.StateError, v1beta2.ReasonFieldImmutable, name, "delete"))
		Expect(settings(name)()).To(HaveKeyWithValue("version", "1.0.0"))
		expectQuiet(manifest)
		env.Runtimes[0].Delete(configMap(name))
		Eventually(settings(name)).Should(HaveKeyWithValue("version", "1.1.0"))
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
		remove(manifest)
	})

	It("because its namespace is being deleted is told, and goes on when the namespace is there again", func() {
		name, space := testkit.Unique("late"), testkit.Unique("space")
		held := configMap("held")
		held.Namespace, held.Finalizers = space, []string{"example.com/hold"}
		env.Runtimes[0].Create(spaceNamed(space), held)
		env.Runtimes[0].Delete(spaceNamed(space))
		manifest := standAlone(publish(testkit.RawManifest([]byte(mapIn(space, name)))))
		Eventually(testkit.Live(env.Hub, manifest)).Should(tells(v1beta2.StateError, v1beta2.ReasonNamespaceTerminating, space))
		expectQuiet(manifest)
		testkit.Edit(env.Runtimes[0], held, func(c *corev1.ConfigMap) { c.Finalizers = nil })
		Eventually(testkit.Gone(env.Runtimes[0], spaceNamed(space))).Should(BeTrue())
		env.Runtimes[0].Create(spaceNamed(space))
		Eventually(testkit.Live(env.Hub, manifest), "60s").Should(ready())
		remove(manifest)
	})
})
