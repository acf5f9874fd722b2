package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// managerMetrics are those of the running manager.
var managerMetrics *prometheus.Registry

// seriesOf is for Eventually: the values of a metric's series that have all these labels, by the value of one further label. That of a
// histogram is how many values it has observed.
func seriesOf(name, by string, labels map[string]string) func() (map[string]float64, error) {
	return func() (map[string]float64, error) {
		families, err := managerMetrics.Gather()
		found := map[string]float64{}
		for _, family := range families {
			for _, metric := range family.Metric {
				values := map[string]string{}
				for _, label := range metric.GetLabel() {
					values[label.GetName()] = label.GetValue()
				}
				if family.GetName() == name && includes(values, labels) {
					found[values[by]] = metric.GetGauge().GetValue() + metric.GetCounter().GetValue() +
						float64(metric.GetHistogram().GetSampleCount())
				}
			}
		}
		return found, err
	}
}

func includes(values, wanted map[string]string) bool {
	for name, value := range wanted {
		if values[name] != value {
			return false
		}
	}
	return true
}

var _ = Describe("Metrics by upstream's names", func() {
	It("follow the states of a Kyma and its modules, tell shoot and instance, and go with the Kyma", func() {
		module := offerMaps("1.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module), testkit.Labelled("kyma-project.io/instance-id", "instance-1"),
			func(k *v1beta2.Kyma) { metav1.SetMetaDataAnnotation(&k.ObjectMeta, "skr-domain", "c-1234.example.com") })
		ofKyma := map[string]string{"kyma_name": kyma.Name, "shoot": "c-1234", "instance_id": "instance-1"}
		states := seriesOf("lifecycle_mgr_kyma_state", "state", ofKyma)
		ofModule := map[string]string{"kyma_name": kyma.Name, "module_name": module, "shoot": "c-1234", "instance_id": "instance-1"}
		modules := seriesOf("lifecycle_mgr_module_state", "state", ofModule)
		Eventually(states).Should(HaveKeyWithValue("Ready", 1.0))
		Eventually(modules).Should(And(HaveKeyWithValue("Ready", 1.0), HaveKeyWithValue("Processing", 0.0)))

		By("a module that is let go of")
		manage(kyma, false)
		Eventually(modules).Should(And(HaveKeyWithValue("Unmanaged", 1.0), HaveKeyWithValue("Ready", 0.0)))
		Eventually(states).Should(HaveKeyWithValue("Ready", 1.0))

		By("a module that is disabled, and a Kyma that is deleted")
		disable(kyma, module)
		Eventually(modules).Should(BeEmpty())
		remove(kyma)
		Eventually(states).Should(BeEmpty())
	})

	It("count Kymas and versions, and time each phase of an installation and an upgrade once", func() {
		module := offerMaps("1.0.0", "1.1.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		ofModule := map[string]string{"module_name": module}
		counted := seriesOf("lifecycle_mgr_modules", "state", ofModule)
		versions := seriesOf("lifecycle_mgr_module_versions", "version", map[string]string{"module_name": module, "channel": v1beta2.DefaultChannel})
		timed := seriesOf("lifecycle_mgr_module_phase_seconds", "phase", ofModule)
		each := func(count float64) map[string]float64 {
			return map[string]float64{"queue": count, "fetch": count, "verify": count, "apply": count, "ready": count}
		}
		Eventually(counted).Should(Equal(map[string]float64{"Ready": 1}))
		Eventually(versions).Should(Equal(map[string]float64{"1.0.0": 1}))
		Eventually(timed).Should(Equal(each(1)))

		By("an upgrade")
		env.Point(module, "1.1.0", v1beta2.DefaultChannel)
		Eventually(versions).Should(Equal(map[string]float64{"1.1.0": 1}))
		Eventually(timed).Should(Equal(each(2)))

		By("the end of the Kyma")
		remove(kyma)
		Eventually(counted).Should(BeEmpty())
		Eventually(versions).Should(BeEmpty())
	})

	It("count why a Manifest comes back without an event", func() {
		why := seriesOf("lifecycle_mgr_requeue_reason_total", "requeue_reason", map[string]string{"requeue_type": "intended"})
		before, err := why()
		Expect(err).NotTo(HaveOccurred())
		kyma, module := kymaWith(tokenKubeconfig())
		Eventually(env.ManifestOf(kyma.Name, module)).Should(tells(v1beta2.StateError, v1beta2.ReasonRuntimeUnauthorized))
		Eventually(why).Should(HaveKeyWithValue("manifest_unauthorized", BeNumerically(">", before["manifest_unauthorized"])))
		rotate(kyma, goodKubeconfig())
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
	})
})
