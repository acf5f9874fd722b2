package integration

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

var _ = Describe("An upgrade that creates no object", func() {
	var module string
	var kyma *v1beta2.Kyma
	BeforeEach(func() {
		module = testkit.Unique("change")
		env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", 3), "regular")
		kyma = readyKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(isReadyAt(module, "1.0.0"))
	})
	// objects expects all objects of the module to have this content.
	objects := func(content string) {
		GinkgoHelper()
		for i := range 3 {
			Eventually(testkit.Live(env.Runtimes[0], configMap(fmt.Sprintf("%s-%d", module, i)))).
				Should(HaveField("Data", HaveKeyWithValue("version", content)))
		}
	}

	It("costs the hub two writes for the module and two for the Kyma", func() {
		env.FaultFree()
		atRest()
		hub := hubCalls.Snapshot()
		env.Offer(module, "1.1.0", testkit.ConfigMaps(module, "1.1.0", 3), "regular")
		Eventually(testkit.Live(env.Hub, kyma)).Should(isReadyAt(module, "1.1.0"))
		made := writes(hubCalls.Since(hub))
		Expect(made.Total()).To(BeNumerically("<=", 4), made.String())
		Expect(env.ManifestOf(kyma.Name, module)()).To(HaveField("Status.AppliedGeneration", BeNumerically("==", 2)))
	})

	It("is not mistaken for one that never began when it is interrupted and taken back", func() {
		By("a first change: it shows in the managed fields, which the next ones do not")
		env.Offer(module, "1.1.0", testkit.ConfigMaps(module, "1.1.0", 3), "regular")
		Eventually(testkit.Live(env.Hub, kyma)).Should(isReadyAt(module, "1.1.0"))

		lift := denyStatus(kyma)
		env.Offer(module, "1.2.0", testkit.ConfigMaps(module, "1.2.0", 3), "regular")
		objects("1.2.0")
		Expect(env.ManifestOf(kyma.Name, module)()).To(HaveField("Status.AppliedGeneration", BeNumerically("==", 2)))
		env.Offer(module, "1.3.0", testkit.ConfigMaps(module, "1.1.0", 3), "regular") // the content that is recorded
		Eventually(env.ManifestOf(kyma.Name, module)).Should(HaveField("Spec.Version", "1.3.0"))
		lift()
		Eventually(testkit.Live(env.Hub, kyma)).Should(isReadyAt(module, "1.3.0"))
		objects("1.1.0")
	})
})
