package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

func (s *environment) stateOfWorkloads() {
	GinkgoHelper()
	m := s.members[1]
	resource := stateAt(first).DefaultCR
	for _, says := range []v1beta2.State{v1beta2.StateWarning, v1beta2.StateError} {
		status := resource.DeepCopy()
		status.Object["status"] = map[string]any{"state": string(says)}
		Expect(m.runtime.Client.Status().Patch(context.Background(), status, client.Merge)).To(Succeed())
		s.sees(m, testkit.HaveState(v1beta2.StateReady), testkit.HaveModule(state, testkit.HaveState(v1beta2.StateReady), HaveField("ResourceState", says)))
	}
	By("a version whose pods do not run")
	s.Offer(state, "1.0.1", stuckState("1.0.1"), regular)
	for _, m := range s.members {
		s.sees(m, testkit.HaveState(v1beta2.StateProcessing), testkit.HaveModule(state, testkit.HaveVersion("1.0.1"), testkit.HaveState(v1beta2.StateProcessing)))
	}
	Consistently(testkit.Live(s.Hub, m.kyma)).WithTimeout(awhile).Should(testkit.HaveState(v1beta2.StateProcessing))
	By("one whose pods run; Kubernetes leaves it to people to delete a StatefulSet's pod that never ran")
	s.Offer(state, "1.0.2", stateAt("1.0.2"), regular, fast)
	for _, m := range s.members {
		s.manifest(m, state, testkit.HaveVersion("1.0.2"))
		Eventually(testkit.Live(m.runtime, &appsv1.StatefulSet{ObjectMeta: inDefault(state)})).WithTimeout(inTime).Should(And(
			HaveField("Spec.Template.Spec.NodeSelector", BeEmpty()),
			Satisfy(func(set *appsv1.StatefulSet) bool { return set.Status.ObservedGeneration == set.Generation }),
		))
		m.runtime.Delete(&corev1.Pod{ObjectMeta: inDefault(state + "-0")})
	}
	s.runs(state, "1.0.2", s.members...)
	s.whole()
}

func (s *environment) channels() {
	GinkgoHelper()
	s.Offer(maps, "1.1.0", mapsAt("1.1.0", 2), fast)
	s.offerChart("1.1.0", fast)
	m := s.members[0]
	s.edit(m, func(k *v1beta2.Kyma) { k.Spec.Channel = fast })
	s.runs(maps, "1.1.0", m)
	s.runs(charted, "1.1.0", m)
	s.whole()
	Expect(versionIn(m, maps+"-0")()).To(Equal("1.1.0"))
	Expect(versionIn(m, maps+"-2")()).To(BeEmpty(), "the version has it no more")
	Expect(versionIn(s.members[1], maps+"-2")()).To(Equal(first))
	Eventually(testkit.Live(m.runtime, m.copied())).WithTimeout(inTime).Should(HaveField("Spec.Channel", fast))

	s.edit(m, func(k *v1beta2.Kyma) { k.Spec.Channel = regular })
	skew := HaveField("Message", ContainSubstring("ignore channel skew (from fast to regular), as a higher version (1.1.0)"))
	s.sees(m, testkit.HaveState(v1beta2.StateWarning), testkit.HaveModule(maps, testkit.HaveState(v1beta2.StateWarning), testkit.HaveVersion("1.1.0"), skew),
		testkit.HaveModule(charted, testkit.HaveState(v1beta2.StateWarning), testkit.HaveVersion("1.1.0"), skew))
	Expect(versionIn(m, maps+"-0")()).To(Equal("1.1.0"))
	s.unmoved(s.others(m)...)

	By("which ends when the lower channel has caught up")
	s.Point(maps, "1.1.0", regular)
	s.Point(charted, "1.1.0", regular)
	s.runs(maps, "1.1.0", s.members...)
	s.runs(charted, "1.1.0", s.members...)
	s.whole()
}

func (s *environment) rollout() {
	GinkgoHelper()
	By("12: another Deployment takes the place of the old one")
	s.offerParts(web, "1.1.0", webAt("web-next", "1.1.0"), []component.Resource{
		{Name: "operator", Type: "ociImage", Image: "prod.example.com/kyma/operator:1.1.0"},
		{Name: "proxy", Type: "ociImage", Image: "prod.example.com/kyma/proxy:2.0.0"},
	}, regular, fast)
	s.runs(web, "1.1.0", s.members...)
	for _, m := range s.members {
		Expect(imageIn(m, "web-next")()).To(Equal("prod.example.com/kyma/operator:1.1.0"))
		gone(m.runtime, deployment(web))
	}
	By("21: a version that no one published")
	s.Point(web, "9.9.9", regular)
	for _, m := range s.members {
		s.sees(m, tells(v1beta2.StateError, v1beta2.ReasonTemplateNotFound, web), testkit.HaveModule(web, testkit.HaveState(v1beta2.StateError), testkit.HaveVersion("1.1.0")))
		there(m.runtime, deployment("web-next"))
	}
	s.Point(web, "1.1.0", regular)
	s.whole()
}

// windows stands between an upgrade with downtime and the Kymas.
func (s *environment) windows() {
	GinkgoHelper()
	s.Publish(testkit.ComponentName(maps), "2.0.0", testkit.RawManifest(mapsAt("2.0.0", 2).YAML()))
	s.Hub.Create(testkit.ModuleTemplate(maps, "2.0.0", func(spec *v1beta2.ModuleTemplateSpec) { spec.RequiresDowntime = true }))
	s.Point(maps, "2.0.0", regular, fast)
	for _, m := range s.members {
		s.sees(m, testkit.HaveState(v1beta2.StateReady), testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionTrue, v1beta2.ReasonWaitingForMaintenanceWindow),
			testkit.HaveModule(maps, testkit.HaveVersion("1.1.0"), HaveField("Maintenance", true)))
	}
	By("one whose user does not want to wait")
	hasty := s.members[1]
	hasty.editThere(func(k *v1beta2.Kyma) { k.Spec.SkipMaintenanceWindows = true })
	s.runs(maps, "2.0.0", hasty)
	for _, m := range s.others(hasty) {
		Expect(versionIn(m, maps+"-0")()).To(Equal("1.1.0"))
	}
	By("the others when their window opens")
	s.windowAt(time.Now().Add(-10 * time.Minute))
	s.runs(maps, "2.0.0", s.members...)
	hasty.editThere(func(k *v1beta2.Kyma) { k.Spec.SkipMaintenanceWindows = false })
	s.whole()
}

// death kills the manager while three Kymas take four new versions.
func (s *environment) death() {
	GinkgoHelper()
	const next = "3.0.0"
	s.Offer(notes, next, notesAt(next, 60))
	s.Offer(maps, next, mapsAt(next, 2))
	s.Offer(state, next, stateAt(next))
	s.offerChart(next)
	untouched := map[*member]uids{}
	for _, m := range s.members {
		untouched[m] = s.identities(m)
	}
	for _, module := range []string{notes, maps, state, charted} {
		s.Point(module, next, regular, fast)
	}
	Eventually(s.manifests(s.members[0])).WithTimeout(inTime).WithPolling(2 * time.Millisecond).Should(ContainElement(And(
		HaveField("Spec.Version", next), HaveField("Status.State", Not(Equal(v1beta2.StateReady))))))
	s.manager.kill()
	By("while no one looks, objects are deleted, a module is disabled and an operator is broken")
	s.members[0].runtime.Delete(configMap(maps+"-1"), clusterRole(bare))
	s.members[1].editThere(without(guarded))
	s.edit(s.members[2], without(charted))
	s.manager.start()
	s.runs(charted, next, s.members[0], s.members[1])
	for _, module := range []string{notes, maps, state} {
		s.runs(module, next, s.members...)
	}
	s.sees(s.members[1], testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(guarded))
	s.sees(s.members[2], testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(charted))
	gone(s.members[1].runtime, configMap(guarded+"-0"))
	gone(s.members[2].runtime, configMap("charted"))
	for _, m := range s.members {
		Eventually(versionIn(m, notes+"-59")).WithTimeout(inTime).Should(Equal(next))
		Eventually(versionIn(m, maps+"-1")).WithTimeout(inTime).Should(Equal(next))
		Eventually(testkit.Gone(m.runtime, clusterRole(bare))).WithTimeout(inTime).Should(BeFalse())
		Expect(s.identities(m)).To(Equal(untouched[m]), "what had no new version stays what it was")
	}
	s.members[1].editThere(with(v1beta2.Module{Name: guarded}))
	s.edit(s.members[2], with(s.members[2].asFirst(charted)...))
	s.whole()
}

// uids are UIDs by name.
type uids map[string]string

// identities returns those of the Deployments of modules.
func (s *environment) identities(m *member) uids {
	GinkgoHelper()
	found := uids{}
	for _, name := range []string{"web-next", scaler, mesh, bare} {
		live, err := testkit.Live(m.runtime, deployment(name))()
		Expect(err).NotTo(HaveOccurred())
		found[name] = string(live.UID)
	}
	return found
}
