package e2e

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

func (s *environment) unmanage() {
	GinkgoHelper()
	parts := partsOf(testkit.Operator(scaler, first))
	manage := func(managed bool) {
		for _, m := range s.members[:2] {
			s.edit(m, changed(scaler, func(module *v1beta2.Module) { module.Managed = &managed }))
		}
	}
	marks := func(m *member) (found []string) {
		for _, part := range parts {
			live, err := testkit.Live(m.runtime, part)()
			Expect(err).NotTo(HaveOccurred())
			found = append(found, live.GetLabels()[v1beta2.LabelManagedBy])
		}
		return found
	}
	manage(false)
	for _, m := range s.members[:2] {
		s.sees(m, testkit.HaveState(v1beta2.StateReady), testkit.HaveModule(scaler, testkit.HaveState(v1beta2.StateUnmanaged)))
		Eventually(s.manifests(m)).WithTimeout(inTime).Should(HaveLen(9))
		Expect(marks(m)).To(HaveEach(""))
		Eventually(s.manager.metric("lifecycle_mgr_module_state", fmt.Sprintf("kyma_name=%q", m.kyma.Name), `module_name="scaler"`, `state="Unmanaged"`)).Should(Equal(1.0))
	}
	there(s.members[0].runtime, testkit.Operator(scaler, first).DefaultCR)
	gone(s.members[1].runtime, testkit.Operator(scaler, first).DefaultCR)
	manage(true)
	s.whole()
	for _, m := range s.members[:2] {
		Expect(marks(m)).To(HaveEach(v1beta2.ManagedByKyma))
		s.manifest(m, scaler, testkit.HaveState(v1beta2.StateReady))
	}
}

func (s *environment) skip() {
	GinkgoHelper()
	m, whole := s.members[0], s.members[1]
	manifest := s.manifest(m, web, HaveField("Labels", HaveKeyWithValue(v1beta2.LabelChannel, regular)))
	s.labelled(manifest, v1beta2.LabelSkipReconciliation, v1beta2.EnabledValue)
	Eventually(func(g Gomega) { // the label comes by another way than the deletion, and may come later
		m.runtime.Delete(deployment("web-next"))
		g.Consistently(testkit.Gone(m.runtime, deployment("web-next"))).WithTimeout(2 * awhile).Should(BeTrue())
	}).WithTimeout(inTime).Should(Succeed())
	s.labelled(whole.kyma.DeepCopy(), v1beta2.LabelSkipReconciliation, v1beta2.EnabledValue)
	s.edit(whole, without(notes))
	Consistently(func(g Gomega) {
		g.Expect(testkit.Gone(m.runtime, deployment("web-next"))()).To(BeTrue())
		g.Expect(versionIn(whole, notes+"-0")()).To(Equal(first))
	}).WithTimeout(awhile).Should(Succeed())
	s.labelled(manifest, v1beta2.LabelSkipReconciliation, "")
	s.labelled(whole.kyma.DeepCopy(), v1beta2.LabelSkipReconciliation, "")
	Eventually(testkit.Gone(m.runtime, deployment("web-next"))).WithTimeout(inTime).Should(BeFalse())
	s.sees(whole, testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(notes))
	s.edit(whole, with(whole.asFirst(notes)...))
	s.whole()
}

func (s *environment) visibility() {
	GinkgoHelper()
	By("32: an edit and a deletion in the catalog do not last")
	m := s.members[0]
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"channels":[{"channel":"regular","version":"9.9.9"}]}}`))
	Expect(m.runtime.Client.Patch(GinkgoT().Context(), releaseIn(notes), patch)).To(Succeed())
	m.runtime.Delete(templateIn(notes, first))
	Eventually(testkit.Live(m.runtime, releaseIn(notes))).WithTimeout(inTime).Should(HaveField("Spec.Channels", HaveEach(HaveField("Version", first))))
	Eventually(testkit.Gone(m.runtime, templateIn(notes, first))).WithTimeout(inTime).Should(BeFalse())

	By("19, 22: a module that becomes beta is hidden from all and goes, and is there for the one that is beta, too")
	s.labelled(testkit.ModuleTemplate(notes, first), v1beta2.LabelBeta, v1beta2.EnabledValue)
	for _, m := range s.members {
		s.sees(m, tells(v1beta2.StateError, v1beta2.ReasonNotAllowed, "beta"), testkit.HaveModule(notes, testkit.HaveState(v1beta2.StateError)))
		gone(m.runtime, configMap(notes+"-0"), templateIn(notes, first))
	}
	s.labelled(m.kyma.DeepCopy(), v1beta2.LabelBeta, v1beta2.EnabledValue)
	s.runs(notes, first, m)
	Eventually(testkit.Gone(m.runtime, templateIn(notes, first))).WithTimeout(inTime).Should(BeFalse())
	s.labelled(testkit.ModuleTemplate(notes, first), v1beta2.LabelBeta, "")
	s.whole()

	By("33: a restricted module is taken from the Kyma that its release does not select any more")
	s.labelled(m.kyma.DeepCopy(), account, "other")
	s.sees(m, tells(v1beta2.StateError, v1beta2.ReasonModuleRestricted, guarded), HaveField("Status.ModulesReady", "9/10"))
	gone(m.runtime, configMap(guarded+"-0"), releaseIn(guarded))
	s.unmoved(s.others(m)...)
	s.labelled(m.kyma.DeepCopy(), account, "one")
	s.whole()
	Eventually(testkit.Gone(m.runtime, releaseIn(guarded))).WithTimeout(inTime).Should(BeFalse())
}

// blockade is a user's custom resource that holds a module.
type blockade struct {
	m       *member
	module  string
	content testkit.Content
	cr      *unstructured.Unstructured
}

// blockades are one for each policy and place.
func (s *environment) blockades() []blockade {
	GinkgoHelper()
	const elsewhere = "elsewhere"
	for _, m := range s.members[1:] {
		m.runtime.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: elsewhere}})
	}
	scalers, meshes, states := testkit.Operator(scaler, first), meshAt(first), stateAt(first)
	one, two, three := s.members[0], s.members[1], s.members[2]
	all := []blockade{
		{one, scaler, scalers, mine(scalers, metav1.NamespaceDefault)}, {one, mesh, meshes, mine(meshes, "")}, // CreateAndDelete
		{two, scaler, scalers, mine(scalers, elsewhere)}, {two, mesh, meshes, mine(meshes, "")}, // Ignore
		{three, scaler, scalers, mine(scalers, metav1.NamespaceDefault)}, // Ignore
		{three, state, states, mine(states, elsewhere)},                  // CreateAndDelete
	}
	for _, b := range all {
		b.m.runtime.Create(b.cr)
	}
	return all
}

func (s *environment) blocked() {
	GinkgoHelper()
	one := s.members[0]
	blockades, old := s.blockades(), s.manifest(one, scaler)
	s.edit(one, without(scaler, mesh))
	s.edit(s.members[1], without(scaler, mesh))
	s.edit(s.members[2], without(scaler, state))
	for _, b := range blockades {
		s.manifest(b.m, b.module, tells(v1beta2.StateDeleting, v1beta2.ReasonDeletionBlocked, b.cr.GetKind(), "mine"))
		s.sees(b.m, tells(v1beta2.StateProcessing, v1beta2.ReasonModuleDeleting), testkit.HaveModule(b.module, testkit.HaveState(v1beta2.StateDeleting)))
		there(b.m.runtime, b.cr, clusterRole(b.module))
	}
	By("10: a new version, which has another version of the API, comes nevertheless")
	s.Offer(scaler, "1.1.0", scalerAt("1.1.0"), regular, fast)
	for _, m := range s.members {
		Eventually(imageIn(m, scaler)).WithTimeout(inTime).Should(HaveSuffix(":1.1.0"))
		s.manifest(m, scaler, testkit.HaveVersion("1.1.0"), tells(v1beta2.StateDeleting, v1beta2.ReasonDeletionBlocked, "mine"))
	}
	By("8: enabled again on another channel while it is being deleted")
	s.Offer(scaler, "1.2.0", scalerAt("1.2.0"), fast)
	again := one.asFirst(scaler)
	again[0].Channel = fast
	s.edit(one, with(again...))
	s.sees(one, testkit.HaveModule(scaler, testkit.HaveState(v1beta2.StateDeleting), HaveField("Message", ContainSubstring("installed again"))))

	By("8: everything goes when the custom resources are gone, and comes again where it is wanted")
	for _, b := range blockades {
		b.m.runtime.Delete(b.cr)
	}
	s.runs(scaler, "1.2.0", one)
	Expect(s.manifest(one, scaler).UID).NotTo(Equal(old.UID))
	there(one.runtime, scalerAt("1.2.0").DefaultCR)
	for _, b := range blockades[1:] {
		s.sees(b.m, testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(b.module))
		gone(b.m.runtime, partsOf(b.content)...)
	}
	s.Point(scaler, "1.2.0", regular)
	s.edit(one, with(one.asFirst(mesh)...))
	s.edit(s.members[1], with(s.members[1].asFirst(scaler, mesh)...))
	s.edit(s.members[2], with(s.members[2].asFirst(scaler, state)...))
	s.whole()
	By("8: a template that is gone on the hub is gone in the catalog")
	s.Hub.Delete(testkit.ModuleTemplate(scaler, first), testkit.ModuleTemplate(scaler, "1.1.0"))
	for _, m := range s.members {
		gone(m.runtime, templateIn(scaler, first), templateIn(scaler, "1.1.0"))
	}
	s.whole()
}

func (s *environment) defaultOnly() {
	GinkgoHelper()
	m, resource := s.members[0], stateAt(first).DefaultCR
	testkit.Edit(m.runtime, resource.DeepCopy(), func(cr *unstructured.Unstructured) { cr.SetFinalizers([]string{"operator.example.com/cleanup"}) })
	s.edit(m, without(state, mesh))
	s.sees(m, testkit.HaveNoModule(mesh))
	gone(m.runtime, clusterRole(mesh))
	s.manifest(m, state, tells(v1beta2.StateDeleting, v1beta2.ReasonWaitingForDeletion, "default/default"))
	there(m.runtime, clusterRole(state))
	testkit.Edit(m.runtime, resource.DeepCopy(), func(cr *unstructured.Unstructured) { cr.SetFinalizers(nil) })
	s.sees(m, testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(state))
	gone(m.runtime, clusterRole(state))
	s.edit(m, with(m.asFirst(state, mesh)...))
	s.whole()
}

func (s *environment) mandatory() {
	GinkgoHelper()
	s.Offer(forced, first, testkit.ConfigMaps(forced, first, 2))
	release := testkit.ModuleReleaseMeta(forced)
	release.Spec.Mandatory = &v1beta2.Mandatory{Version: first}
	s.Hub.Create(release.DeepCopy())
	for _, m := range s.members {
		s.manifest(m, forced, testkit.HaveState(v1beta2.StateReady), HaveField("Labels", And(
			HaveKeyWithValue(v1beta2.LabelMandatoryModule, v1beta2.EnabledValue), Not(HaveKey(v1beta2.LabelChannel)))))
		s.sees(m, testkit.HaveCondition(v1beta2.ConditionMandatoryModules, metav1.ConditionTrue, v1beta2.ReasonReady))
		gone(m.runtime, releaseIn(forced))
	}
	Eventually(s.manager.metric("lifecycle_mgr_mandatory_modules")).Should(Equal(1.0))
	Eventually(s.manager.metric("lifecycle_mgr_mandatory_module_state", `state="Ready"`)).Should(BeNumerically(">=", 1))

	By("a Kyma that is left alone does not get the new version")
	alone := s.members[1]
	s.labelled(alone.kyma.DeepCopy(), v1beta2.LabelSkipReconciliation, v1beta2.EnabledValue)
	s.Offer(forced, "1.1.0", testkit.ConfigMaps(forced, "1.1.0", 1))
	// The label comes by another way than the version, and may come later.
	Consistently(versionIn(alone, forced+"-0")).WithTimeout(awhile).Should(Equal(first))
	testkit.Edit(s.Hub, release.DeepCopy(), func(r *v1beta2.ModuleReleaseMeta) { r.Spec.Mandatory.Version = "1.1.0" })
	for _, m := range s.others(alone) {
		s.manifest(m, forced, testkit.HaveVersion("1.1.0"), testkit.HaveState(v1beta2.StateReady))
		gone(m.runtime, configMap(forced+"-1"))
	}
	Expect(versionIn(alone, forced+"-0")()).To(Equal(first))
	s.labelled(alone.kyma.DeepCopy(), v1beta2.LabelSkipReconciliation, "")
	s.manifest(alone, forced, testkit.HaveVersion("1.1.0"), testkit.HaveState(v1beta2.StateReady))

	By("it goes with its release")
	s.Hub.Delete(release)
	gone(s.Hub, release)
	for _, m := range s.members {
		gone(m.runtime, configMap(forced+"-0"))
	}
	Eventually(s.manager.metric("lifecycle_mgr_mandatory_modules")).Should(BeNumerically("<=", 0))
	s.whole()
}
