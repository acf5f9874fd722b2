package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

func withProbes(probes ...v1beta2.Probe) func(*v1beta2.Manifest) {
	return func(m *v1beta2.Manifest) { m.Spec.Probes = probes }
}

// say sets a field of a ConfigMap that its installation does not declare.
func say(name, phase string) {
	GinkgoHelper()
	testkit.Edit(env.Runtimes[0], configMap(name), func(c *corev1.ConfigMap) { c.Data["phase"] = phase })
}

var _ = Describe("A probe", func() {
	It("holds Ready back until it is true, by events alone, and takes it away again", func() {
		emptyHub()
		env.FaultFree()
		name := testkit.Unique("probed")
		manifest := standAlone(publish(testkit.RawManifest([]byte(mapNamed(name, "1.0.0")))),
			withProbes(v1beta2.Probe{Name: "open", Kind: "ConfigMap", Expression: `self.data.phase == "open"`, Message: "the shop is closed"}))
		waits := tells(v1beta2.StateProcessing, v1beta2.ReasonWaitingForProbe, name, "open", "the shop is closed")
		Eventually(testkit.Live(env.Hub, manifest)).Should(waits)
		expectNoCalls()
		Expect(testkit.Live(env.Hub, manifest)()).To(waits)

		say(name, "open")
		Eventually(testkit.Live(env.Hub, manifest), atOnce).Should(ready())
		expectNoCalls()
		say(name, "shut")
		Eventually(testkit.Live(env.Hub, manifest), atOnce).Should(waits)
		remove(manifest)
	})

	It("that cannot be compiled is told before anything is touched, and heals", func() {
		name := testkit.Unique("probed")
		manifest := standAlone(publish(testkit.RawManifest([]byte(mapNamed(name, "1.0.0")))),
			withProbes(v1beta2.Probe{Name: "broken", Kind: "ConfigMap", Expression: `self.data.phase ==`}))
		Eventually(testkit.Live(env.Hub, manifest)).Should(And(tells(v1beta2.StateError, v1beta2.ReasonProbeInvalid, "broken"), HaveField("Status.Synced", BeEmpty())))
		Expect(settings(name)()).To(BeNil())
		testkit.Edit(env.Hub, manifest, withProbes(v1beta2.Probe{Name: "broken", Kind: "ConfigMap", Expression: `self.data.version == "1.0.0"`}))
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
		remove(manifest)
	})

	It("asks about custom resources and workloads of the content, and not about those of others", func() {
		env.FaultFree()
		name := testkit.Unique("probed")
		content := testkit.Operator(name, "1.0.0")
		text := string(content.YAML()) + "---\n" + customFor("ours", name)
		manifest := standAlone(publish(testkit.RawManifest([]byte(text))), withProbes(
			v1beta2.Probe{Name: "serving", Group: "testkit.kyma-project.io", Kind: testkit.KindOf(name), Expression: `self.status.phase == "Serving"`},
			v1beta2.Probe{Name: "running", Group: "apps", Kind: "Deployment", Expression: `self.status.availableReplicas >= self.spec.replicas`},
		))
		waits := tells(v1beta2.StateProcessing, v1beta2.ReasonWaitingForProbe, "serving", "ours")
		Eventually(testkit.Live(env.Hub, manifest)).Should(waits)
		theirs := userCR(content, "theirs")
		env.Runtimes[0].Create(theirs)
		ours := userCR(content, "ours")
		ours.Object["status"] = map[string]any{"phase": "Serving"}
		Expect(env.Runtimes[0].Client.Status().Patch(ctx(), ours, client.Merge)).To(Succeed())
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
		env.Runtimes[0].Delete(theirs)
		remove(manifest)
	})

	It("does not lie after a restart: Ready stays while it is true, and goes when it became false meanwhile", func() {
		name := testkit.Unique("probed")
		manifest := standAlone(publish(testkit.RawManifest([]byte(mapNamed(name, "1.0.0")))),
			withProbes(v1beta2.Probe{Name: "open", Kind: "ConfigMap", Expression: `self.data.phase == "open"`}))
		Eventually(testkit.Live(env.Hub, manifest)).Should(tells(v1beta2.StateProcessing, v1beta2.ReasonWaitingForProbe))
		say(name, "open")
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
		whileDown(func() {})
		Consistently(testkit.Live(env.Hub, manifest)).Should(ready())
		whileDown(func() { say(name, "shut") })
		Eventually(testkit.Live(env.Hub, manifest)).Should(tells(v1beta2.StateProcessing, v1beta2.ReasonWaitingForProbe))
		remove(manifest)
	})
})

// phase lets a module's operator say something else than a state.
func phase(cluster *testkit.Cluster, cr *unstructured.Unstructured, phase string) {
	GinkgoHelper()
	cr = cr.DeepCopy()
	cr.Object["status"] = map[string]any{"phase": phase}
	Expect(cluster.Client.Status().Patch(ctx(), cr, client.Merge)).To(Succeed())
}
