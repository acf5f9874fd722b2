package integration

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/revision"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// offerBack offers a version of a module on channel regular, whose author vouches that versions can take over from it.
func offerBack(module, version string, content testkit.Content, rollbackTo string) {
	GinkgoHelper()
	env.Publish(testkit.ComponentName(module), version, testkit.RawManifest(content.YAML()))
	env.Hub.Create(testkit.ModuleTemplate(module, version, func(spec *v1beta2.ModuleTemplateSpec) { spec.RollbackTo = rollbackTo }))
	env.Point(module, version, "regular")
}

// goesBack lets the only module of a Kyma go back by itself after ten seconds.
func goesBack(kyma *v1beta2.Kyma) {
	kyma.Spec.Modules[0].OnFailedUpgrade = v1beta2.FailedUpgradeRollback
	kyma.Spec.Modules[0].ProgressDeadline = &metav1.Duration{Duration: 10 * time.Second}
}

// isBackAt matches a Kyma whose module is ready at an earlier version than the one that is offered.
func isBackAt(module, version, avoided, says string) types.GomegaMatcher {
	return And(
		testkit.HaveState(v1beta2.StateReady),
		testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionTrue, v1beta2.ReasonRolledBack),
		testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady), testkit.HaveVersion(version),
			HaveField("Avoid", HavePrefix(avoided)), HaveField("Message", ContainSubstring(says))))
}

func isReadyAt(module, version string) types.GomegaMatcher {
	return And(
		testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionTrue, v1beta2.ReasonReady),
		testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady), testkit.HaveVersion(version), HaveField("Avoid", "")))
}

// became matches a Manifest whose revisions have these versions and outcomes.
func became(wants ...string) types.GomegaMatcher {
	return WithTransform(func(manifest *v1beta2.Manifest) (got []string) {
		for _, one := range manifest.Status.Revisions {
			got = append(got, one.Version+" "+string(one.Outcome)+one.Reason)
		}
		return got
	}, Equal(wants))
}

var _ = Describe("A module whose upgrade fails", func() {
	const (
		failedHere = "version 1.1.0 failed here (Deployment.apps default/"
		goneBack   = "1.1.0 RolledBackProgressDeadlineExceeded"
	)

	// failing is a Kyma whose module was ready at 1.0.0, and is offered a 1.1.0 whose Deployment never becomes available.
	failing := func(rollbackTo string) (*v1beta2.Kyma, string) {
		GinkgoHelper()
		module := testkit.Unique("back")
		offerBack(module, "1.0.0", testkit.Deployment(module, "1.0.0"), "")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module), goesBack)
		Eventually(env.ManifestOf(kyma.Name, module)).Should(became("1.0.0 Succeeded"))
		offerBack(module, "1.1.0", stuckDeployment(module), rollbackTo)
		return kyma, module
	}

	It("goes back, stays, is tried again on request, and takes the version that comes next", func() {
		env.FaultFree()
		kyma, module := failing(">=1.0.0")
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveVersion("1.1.0")))
		Eventually(testkit.Live(env.Hub, kyma), "60s").Should(isBackAt(module, "1.0.0", "1.1.0@sha256:", failedHere))
		Eventually(env.ManifestOf(kyma.Name, module)).Should(became("1.0.0 Succeeded", goneBack, "1.0.0 Succeeded"))
		Expect(testkit.Live(env.Hub, kyma)()).To(testkit.HaveModule(module, HaveField("Message", ContainSubstring(`"kyma retry `+module+`"`))))

		By("resting")
		at := func() (string, error) {
			manifest, err := env.ManifestOf(kyma.Name, module)()
			if err != nil {
				return "", err
			}
			live, err := testkit.Live(env.Hub, kyma)()
			return live.ResourceVersion + " " + manifest.ResourceVersion, err
		}
		before, err := at()
		Expect(err).NotTo(HaveOccurred())
		Consistently(at).Should(Equal(before))

		By("being tried again")
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules[0].Retry = 2 })
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveVersion("1.1.0"), HaveField("Avoid", "")))
		Eventually(testkit.Live(env.Hub, kyma), "60s").Should(isBackAt(module, "1.0.0", "1.1.0@sha256:", failedHere))
		Eventually(env.ManifestOf(kyma.Name, module)).Should(became("1.0.0 Succeeded", goneBack, "1.0.0 Succeeded"))

		By("being offered a version that works")
		offerBack(module, "1.2.0", testkit.Deployment(module, "1.2.0"), "")
		Eventually(testkit.Live(env.Hub, kyma)).Should(isReadyAt(module, "1.2.0"))
		Expect(env.ManifestOf(kyma.Name, module)()).NotTo(HaveField("Annotations", HaveKey(v1beta2.AnnotationRollback)))
	})

	It("stays with the new version where no one vouches, and says so from the beginning", func() {
		kyma, module := failing("")
		says := func(text string) types.GomegaMatcher {
			return testkit.HaveModule(module, testkit.HaveVersion("1.1.0"), HaveField("Message", ContainSubstring(text)))
		}
		Eventually(testkit.Live(env.Hub, kyma)).Should(says("should it fail, it does not go back by itself"))
		Eventually(testkit.Live(env.Hub, kyma), "60s").Should(And(testkit.HaveState(v1beta2.StateWarning),
			testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionFalse, v1beta2.ReasonRollbackUnavailable),
			says("version 1.1.0 stays")))

		By("a person's word")
		manifest, err := env.ManifestOf(kyma.Name, module)()
		Expect(err).NotTo(HaveOccurred())
		newest := manifest.Status.Revisions[len(manifest.Status.Revisions)-1]
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules[0].Avoid = revision.ReferenceOf(newest) })
		Eventually(testkit.Live(env.Hub, kyma)).Should(isBackAt(module, "1.0.0", "", "version 1.1.0 is avoided"))
		Eventually(env.ManifestOf(kyma.Name, module)).Should(became("1.0.0 Succeeded", "1.1.0 RolledBackRequested", "1.0.0 Succeeded"))
	})

	It("cannot go back without the template of before, and does when it is there again", func() {
		module := testkit.Unique("back")
		offerBack(module, "1.0.0", testkit.Deployment(module, "1.0.0"), "")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module), goesBack)
		Eventually(env.ManifestOf(kyma.Name, module)).Should(became("1.0.0 Succeeded"))
		offerBack(module, "1.1.0", stuckDeployment(module), ">=1.0.0")
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveVersion("1.1.0")))
		env.Hub.Delete(testkit.ModuleTemplate(module, "1.0.0"))
		Eventually(testkit.Live(env.Hub, kyma), "60s").Should(And(
			testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionFalse, v1beta2.ReasonRollbackUnavailable),
			testkit.HaveModule(module, testkit.HaveState(v1beta2.StateWarning), testkit.HaveVersion("1.1.0"),
				HaveField("Message", ContainSubstring(`"`+module+`-1.0.0" not found`)))))
		env.Hub.Create(testkit.ModuleTemplate(module, "1.0.0"))
		Eventually(testkit.Live(env.Hub, kyma)).Should(isBackAt(module, "1.0.0", "1.1.0@sha256:", failedHere))
	})

	It("goes back from what works because a person says so, and forward when the person has changed their mind", func() {
		env.FaultFree()
		module := testkit.Unique("back")
		offerBack(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", 2), "")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		offerBack(module, "1.1.0", testkit.ConfigMaps(module, "1.1.0", 3), "")
		Eventually(testkit.Live(env.Hub, kyma)).Should(isReadyAt(module, "1.1.0"))
		var manifest *v1beta2.Manifest
		Eventually(func() (err error) { manifest, err = env.ManifestOf(kyma.Name, module)(); return err }).Should(Succeed())
		away := revision.Of(&manifest.Spec)
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules[0].Avoid = revision.Reference(away.Version, away.Digest) })
		Eventually(testkit.Live(env.Hub, kyma)).Should(isBackAt(module, "1.0.0", "", "version 1.1.0 is avoided"))
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(Equal("1.0.0"))
		Expect(versionIn(env.Runtimes[0], module+"-2")()).To(BeEmpty(), "what the version before did not have is pruned")
		Expect(env.ManifestOf(kyma.Name, module)()).To(HaveField("Annotations", HaveKeyWithValue(v1beta2.AnnotationRollback, v1beta2.ReasonRequested)))

		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules[0].Avoid = "" })
		Eventually(testkit.Live(env.Hub, kyma)).Should(isReadyAt(module, "1.1.0"))
		Expect(versionIn(env.Runtimes[0], module+"-2")()).To(Equal("1.1.0"))
	})
})
