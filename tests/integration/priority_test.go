package integration

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/tests/bench/simruntime"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// crowd is how many Kymas have a module, each with a runtime of its own.
const crowd = 60

// newCrowd makes them and waits until all have the module.
func newCrowd(module string) (*simruntime.Runtimes, []*v1beta2.Kyma) {
	GinkgoHelper()
	fleet, err := simruntime.Start(ctx(), simruntime.Options{Runtimes: crowd})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(fleet.Close)
	var kymas []*v1beta2.Kyma
	for i := range crowd {
		kyma := testkit.Kyma(testkit.Unique("crowd"), testkit.Unsynced(), testkit.WithModule(module))
		env.Hub.Create(testkit.NewAccessSecret(kyma.Name, fleet.Runtime(i).Kubeconfig()), kyma)
		kymas = append(kymas, kyma)
	}
	DeferCleanup(emptyHub) // or they were in error as soon as the fleet has ended
	for _, kyma := range kymas {
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
	}
	return fleet, kymas
}

// following returns how many Kymas have a version of the module and are Ready with it.
func following(module, version string) int {
	GinkgoHelper()
	list, count := &v1beta2.KymaList{}, 0
	Expect(env.Hub.Client.List(ctx(), list, client.InNamespace(v1beta2.DefaultNamespace))).To(Succeed())
	for i := range list.Items {
		if ready, _ := testkit.HaveModule(module, testkit.HaveVersion(version), testkit.HaveState(v1beta2.StateReady)).Match(&list.Items[i]); ready {
			count++
		}
	}
	return count
}

var _ = Describe("A new version of a module that all have", func() {
	It("delays neither a module that a user enables meanwhile, nor the repair of what a user deleted", func() {
		emptyHub()
		module, wanted := offerMaps("1.0.0"), offerMaps("1.0.0")
		fleet, kymas := newCrowd(module)
		stopManager()
		// So few calls of the hub that the rollout takes long on every machine. Who waits for them keeps a worker, unlike who waits for a
		// runtime.
		startManager(func(c *setup.Config) { c.KymaWorkers, c.ManifestWorkers, c.HubQPS, c.HubBurst = 1, 2, 10, 1 })
		DeferCleanup(func() { whileDown(func() {}) }) // and again as usual

		env.Offer(module, "1.1.0", testkit.ConfigMaps(module, "1.1.0", 2), "regular")
		Eventually(following, "2m").WithArguments(module, "1.1.0").Should(BeNumerically(">=", 2))
		changed := kymas[crowd-1]
		access, err := clientcmd.RESTConfigFromKubeConfig(fleet.Runtime(crowd - 2).Kubeconfig())
		Expect(err).NotTo(HaveOccurred())
		access.ContentType = runtime.ContentTypeJSON
		inside, err := client.New(access, client.Options{Scheme: testkit.Scheme()})
		Expect(err).NotTo(HaveOccurred())

		begun := time.Now()
		testkit.Edit(env.Hub, changed, func(k *v1beta2.Kyma) { k.Spec.Modules = append(k.Spec.Modules, v1beta2.Module{Name: wanted}) })
		deleted := configMap(module + "-0")
		Expect(inside.Delete(ctx(), deleted)).To(Succeed())
		Eventually(testkit.Live(env.Hub, changed), "2m").Should(testkit.HaveModule(wanted, testkit.HaveState(v1beta2.StateReady)))
		enabled := time.Since(begun)
		Eventually(func() error {
			return inside.Get(ctx(), client.ObjectKeyFromObject(deleted), &corev1.ConfigMap{})
		}, "2m").Should(Succeed())
		repaired, rest := time.Since(begun), following(module, "1.1.0")
		AddReportEntry("enabled after", enabled.String())
		AddReportEntry("repaired after at most", repaired.String())
		AddReportEntry("Kymas that had the new version by then", rest)
		GinkgoWriter.Printf("enabled after %s, repaired after %s at most, %d of %d Kymas had the new version\n",
			enabled, repaired, rest, crowd)
		Expect(rest).To(BeNumerically("<", crowd-10), "others were still waiting")
		whileDown(func() {}) // with the usual rate, so that the others need not be waited for at ten calls a second
		Eventually(following, "3m").WithArguments(module, "1.1.0").Should(Equal(crowd))
	})
})
