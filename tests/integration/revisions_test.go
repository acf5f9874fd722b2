package integration

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// historyOf returns a Manifest's revisions, each as "number version before>outcome reason".
func historyOf(manifest *v1beta2.Manifest) func() ([]string, error) {
	return func() ([]string, error) {
		live, err := testkit.Live(env.Hub, manifest)()
		if err != nil {
			return nil, err
		}
		var lines []string
		for _, r := range live.Status.Revisions {
			line := fmt.Sprintf("%d %s %s>%s %s", r.Number, r.Version, r.Before, r.Outcome, r.Reason)
			lines = append(lines, strings.TrimSpace(line))
		}
		return lines, nil
	}
}

// statusWrites counts the writes of Manifests' statuses.
func statusWrites(counts calls.Counts) int {
	return writes(counts).Where(func(c calls.Call) bool { return c.Resource == "manifests.operator.kyma-project.io/status" }).Total()
}

var _ = Describe("The revisions of a Manifest", func() {
	BeforeEach(emptyHub)

	It("tell what was asked for and how it ended, without a write of their own", func() {
		name := testkit.Unique("maps")
		layer := func(version string, broken bool) v1beta2.ImageSpec {
			content := testkit.ConfigMaps(name, version, 2)
			if broken {
				content.Objects[1].SetName("No-Name-Of-A-ConfigMap")
			}
			return publish(testkit.RawManifest(content.YAML()))
		}
		first := layer("1.0.0", false)
		manifest := standAlone(first)
		asks := func(version string, source v1beta2.ImageSpec) {
			testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) {
				m.Spec.Version, m.Spec.Install.Source = version, testkit.Raw(source)
			})
		}
		Eventually(historyOf(manifest)).Should(HaveExactElements("1 1.0.0 >Succeeded"))
		atRest()

		By("an upgrade, which costs the two writes that it always did")
		hub := hubCalls.Snapshot()
		asks("1.1.0", layer("1.1.0", false))
		Eventually(historyOf(manifest)).Should(HaveExactElements("1 1.0.0 >Succeeded", "2 1.1.0 Ready>Succeeded"))
		atRest()
		Expect(statusWrites(hubCalls.Since(hub))).To(Equal(2), "that it is being applied, and that it is ready")

		By("an upgrade that the runtime refuses, and the way back from that")
		asks("1.2.0", layer("1.2.0", true))
		Eventually(historyOf(manifest)).Should(HaveExactElements(
			"1 1.0.0 >Succeeded", "2 1.1.0 Ready>Succeeded", "3 1.2.0 Ready>Failed ObjectRefused"))
		way, ok := revision.WayBack(liveManifest(manifest).Status.Revisions, revision.Of(&liveManifest(manifest).Spec), "", 0)
		Expect(ok).To(BeTrue())
		Expect(way.Number).To(BeEquivalentTo(2))
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) {
			m.Annotations = map[string]string{v1beta2.AnnotationRollback: v1beta2.ReasonProgressDeadlineExceeded}
			m.Spec.Version, m.Spec.Install.Source = "1.0.0", testkit.Raw(first)
		})
		Eventually(historyOf(manifest)).Should(HaveExactElements(
			"2 1.1.0 Ready>Succeeded", "3 1.2.0 Ready>RolledBack ProgressDeadlineExceeded", "4 1.0.0 Error>Succeeded"))
		Expect(revision.Held(liveManifest(manifest).Status.Revisions, 0)).To(HavePrefix("1.2.0@sha256:"))

		By("the same version with other content, and a policy that installs nothing else")
		asks("1.0.0", layer("1.0.1", false))
		last := "5 1.0.0 Ready>Succeeded"
		Eventually(historyOf(manifest)).Should(ContainElement(last))
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) {
			m.Spec.CustomResourcePolicy = v1beta2.CustomResourcePolicyIgnore
		})
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		Expect(historyOf(manifest)()).To(And(HaveLen(3), ContainElement(last)))
		remove(manifest)
	})

	It("are given to what an earlier version of the manager installed, with one write, and later with none", func() {
		manifest := standAlone(publish(testkit.RawManifest(testkit.ConfigMaps(testkit.Unique("maps"), "1.0.0", 1).YAML())))
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		atRest()
		before := liveManifest(manifest).Status.Revisions
		Expect(before).To(HaveLen(1))
		var hub calls.Counts
		whileDown(func() {
			dropped := client.RawPatch(types.MergePatchType, []byte(`{"status":{"revisions":null}}`))
			Expect(env.Hub.Client.Status().Patch(ctx(), manifest.DeepCopy(), dropped)).To(Succeed())
			hub = hubCalls.Snapshot()
		})
		Eventually(historyOf(manifest)).Should(HaveExactElements("1 1.0.0 >Succeeded"))
		atRest()
		Expect(statusWrites(hubCalls.Since(hub))).To(Equal(1))
		Expect(revision.KeyOf(liveManifest(manifest).Status.Revisions[0])).To(Equal(revision.KeyOf(before[0])))

		hub = hubCalls.Snapshot()
		whileDown(func() {})
		atRest()
		Expect(writes(hubCalls.Since(hub))).To(BeEmpty())
		remove(manifest)
	})
})

func liveManifest(manifest *v1beta2.Manifest) *v1beta2.Manifest {
	GinkgoHelper()
	live, err := testkit.Live(env.Hub, manifest)()
	Expect(err).NotTo(HaveOccurred())
	return live
}
