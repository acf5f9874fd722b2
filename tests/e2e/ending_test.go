package e2e

import (
	"crypto/tls"
	"fmt"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

var _ = Describe("A manager that is told to end", func() {
	// At its rate of calls the manager needs half a minute for all of this.
	const kymas, objects = 12, 120

	It("writes no Error amid installations, whatever else has to end first, and its successor goes on", func() {
		env := testkit.Start(testkit.Options{Runtimes: 1, Quiet: true})
		dir := GinkgoT().TempDir()
		access, err := localcluster.KubeconfigOf("hub", env.ManagerConfig("config/default"))
		Expect(err).NotTo(HaveOccurred())
		kubeconfig, registries := filepath.Join(dir, "kubeconfig"), filepath.Join(dir, "registries.yaml")
		Expect(os.WriteFile(kubeconfig, access, 0o600)).To(Succeed())
		hosts := fmt.Appendf(nil, "registries: [{host: %q, plainHTTP: true}]\n", env.Registry.Host)
		Expect(os.WriteFile(registries, hosts, 0o600)).To(Succeed())
		contents := freeAddress()
		manager := newManager(dir, kubeconfig, "--registries-file="+registries, "--oci-registry-host=http://"+env.Registry.Host,
			"--content-bind-address="+contents)
		manager.start()
		DeferCleanup(manager.end)

		made := make([]*v1beta2.Kyma, kymas)
		for i := range made {
			module := testkit.Unique("maps")
			env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", objects), "regular")
			made[i] = testkit.Kyma(testkit.Unique("kyma"), testkit.WithModule(module), testkit.Unsynced())
			env.AccessSecret(made[i].Name, env.Runtimes[0])
		}
		for _, kyma := range made {
			env.Hub.Create(kyma)
		}
		Eventually(env.ManifestOf(made[0].Name, made[0].Spec.Modules[0].Name)).WithTimeout(inTime).Should(
			testkit.HaveState(v1beta2.StateProcessing))
		By("a request for content being half sent, which a server that ends waits for")
		request, err := tls.Dial("tcp", contents, &tls.Config{InsecureSkipVerify: true})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { _ = request.Close() }) // the server has closed it by then
		_, err = fmt.Fprint(request, "GET / HTTP/1.1\r\nHost: content\r\n")
		Expect(err).NotTo(HaveOccurred())

		manager.stop()
		Expect(env.Watch.CatchUp()).To(Succeed())
		Expect(env.Watch.Errors()).To(BeEmpty())
		manager.start()
		for _, kyma := range made {
			Eventually(testkit.Live(env.Hub, kyma)).WithTimeout(inTime).Should(testkit.HaveState(v1beta2.StateReady))
		}
		manager.stop()
		Expect(env.Watch.CatchUp()).To(Succeed())
		Expect(env.Watch.Errors()).To(BeEmpty())
	})
})
