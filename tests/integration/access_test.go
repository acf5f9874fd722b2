package integration

import (
	"net"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// goodKubeconfig returns unrestricted access to a runtime.
func goodKubeconfig() []byte {
	GinkgoHelper()
	kubeconfig, err := env.Runtimes[0].UserKubeconfig("lifecycle-manager", "system:masters")
	Expect(err).NotTo(HaveOccurred())
	return kubeconfig
}

// changedKubeconfig returns a good one with something wrong in it.
func changedKubeconfig(change func(*clientcmdapi.Cluster, *clientcmdapi.AuthInfo)) []byte {
	GinkgoHelper()
	config, err := clientcmd.Load(goodKubeconfig())
	Expect(err).NotTo(HaveOccurred())
	for name := range config.Contexts {
		change(config.Clusters[name], config.AuthInfos[name])
	}
	data, err := clientcmd.Write(*config)
	Expect(err).NotTo(HaveOccurred())
	return data
}

// tokenKubeconfig leads to a runtime with a token that it never issued.
func tokenKubeconfig() []byte {
	GinkgoHelper()
	config := rest.AnonymousClientConfig(env.Runtimes[0].Config)
	config.BearerToken = "never-issued"
	data, err := localcluster.KubeconfigOf("runtime", config)
	Expect(err).NotTo(HaveOccurred())
	return data
}

// rotate puts another kubeconfig into an access Secret.
func rotate(kyma *v1beta2.Kyma, kubeconfig []byte) {
	GinkgoHelper()
	testkit.Edit(env.Hub, testkit.NewAccessSecret(kyma.Name, nil), func(s *corev1.Secret) { s.Data[v1beta2.AccessSecretKey] = kubeconfig })
}

// kymaWith makes a Kyma with one module whose access Secret holds a kubeconfig, and returns both.
func kymaWith(kubeconfig []byte) (*v1beta2.Kyma, string) {
	GinkgoHelper()
	module := offerMaps("1.0.0")
	kyma := testkit.Kyma(testkit.Unique("kyma"), testkit.Unsynced(), testkit.WithModule(module))
	env.Hub.Create(testkit.NewAccessSecret(kyma.Name, kubeconfig), kyma)
	return kyma, module
}

// install returns how long it takes to install a module into a healthy Kyma.
func install() time.Duration {
	GinkgoHelper()
	module := offerMaps("1.0.0")
	begun := time.Now()
	healthy := newKyma(env.Runtimes[0], testkit.WithModule(module))
	Eventually(testkit.Live(env.Hub, healthy)).Should(testkit.HaveState(v1beta2.StateReady))
	return time.Since(begun)
}

// expectQuickInstall installs a module into a healthy Kyma, in about the time that it takes usually.
func expectQuickInstall(usual time.Duration) {
	GinkgoHelper()
	took := install()
	if took > 4*time.Second { // then the machine may have got slower: by now no one is dialled any more
		usual = max(usual, install())
	}
	Expect(took).To(BeNumerically("<", max(4*time.Second, 3*usual)), "a dial to no one is given up after 5 s")
}

var _ = Describe("The access Secret", func() {
	It("may come after the Kyma, and is noticed at once", func() {
		module := offerMaps("1.0.0")
		kyma := testkit.Kyma(testkit.Unique("kyma"), testkit.Unsynced(), testkit.WithModule(module))
		env.Hub.Create(kyma)
		Eventually(env.ManifestOf(kyma.Name, module)).Should(
			tells(v1beta2.StateError, v1beta2.ReasonAccessSecretNotFound, v1beta2.LabelKymaName+"="+kyma.Name))
		missing := tells(v1beta2.StateError, v1beta2.ReasonModuleError, v1beta2.ReasonAccessSecretNotFound)
		Eventually(testkit.Live(env.Hub, kyma)).Should(missing)
		Consistently(testkit.Live(env.Hub, kyma)).Should(missing)
		env.AccessSecret(kyma.Name, env.Runtimes[0])
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(testkit.HaveState(v1beta2.StateReady))
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(Equal("1.0.0"))
	})

	It("is refused while there are two, which are named, and deleting one heals", func() {
		kyma, module := kymaWith(goodKubeconfig())
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		second := testkit.NewAccessSecret(kyma.Name, goodKubeconfig())
		second.Name += "-second"
		env.Hub.Create(second)
		Eventually(env.ManifestOf(kyma.Name, module), atOnce).Should(And(
			tells(v1beta2.StateError, v1beta2.ReasonAccessSecretAmbiguous, kyma.Name+", "+second.Name),
			testkit.HaveCondition(v1beta2.ConditionInstallation, metav1.ConditionTrue, ""))) // what was installed is there
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(Equal("1.0.0"))
		env.Hub.Delete(second)
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(testkit.HaveState(v1beta2.StateReady))
	})

	DescribeTable("tells what is wrong with its kubeconfig, and heals at once when it is corrected",
		func(kubeconfig func() []byte, reason string) {
			kyma, module := kymaWith(kubeconfig())
			Eventually(env.ManifestOf(kyma.Name, module)).Should(And(tells(v1beta2.StateError, reason),
				testkit.HaveCondition(v1beta2.ConditionInstallation, metav1.ConditionFalse, reason)))
			Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonModuleError, reason))
			Expect(manifestOf(kyma, module).Status.Synced).To(BeEmpty())
			rotate(kyma, goodKubeconfig())
			Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(testkit.HaveState(v1beta2.StateReady))
		},
		Entry("garbage", func() []byte { return []byte("\x00{not: [a, kubeconfig") }, v1beta2.ReasonKubeconfigInvalid),
		Entry("nothing", func() []byte { return nil }, v1beta2.ReasonKubeconfigInvalid),
		Entry("a program to run", func() []byte {
			return changedKubeconfig(func(_ *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) {
				user.Exec = &clientcmdapi.ExecConfig{
					APIVersion: "client.authentication.k8s.io/v1", Command: "/bin/true", InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
				}
			})
		}, v1beta2.ReasonKubeconfigRefused),
		Entry("a token that the runtime never issued", tokenKubeconfig, v1beta2.ReasonRuntimeUnauthorized),
		Entry("a certificate authority that is not the runtime's", func() []byte {
			return changedKubeconfig(func(cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) {
				cluster.CertificateAuthorityData = env.Hub.Config.CAData
			})
		}, v1beta2.ReasonRuntimeUnreachable),
	)

	DescribeTable("that leads nowhere delays no one else", func(address func() string) {
		dead := changedKubeconfig(func(cluster *clientcmdapi.Cluster, _ *clientcmdapi.AuthInfo) { cluster.Server = "https://" + address() })
		var kymas []*v1beta2.Kyma
		modules, usual := map[*v1beta2.Kyma]string{}, install()
		for range 10 {
			kyma, module := kymaWith(dead)
			kymas, modules[kyma] = append(kymas, kyma), module
		}
		DeferCleanup(func() {
			for _, kyma := range kymas {
				remove(kyma) // nothing was ever installed, so no one has to be reached
			}
		})
		expectQuickInstall(usual)
		for _, kyma := range kymas {
			Eventually(env.ManifestOf(kyma.Name, modules[kyma])).Should(tells(v1beta2.StateError, v1beta2.ReasonRuntimeUnreachable))
		}
		expectQuickInstall(usual)
	},
		Entry("where no one listens", func() string {
			return "127.0.0.1:1" // a port that was free a moment ago may already be that of a server
		}),
		Entry("where no one answers", func() string {
			listener, err := net.Listen("tcp", "127.0.0.1:0") // what connects stays in its backlog
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(listener.Close)
			return listener.Addr().String()
		}),
	)

	It("may go while the module runs: that is told, and nothing is deleted", func() {
		kyma, module := kymaWith(goodKubeconfig())
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		env.Hub.Delete(testkit.NewAccessSecret(kyma.Name, nil))
		Eventually(env.ManifestOf(kyma.Name, module), atOnce).Should(tells(v1beta2.StateError, v1beta2.ReasonAccessSecretNotFound))
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(testkit.HaveState(v1beta2.StateError))
		Consistently(versionIn(env.Runtimes[0], module+"-0")).Should(Equal("1.0.0"))
		env.AccessSecret(kyma.Name, env.Runtimes[0])
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(testkit.HaveState(v1beta2.StateReady))
	})

	It("that leads nowhere any more holds a deletion, which tells why; without it the deletion ends", func() {
		kyma, module := kymaWith(goodKubeconfig())
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		rotate(kyma, tokenKubeconfig())
		Eventually(env.ManifestOf(kyma.Name, module)).Should(tells(v1beta2.StateError, v1beta2.ReasonRuntimeUnauthorized))
		env.Hub.Delete(kyma)
		Eventually(env.ManifestOf(kyma.Name, module)).Should(tells(v1beta2.StateDeleting, v1beta2.ReasonRuntimeUnauthorized))
		Eventually(testkit.Live(env.Hub, kyma)).Should(
			tells(v1beta2.StateDeleting, v1beta2.ReasonDeleting, module, v1beta2.ReasonRuntimeUnauthorized))
		Consistently(testkit.Gone(env.Hub, kyma)).Should(BeFalse())
		env.Hub.Delete(testkit.NewAccessSecret(kyma.Name, nil))
		Eventually(testkit.Gone(env.Hub, kyma), atOnce).Should(BeTrue())
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(Equal("1.0.0"))
	})

	It("may go before the Kyma does: the deletion ends, what is left behind stays and is told", func() {
		kyma, module := kymaWith(goodKubeconfig())
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		manifest := manifestOf(kyma, module)
		env.Hub.Delete(testkit.NewAccessSecret(kyma.Name, nil))
		remove(kyma)
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(Equal("1.0.0"))
		Eventually(func() ([]eventsv1.Event, error) {
			list := &eventsv1.EventList{}
			err := env.Hub.Client.List(ctx(), list, client.InNamespace(v1beta2.DefaultNamespace))
			return list.Items, err
		}).Should(ContainElement(And(
			HaveField("Regarding.Name", manifest.Name), HaveField("Type", corev1.EventTypeWarning),
			HaveField("Reason", v1beta2.ReasonAccessSecretNotFound), HaveField("Note", ContainSubstring("left behind")))))
	})
})
