package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// expectUntouched sees that a cluster got nothing of what a runtime gets.
func expectUntouched(cluster *testkit.Cluster, modules ...string) {
	GinkgoHelper()
	if cluster != env.Hub { // there local Kymas of other specs may have made it
		expectGone(cluster, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1beta2.RuntimeNamespace}})
	}
	Expect(copyGone(cluster)()).To(BeTrue())
	for _, module := range modules {
		Expect(versionIn(cluster, module+"-0")()).To(BeEmpty())
	}
}

var _ = Describe("The credentials of a synchronised Kyma", Ordered, func() {
	var runtime *testkit.Cluster

	BeforeAll(func() { runtime = env.AddRuntime(testkit.Unique("creds")) })
	BeforeEach(emptyHub)
	AfterEach(emptyHub)

	It("may suddenly lead to another cluster: nothing is called there, and the right ones heal without a restart", func() {
		other := env.AddRuntime(testkit.Unique("other"))
		maps, more := offerMaps("1.0.0", "1.1.0"), offerMaps("1.0.0")
		kyma := readySynced(kubeconfigOf(runtime), testkit.WithModule(maps))
		atRest()
		far := runtimeCalls.Snapshot()
		rotate(kyma, kubeconfigOf(other))
		replaced := tells(v1beta2.StateError, v1beta2.ReasonRuntimeReplaced, "another cluster than before")
		Eventually(testkit.Live(env.Hub, kyma)).Should(replaced)
		Eventually(env.ManifestOf(kyma.Name, maps)).Should(tells(v1beta2.StateError, v1beta2.ReasonRuntimeReplaced))
		enable(kyma, v1beta2.Module{Name: more})
		env.Point(maps, "1.1.0", "regular")
		Consistently(testkit.Live(env.Hub, kyma)).Should(HaveField("Status.State", v1beta2.StateError))
		expectUntouched(other, maps, more)
		Expect(writes(runtimeCalls.Since(far))).To(BeEmpty())
		Expect(versionIn(runtime, maps+"-0")()).To(Equal("1.0.0"))

		rotate(kyma, kubeconfigOf(runtime))
		Eventually(testkit.Live(env.Hub, kyma), "30s").Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveModule(maps, testkit.HaveVersion("1.1.0")), testkit.HaveModule(more, testkit.HaveState(v1beta2.StateReady))))

		By("and a deletion waits, without touching the other cluster")
		rotate(kyma, kubeconfigOf(other))
		Eventually(testkit.Live(env.Hub, kyma)).Should(replaced)
		env.Hub.Delete(kyma)
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateDeleting, v1beta2.ReasonDeleting, "another cluster than before"))
		Consistently(testkit.Gone(env.Hub, kyma)).Should(BeFalse())
		expectUntouched(other, maps, more)
		rotate(kyma, kubeconfigOf(runtime))
		Eventually(testkit.Gone(env.Hub, kyma), "30s").Should(BeTrue())
		expectGone(runtime, append(definitions(), configMap(maps+"-0"), configMap(more+"-0"))...)
	})

	It("may lead to the hub itself: refused, and the hub's definitions stay, also when the Kyma goes", func() {
		before := versionsOf(env.Hub, definitions()...)
		maps := offerMaps("1.0.0")
		kyma := synced(kubeconfigOf(env.Hub), testkit.WithModule(maps))
		refused := tells(v1beta2.StateError, v1beta2.ReasonKubeconfigRefused, "leads to the hub itself", "spec.remote: false")
		Eventually(testkit.Live(env.Hub, kyma)).Should(refused)
		Consistently(testkit.Live(env.Hub, kyma)).Should(refused)
		expectUntouched(env.Hub, maps)
		remove(kyma) // nothing was brought there, so nothing is waited for
		Expect(versionsOf(env.Hub, definitions()...)).To(Equal(before))

		By("one that has a runtime")
		kyma = readySynced(kubeconfigOf(runtime), testkit.WithModule(maps))
		rotate(kyma, kubeconfigOf(env.Hub))
		Eventually(testkit.Live(env.Hub, kyma)).Should(HaveField("Status.State", v1beta2.StateError))
		env.Hub.Delete(kyma)
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateDeleting, v1beta2.ReasonDeleting, "delete its access Secret"))
		Consistently(testkit.Gone(env.Hub, kyma)).Should(BeFalse())
		expectUntouched(env.Hub, maps)
		rotate(kyma, kubeconfigOf(runtime))
		Eventually(testkit.Gone(env.Hub, kyma), "30s").Should(BeTrue())
		Expect(versionsOf(env.Hub, definitions()...)).To(Equal(before))
		expectGone(runtime, definitions()...)
	})

	It("may be two, which are named, and one of them heals", func() {
		kyma := readySynced(kubeconfigOf(runtime), testkit.WithModule(offerMaps("1.0.0")))
		second := testkit.NewAccessSecret(kyma.Name, kubeconfigOf(runtime))
		second.Name += "-second"
		env.Hub.Create(second)
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(
			tells(v1beta2.StateError, v1beta2.ReasonAccessSecretAmbiguous, kyma.Name+", "+second.Name))
		expectThere(runtime, append(definitions(), copied())...)
		env.Hub.Delete(second)
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(testkit.HaveState(v1beta2.StateReady))
		remove(kyma)
	})

	It("may come after the Kyma, and are noticed at once", func() {
		kyma := testkit.Kyma(testkit.Unique("kyma"), testkit.WithModule(offerMaps("1.0.0")))
		env.Hub.Create(kyma)
		missing := tells(v1beta2.StateError, v1beta2.ReasonAccessSecretNotFound)
		Eventually(testkit.Live(env.Hub, kyma)).Should(missing)
		Consistently(testkit.Live(env.Hub, kyma)).Should(missing)
		env.Hub.Create(testkit.NewAccessSecret(kyma.Name, kubeconfigOf(runtime)))
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(testkit.HaveState(v1beta2.StateReady))
		expectThere(runtime, copied())
		remove(kyma)
	})

	It("may lose rights: that is told, what runs stays, and better ones heal without a restart", func() {
		maps := offerMaps("1.0.0")
		kyma := readySynced(kubeconfigOf(runtime), testkit.WithModule(maps))
		none, _ := userOf(runtime)
		rotate(kyma, none)
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonRuntimeForbidden))
		Expect(versionIn(runtime, maps+"-0")()).To(Equal("1.0.0"))
		reader, _ := userOf(runtime, "get", "list", "watch")
		rotate(kyma, reader)
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(testkit.HaveState(v1beta2.StateReady), "there is nothing to write")
		Eventually(func() error { return runtime.Client.Delete(ctx(), copied()) }).Should(Succeed())
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateProcessing),
			testkit.HaveCondition(v1beta2.ConditionSpecSync, metav1.ConditionFalse, v1beta2.ReasonSyncFailed)))
		rotate(kyma, kubeconfigOf(runtime))
		Eventually(testkit.Live(env.Hub, kyma), "20s").Should(testkit.HaveState(v1beta2.StateReady))
		expectThere(runtime, copied())
		remove(kyma)
	})
})

var _ = Describe("A synchronised Kyma with modules", func() {
	It("costs no call at rest, and no write when the manager starts anew", func() {
		emptyHub()
		env.FaultFree()
		runtime := env.AddRuntime(testkit.Unique("quiet"))
		module, _ := operatorModule(nil)
		kyma := readySynced(kubeconfigOf(runtime), testkit.WithModule(module), testkit.WithModule(offerMaps("1.0.0")))
		Eventually(testkit.Live(runtime, copied())).Should(HaveField("Status.State", v1beta2.StateReady))
		expectNoCalls()
		hub, far := hubCalls.Snapshot(), runtimeCalls.Snapshot()
		whileDown(func() {})
		Eventually(func() int { return runtimeCalls.Since(far).Total() }).ShouldNot(BeZero())
		expectNoCalls()
		Expect(writes(hubCalls.Since(hub))).To(BeEmpty())
		Expect(writes(runtimeCalls.Since(far))).To(BeEmpty())
		Expect(testkit.Live(env.Hub, kyma)()).To(testkit.HaveState(v1beta2.StateReady))
		remove(kyma)
	})
})
