package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// manage sets spec.modules[0].managed.
func manage(kyma *v1beta2.Kyma, managed bool) {
	GinkgoHelper()
	testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules[0].Managed = &managed })
}

// expectLetGo waits until a module is unmanaged and has no Manifest.
func expectLetGo(kyma *v1beta2.Kyma, module string) {
	GinkgoHelper()
	Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady),
		testkit.HaveModule(module, testkit.HaveState(v1beta2.StateUnmanaged), HaveField("Manifest", BeNil()), HaveField("Resource", BeNil()))))
	Eventually(manifestsOf(kyma)).Should(BeEmpty())
}

// marks returns the values of label managed-by on objects of a runtime.
func marks(runtime *testkit.Cluster, objects ...client.Object) []string {
	GinkgoHelper()
	var found []string
	for _, object := range objects {
		live, err := testkit.Live(runtime, object)()
		Expect(err).NotTo(HaveOccurred())
		found = append(found, live.GetLabels()[v1beta2.LabelManagedBy])
	}
	return found
}

func serviceAccount(name string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}}
}

var _ = Describe("A module that is no longer managed", func() {
	DescribeTable("stays as it is, without the mark and without anyone who heals it, and is taken back as it is", func(policy v1beta2.CustomResourcePolicy) {
		env.FaultFree()
		runtime := env.Runtimes[0]
		module, content := operatorModule(nil)
		kyma := readyKyma(runtime, testkit.WithModule(module, testkit.WithPolicy(policy)))
		if policy == v1beta2.CustomResourcePolicyIgnore {
			runtime.Create(content.DefaultCR.DeepCopy())
		}
		parts := partsOf(content)
		Expect(marks(runtime, parts...)).To(HaveEach(v1beta2.ManagedByKyma))
		operator, err := testkit.Live(runtime, deployment(module))()
		Expect(err).NotTo(HaveOccurred())
		resource, err := testkit.Live(runtime, content.DefaultCR)()
		Expect(err).NotTo(HaveOccurred())

		manage(kyma, false)
		expectLetGo(kyma, module)
		expectThere(runtime, append(parts, content.DefaultCR)...)
		Expect(marks(runtime, parts...)).To(HaveEach(""))
		runtime.Delete(serviceAccount(module))
		Consistently(testkit.Gone(runtime, serviceAccount(module))).Should(BeTrue())

		By("having a new version of its channel pass it by")
		env.Offer(module, "1.1.0", testkit.Operator(module, "1.1.0"), "regular")
		Consistently(imageOf(runtime, module)).Should(HaveSuffix(":1.0.0"))
		Expect(manifestsOf(kyma)()).To(BeEmpty())
		env.Point(module, "1.0.0", "regular")

		By("being managed again: only what is missing is made")
		manage(kyma, true)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady), testkit.HaveVersion("1.0.0"))))
		Expect(marks(runtime, parts...)).To(HaveEach(v1beta2.ManagedByKyma))
		Expect(testkit.Live(runtime, deployment(module))()).To(And(HaveField("UID", operator.UID), HaveField("Generation", operator.Generation)))
		Expect(testkit.Live(runtime, content.DefaultCR)()).To(WithTransform(client.Object.GetUID, Equal(resource.GetUID())))
	},
		Entry("with policy CreateAndDelete", v1beta2.CustomResourcePolicyCreateAndDelete),
		Entry("with policy Ignore", v1beta2.CustomResourcePolicyIgnore),
	)

	It("and managed several times in a row ends as it was asked for last", func() {
		module := offerMaps("1.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		for range 3 {
			manage(kyma, false)
			manage(kyma, true)
		}
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady))))
		Consistently(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		manage(kyma, false)
		expectLetGo(kyma, module)
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(Equal("1.0.0"))
	})

	It("from the beginning is not installed", func() {
		module := offerMaps("1.0.0")
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module, testkit.NotManaged()))
		expectLetGo(kyma, module)
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(BeEmpty())
	})

	It("stays when it is taken from the spec, and when its Kyma goes", func() {
		first, second := offerMaps("1.0.0"), offerMaps("1.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(first), testkit.WithModule(second))
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) {
			k.Spec.Modules[0].Managed, k.Spec.Modules[1].Managed = new(bool), new(bool)
		})
		Eventually(manifestsOf(kyma)).Should(BeEmpty())
		disable(kyma, first)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(first)))
		remove(kyma)
		Expect(versionIn(env.Runtimes[0], first+"-0")()).To(Equal("1.0.0"))
		Expect(versionIn(env.Runtimes[0], second+"-0")()).To(Equal("1.0.0"))
	})

	It("is let go of although its runtime is gone", func() {
		module := offerMaps("1.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		env.Hub.Delete(testkit.NewAccessSecret(kyma.Name, nil))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateError))
		manage(kyma, false)
		Eventually(manifestsOf(kyma)).Should(BeEmpty())
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(Equal("1.0.0"))
	})
})

var _ = Describe("Letting go of a module", func() {
	It("is taken up by a restarted manager", func() {
		module := offerMaps("1.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		whileDown(func() { manage(kyma, false) })
		expectLetGo(kyma, module)
		Expect(marks(env.Runtimes[0], configMap(module+"-0"), configMap(module+"-1"))).To(ConsistOf("", ""))
	})

	It("goes on after a restart in the middle of it, with an object unmarked already and another one gone", func() {
		module := testkit.Unique("maps")
		env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", 3), "regular")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		manifest := manifestOf(kyma, module)
		whileDown(func() {
			manage(kyma, false)
			testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) {
				metav1.SetMetaDataAnnotation(&m.ObjectMeta, v1beta2.AnnotationIsUnmanaged, v1beta2.EnabledValue)
			})
			env.Hub.Delete(manifest)
			testkit.Edit(env.Runtimes[0], configMap(module+"-0"), func(c *corev1.ConfigMap) { delete(c.Labels, v1beta2.LabelManagedBy) })
			env.Runtimes[0].Delete(configMap(module + "-1"))
		})
		expectLetGo(kyma, module)
		Expect(marks(env.Runtimes[0], configMap(module+"-0"), configMap(module+"-2"))).To(ConsistOf("", ""))
		expectGone(env.Runtimes[0], configMap(module+"-1"))
		manage(kyma, true)
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady)))
	})
})
