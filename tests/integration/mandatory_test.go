package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// mandatory publishes a version of a module of two ConfigMaps and makes it mandatory; at its end the spec takes it away again.
func mandatory(version string) *v1beta2.ModuleReleaseMeta {
	GinkgoHelper()
	module := testkit.Unique("forced")
	env.Offer(module, version, testkit.ConfigMaps(module, version, 2))
	release := testkit.ModuleReleaseMeta(module)
	release.Spec.Mandatory = &v1beta2.Mandatory{Version: version}
	env.Hub.Create(release)
	DeferCleanup(func() {
		env.Hub.Delete(release)
		Eventually(testkit.Gone(env.Hub, release), "60s").Should(BeTrue())
	})
	return release
}

// readyLocal creates a Kyma of the hub itself and waits until it is Ready.
func readyLocal(options ...testkit.KymaOption) *v1beta2.Kyma {
	GinkgoHelper()
	kyma := testkit.Kyma(testkit.Unique("kyma"), append(options, testkit.Local())...)
	env.Hub.Create(kyma)
	Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
	return kyma
}

func isMandatoryAt(version string) types.GomegaMatcher {
	return And(
		HaveField("Spec.Version", version),
		HaveField("Labels", And(HaveKeyWithValue(v1beta2.LabelMandatoryModule, "true"), Not(HaveKey(v1beta2.LabelChannel)))),
		testkit.HaveState(v1beta2.StateReady))
}

var mandatoryAre = func(status metav1.ConditionStatus, reason string) types.GomegaMatcher {
	return testkit.HaveCondition(v1beta2.ConditionMandatoryModules, status, reason)
}

var _ = Describe("A mandatory module", func() {
	BeforeEach(emptyHub) // or it would go to the Kymas that other specs left

	It("comes to every Kyma without being asked for, takes new versions, and goes with its release", func() {
		env.FaultFree()
		release := mandatory("1.0.0")
		kyma := readyLocal()
		Eventually(env.ManifestOf(kyma.Name, release.Name)).Should(isMandatoryAt("1.0.0"))
		manifest, err := env.ManifestOf(kyma.Name, release.Name)()
		Expect(err).NotTo(HaveOccurred())
		Expect(manifest.OwnerReferences).To(ConsistOf(HaveField("Name", kyma.Name)))
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			testkit.HaveState(v1beta2.StateReady), mandatoryAre(metav1.ConditionTrue, v1beta2.ReasonReady), HaveField("Status.Modules", BeEmpty())))
		Expect(versionIn(env.Hub, release.Name+"-0")()).To(Equal("1.0.0"))
		Expect(testkit.Live(env.Hub, release)()).To(HaveField("Finalizers", ConsistOf(v1beta2.FinalizerMandatoryModule)))
		Expect(testutil.GatherAndCount(managerMetrics, "lifecycle_mgr_mandatory_modules")).To(Equal(1))
		Expect(testutil.GatherAndCount(managerMetrics, "lifecycle_mgr_mandatory_module_state")).To(BeNumerically(">=", 1))

		By("taking another version")
		env.Offer(release.Name, "1.1.0", testkit.ConfigMaps(release.Name, "1.1.0", 1))
		testkit.Edit(env.Hub, release, func(r *v1beta2.ModuleReleaseMeta) { r.Spec.Mandatory.Version = "1.1.0" })
		Eventually(env.ManifestOf(kyma.Name, release.Name)).Should(isMandatoryAt("1.1.0"))
		Expect(versionIn(env.Hub, release.Name+"-1")()).To(BeEmpty())

		By("going to no lower one")
		testkit.Edit(env.Hub, release, func(r *v1beta2.ModuleReleaseMeta) { r.Spec.Mandatory.Version = "1.0.0" })
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			mandatoryAre(metav1.ConditionFalse, v1beta2.ReasonDowngrade), testkit.HaveState(v1beta2.StateReady)))
		Expect(versionIn(env.Hub, release.Name+"-0")()).To(Equal("1.1.0"))

		By("going with its release")
		env.Hub.Delete(release)
		Eventually(testkit.Gone(env.Hub, release)).Should(BeTrue())
		Expect(manifestsOf(kyma)()).To(BeEmpty())
		Expect(versionIn(env.Hub, release.Name+"-0")()).To(BeEmpty())
		Eventually(testkit.Live(env.Hub, kyma)).Should(HaveField("Status.Conditions", Not(ContainElement(HaveField("Type", v1beta2.ConditionMandatoryModules)))))
	})

	It("does not come to a Kyma that is left alone, and goes from one, too", func() {
		kyma := readyLocal()
		first := mandatory("1.0.0")
		Eventually(env.ManifestOf(kyma.Name, first.Name)).Should(isMandatoryAt("1.0.0"))
		whileDown(func() { // or the release, which comes by another way, may come sooner
			testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Labels[v1beta2.LabelSkipReconciliation] = "true" })
		})
		mandatory("1.0.0")
		Consistently(manifestsOf(kyma)).Should(HaveLen(1))
		env.Hub.Delete(first)
		Eventually(testkit.Gone(env.Hub, first)).Should(BeTrue())
		Expect(manifestsOf(kyma)()).To(BeEmpty())
	})

	It("holds up no other when its template is missing, and is there once that came", func() {
		broken, sound := mandatory("1.0.0"), mandatory("1.0.0")
		testkit.Edit(env.Hub, broken, func(r *v1beta2.ModuleReleaseMeta) { r.Spec.Mandatory.Version = "2.0.0" })
		own := offerMaps("1.0.0")
		kyma := readyLocal(testkit.WithModule(own))
		Eventually(env.ManifestOf(kyma.Name, sound.Name)).Should(isMandatoryAt("1.0.0"))
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			testkit.HaveState(v1beta2.StateReady), mandatoryAre(metav1.ConditionFalse, v1beta2.ReasonTemplateNotFound)))
		env.Offer(broken.Name, "2.0.0", testkit.ConfigMaps(broken.Name, "2.0.0", 1))
		Eventually(env.ManifestOf(kyma.Name, broken.Name)).Should(isMandatoryAt("2.0.0"))
		Eventually(testkit.Live(env.Hub, kyma)).Should(mandatoryAre(metav1.ConditionTrue, v1beta2.ReasonReady))
	})

	It("cannot be enabled, and is there all the same", func() {
		release := mandatory("1.0.0")
		kyma := testkit.Kyma(testkit.Unique("kyma"), testkit.Local(), testkit.WithModule(release.Name))
		env.Hub.Create(kyma)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionFalse, v1beta2.ReasonModuleMandatory),
			testkit.HaveModule(release.Name, testkit.HaveState(v1beta2.StateWarning)),
			mandatoryAre(metav1.ConditionTrue, v1beta2.ReasonReady)))
		Expect(env.ManifestOf(kyma.Name, release.Name)()).To(isMandatoryAt("1.0.0"))
	})

	It("goes with its Kyma and stays in the others", func() {
		release := mandatory("1.0.0")
		leaving, staying := readyLocal(), readyKyma(env.Runtimes[0])
		for _, kyma := range []*v1beta2.Kyma{leaving, staying} {
			Eventually(env.ManifestOf(kyma.Name, release.Name)).Should(isMandatoryAt("1.0.0"))
		}
		env.Hub.Delete(leaving)
		Eventually(testkit.Gone(env.Hub, leaving)).Should(BeTrue())
		Expect(versionIn(env.Hub, release.Name+"-0")()).To(BeEmpty())
		Expect(env.ManifestOf(staying.Name, release.Name)()).To(isMandatoryAt("1.0.0"))
	})

	It("keeps its release until the last Manifest is gone", func() {
		kyma, release := readyLocal(), mandatory("1.0.0")
		Eventually(env.ManifestOf(kyma.Name, release.Name)).Should(isMandatoryAt("1.0.0"))
		manifest, err := env.ManifestOf(kyma.Name, release.Name)()
		Expect(err).NotTo(HaveOccurred())
		const foreign = "example.com/held"
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { controllerutil.AddFinalizer(m, foreign) })
		env.Hub.Delete(release)
		Eventually(testkit.Live(env.Hub, manifest)).Should(HaveField("DeletionTimestamp", Not(BeNil())))
		Consistently(testkit.Gone(env.Hub, release)).Should(BeFalse())
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			mandatoryAre(metav1.ConditionFalse, v1beta2.ReasonModuleDeleting), testkit.HaveState(v1beta2.StateReady)))
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { controllerutil.RemoveFinalizer(m, foreign) })
		Eventually(testkit.Gone(env.Hub, release)).Should(BeTrue())
	})

	It("takes over what a Kyma had enabled, and gives it back", func() {
		env.FaultFree()
		module := offerMaps("1.0.0")
		kyma := readyLocal(testkit.WithModule(module))
		before, err := env.ManifestOf(kyma.Name, module)()
		Expect(err).NotTo(HaveOccurred())
		release := testkit.ModuleReleaseMeta(module)
		testkit.Edit(env.Hub, release, func(r *v1beta2.ModuleReleaseMeta) {
			r.Spec.Channels, r.Spec.Mandatory = nil, &v1beta2.Mandatory{Version: "1.0.0"}
		})
		Eventually(env.ManifestOf(kyma.Name, module)).Should(And(isMandatoryAt("1.0.0"), HaveField("UID", before.UID)))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateWarning))
		testkit.Edit(env.Hub, release, func(r *v1beta2.ModuleReleaseMeta) {
			r.Spec.Channels, r.Spec.Mandatory = []v1beta2.ChannelVersion{{Channel: "regular", Version: "1.0.0"}}, nil
		})
		Eventually(env.ManifestOf(kyma.Name, module)).Should(And(
			HaveField("Labels", And(Not(HaveKey(v1beta2.LabelMandatoryModule)), HaveKeyWithValue(v1beta2.LabelChannel, "regular"))),
			HaveField("UID", before.UID), HaveField("DeletionTimestamp", BeNil())))
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady))))
		Eventually(testkit.Live(env.Hub, release)).Should(HaveField("Finalizers", BeEmpty()))
	})
})
