package integration

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	"github.com/prometheus/client_golang/prometheus/testutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/module/rollout"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

const ring = "ring"

// ringed is three Kymas that follow channel regular of one module, each in a cluster of its own.
type ringed struct {
	module              string
	canary, early, rest *v1beta2.Kyma
}

// newRinged offers a version of a module whose Deployment becomes available, and installs it into three Kymas.
func newRinged() *ringed {
	GinkgoHelper()
	f := &ringed{module: testkit.Unique("waves")}
	env.Offer(f.module, "1.0.0", testkit.Deployment(f.module, "1.0.0"), "regular")
	f.canary = readyKyma(env.Runtimes[0], testkit.WithModule(f.module), testkit.Labelled(ring, "canary"))
	f.early = readyKyma(env.SecondRuntime(), testkit.WithModule(f.module), testkit.Labelled(ring, "early"))
	f.rest = readyLocal(testkit.WithModule(f.module))
	return f
}

// offer moves channel regular to a version, whose pods run nowhere if it is bad.
func (f *ringed) offer(version string, bad bool) {
	GinkgoHelper()
	content := testkit.Deployment(f.module, version)
	if bad {
		content = stuck(content, "Deployment")
	}
	env.Offer(f.module, version, content, "regular")
}

// planned creates the rollout of their module, waits until it is armed, and lets go of it at the end of the spec.
func (f *ringed) planned(change func(*v1beta2.ModuleRolloutSpec)) *v1beta2.ModuleRollout {
	GinkgoHelper()
	in := func(name string) *metav1.LabelSelector {
		return &metav1.LabelSelector{MatchLabels: map[string]string{ring: name}}
	}
	plan := &v1beta2.ModuleRollout{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: f.module},
		Spec: v1beta2.ModuleRolloutSpec{
			Waves: []v1beta2.RolloutWave{
				{Name: "canary", Selector: in("canary")}, {Name: "early", Selector: in("early"), MaxConcurrent: 1}, {Name: "rest"},
			},
			ProgressDeadline: metav1.Duration{Duration: 10 * time.Second},
		},
	}
	change(&plan.Spec)
	env.Hub.Create(plan)
	DeferCleanup(func() {
		env.Hub.Delete(testkit.ModuleReleaseMeta(f.module)) // nothing is held back then
		env.Hub.Delete(plan)
		Eventually(testkit.Gone(env.Hub, plan)).Should(BeTrue())
	})
	Eventually(testkit.Live(env.Hub, plan)).Should(And(isArmed, HaveField("Status.Phase", v1beta2.RolloutCompleted)))
	return plan
}

var isArmed = HaveField("Status.Conditions", ContainElement(And(
	HaveField("Type", v1beta2.ConditionArmed), HaveField("Status", metav1.ConditionTrue))))

// isAt matches a rollout whose only channel is in a wave and a phase.
func isAt(wave string, phase v1beta2.RolloutPhase) types.GomegaMatcher {
	return HaveField("Status.Channels", ConsistOf(And(HaveField("Wave", wave), HaveField("Phase", phase))))
}

// runs returns a function that returns the version that the Manifest of a Kyma asks for.
func (f *ringed) runs(kyma *v1beta2.Kyma) func() (string, error) {
	return func() (string, error) {
		manifest, err := env.ManifestOf(kyma.Name, f.module)()
		if err != nil {
			return "", err
		}
		return manifest.Spec.Version, nil
	}
}

// decide writes what a person decides about the target of channel regular.
func decide(plan *v1beta2.ModuleRollout, action v1beta2.RolloutAction) {
	GinkgoHelper()
	live, err := testkit.Live(env.Hub, plan)()
	Expect(err).NotTo(HaveOccurred())
	channel := live.Status.Channels[0]
	testkit.Edit(env.Hub, plan, func(p *v1beta2.ModuleRollout) {
		p.Spec.Decision = &v1beta2.RolloutDecision{
			Action: action, Target: rollout.FormatTarget(channel.To), Wave: channel.Wave, At: metav1.Now(), By: "ann",
		}
	})
}

var _ = Describe("A rollout", func() {
	It("brings a good version wave after wave, soaks without a call, and waits for approval", func() {
		emptyHub() // or calls of others would count
		f := newRinged()
		plan := f.planned(func(s *v1beta2.ModuleRolloutSpec) {
			s.Waves[0].Soak = metav1.Duration{Duration: 6 * time.Second}
			s.Waves[2].Approval = true
		})
		Expect(testkit.Live(env.Hub, testkit.ModuleReleaseMeta(f.module))()).To(
			HaveField("Annotations", HaveKeyWithValue(v1beta2.AnnotationRollout, string(plan.UID))))

		f.offer("1.1.0", false)
		Eventually(testkit.Live(env.Hub, plan)).Should(HaveField("Status.Channels", ConsistOf(
			HaveField("Waves", ContainElement(And(HaveField("Name", "canary"), HaveField("Ready", int32(1)), HaveField("Soaking", true)))))))
		Expect(f.runs(f.canary)()).To(Equal("1.1.0"))
		Expect(f.runs(f.early)()).To(Equal("1.0.0"))
		Eventually(quiet(), "5s").Should(BeNumerically(">", 2*time.Second), "a soak costs no call")
		Eventually(testkit.Live(env.Hub, f.early)).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveModule(f.module, HaveField("Offered", "1.1.0"), HaveField("Message", ContainSubstring("1.1.0")))))

		Eventually(testkit.Live(env.Hub, plan)).Should(isAt("rest", v1beta2.RolloutWaiting))
		Expect(f.runs(f.early)()).To(Equal("1.1.0"))
		Expect(f.runs(f.rest)()).To(Equal("1.0.0"))
		decide(plan, v1beta2.RolloutApprove)
		Eventually(testkit.Live(env.Hub, plan)).Should(isAt("", v1beta2.RolloutCompleted))
		Eventually(f.runs(f.rest)).Should(Equal("1.1.0"))
		Expect(testutil.GatherAndCount(managerMetrics, "lifecycle_mgr_rollout_kymas")).To(BeNumerically(">", 0))
	})

	It("halts by itself when the canary fails, and the others never see the version", func() {
		f := newRinged()
		plan := f.planned(func(*v1beta2.ModuleRolloutSpec) {})
		before := map[string]string{}
		for _, kyma := range []*v1beta2.Kyma{f.early, f.rest} {
			manifest, err := env.ManifestOf(kyma.Name, f.module)()
			Expect(err).NotTo(HaveOccurred())
			before[kyma.Name] = manifest.ResourceVersion
		}
		f.offer("1.1.0", true)
		Eventually(testkit.Live(env.Hub, plan), "60s").Should(And(
			isAt("canary", v1beta2.RolloutHalted),
			HaveField("Status.Channels", ConsistOf(HaveField("Worst", ConsistOf(And(
				HaveField("Kyma", f.canary.Name), HaveField("Reason", v1beta2.ReasonProgressDeadlineExceeded)))))),
			HaveField("Status.Conditions", ContainElement(And(HaveField("Type", v1beta2.ConditionHalted), HaveField("Status", metav1.ConditionTrue))))))
		for name, version := range before {
			Expect(env.ManifestOf(name, f.module)()).To(HaveField("ResourceVersion", version), fmt.Sprintf("the Manifest of %s is untouched", name))
		}
		Eventually(testkit.Live(env.Hub, f.early)).Should(testkit.HaveState(v1beta2.StateReady))
		Expect(testutil.GatherAndCount(managerMetrics, "lifecycle_mgr_rollout_halted_total")).To(Equal(1))

		By("going on when a person forgives the failure")
		decide(plan, v1beta2.RolloutResume)
		Eventually(testkit.Live(env.Hub, plan)).Should(HaveField("Status.Phase", Not(Equal(v1beta2.RolloutHalted))))

		By("ending when a person says so")
		decide(plan, v1beta2.RolloutAbort)
		Eventually(testkit.Live(env.Hub, plan)).Should(HaveField("Status.Phase", v1beta2.RolloutAborted))
		Consistently(f.runs(f.rest)).Should(Equal("1.0.0"))
	})

	It("follows a Kyma into the wave that its labels name, and holds its own deletion until it has let everyone have the version", func() {
		f := newRinged()
		plan := f.planned(func(s *v1beta2.ModuleRolloutSpec) { s.Waves[1].Approval = true })
		f.offer("1.1.0", false)
		Eventually(testkit.Live(env.Hub, plan)).Should(isAt("early", v1beta2.RolloutWaiting))

		By("counting a Kyma in another wave once its labels say so")
		testkit.Edit(env.Hub, f.rest, func(k *v1beta2.Kyma) { metav1.SetMetaDataLabel(&k.ObjectMeta, ring, "canary") })
		Eventually(testkit.Live(env.Hub, plan)).Should(HaveField("Status.Channels", ConsistOf(HaveField("Waves", ContainElement(
			And(HaveField("Name", "canary"), HaveField("Total", int32(2))))))))
		testkit.Edit(env.Hub, f.rest, func(k *v1beta2.Kyma) { delete(k.Labels, ring) }) // or the last wave would be empty
		Expect(f.runs(f.early)()).To(Equal("1.0.0"))

		By("deleting the rollout, which would give everyone what is undecided")
		env.Hub.Delete(plan)
		Consistently(f.runs(f.early)).Should(Equal("1.0.0"))
		Expect(testkit.Live(env.Hub, plan)()).To(HaveField("Finalizers", ConsistOf(v1beta2.FinalizerRollout)))
		decide(plan, v1beta2.RolloutApprove)
		Eventually(f.runs(f.early)).Should(Equal("1.1.0"))
		Eventually(testkit.Gone(env.Hub, plan)).Should(BeTrue())
		Eventually(f.runs(f.rest)).Should(Equal("1.1.0"))
		Expect(testkit.Live(env.Hub, testkit.ModuleReleaseMeta(f.module))()).To(
			HaveField("Annotations", Not(HaveKey(v1beta2.AnnotationRollout))))

		By("making it anew, for the next version")
		plan = f.planned(func(*v1beta2.ModuleRolloutSpec) {})
		Expect(testkit.Live(env.Hub, testkit.ModuleReleaseMeta(f.module))()).To(
			HaveField("Annotations", HaveKeyWithValue(v1beta2.AnnotationRollout, string(plan.UID))))
		f.offer("1.2.0", false)
		Eventually(testkit.Live(env.Hub, plan)).Should(isAt("", v1beta2.RolloutCompleted))
		Eventually(f.runs(f.early)).Should(Equal("1.2.0"))
	})

	It("is not there on a hub without the definition, where a marked release gives no Kyma another version", func() {
		definition := env.Hub.Objects(definitionFile("modulerollouts"))
		module := offerMaps("1.0.0", "1.1.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		release := testkit.ModuleReleaseMeta(module)
		testkit.Edit(env.Hub, release, func(r *v1beta2.ModuleReleaseMeta) {
			metav1.SetMetaDataAnnotation(&r.ObjectMeta, v1beta2.AnnotationRollout, "of-one-that-is-gone")
		})
		whileDown(func() {
			env.Hub.Delete(definition[0])
			Eventually(testkit.Gone(env.Hub, definition[0])).Should(BeTrue())
		})
		DeferCleanup(func() {
			whileDown(func() { env.Hub.Apply(definition...) })
		})
		env.Point(module, "1.1.0", "regular")
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveModule(module, HaveField("Offered", "1.1.0"), testkit.HaveVersion("1.0.0"))))

		By("removing the mark")
		testkit.Edit(env.Hub, release, func(r *v1beta2.ModuleReleaseMeta) { r.Annotations = nil })
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveVersion("1.1.0")))
	})
})
