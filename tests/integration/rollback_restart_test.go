package integration

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// golden lets the pods of stuckDeployment run, or not any more.
func golden(value string) {
	GinkgoHelper()
	nodes := &corev1.NodeList{}
	Expect(env.Runtimes[0].Client.List(ctx(), nodes)).To(Succeed())
	Expect(nodes.Items).NotTo(BeEmpty())
	for i := range nodes.Items {
		testkit.Edit(env.Runtimes[0], &nodes.Items[i], func(n *corev1.Node) {
			delete(n.Labels, "disk")
			if value != "" {
				n.Labels["disk"] = value
			}
		})
	}
}

var _ = Describe("A manager that was down during an upgrade", func() {
	// upgrading is a Kyma whose module was ready at 1.0.0, and whose 1.1.0 is not available yet.
	upgrading := func() (*v1beta2.Kyma, string) {
		GinkgoHelper()
		module := testkit.Unique("back")
		offerBack(module, "1.0.0", testkit.Deployment(module, "1.0.0"), "")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module), goesBack)
		Eventually(env.ManifestOf(kyma.Name, module)).Should(became("1.0.0 Succeeded"))
		offerBack(module, "1.1.0", stuckDeployment(module), ">=1.0.0")
		Eventually(env.ManifestOf(kyma.Name, module)).Should(And(became("1.0.0 Succeeded", "1.1.0 "),
			HaveField("Status.LastOperation.Operation", ContainSubstring(module+": "))))
		return kyma, module
	}
	// longer is an outage that is longer than the deadline.
	longer := func() {
		GinkgoHelper()
		began := time.Now()
		Eventually(func() time.Duration { return time.Since(began) }).Should(BeNumerically(">", 12*time.Second))
	}

	It("does not go back from what became ready meanwhile, as the status from before seems to demand", func() {
		kyma, module := upgrading()
		DeferCleanup(golden, "")
		whileDown(func() {
			longer()
			golden("golden")
			Eventually(testkit.Live(env.Runtimes[0], deployment(module))).Should(HaveField("Status.AvailableReplicas", BeEquivalentTo(1)))
		})
		Eventually(env.ManifestOf(kyma.Name, module)).Should(became("1.0.0 Succeeded", "1.1.0 Succeeded"))
		Eventually(testkit.Live(env.Hub, kyma)).Should(isReadyAt(module, "1.1.0"))
	})

	It("goes back once it has observed for long enough that the version does not become ready", func() {
		kyma, module := upgrading()
		var began time.Time
		whileDown(func() {
			longer()
			began = time.Now() // not after the start: startManager may return when a pass has already observed
		})
		Eventually(testkit.Live(env.Hub, kyma), "60s").Should(isBackAt(module, "1.0.0", "1.1.0@sha256:", "failed here"))
		Expect(time.Since(began)).To(BeNumerically(">", 9*time.Second), "an outage counted as time in which the version had failed")
	})
})
