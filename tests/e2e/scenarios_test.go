package e2e

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// The numbers are those of the end-to-end tests of upstream, see docs/compatibility.md, which also says why 5, 15, 25 and 31 do not exist
// here. 18, the rules of RBAC, holds all the time: the manager has no other rights than those of config/default.
var _ = Describe("Three Kymas with ten modules each", Ordered, func() {
	var s *environment

	BeforeAll(func() {
		s = setScene()
		s.offerAll()
		const both, none = v1beta2.CustomResourcePolicyCreateAndDelete, v1beta2.CustomResourcePolicyIgnore
		for i, modules := range [][]v1beta2.Module{ten(both, both), ten(none, none), ten(none, both)} {
			s.members = append(s.members, newMember([]string{"one", "two", "three"}[i], s.Runtimes[i], modules))
		}
	})

	JustAfterEach(func() {
		if CurrentSpecReport().Failed() && s != nil {
			s.explain()
		}
	})

	It("are installed, but for the module that one of them may not have, which comes with its label (33)", func() { s.install() })
	It("hold what a runtime needs: pull Secret, images, data of the hub, marks, catalog (6, 23, 28, 30, 34, 35)", func() { s.supplied() })
	It("are left alone at rest, and put back what a user changes (1, 4, 7)", func() { s.atRest() })
	It("have the state of their workloads, not of their custom resources (3)", func() { s.stateOfWorkloads() })
	It("go up with a channel and not down (11)", func() { s.channels() })
	It("take new versions and drop what these drop; a version that is not there is told (12, 21)", func() { s.rollout() })
	It("let go of modules and take them back, with both policies (13)", func() { s.unmanage() })
	It("are left alone with the label, whole or by module (14)", func() { s.skip() })
	It("show a catalog that follows, and lose and regain what they may not have (19, 22, 32, 33)", func() { s.visibility() })
	It("keep modules whose custom resources are in use, whatever the policy, and upgrade them meanwhile (8, 10, 26)", func() { s.blocked() })
	It("remove a module that only has its default custom resource, which its operator may hold (9, 26)", func() { s.defaultOnly() })
	It("get the mandatory module, its versions, and lose it (16)", func() { s.mandatory() })
	It("wait for maintenance windows, unless they do not want to (24)", func() { s.windows() })
	It("survive bad kubeconfigs, rights that are too few, a lost connection and a new login (17, 20, 27, 29)", func() { s.access() })
	It("survive the manager's sudden death in the middle of an upgrade", func() { s.death() })
	It("are deleted; what holds them is told, and a runtime that is gone is let go of (2, 4, 6)", func() { s.deletion() })
	It("leave nothing, neither on the hub nor in the runtimes", func() { s.nothingLeft() })
})

func (s *environment) install() {
	GinkgoHelper()
	s.Hub.Create(hubCredentials("one"))
	last := s.members[2]
	delete(last.kyma.Labels, account)
	for _, m := range s.members {
		s.join(m)
	}
	s.sees(last, tells(v1beta2.StateError, v1beta2.ReasonModuleRestricted, guarded),
		testkit.HaveModule(guarded, testkit.HaveState(v1beta2.StateError)), HaveField("Status.ModulesReady", "9/10"))
	gone(last.runtime, configMap(guarded+"-0"), releaseIn(guarded))
	s.labelled(last.kyma.DeepCopy(), account, "one")
	s.whole()
	for _, m := range s.members {
		there(m.runtime, configMap(guarded+"-0"), configMap(notes+"-4"), configMap("charted"))
	}
}

func (s *environment) supplied() {
	GinkgoHelper()
	for _, m := range s.members {
		By("Kyma " + m.kyma.Name)
		there(m.runtime, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.RuntimeNamespace, Name: pullSecret}})
		operator, err := testkit.Live(m.runtime, deployment(web))()
		Expect(err).NotTo(HaveOccurred())
		container := operator.Spec.Template.Spec.Containers[0]
		Expect(operator.Spec.Template.Spec.ImagePullSecrets).To(ConsistOf(corev1.LocalObjectReference{Name: pullSecret}))
		Expect(container.Image).To(Equal("prod.example.com/kyma/operator:" + first))
		Expect(container.Env).To(ConsistOf(corev1.EnvVar{Name: "PROXY_IMAGE", Value: "prod.example.com/kyma/proxy:2.0.0"},
			corev1.EnvVar{Name: "SKR_IMG_PULL_SECRET", Value: pullSecret}))
		Expect(operator.Labels).To(And(HaveKeyWithValue(v1beta2.LabelManagedBy, v1beta2.ManagedByKyma), HaveKeyWithValue(v1beta2.LabelPartOf, v1beta2.PartOfKyma)))
		Expect(operator.Annotations).To(HaveKeyWithValue(v1beta2.AnnotationDisclaimer, v1beta2.DisclaimerText))
		Expect(testkit.Live(m.runtime, m.copied())()).To(HaveField("Labels", And(
			HaveKeyWithValue(v1beta2.LabelManagedBy, v1beta2.ManagedByKyma), HaveKeyWithValue(v1beta2.LabelWatchedBy, v1beta2.ManagedByKyma))))
		Eventually(testkit.Live(m.runtime, m.copied())).Should(HaveField("Status.State", v1beta2.StateReady))
		Expect(passwordIn(m)()).To(Equal("one"))
		s.sees(m, testkit.HaveModule(bare, testkit.HaveState(v1beta2.StateReady), HaveField("Resource", BeNil())))
		for _, module := range m.kyma.Spec.Modules {
			Eventually(testkit.Gone(m.runtime, releaseIn(module.Name))).WithTimeout(inTime).Should(BeFalse(), module.Name)
		}
	}
	By("34: what is wrong with the hub's Secret is told, no one else's may be taken, and every change of it gets through")
	secret := hubCredentials("")
	for label, text := range map[string]string{"": "is missing the required", web: "actual=web"} {
		s.labelled(secret.DeepCopy(), v1beta2.LabelModuleName, label)
		s.manifest(s.members[0], deployer, tells(v1beta2.StateError, v1beta2.ReasonHubSecretUnusable, text))
		s.labelled(secret.DeepCopy(), v1beta2.LabelModuleName, deployer)
		s.whole()
	}
	testkit.Edit(s.Hub, secret, func(secret *corev1.Secret) { secret.Data["password"] = []byte("two") })
	for _, m := range s.members {
		Eventually(passwordIn(m)).WithTimeout(inTime).Should(Equal("two"))
	}
	s.whole()
}

func (s *environment) atRest() {
	GinkgoHelper()
	By("4: metrics tell the states")
	for _, m := range s.members {
		name := fmt.Sprintf("kyma_name=%q", m.kyma.Name)
		Eventually(s.manager.metric("lifecycle_mgr_kyma_state", name, `state="Ready"`)).Should(Equal(1.0))
		Eventually(s.manager.metric("lifecycle_mgr_module_state", name, `state="Ready"`, fmt.Sprintf(`instance_id="instance-of-%s"`, m.kyma.Name))).Should(Equal(10.0))
	}
	By("7: nothing is written, and there is no pass but for an event")
	versions := func(g Gomega) map[string]string {
		found := map[string]string{}
		for _, m := range s.members {
			for _, object := range []client.Object{configMap(maps + "-0"), deployment(web), m.copied(), releaseIn(maps)} {
				live, err := testkit.Live(m.runtime, object)()
				g.Expect(err).NotTo(HaveOccurred())
				found[fmt.Sprintf("%s %T %s", m.kyma.Name, object, object.GetName())] = live.GetResourceVersion()
			}
		}
		return found
	}
	passes := s.manager.metric("controller_runtime_reconcile_total")
	Eventually(func(g Gomega) { // what came before has its last echoes, and a pass that failed for a moment is repeated some time later
		before, err := passes()
		g.Expect(err).NotTo(HaveOccurred())
		held := versions(g)
		g.Consistently(versions).WithTimeout(2 * awhile).Should(Equal(held))
		g.Expect(passes()).To(Equal(before))
	}).WithTimeout(inTime).Should(Succeed())

	By("7: an operator that was scaled down, and objects that were deleted, return")
	for _, m := range s.members {
		testkit.Edit(m.runtime, deployment(web), func(d *appsv1.Deployment) { d.Spec.Replicas = new(int32) })
		deleted, err := testkit.Live(m.runtime, configMap(maps+"-0"))()
		Expect(err).NotTo(HaveOccurred())
		m.runtime.Delete(deleted)
		Eventually(testkit.Live(m.runtime, deployment(web))).WithTimeout(inTime).Should(HaveField("Spec.Replicas", HaveValue(BeEquivalentTo(1))))
		Eventually(testkit.Live(m.runtime, configMap(maps+"-0"))).WithTimeout(inTime).Should(HaveField("UID", Not(Equal(deleted.UID))))
	}
	s.whole()

	By("1: an edit in a runtime reaches the hub, and a Kyma that its user deleted comes back without a module being uninstalled")
	m := s.members[0]
	m.editThere(without(notes))
	s.sees(m, testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(notes))
	m.editThere(with(v1beta2.Module{Name: notes}))
	s.runs(notes, first, m)
	kept, err := testkit.Live(m.runtime, configMap(maps+"-0"))()
	Expect(err).NotTo(HaveOccurred())
	m.runtime.Delete(m.copied())
	Eventually(testkit.Live(m.runtime, m.copied())).WithTimeout(inTime).Should(HaveField("Spec.Modules", HaveLen(10)))
	s.whole()
	Expect(testkit.Live(m.runtime, configMap(maps+"-0"))()).To(HaveField("UID", kept.UID))
}
