package integration

import (
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// askingFor returns a module with a Secret that is to get its data from the hub's Secret of the same name.
func askingFor(secret string) testkit.Content {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret",
		"metadata": map[string]any{
			"name": secret, "namespace": metav1.NamespaceDefault,
			"annotations": map[string]any{v1beta2.AnnotationInjectData: "true"},
		},
		"stringData": map[string]any{"password": "of the content"},
	}}
	return testkit.Content{Objects: []*unstructured.Unstructured{object}}
}

// hubSecret returns a Secret of the hub that says which module may have its data.
func hubSecret(name, module, password string) *corev1.Secret {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: name},
		Data:       map[string][]byte{"password": []byte(password)},
	}
	if module != "" {
		secret.Labels = map[string]string{v1beta2.LabelModuleName: module}
	}
	return secret
}

// passwordIn is for Eventually: the password that a Secret of a runtime holds.
func passwordIn(cluster *testkit.Cluster, name string) func() (string, error) {
	return func() (string, error) {
		secret := &corev1.Secret{}
		err := cluster.Client.Get(ctx(), client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: name}, secret)
		return string(secret.Data["password"]), err
	}
}

var _ = Describe("The module deployer", func() {
	const deployer = "deployer"

	var (
		name  string
		specs int
	)

	BeforeEach(func() {
		emptyHub()
		name, specs = testkit.Unique("pull"), specs+1
		version := fmt.Sprintf("1.%d.0", specs) // what a version holds is read once
		env.Offer(deployer, version, askingFor(name), "regular")
		DeferCleanup(func() {
			emptyHub()
			env.Hub.Delete(testkit.ModuleReleaseMeta(deployer), testkit.ModuleTemplate(deployer, version))
		})
	})

	It("gets the data of the hub's Secret, and every change of it, and costs nothing at rest", func() {
		secret := hubSecret(name, deployer, "one")
		env.Hub.Create(secret)
		env.FaultFree()
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(deployer))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		Expect(passwordIn(env.Runtimes[0], name)()).To(Equal("one"))
		testkit.Edit(env.Hub, secret, func(s *corev1.Secret) { s.Data["password"] = []byte("two") })
		Eventually(passwordIn(env.Runtimes[0], name), atOnce).Should(Equal("two"))
		expectNoCalls()

		By("having changed while no manager ran")
		whileDown(func() { testkit.Edit(env.Hub, secret, func(s *corev1.Secret) { s.Data["password"] = []byte("three") }) })
		Eventually(passwordIn(env.Runtimes[0], name)).Should(Equal("three"))
		expectNoCalls()

		By("no value standing anywhere but in the two Secrets")
		text, err := json.Marshal(manifestOf(kyma, deployer))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(text)).NotTo(Or(ContainSubstring("three"), ContainSubstring("dGhyZWU")))
	})

	It("says what is wrong with the hub's Secret, keeps what runs, and goes on when it is mended", func() {
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(deployer))
		manifest := env.ManifestOf(kyma.Name, deployer)
		unusable := func(text string) types.GomegaMatcher {
			return tells(v1beta2.StateError, v1beta2.ReasonHubSecretUnusable, "kcp-system/"+name, text)
		}
		Eventually(manifest).Should(unusable("not found"))
		secret := hubSecret(name, "", "one")
		env.Hub.Create(secret)
		label := func(module string) {
			testkit.Edit(env.Hub, secret, func(s *corev1.Secret) { s.Labels = map[string]string{v1beta2.LabelModuleName: module} })
		}
		label(deployer)
		Eventually(manifest, atOnce).Should(testkit.HaveState(v1beta2.StateReady))
		label("other")
		Eventually(manifest, atOnce).Should(unusable("expected=deployer actual=other"))
		testkit.Edit(env.Hub, secret, func(s *corev1.Secret) { s.Labels = nil })
		label(deployer)
		Eventually(manifest, atOnce).Should(testkit.HaveState(v1beta2.StateReady))
		testkit.Edit(env.Hub, secret, func(s *corev1.Secret) { s.Labels = nil })
		Eventually(manifest, atOnce).Should(unusable("is missing the required"))
		testkit.Edit(env.Hub, secret, func(s *corev1.Secret) {
			s.Labels, s.Data = map[string]string{v1beta2.LabelModuleName: deployer}, nil
		})
		Eventually(manifest, atOnce).Should(unusable("holds no data"))
		Expect(passwordIn(env.Runtimes[0], name)()).To(Equal("one"))
		expectNoCalls()
		testkit.Edit(env.Hub, secret, func(s *corev1.Secret) { s.Data = map[string][]byte{"password": []byte("two")} })
		Eventually(passwordIn(env.Runtimes[0], name), atOnce).Should(Equal("two"))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
	})

	It("is the only one: the Secret of another module stays as its content says", func() {
		module := testkit.Unique("other")
		env.Hub.Create(hubSecret(name, deployer, "one"))
		env.Offer(module, "1.0.0", askingFor(name), "regular")
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		Expect(passwordIn(env.Runtimes[0], name)()).To(Equal("of the content"))
	})
})
