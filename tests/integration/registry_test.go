package integration

import (
	"net/http"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// inject makes the registry faulty until the spec ends, or heal is called.
func inject(fault localcluster.Fault) (heal func()) {
	heal = func() { env.Registry.Inject(nil) }
	env.Registry.Inject(fault)
	DeferCleanup(heal)
	return heal
}

// forLayer strikes with a fault only where one layer is fetched.
func forLayer(digest string, fault localcluster.Fault) localcluster.Fault {
	return func(w http.ResponseWriter, req *http.Request, next http.Handler) {
		if strings.HasSuffix(req.URL.Path, "/"+digest) {
			fault(w, req, next)
			return
		}
		next.ServeHTTP(w, req)
	}
}

// offered returns a module of two ConfigMaps, and where its layer is.
func offered() (module string, source v1beta2.ImageSpec) {
	GinkgoHelper()
	module = testkit.Unique("maps")
	return module, env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", 2), "regular").Source
}

var _ = Describe("The registry", func() {
	It("that is down installs nothing, tells it, and heals by itself when it is back", func() {
		module, _ := offered()
		heal := inject(localcluster.Down())
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module))
		down := tells(v1beta2.StateError, v1beta2.ReasonRegistryUnreachable, module, testkit.ComponentName(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(down)
		Consistently(testkit.Live(env.Hub, kyma), "4s").Should(down)
		Expect(manifestsOf(kyma)()).To(BeEmpty())
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(BeEmpty())
		heal()
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		Expect(versionIn(env.Runtimes[0], module+"-1")()).To(Equal("1.0.0"))
	})

	It("that goes down before the content is fetched leaves nothing half-applied", func() {
		module, source := offered()
		heal := inject(forLayer(source.Ref, localcluster.Down()))
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(env.ManifestOf(kyma.Name, module)).Should(And(
			tells(v1beta2.StateError, v1beta2.ReasonRegistryUnreachable, env.Registry.Host), HaveField("Status.Synced", BeEmpty())))
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonModuleError, v1beta2.ReasonRegistryUnreachable))
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(BeEmpty())
		heal()
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
	})

	It("that is down does not matter to what is installed: Ready stays, also over a restart, and what is deleted comes back", func() {
		module, _ := offered()
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		heal := inject(localcluster.Down())
		expectHealed(env.Runtimes[0], configMap(module+"-0"))
		Consistently(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))

		By("reading the content from the store on disk")
		stopManager()
		env.Runtimes[0].Delete(configMap(module + "-1"))
		startManager()
		Eventually(versionIn(env.Runtimes[0], module+"-1")).Should(Equal("1.0.0"))
		Consistently(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))

		By("keeping what runs while a new version cannot be read")
		heal()
		env.Offer(module, "1.1.0", testkit.ConfigMaps(module, "1.1.0", 2))
		heal = inject(localcluster.Down())
		env.Point(module, "1.1.0", "regular")
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(tells(v1beta2.StateError, v1beta2.ReasonRegistryUnreachable),
			testkit.HaveModule(module, testkit.HaveVersion("1.0.0"))))
		expectHealed(env.Runtimes[0], configMap(module+"-0"))
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(Equal("1.0.0"))
		heal()
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveModule(module, testkit.HaveVersion("1.1.0"))))
	})

	It("that is down, with nothing in the store, does not matter to a deletion", func() {
		module, _ := offered()
		never, _ := offered()
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		inject(localcluster.Down())
		whileDown(func() { Expect(os.RemoveAll(contentDir)).To(Succeed()) })
		enable(kyma, v1beta2.Module{Name: never})
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonRegistryUnreachable, never))
		remove(kyma)
		expectGone(env.Runtimes[0], configMap(module+"-0"), configMap(module+"-1"))
	})

	It("that serves other bytes than the digest names is not believed, and heals by itself", func() {
		module, source := offered()
		heal := inject(localcluster.Corrupt(source.Ref))
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(env.ManifestOf(kyma.Name, module)).Should(And(
			tells(v1beta2.StateError, v1beta2.ReasonDigestMismatch, source.Ref), HaveField("Status.Synced", BeEmpty())))
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonModuleError, v1beta2.ReasonDigestMismatch))
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(BeEmpty())
		heal()
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
	})

	It("that wants a login gets the one that credSecretSelector finds", func() {
		name, user, password := testkit.Unique("maps"), "puller", "s3cret"
		source := publish(testkit.RawManifest(testkit.ConfigMaps(name, "1.0.0", 1).YAML()))
		source.CredSecretSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"registry-of": name}}
		inject(localcluster.RequireLogin(user, password))
		manifest := standAlone(source)
		Eventually(testkit.Live(env.Hub, manifest)).Should(
			tells(v1beta2.StateError, v1beta2.ReasonRegistryUnauthorized, "no private oci registry auth secret found", "registry-of="+name))
		Expect(versionIn(env.Runtimes[0], name+"-0")()).To(BeEmpty())
		env.Hub.Create(loginSecret(name, user, password))
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		Expect(versionIn(env.Runtimes[0], name+"-0")()).To(Equal("1.0.0"))
	})

	It("that refuses the login is told, without the password, and a corrected login heals", func() {
		name, user, password := testkit.Unique("maps"), "puller", "s3cret"
		source := publish(testkit.RawManifest(testkit.ConfigMaps(name, "1.0.0", 1).YAML()))
		source.CredSecretSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"registry-of": name}}
		inject(localcluster.RequireLogin(user, password))
		secret := loginSecret(name, user, "mistyped-word")
		env.Hub.Create(secret)
		manifest := standAlone(source)
		Eventually(testkit.Live(env.Hub, manifest)).Should(tells(v1beta2.StateError, v1beta2.ReasonRegistryUnauthorized, env.Registry.Host))
		live, err := testkit.Live(env.Hub, manifest)()
		Expect(err).NotTo(HaveOccurred())
		Expect(live.Status.Operation).NotTo(ContainSubstring("mistyped-word"))
		env.Hub.Delete(secret)
		env.Hub.Create(loginSecret(name, user, password))
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
	})
})

// loginSecret returns a login for the registry, labelled for a selector.
func loginSecret(name, user, password string) *corev1.Secret {
	config := `{"auths":{"` + env.Registry.Host + `":{"username":"` + user + `","password":"` + password + `"}}}`
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: name, Labels: map[string]string{"registry-of": name}},
		Type:       corev1.SecretTypeDockerConfigJson,
		Data:       map[string][]byte{corev1.DockerConfigJsonKey: []byte(config)},
	}
}
