package integration

import (
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// withFlags runs another manager until the spec ends.
func withFlags(changes ...func(*setup.Config)) {
	GinkgoHelper()
	stopManager()
	DeferCleanup(func() {
		stopManager()
		startManager()
	})
	startManager(changes...)
}

// dockerSecret returns a docker config Secret of the hub with a login for one registry.
func dockerSecret(name, host, password string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: name},
		Type:       corev1.SecretTypeDockerConfigJson,
		Data:       dockerData(host, password),
	}
}

func dockerData(host, password string) map[string][]byte {
	config := fmt.Sprintf(`{"auths":{%q:{"username":"robot","password":%q}}}`, host, password)
	return map[string][]byte{corev1.DockerConfigJsonKey: []byte(config)}
}

var _ = Describe("The image pull Secret", func() {
	It("is named by workloads and told to the operator, from the moment that the flag names it", func() {
		emptyHub()
		module := testkit.Unique("pulls")
		env.Offer(module, "1.0.0", testkit.Deployment(module, "1.0.0"), "regular")
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		pull := testkit.Unique("pull")
		env.Hub.Create(dockerSecret(pull, "registry.example.com", "s3cret"))
		withFlags(func(c *setup.Config) { c.PullSecret = pull })
		Eventually(operatorIn(env.Runtimes[0], module)).Should(And(
			HaveField("Spec.Template.Spec.ImagePullSecrets", ConsistOf(corev1.LocalObjectReference{Name: pull})),
			HaveField("Spec.Template.Spec.Containers", HaveEach(HaveField("Env",
				ContainElement(corev1.EnvVar{Name: "SKR_IMG_PULL_SECRET", Value: pull}))))))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		Expect(manifestOf(kyma, module).Status.ImagePullSecret).To(Equal(pull))
		expectNoCalls()
	})

	It("is refused where the operator has another one in the same variable", func() {
		emptyHub()
		module, pull := testkit.Unique("pulls"), testkit.Unique("pull")
		content := testkit.Deployment(module, "1.0.0")
		for _, object := range content.Objects {
			if object.GetKind() == "Deployment" {
				containers := []any{map[string]any{"name": "manager", "image": "example.invalid/a:1", "env": []any{
					map[string]any{"name": "SKR_IMG_PULL_SECRET", "value": "own"},
				}}}
				Expect(unstructured.SetNestedSlice(object.Object, containers, "spec", "template", "spec", "containers")).To(Succeed())
			}
		}
		env.Offer(module, "1.0.0", content, "regular")
		withFlags(func(c *setup.Config) { c.PullSecret = pull })
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(env.ManifestOf(kyma.Name, module)).Should(tells(v1beta2.StateError, v1beta2.ReasonContentInvalid,
			"Deployment.apps default/"+module, "SKR_IMG_PULL_SECRET", pull))
	})
})

var _ = Describe("The login for the registry", func() {
	It("is taken from its Secret, and a new one is used at once", func() {
		emptyHub()
		trusted := []any{map[string]any{"host": env.Registry.Host, "plainHTTP": true}}
		file, err := json.Marshal(map[string]any{"registries": trusted})
		Expect(err).NotTo(HaveOccurred())
		writeRegistries(file)

		first, _ := offered()
		second, source := offered()
		login := dockerSecret(testkit.Unique("login"), env.Registry.Host, "one")
		env.Hub.Create(login)
		inject(localcluster.RequireLogin("robot", "one"))
		withFlags(func(c *setup.Config) { c.RegistryHost, c.RegistrySecret = "", login.Name })
		DeferCleanup(func() { writeRegistries(trust(web)) }) // before the next manager starts
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(first))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))

		inject(forLayer(source.Ref, localcluster.RequireLogin("robot", "two")))
		enable(kyma, v1beta2.Module{Name: second})
		refused := tells(v1beta2.StateError, v1beta2.ReasonRegistryUnauthorized, env.Registry.Host)
		Eventually(env.ManifestOf(kyma.Name, second)).Should(refused)
		Consistently(env.ManifestOf(kyma.Name, second), "20s").Should(refused) // its pauses have grown beyond what is waited for next
		testkit.Edit(env.Hub, login, func(s *corev1.Secret) { s.Data = dockerData(env.Registry.Host, "two") })
		Eventually(env.ManifestOf(kyma.Name, second), atOnce).Should(testkit.HaveState(v1beta2.StateReady))
		expectNoCalls()
	})
})
