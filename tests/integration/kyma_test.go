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

// manifestsOf lists the Manifests of a Kyma.
func manifestsOf(kyma *v1beta2.Kyma) func() ([]v1beta2.Manifest, error) {
	return func() ([]v1beta2.Manifest, error) {
		list := &v1beta2.ManifestList{}
		err := env.Hub.Client.List(ctx(), list, client.InNamespace(kyma.Namespace), client.MatchingLabels{v1beta2.LabelKymaName: kyma.Name})
		return list.Items, err
	}
}

// versionIn reads the version that a sample module's object has in a cluster; "" while it is not there.
func versionIn(cluster *testkit.Cluster, name string) func() (string, error) {
	return func() (string, error) {
		found := &corev1.ConfigMap{}
		err := cluster.Client.Get(ctx(), client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: name}, found)
		return found.Data["version"], client.IgnoreNotFound(err)
	}
}

// offerMaps offers versions of a module of two ConfigMaps: the first on regular, the last on fast.
func offerMaps(versions ...string) string {
	GinkgoHelper()
	module := testkit.Unique("maps")
	for _, version := range versions {
		env.Offer(module, version, testkit.ConfigMaps(module, version, 2))
	}
	env.Point(module, versions[0], "regular")
	env.Point(module, versions[len(versions)-1], "fast")
	return module
}

var _ = Describe("A Kyma", func() {
	It("gets a Manifest as upstream makes it", func() {
		module := offerMaps("1.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(manifestsOf(kyma)).Should(HaveLen(1))
		manifests, err := manifestsOf(kyma)()
		Expect(err).NotTo(HaveOccurred())
		Expect(manifests[0].Labels).To(And(
			HaveKeyWithValue(v1beta2.LabelModuleName, module),
			HaveKeyWithValue(v1beta2.LabelChannel, "regular"),
			HaveKeyWithValue(v1beta2.LabelManagedBy, v1beta2.ManagedByLifecycleManager)))
		Expect(manifests[0].Finalizers).To(ConsistOf(v1beta2.FinalizerManifest, v1beta2.FinalizerLabelRemoval))
		Expect(manifests[0].OwnerReferences).To(HaveLen(1))
		Expect(manifests[0].Spec.Version).To(Equal("1.0.0"))
		var managers []string
		for _, entry := range manifests[0].ManagedFields {
			managers = append(managers, entry.Manager)
		}
		Expect(managers).To(ContainElement("lifecycle-manager"))
	})

	It("follows its modules: as many Manifests as modules, and none when it is deleted", func() {
		env.FaultFree()
		first, second := offerMaps("1.0.0"), offerMaps("1.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(first), testkit.WithModule(second))
		Eventually(manifestsOf(kyma)).Should(HaveLen(2))
		Expect(kyma.Name).NotTo(BeEmpty())
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules = k.Spec.Modules[:1] })
		Eventually(manifestsOf(kyma)).Should(HaveLen(1))
		Eventually(versionIn(env.Runtimes[0], second+"-0")).Should(BeEmpty())
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(second)))

		env.Hub.Delete(kyma)
		Eventually(testkit.Gone(env.Hub, kyma)).Should(BeTrue())
		Expect(manifestsOf(kyma)()).To(BeEmpty())
		Expect(versionIn(env.Runtimes[0], first+"-0")()).To(BeEmpty())
	})

	It("takes a new version of its channel at once, is not Ready before it runs, and prunes what the version dropped", func() {
		env.FaultFree()
		module := testkit.Unique("maps")
		env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", 3), "regular")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(versionIn(env.Runtimes[0], module+"-2")).Should(Equal("1.0.0"))
		env.Offer(module, "1.1.0", testkit.ConfigMaps(module, "1.1.0", 2), "regular")
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveVersion("1.1.0"), testkit.HaveState(v1beta2.StateReady)))
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(Equal("1.1.0"))
		Expect(versionIn(env.Runtimes[0], module+"-2")()).To(BeEmpty())
	})

	It("lets a module have a channel of its own, and keeps the higher version when it goes back", func() {
		module := offerMaps("1.0.0", "2.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module, testkit.FromChannel("fast")))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveVersion("2.0.0")))
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules[0].Channel = "" })
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			testkit.HaveState(v1beta2.StateWarning),
			testkit.HaveModule(module, testkit.HaveState(v1beta2.StateWarning), testkit.HaveVersion("2.0.0"),
				HaveField("Message", ContainSubstring("ignore channel skew (from fast to regular), as a higher version (2.0.0)")))))
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(Equal("2.0.0"))
	})

	It("pins a version, and says what it cannot find while it keeps what runs", func() {
		module := offerMaps("1.0.0", "2.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module, testkit.AtVersion("2.0.0")))
		Eventually(versionIn(env.Runtimes[0], module+"-0")).Should(Equal("2.0.0"))
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules[0].Version = "3.0.0" })
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveState(v1beta2.StateError),
			HaveField("Message", ContainSubstring(`"`+module+`-3.0.0" not found`))))
		Consistently(versionIn(env.Runtimes[0], module+"-0")).Should(Equal("2.0.0"))
	})

	DescribeTable("refuses what it cannot resolve, and tells why",
		func(module v1beta2.Module, state v1beta2.State, reason, message string) {
			kyma := testkit.Kyma(testkit.Unique("kyma"), testkit.Unsynced())
			kyma.Spec.Modules = []v1beta2.Module{module}
			env.AccessSecret(kyma.Name, env.Runtimes[0])
			env.Hub.Create(kyma)
			Eventually(testkit.Live(env.Hub, kyma)).Should(And(
				testkit.HaveState(state),
				testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionFalse, reason),
				testkit.HaveModule(module.Name, testkit.HaveState(state), HaveField("Message", ContainSubstring(message)))))
			Expect(manifestsOf(kyma)()).To(BeEmpty())
		},
		Entry("a module that no one offers", v1beta2.Module{Name: "nobody-offers"}, v1beta2.StateWarning,
			v1beta2.ReasonReleaseNotFound, "no ModuleReleaseMeta found"),
		Entry("a module by namespace and name", v1beta2.Module{Name: "kcp-system/template-operator"}, v1beta2.StateWarning,
			v1beta2.ReasonReleaseNotFound, "no ModuleReleaseMeta found"),
		Entry("a module by its component name", v1beta2.Module{Name: "kyma-project.io/module/template-operator"}, v1beta2.StateWarning,
			v1beta2.ReasonReleaseNotFound, "no ModuleReleaseMeta found"),
		Entry("channel none", v1beta2.Module{Name: "nobody-offers", Channel: "none"}, v1beta2.StateError,
			v1beta2.ReasonChannelInvalid, `"none" is not allowed`),
	)

	It("says so when the channel offers no version, the template is missing or the component is not in the registry", func() {
		module := offerMaps("1.0.0")
		kyma := testkit.Kyma(testkit.Unique("kyma"), testkit.Unsynced(), testkit.WithModule(module, testkit.FromChannel("nightly")))
		env.AccessSecret(kyma.Name, env.Runtimes[0])
		env.Hub.Create(kyma)
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionFalse, v1beta2.ReasonChannelNotFound))
		env.Point(module, "4.0.0", "nightly")
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionFalse, v1beta2.ReasonTemplateNotFound))
		env.Hub.Create(testkit.ModuleTemplate(module, "4.0.0"))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionFalse, v1beta2.ReasonComponentNotFound))
		By("healing by itself when the component is published")
		env.Publish(testkit.ComponentName(module), "4.0.0", testkit.RawManifest(testkit.ConfigMaps(module, "4.0.0", 1).YAML()))
		Eventually(versionIn(env.Runtimes[0], module+"-0"), "90s").Should(Equal("4.0.0"))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
	})

	It("is left alone with the label skip-reconciliation, and can still be deleted", func() {
		module := offerMaps("1.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		whileDown(func() { // or the version, which comes by another way, may come sooner
			testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Labels[v1beta2.LabelSkipReconciliation] = "True" })
		})
		env.Offer(module, "1.1.0", testkit.ConfigMaps(module, "1.1.0", 2), "regular")
		Consistently(versionIn(env.Runtimes[0], module+"-0")).Should(Equal("1.0.0"))
		env.Hub.Delete(kyma)
		Eventually(testkit.Gone(env.Hub, kyma)).Should(BeTrue())
	})

	It("puts a Manifest back that was edited by hand", func() {
		module := offerMaps("1.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		manifests, err := manifestsOf(kyma)()
		Expect(err).NotTo(HaveOccurred())
		manifest := &manifests[0]
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.Version = "9.9.9"; m.Labels[v1beta2.LabelChannel] = "other" })
		Eventually(testkit.Live(env.Hub, manifest)).Should(And(
			HaveField("Spec.Version", "1.0.0"), HaveField("Labels", HaveKeyWithValue(v1beta2.LabelChannel, "regular")), testkit.HaveState(v1beta2.StateReady)))
	})

	It("shares a module with another Kyma without either noticing", func() {
		module := offerMaps("1.0.0")
		first := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		second := readyKyma(env.SecondRuntime(), testkit.WithModule(module))
		env.Hub.Delete(first)
		Eventually(testkit.Gone(env.Hub, first)).Should(BeTrue())
		Expect(versionIn(env.SecondRuntime(), module+"-0")()).To(Equal("1.0.0"))
		Expect(testkit.Live(env.Hub, second)()).To(testkit.HaveState(v1beta2.StateReady))
	})

	It("installs into the hub itself with remote: false", func() {
		env.FaultFree()
		module := offerMaps("1.0.0")
		kyma := testkit.Kyma(testkit.Unique("kyma"), testkit.Local(), testkit.WithModule(module))
		env.Hub.Create(kyma)
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		Expect(versionIn(env.Hub, module+"-0")()).To(Equal("1.0.0"))
		env.Hub.Delete(kyma)
		Eventually(testkit.Gone(env.Hub, kyma)).Should(BeTrue())
		Expect(versionIn(env.Hub, module+"-0")()).To(BeEmpty())
	})

	It("lets go of an unmanaged module and takes it back", func() {
		module := offerMaps("1.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		off, on := false, true
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules[0].Managed = &off })
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			testkit.HaveState(v1beta2.StateReady), testkit.HaveModule(module, testkit.HaveState(v1beta2.StateUnmanaged))))
		Eventually(manifestsOf(kyma)).Should(BeEmpty())
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(Equal("1.0.0"))
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules[0].Managed = &on })
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady)))
	})
})
