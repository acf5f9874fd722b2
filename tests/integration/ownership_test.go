package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// pause makes the manager leave a Manifest alone, unpause ends that.
func pause(manifest *v1beta2.Manifest) {
	GinkgoHelper()
	testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) {
		metav1.SetMetaDataLabel(&m.ObjectMeta, v1beta2.LabelSkipReconciliation, v1beta2.EnabledValue)
	})
}

func unpause(manifest *v1beta2.Manifest) {
	GinkgoHelper()
	testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { delete(m.Labels, v1beta2.LabelSkipReconciliation) })
}

// ownerOf returns the owner mark of a ConfigMap.
func ownerOf(cluster *testkit.Cluster, name string) func() (string, error) {
	return func() (string, error) {
		live, err := testkit.Live(cluster, configMap(name))()
		return live.Annotations[v1beta2.AnnotationOwnedBy], err
	}
}

// sharing offers two modules that have one ConfigMap in common and one of their own each.
func sharing() (first, second, shared string) {
	GinkgoHelper()
	first, second, shared = testkit.Unique("maps"), testkit.Unique("maps"), testkit.Unique("shared")
	for _, module := range []string{first, second} {
		content := testkit.ConfigMaps(module, "1.0.0", 1)
		content.Objects = append(content.Objects, testkit.ConfigMaps(shared, "1.0.0", 1).Objects...)
		env.Offer(module, "1.0.0", content, "regular")
	}
	return first, second, shared + "-0"
}

var _ = Describe("Objects in a runtime", func() {
	It("of a remote Kyma stay there although a user edits spec.remote of the Manifest to false", func() {
		env.FaultFree()
		runtime := env.Runtimes[0]
		module := offerMaps("1.0.0")
		kyma := readyKyma(runtime, testkit.WithModule(module))
		// No one puts the Manifest back meanwhile.
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Labels[v1beta2.LabelSkipReconciliation] = v1beta2.EnabledValue })
		manifest := manifestOf(kyma, module)
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.Remote = false })
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		expectHealed(runtime, configMap(module+"-0"))
		expectGone(env.Hub, configMap(module+"-0"))
		env.Hub.Delete(manifest)
		Eventually(testkit.Gone(env.Hub, manifest)).Should(BeTrue())
		expectGone(runtime, configMap(module+"-0"), configMap(module+"-1"))

		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { delete(k.Labels, v1beta2.LabelSkipReconciliation) })
		Eventually(env.ManifestOf(kyma.Name, module)).Should(And(testkit.HaveState(v1beta2.StateReady), HaveField("Spec.Remote", BeTrue())))
	})

	It("are not deleted when a user took the owner mark from them by hand", func() {
		runtime := env.Runtimes[0]
		name := testkit.Unique("maps")
		manifest := standAlone(publish(testkit.RawManifest(testkit.ConfigMaps(name, "1.0.0", 2).YAML())))
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))

		By("coming back while the Manifest lives")
		unmark := func(c *corev1.ConfigMap) { delete(c.Annotations, v1beta2.AnnotationOwnedBy) }
		owner := v1beta2.DefaultNamespace + "/" + manifest.Name
		testkit.Edit(runtime, configMap(name+"-0"), unmark)
		Eventually(ownerOf(runtime, name+"-0"), atOnce).Should(Equal(owner))

		By("being respected when it goes")
		pause(manifest)
		Eventually(func(g Gomega) { // the label comes by another way than the edit, and may come later
			testkit.Edit(runtime, configMap(name+"-0"), unmark)
			g.Consistently(ownerOf(runtime, name+"-0"), "1s").Should(BeEmpty())
		}).Should(Succeed())
		env.Hub.Delete(manifest)
		unpause(manifest)
		Eventually(testkit.Gone(env.Hub, manifest)).Should(BeTrue())
		expectThere(runtime, configMap(name+"-0"))
		expectGone(runtime, configMap(name+"-1"))
	})

	It("that another module of the same Kyma declares too stay when the one that made them is disabled", func() {
		env.FaultFree()
		runtime := env.Runtimes[0]
		first, second, shared := sharing()
		kyma := readyKyma(runtime, testkit.WithModule(first))
		was, err := testkit.Live(runtime, configMap(shared))()
		Expect(err).NotTo(HaveOccurred())
		enable(kyma, v1beta2.Module{Name: second})
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveModule(second, testkit.HaveState(v1beta2.StateReady))))
		Expect(ownerOf(runtime, shared)()).To(HaveSuffix(manifestOf(kyma, first).Name))

		By("disabling the one that made it")
		disable(kyma, first)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(first)))
		expectGone(runtime, configMap(first+"-0"))
		Eventually(ownerOf(runtime, shared)).Should(HaveSuffix(manifestOf(kyma, second).Name))
		Expect(testkit.Live(runtime, configMap(shared))()).To(HaveField("UID", was.UID))

		By("healing it for the one that took it over")
		expectHealed(runtime, configMap(shared))
		testkit.Edit(runtime, configMap(shared), func(c *corev1.ConfigMap) { c.Data["version"] = "changed by hand" })
		Eventually(versionIn(runtime, shared), atOnce).Should(Equal("1.0.0"))

		By("enabling the first again, and disabling it while it only shares")
		enable(kyma, v1beta2.Module{Name: first})
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(first, testkit.HaveState(v1beta2.StateReady)))
		disable(kyma, first)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(first)))
		expectThere(runtime, configMap(shared))

		By("disabling the last one")
		disable(kyma, second)
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveNoModule(second))
		expectGone(runtime, configMap(shared), configMap(second+"-0"))
	})

	It("that two modules share go with their Kyma", func() {
		env.FaultFree()
		first, second, shared := sharing()
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(first), testkit.WithModule(second))
		remove(kyma)
		expectGone(env.Runtimes[0], configMap(shared), configMap(first+"-0"), configMap(second+"-0"))
	})

	DescribeTable("that exist already, without an owner, and a stand-alone Manifest",
		func(ownership v1beta2.Ownership, taken bool) {
			runtime := env.Runtimes[0]
			name := testkit.Unique("maps")
			existing := configMap(name + "-0")
			existing.Data = map[string]string{"version": "another user's"}
			runtime.Create(existing)
			manifest := standAlone(publish(testkit.RawManifest(testkit.ConfigMaps(name, "1.0.0", 2).YAML())),
				func(m *v1beta2.Manifest) { m.Spec.Ownership = ownership })
			if taken {
				Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
				Expect(versionIn(runtime, name+"-0")()).To(Equal("1.0.0"))
				remove(manifest)
				expectGone(runtime, existing, configMap(name+"-1"))
				return
			}
			Eventually(testkit.Live(env.Hub, manifest)).Should(
				tells(v1beta2.StateError, v1beta2.ReasonOwnershipConflict, "ConfigMap default/"+name+"-0"))
			Expect(versionIn(runtime, name+"-1")()).To(Equal("1.0.0"))
			remove(manifest)
			Expect(testkit.Live(runtime, existing)()).To(And(HaveField("UID", existing.UID), HaveField("ResourceVersion", existing.ResourceVersion)))
			expectGone(runtime, configMap(name+"-1"))
		},
		Entry("leaves them alone by default", v1beta2.Ownership(""), false),
		Entry("leaves them alone with Prevent", v1beta2.OwnershipPrevent, false),
		Entry("takes them over with AdoptIfUnowned", v1beta2.OwnershipAdoptIfUnowned, true),
		Entry("takes them over with Adopt", v1beta2.OwnershipAdopt, true),
	)
})
