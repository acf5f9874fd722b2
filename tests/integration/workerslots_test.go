package integration

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/tests/bench/simruntime"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

var _ = Describe("A runtime that falls silent in the middle of its work", func() {
	It("holds up no other one, although only one Kyma and one Manifest are worked on at a time", func() {
		emptyHub()
		stopManager()
		startManager(func(c *setup.Config) { c.KymaWorkers, c.ManifestWorkers = 1, 1 })
		DeferCleanup(func() { whileDown(func() {}) }) // and again with the usual workers
		base, wanted := offerMaps("1.0.0"), offerMaps("1.0.0")
		fleet, err := simruntime.Start(ctx(), simruntime.Options{Runtimes: 4})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(fleet.Close)
		var kymas []*v1beta2.Kyma
		for i := range 4 {
			kyma := testkit.Kyma(testkit.Unique("turns"), testkit.WithModule(base))
			env.Hub.Create(testkit.NewAccessSecret(kyma.Name, fleet.Runtime(i).Kubeconfig()), kyma)
			kymas = append(kymas, kyma)
		}
		DeferCleanup(emptyHub) // or they were in error as soon as the fleet has ended
		for _, kyma := range kymas {
			Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		}
		enable := func(kyma *v1beta2.Kyma, module string) {
			testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules = append(k.Spec.Modules, v1beta2.Module{Name: module}) })
		}
		serve := func(kyma *v1beta2.Kyma, module string) time.Duration {
			begun := time.Now()
			enable(kyma, module)
			Eventually(testkit.Live(env.Hub, kyma), "60s").Should(testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady)))
			return time.Since(begun)
		}

		silent, healthy := kymas[:3], kymas[3]
		usual := serve(healthy, offerMaps("1.0.0"))
		for i, kyma := range silent {
			fleet.Runtime(i).Set(simruntime.Knobs{Down: simruntime.BlackHole})
			enable(kyma, wanted)
		}
		waiting := seriesOf("lifecycle_mgr_yielded_reconciles", "controller", nil)
		Eventually(waiting).Should(HaveKeyWithValue("kyma", BeNumerically(">=", len(silent))))
		took := serve(healthy, wanted)
		AddReportEntry("a healthy runtime served after", took.String())
		GinkgoWriter.Printf("a healthy runtime was served after %s\n", took)
		Expect(took).To(BeNumerically("<", max(7*time.Second, 3*usual)), "a silent runtime is given up after 8 s")

		for i, kyma := range silent {
			fleet.Runtime(i).Set(simruntime.Knobs{})
			Eventually(testkit.Live(env.Hub, kyma), "90s").Should(testkit.HaveModule(wanted, testkit.HaveState(v1beta2.StateReady)), "what was asked of it meanwhile was not lost")
		}
		Eventually(waiting).Should(And(HaveKeyWithValue("kyma", 0.0), HaveKeyWithValue("manifest", 0.0), HaveKeyWithValue("catalog", 0.0)))
	})
})
