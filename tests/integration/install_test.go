package integration

import (
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// readyKyma makes a remote Kyma without modules that is Ready.
func readyKyma(runtime *testkit.Cluster, options ...testkit.KymaOption) *v1beta2.Kyma {
	GinkgoHelper()
	kyma := testkit.Kyma(testkit.Unique("kyma"), besideOthers(runtime, options)...)
	env.AccessSecret(kyma.Name, runtime)
	env.Hub.Create(kyma)
	Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
	return kyma
}

// enable adds a module to a Kyma's spec.
func enable(kyma *v1beta2.Kyma, module v1beta2.Module) {
	GinkgoHelper()
	testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules = append(k.Spec.Modules, module) })
}

// countable drops what is not counted: Events and Leases.
func countable(counts calls.Counts) calls.Counts {
	return counts.Plain().Where(func(c calls.Call) bool {
		return c.Resource != "events.events.k8s.io" && c.Resource != "leases.coordination.k8s.io"
	})
}

func writes(counts calls.Counts) calls.Counts {
	return countable(counts).Where(calls.Call.Write)
}

var _ = Describe("Installing a module", func() {
	for _, size := range []int{1, 20} {
		It("costs at most 1.05 R + 3 runtime writes and 5 hub writes, R = "+strconv.Itoa(size), func() {
			emptyHub() // what failed in another spec is tried again now and then
			env.FaultFree()
			kyma := readyKyma(env.Runtimes[0])
			module := testkit.Unique("maps")
			env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", size), "regular")
			Eventually(testkit.Live(env.Hub, kyma)).Should(HaveField("Status.RuntimeID", Not(BeEmpty()))) // else that is written later
			atRest()

			hub, runtime := hubCalls.Snapshot(), runtimeCalls.Snapshot()
			enable(kyma, v1beta2.Module{Name: module})
			Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady)))
			Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
			hubWrites, runtimeWrites := writes(hubCalls.Since(hub)), writes(runtimeCalls.Since(runtime))
			Expect(hubWrites.Total()).To(BeNumerically("<=", 5), hubWrites.String())
			Expect(float64(runtimeWrites.Total())).To(BeNumerically("<=", 1.05*float64(size)+3), runtimeWrites.String())

			By("calling nothing at rest")
			atRest()
			expectNoCalls()
		})
	}

	It("costs a new Kyma with 5 modules 13 hub writes and 2 events, and one more for each second that it takes", func() {
		emptyHub()
		env.FaultFree()
		kyma := testkit.Kyma(testkit.Unique("kyma"), besideOthers(env.Runtimes[0], nil)...)
		for range 5 {
			module := testkit.Unique("maps")
			env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", 3), "regular")
			kyma.Spec.Modules = append(kyma.Spec.Modules, v1beta2.Module{Name: module})
		}
		env.AccessSecret(kyma.Name, env.Runtimes[0])
		atRest()
		hub, began := hubCalls.Snapshot(), time.Now()
		env.Hub.Create(kyma)
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		took := int(time.Since(began).Seconds())
		made := hubCalls.Since(hub).Plain()
		events := made.Where(func(c calls.Call) bool { return c.Resource == "events.events.k8s.io" })
		Expect(writes(made).Total()).To(BeNumerically("<=", 13+took), writes(made).String())
		Expect(events.Total()).To(BeNumerically("<=", 2), events.String())
	})

	It("is Ready when its Deployment runs, not before", func() {
		env.FaultFree()
		kyma := readyKyma(env.Runtimes[0])
		module := testkit.Unique("deploy")
		env.Offer(module, "1.0.0", testkit.Deployment(module, "1.0.0"), "regular")
		enable(kyma, v1beta2.Module{Name: module})
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady)))
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			testkit.HaveState(v1beta2.StateReady),
			testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionTrue, v1beta2.ReasonReady),
			testkit.HaveCondition(v1beta2.ConditionModules, metav1.ConditionTrue, "")))

		By("an upgrade whose pods no node can run: the old ones are still available, but the new version does not run")
		stuck := testkit.Deployment(module, "1.1.0")
		for _, object := range stuck.Objects {
			if object.GetKind() == "Deployment" {
				Expect(unstructured.SetNestedField(object.Object, "golden", "spec", "template", "spec", "nodeSelector", "disk")).To(Succeed())
			}
		}
		env.Offer(module, "1.1.0", stuck, "regular")
		waits := testkit.HaveModule(module, testkit.HaveVersion("1.1.0"), testkit.HaveState(v1beta2.StateProcessing))
		Eventually(testkit.Live(env.Hub, kyma)).Should(waits)
		Consistently(testkit.Live(env.Hub, kyma)).Should(waits)
		env.Offer(module, "1.2.0", testkit.Deployment(module, "1.2.0"), "regular")
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveVersion("1.2.0"), testkit.HaveState(v1beta2.StateReady)))
	})

	It("installs CRD, operator and default CR, and takes them down in the safe order", func() {
		env.FaultFree()
		kyma := readyKyma(env.Runtimes[0])
		module := testkit.Unique("oper")
		content := testkit.Operator(module, "1.0.0")
		second := content.DefaultCR.DeepCopy()
		second.SetName("second")
		content.Objects = append(content.Objects, second)
		env.Offer(module, "1.0.0", content, "regular")
		before := runtimeCalls.Snapshot()
		enable(kyma, v1beta2.Module{Name: module})
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady)))

		By("writing both custom resources at once: the API server holds a create of a kind that is so young back for two seconds")
		resource := definitionOf(content).GetName()
		custom := func(c calls.Call) bool { return c.Resource == resource }
		Expect(writes(runtimeCalls.Since(before)).Where(custom)).To(Equal(calls.Counts{{Verb: calls.Patch, Resource: resource}: 2}))

		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules = nil })
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveNoModule(module), testkit.HaveState(v1beta2.StateReady)))
	})
})
