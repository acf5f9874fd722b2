package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

var _ = Describe("The label skip-reconciliation", func() {
	It("on a module's Manifest survives what its Kyma does, and what was deleted comes back when the label goes", func() {
		runtime := env.Runtimes[0]
		module := testkit.Unique("deploy")
		env.Offer(module, "1.0.0", testkit.Deployment(module, "1.0.0"), "regular")
		kyma := readyKyma(runtime, testkit.WithModule(module))
		manifest := manifestOf(kyma, module)
		labelled(manifest, v1beta2.LabelSkipReconciliation, true)
		Eventually(func(g Gomega) { // the label comes by another way than the deletion, and may come later
			runtime.Delete(deployment(module))
			g.Consistently(testkit.Gone(runtime, deployment(module)), "1s").Should(BeTrue())
		}).Should(Succeed())
		env.Offer(module, "1.1.0", testkit.Deployment(module, "1.1.0"), "regular")
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveVersion("1.1.0"))
		Consistently(testkit.Gone(runtime, deployment(module))).Should(BeTrue())
		Expect(testkit.Live(env.Hub, manifest)()).To(HaveField("Labels", And(
			HaveKeyWithValue(v1beta2.LabelSkipReconciliation, v1beta2.EnabledValue), HaveKeyWithValue(v1beta2.LabelChannel, "regular"))))
		Expect(testkit.Live(env.Hub, kyma)()).To(testkit.HaveModule(module, testkit.HaveState(v1beta2.StateProcessing)))
		labelled(manifest, v1beta2.LabelSkipReconciliation, false)
		Eventually(imageOf(runtime, module)).Should(HaveSuffix(":1.1.0"))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
	})

	It("on a Kyma keeps a changed template and a new module away, status included, until it goes", func() {
		module, added := offerMaps("1.0.0"), offerMaps("1.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		whileDown(func() { labelled(kyma, v1beta2.LabelSkipReconciliation, true) }) // what follows comes by other ways, and may come sooner
		before, err := testkit.Live(env.Hub, kyma)()
		Expect(err).NotTo(HaveOccurred())
		enable(kyma, v1beta2.Module{Name: added})
		editTemplate(module, func(t *v1beta2.ModuleTemplate) {
			t.Spec.Manager = &v1beta2.Manager{
				GroupVersionKind: metav1.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, Name: "later",
			}
		})
		Consistently(testkit.Live(env.Hub, kyma)).Should(HaveField("Status", before.Status))
		Expect(manifestsOf(kyma)()).To(ConsistOf(HaveField("Spec.Manager", BeNil())))
		labelled(kyma, v1beta2.LabelSkipReconciliation, false)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveModule(added, testkit.HaveState(v1beta2.StateReady))))
		Expect(manifestOf(kyma, module).Spec.Manager).To(HaveField("Name", "later"))
	})
})
