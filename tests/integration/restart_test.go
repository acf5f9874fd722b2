package integration

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// whileDown changes something while no manager runs.
func whileDown(change func()) {
	GinkgoHelper()
	stopManager()
	defer startManager() // also when change fails: the next spec needs one
	change()
}

// emptyHub removes the Kymas and Manifests that other specs left, so that all calls are those of this spec. When their access Secrets
// go too, they let go of everything at once. The modules go as well: every runtime with a catalog would get a copy of each.
func emptyHub() {
	GinkgoHelper()
	inHub := client.InNamespace(v1beta2.DefaultNamespace)
	for _, kind := range []client.Object{&v1beta2.Kyma{}, &v1beta2.Manifest{}} {
		Expect(env.Hub.Client.DeleteAllOf(ctx(), kind, inHub)).To(Succeed())
	}
	Expect(env.Hub.Client.DeleteAllOf(ctx(), &corev1.Secret{}, inHub, client.HasLabels{v1beta2.LabelKymaName})).To(Succeed())
	Eventually(func(g Gomega) {
		kymas, manifests := &v1beta2.KymaList{}, &v1beta2.ManifestList{}
		g.Expect(env.Hub.Client.List(ctx(), kymas, inHub)).To(Succeed())
		g.Expect(env.Hub.Client.List(ctx(), manifests, inHub)).To(Succeed())
		g.Expect(kymas.Items).To(BeEmpty())
		g.Expect(manifests.Items).To(BeEmpty())
	}, "60s").Should(Succeed())
	for _, kind := range []client.Object{&v1beta2.ModuleReleaseMeta{}, &v1beta2.ModuleTemplate{}} {
		Expect(env.Hub.Client.DeleteAllOf(ctx(), kind, inHub)).To(Succeed())
	}
}

// atRest waits until the manager has called nothing for two seconds.
func atRest() {
	GinkgoHelper()
	Eventually(quiet()).Should(BeNumerically(">", 2*time.Second))
}

// quiet tells for how long the manager has called nothing.
func quiet() func() time.Duration {
	var last int
	var since time.Time
	return func() time.Duration {
		if now := countable(hubCalls.Snapshot()).Total() + countable(runtimeCalls.Snapshot()).Total(); now != last || since.IsZero() {
			last, since = now, time.Now()
		}
		return time.Since(since)
	}
}

var _ = Describe("A restart of the manager", func() {
	It("writes nothing, neither to the hub nor to a runtime, when everything is in order", func() {
		emptyHub()
		module, _ := operatorModule(nil)
		deploy := testkit.Unique("deploy")
		env.Offer(deploy, "1.0.0", testkit.Deployment(deploy, "1.0.0"), "regular")
		kymas := []*v1beta2.Kyma{
			newKyma(env.Runtimes[0], testkit.WithModule(module), testkit.WithModule(offerMaps("1.0.0"))),
			newKyma(env.SecondRuntime(), testkit.WithModule(module), testkit.WithModule(deploy)),
			newKyma(env.SecondRuntime(), testkit.WithModule(offerMaps("1.0.0", "1.1.0"), testkit.FromChannel("fast"))),
			testkit.Kyma(testkit.Unique("kyma"), testkit.Local(), testkit.WithModule(offerMaps("1.0.0"))),
		}
		env.Hub.Create(kymas[3])
		for _, kyma := range kymas {
			Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		}
		alone := testkit.Unique("maps")
		manifest := standAlone(publish(testkit.RawManifest(testkit.ConfigMaps(alone, "1.0.0", 1200).YAML())))
		Eventually(testkit.Live(env.Hub, manifest), "60s").Should(testkit.HaveState(v1beta2.StateReady))
		atRest()

		hub, runtime := hubCalls.Snapshot(), runtimeCalls.Snapshot()
		whileDown(func() {})
		watches := func() int {
			return runtimeCalls.Since(runtime).Where(func(c calls.Call) bool {
				return c.Verb == calls.Watch && c.Resource == "configmaps"
			}).Total()
		}
		Eventually(watches).Should(BeNumerically(">=", 4)) // every connection but the one without ConfigMaps
		atRest()
		Expect(writes(hubCalls.Since(hub))).To(BeEmpty())
		Expect(writes(runtimeCalls.Since(runtime))).To(BeEmpty())
		for _, kyma := range kymas {
			Expect(testkit.Live(env.Hub, kyma)()).To(testkit.HaveState(v1beta2.StateReady))
		}
		expectHealed(env.Runtimes[0], configMap(alone+"-1199"))
	})

	It("repairs what was deleted or changed while it was down", func() {
		deploy := testkit.Unique("deploy")
		env.Offer(deploy, "1.0.0", testkit.Deployment(deploy, "1.0.0"), "regular")
		module := offerMaps("1.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module), testkit.WithModule(deploy))
		workload := deployment(deploy)
		var image string
		whileDown(func() {
			env.Runtimes[0].Delete(configMap(module + "-0"))
			testkit.Edit(env.Runtimes[0], configMap(module+"-1"), func(c *corev1.ConfigMap) { c.Data["version"] = "changed by hand" })
			testkit.Edit(env.Runtimes[0], workload, func(d *appsv1.Deployment) {
				container := &d.Spec.Template.Spec.Containers[0]
				image, container.Image = container.Image, "img.invalid/other:1"
			})
		})
		Eventually(versionIn(env.Runtimes[0], module+"-0")).Should(Equal("1.0.0"))
		Eventually(versionIn(env.Runtimes[0], module+"-1")).Should(Equal("1.0.0"))
		Eventually(testkit.Live(env.Runtimes[0], workload)).Should(
			HaveField("Spec.Template.Spec.Containers", HaveExactElements(HaveField("Image", image))))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
	})

	It("takes up what was asked for while it was down: a new version, a disabled module, a deleted Kyma, a new credential", func() {
		env.FaultFree()
		module, gone := offerMaps("1.0.0"), offerMaps("1.0.0")
		first, rights := userOf(env.Runtimes[0], "*")
		kyma := testkit.Kyma(testkit.Unique("kyma"), testkit.Unsynced(), testkit.WithModule(module), testkit.WithModule(gone))
		env.Hub.Create(testkit.NewAccessSecret(kyma.Name, first), kyma)
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		doomedModule := offerMaps("1.0.0")
		doomed := readyKyma(env.SecondRuntime(), testkit.WithModule(doomedModule))
		whileDown(func() {
			env.Offer(module, "1.1.0", testkit.ConfigMaps(module, "1.1.0", 1), "regular")
			disable(kyma, gone)
			env.Hub.Delete(doomed)
			rotate(kyma, goodKubeconfig())
			env.Runtimes[0].Delete(rights)
		})
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveModule(module, testkit.HaveVersion("1.1.0")), testkit.HaveNoModule(gone)))
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(Equal("1.1.0"))
		Expect(versionIn(env.Runtimes[0], module+"-1")()).To(BeEmpty())
		Expect(versionIn(env.Runtimes[0], gone+"-0")()).To(BeEmpty())
		Eventually(testkit.Gone(env.Hub, doomed)).Should(BeTrue())
		Expect(versionIn(env.SecondRuntime(), doomedModule+"-0")()).To(BeEmpty())
	})

	It("claims nothing for what was asked for while it was down before it has looked at that", func() {
		runtime := env.AddRuntime(testkit.Unique("edited"))
		module, more := offerMaps("1.0.0"), offerMaps("1.0.0")
		kyma := newKyma(runtime, testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		before := len(env.Watch.Violations())
		whileDown(func() {
			testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules = append(k.Spec.Modules, v1beta2.Module{Name: more}) })
		})
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveModule(more, testkit.HaveState(v1beta2.StateReady))))
		Expect(env.Watch.CatchUp()).To(Succeed())
		Expect(env.Watch.Violations()[before:]).To(BeEmpty()) // it sees every status that was written in between
		env.Hub.Delete(kyma)
		Eventually(testkit.Gone(env.Hub, kyma)).Should(BeTrue())
	})

	It("goes on with a deletion that is blocked", func() {
		module, content := operatorModule(nil)
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		mine := userCR(content, "mine")
		env.Runtimes[0].Create(mine)
		disable(kyma, module)
		blocked := tells(v1beta2.StateDeleting, v1beta2.ReasonDeletionBlocked, metav1.NamespaceDefault+"/mine")
		Eventually(env.ManifestOf(kyma.Name, module)).Should(blocked)
		whileDown(func() { env.Runtimes[0].Delete(deployment(module)) })
		Eventually(testkit.Gone(env.Runtimes[0], deployment(module))).Should(BeFalse())
		Expect(env.ManifestOf(kyma.Name, module)()).To(blocked)
		whileDown(func() { env.Runtimes[0].Delete(mine) })
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(module)))
		Expect(testkit.Gone(env.Runtimes[0], definitionOf(content))()).To(BeTrue())
	})
})
