package integration

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// moved matches a Manifest whose first source names that digest by now; an empty one: what it was resolved to.
func moved(digest string) types.GomegaMatcher {
	return HaveField("Status.Resolved", HaveExactElements(HaveField("Moved", digest)))
}

var _ = Describe("The audit of references", func() {
	const pause = time.Second

	BeforeEach(func() {
		emptyHub()
		stopManager()
		startManager(func(c *setup.Config) { c.AuditInterval = pause })
		DeferCleanup(func() { whileDown(func() {}) }) // and again with the usual interval
	})

	It("tells of a tag that moved, with one HEAD for each reference, and changes nothing that runs", func() {
		name := testkit.Unique("moved")
		image := env.Registry.Host + "/bundles/" + name + ":v1"
		files := func(version string) testkit.Files {
			return testkit.Files{"manifests/map.yaml": mapNamed(name, version)}
		}
		first := env.PushImage("bundles/"+name, "v1", files("1.0.0"))
		manifest := installs(source{"image": image})
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(resolvedTo(manifest.Name, "", first), moved("")))
		other := installs(source{"image": image}, func(m *v1beta2.Manifest) { m.Spec.TargetNamespace = "kube-public" })
		Eventually(testkit.Live(env.Hub, other)).Should(ready(resolvedTo(other.Name, "", first)))

		By("asking once a round, for both of them")
		env.Registry.ResetCounts()
		begun := time.Now()
		Eventually(func() int { return env.Registry.Count(localcluster.ManifestHead) }).Should(BeNumerically(">=", 3))
		Expect(env.Registry.Counts()).To(HaveLen(1), "only HEADs")
		rounds := int(time.Since(begun)/(pause*9/10)) + 1
		Expect(env.Registry.Count(localcluster.ManifestHead)).To(BeNumerically("<=", rounds))

		By("another image under that tag")
		second := env.PushImage("bundles/"+name, "v1", files("2.0.0"))
		Expect(second).NotTo(Equal(first))
		for _, each := range []*v1beta2.Manifest{manifest, other} {
			Eventually(testkit.Live(env.Hub, each)).Should(ready(resolvedTo(each.Name, "", first), moved(second)))
			Eventually(notesOf(each, v1beta2.ReasonReferenceMoved)).Should(ContainElement(And(ContainSubstring(image), ContainSubstring(second))))
		}
		Expect(settings(name)()).To(HaveKeyWithValue("version", "1.0.0"))
		expectHealed(env.Runtimes[0], configMap(name))
		Expect(settings(name)()).To(HaveKeyWithValue("version", "1.0.0"))
		hub := hubCalls.Snapshot()
		Consistently(testkit.Live(env.Hub, manifest), 3*pause).Should(moved(second))
		Expect(writes(hubCalls.Since(hub)).Total()).To(BeNumerically("<=", 1), "what is known is not written again") // one for the healing

		By("the tag back where it was")
		env.PushImage("bundles/"+name, "v1", files("1.0.0"))
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(moved("")))

		By("following it when the spec names the digest")
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) {
			m.Spec.Install.Source = testkit.Raw(source{"image": env.Registry.Host + "/bundles/" + name + "@" + second})
		})
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(resolvedTo(manifest.Name, "", second), moved("")))
		Expect(settings(name)()).To(HaveKeyWithValue("version", "2.0.0"))
		remove(other)

		By("asking no one about what names a digest")
		Eventually(func(g Gomega) { // what was requested the other one may be under way
			env.Registry.ResetCounts()
			g.Consistently(env.Registry.Counts, 4*pause).Should(BeEmpty())
		}, "1m").Should(Succeed())
		remove(manifest)
	})

	It("tells of a chart's range that has a newer version, and of a registry that is down nothing", func() {
		chart := testkit.Unique("chart")
		env.PushChart("charts/"+chart, "1.0.0", chartOf(chart, "1.0.0"))
		manifest := installs(source{"url": ociRegistry(), "chartName": chart, "version": "^1"})
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(resolvedTo(manifest.Name, "1.0.0", "")))
		newer := env.PushChart("charts/"+chart, "1.1.0", chartOf(chart, "1.1.0"))
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(resolvedTo(manifest.Name, "1.0.0", ""), moved(newer)))
		inject(localcluster.Down())
		Consistently(testkit.Live(env.Hub, manifest), 3*pause).Should(ready(moved(newer)))
		remove(manifest)
	})
})
