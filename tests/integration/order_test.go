package integration

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// stuckDeployment returns one whose pods no node can run.
func stuckDeployment(name string) testkit.Content {
	GinkgoHelper()
	content := testkit.Deployment(name, "1.0.0")
	for _, object := range content.Objects {
		if object.GetKind() == "Deployment" {
			Expect(unstructured.SetNestedField(object.Object, "golden", "spec", "template", "spec", "nodeSelector", "disk")).To(Succeed())
		}
	}
	return content
}

var _ = Describe("The installations of a Manifest", func() {
	It("come in order: definitions, the first, the further ones, each when all before it are ready", func() {
		env.FaultFree()
		name := testkit.Unique("order")
		crds := env.PushLayer(definitionFor(name), v1beta2.RefTypeOCI)
		first := publish(testkit.RawManifest([]byte(string(stuckDeployment(name).YAML()) + "---\n" + customFor("sample", name))))
		chart := testkit.Chart(name, "1.0.0", testkit.Files{"templates/two.yaml": mapNamed(name+"-second", "1.0.0")})
		manifest := standAlone(first, also("second", env.PushLayer(chart.Gzip(), v1beta2.RefTypeHelmChart)),
			also("third", publish(testkit.RawManifest([]byte(mapNamed(name+"-third", "1.0.0"))))),
			func(m *v1beta2.Manifest) { m.Spec.Install.Name, m.Spec.CRDs = "first", &crds })

		waits := And(testkit.HaveState(v1beta2.StateProcessing), testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionFalse, v1beta2.ReasonWaitingForInstall),
			HaveField("Status.LastOperation.Operation", And(HavePrefix("second waits for"), ContainSubstring(name))))
		Eventually(testkit.Live(env.Hub, manifest)).Should(waits)
		Consistently(testkit.Live(env.Hub, manifest)).Should(waits)
		Expect(settings(name + "-second")()).To(BeNil())
		Expect(settings(name + "-third")()).To(BeNil())

		By("going on by itself once the first runs")
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) {
			source := publish(testkit.RawManifest([]byte(string(testkit.Deployment(name, "1.0.0").YAML()) + "---\n" + customFor("sample", name))))
			m.Spec.Install.Source = testkit.Raw(source)
		})
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(
			HaveField("Status.Resolved", HaveExactElements(HaveField("Name", "spec.crds"), HaveField("Name", "first"), HaveField("Name", "second"), HaveField("Name", "third"))),
			HaveField("Status.Synced", HaveLen(6))))
		Expect(created(name + "-second")).To(BeTemporally("<=", created(name+"-third")))

		By("putting back what of a later one is deleted, although an earlier one does not run")
		env.Runtimes[0].Delete(configMap(name + "-third"))
		Eventually(settings(name+"-third"), atOnce).ShouldNot(BeNil())

		By("pruning an installation that is no longer asked for")
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.AdditionalInstalls = m.Spec.AdditionalInstalls[:1] })
		Eventually(settings(name + "-third")).Should(BeNil())
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(HaveField("Status.Synced", HaveLen(5))))
		expectRemoved(manifest, name+"-second")
		expectGone(env.Runtimes[0], definitionOf(testkit.Operator(name, "1.0.0")), deployment(name))
	})

	It("that name no namespace go to spec.targetNamespace", func() {
		env.FaultFree()
		name, namespace := testkit.Unique("target"), testkit.Unique("space")
		env.Runtimes[0].Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
		manifest := standAlone(publish(testkit.RawManifest([]byte(mapNamed(name, "1.0.0")))), func(m *v1beta2.Manifest) { m.Spec.TargetNamespace = namespace })
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(HaveField("Status.Synced", HaveExactElements(HaveField("Namespace", namespace)))))
		Expect(settingsIn(namespace, name)()).NotTo(BeNil())
		remove(manifest)
		Expect(settingsIn(namespace, name)()).To(BeNil())
	})
})

func created(name string) time.Time {
	GinkgoHelper()
	found := configMap(name)
	Expect(env.Runtimes[0].Client.Get(ctx(), client.ObjectKeyFromObject(found), found)).To(Succeed())
	return found.CreationTimestamp.Time
}
