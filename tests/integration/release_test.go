package integration

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// newRelease creates a KymaRelease of some modules in one version, and deletes it at the end of the spec.
func newRelease(version string, modules ...string) *v1beta2.KymaRelease {
	GinkgoHelper()
	release := releaseNamed(testkit.Unique("release"), version, modules...)
	env.Hub.Create(release)
	DeferCleanup(func() { env.Hub.Delete(release) })
	return release
}

func releaseNamed(name, version string, modules ...string) *v1beta2.KymaRelease {
	release := &v1beta2.KymaRelease{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: name}}
	for _, module := range modules {
		release.Spec.Modules = append(release.Spec.Modules, v1beta2.ReleasedModule{Name: module, Version: version})
	}
	return release
}

// follow has a Kyma name a release.
func follow(kyma *v1beta2.Kyma, release string) {
	GinkgoHelper()
	testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Release = release })
}

var _ = Describe("A named release", func() {
	It("moves Kymas to a set of modules by one write each, and then rests", func() {
		emptyHub() // or calls of others would count
		one, two := offerMaps("1.0.0", "2.0.0"), offerMaps("1.0.0", "2.0.0")
		kymas := []*v1beta2.Kyma{
			readyKyma(env.Runtimes[0], testkit.WithModule(one), testkit.WithModule(two)),
			readyKyma(env.SecondRuntime(), testkit.WithModule(one), testkit.WithModule(two, testkit.FromChannel("regular"))),
		}
		release := newRelease("2.0.0", one, two)
		for _, kyma := range kymas {
			follow(kyma, release.Name)
		}
		for i, kyma := range kymas {
			second := []string{"2.0.0", "1.0.0"}[i] // the channel of the entry goes before the release
			Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady),
				HaveField("Status.Release", release.Name),
				testkit.HaveModule(one, And(HaveField("Version", "2.0.0"), HaveField("Channel", ""))),
				testkit.HaveModule(two, HaveField("Version", second))))
		}
		Eventually(testkit.Live(env.Hub, release)).Should(HaveField("Status", And(
			HaveField("Kymas", int32(2)), HaveField("KymasOnRelease", int32(2)), HaveField("ObservedGeneration", int64(1)),
			HaveField("Conditions", ContainElement(And(HaveField("Type", v1beta2.ConditionReady), HaveField("Reason", v1beta2.ReasonComplete)))))))
		Eventually(quiet(), "30s").Should(BeNumerically(">", 2*time.Second), "at rest a release costs no call")
	})

	It("keeps what runs while it does not exist or lacks a module, and wakes its Kymas when it comes", func() {
		module := offerMaps("1.0.0", "2.0.0")
		kyma := readyLocal(testkit.WithModule(module))
		name := testkit.Unique("release")
		follow(kyma, name)
		keeps := func(reason string) {
			GinkgoHelper()
			Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateWarning), HaveField("Status.Release", BeEmpty()),
				testkit.HaveModule(module, And(HaveField("Reason", reason), HaveField("Version", "1.0.0")))))
		}
		keeps(v1beta2.ReasonKymaReleaseNotFound)

		lacking := releaseNamed(name, "2.0.0", "another")
		env.Hub.Create(lacking)
		keeps(v1beta2.ReasonNotInRelease)
		Eventually(testkit.Live(env.Hub, lacking)).Should(HaveField("Status.MissingTemplates", ConsistOf("another-2.0.0")))
		env.Hub.Delete(lacking)
		keeps(v1beta2.ReasonKymaReleaseNotFound)

		good := releaseNamed(name, "2.0.0", module)
		env.Hub.Create(good)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), HaveField("Status.Release", name),
			testkit.HaveModule(module, HaveField("Version", "2.0.0"))))
		env.Hub.Delete(good)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateWarning), HaveField("Status.Release", name),
			testkit.HaveModule(module, And(HaveField("Reason", v1beta2.ReasonKymaReleaseNotFound), HaveField("Version", "2.0.0")))))
	})

	It("cannot be changed, and has each module once", func() {
		release := newRelease("1.0.0", "notes")
		changed := release.DeepCopy()
		changed.Spec.Modules[0].Version = "1.0.1"
		// A patch has no resourceVersion: the manager writes the status of the new release meanwhile, and an update would conflict.
		Expect(env.Hub.Client.Patch(ctx(), changed, client.MergeFrom(release))).To(MatchError(ContainSubstring("a release is immutable")))
		for what, wrong := range map[string]*v1beta2.KymaRelease{
			"no module": releaseNamed("none", "1.0.0"), "a module twice": releaseNamed("twice", "1.0.0", "notes", "notes"),
			"a range": releaseNamed("range", ">=1", "notes"), "no version": releaseNamed("empty", "", "notes"),
		} {
			Expect(env.Hub.Client.Create(ctx(), wrong)).NotTo(Succeed(), what)
		}
	})
})
