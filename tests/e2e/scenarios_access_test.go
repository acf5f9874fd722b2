package e2e

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

const foreignFinalizer = "example.com/not-yet"

func (s *environment) access() {
	GinkgoHelper()
	s.badKubeconfig(s.members[1])
	s.lostConnection(s.members[2])
	s.newLogin()
	s.fewerRights(s.members[1])
}

// badKubeconfig is scenario 17.
func (s *environment) badKubeconfig(m *member) {
	GinkgoHelper()
	By("17: a kubeconfig that is none, and a better one")
	s.rotate(m, []byte("\x00{not: [a, kubeconfig"))
	s.sees(m, tells(v1beta2.StateError, v1beta2.ReasonKubeconfigInvalid))
	s.unmoved(s.others(m)...)
	s.rotate(m, m.goodKubeconfig())
	s.whole()
}

// lostConnection is scenario 20.
func (s *environment) lostConnection(m *member) {
	GinkgoHelper()
	By("20: a runtime that does not answer, in which things happen meanwhile")
	m.line.cut()
	s.sees(m, tells(v1beta2.StateError, v1beta2.ReasonRuntimeUnreachable), HaveField("Status.Modules", And(HaveLen(10), HaveEach(HaveField("State", v1beta2.StateError)))))
	m.runtime.Delete(configMap(maps+"-0"), deployment("web-next"))
	s.unmoved(s.others(m)...)
	m.line.mend()
	Eventually(testkit.Gone(m.runtime, configMap(maps+"-0"))).WithTimeout(inTime).Should(BeFalse())
	s.whole()
	there(m.runtime, deployment("web-next"))
}

// newLogin is scenario 27.
func (s *environment) newLogin() {
	GinkgoHelper()
	By("27: a registry that wants another login by now")
	s.Offer(notes, "2.0.0", notesAt("2.0.0", 4))
	s.Registry.Inject(localcluster.Only(localcluster.RequireLogin(robot, "two"), localcluster.ManifestGet, localcluster.ManifestHead, localcluster.BlobGet, localcluster.Tags))
	s.Point(notes, "2.0.0", regular, fast)
	for _, m := range s.members {
		s.sees(m, tells(v1beta2.StateError, v1beta2.ReasonRegistryUnauthorized, notes), testkit.HaveModule(notes, testkit.HaveVersion(first)))
		Expect(versionIn(m, notes+"-4")()).To(Equal(first))
	}
	testkit.Edit(s.Hub, s.dockerSecret(loginSecret, ""), func(secret *corev1.Secret) { secret.Data = s.dockerSecret(loginSecret, "two").Data })
	s.runs(notes, "2.0.0", s.members...)
	s.Registry.Inject(nil)
	s.whole()
}

// fewerRights is scenario 29.
func (s *environment) fewerRights(m *member) {
	GinkgoHelper()
	By("29: a user who may only read, and one who may do more")
	reader := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch"}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: reader.ObjectMeta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: reader.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: reader.Name}},
	}
	m.runtime.Create(reader, binding)
	s.rotate(m, m.kubeconfig(reader.Name))
	s.Offer(maps, "2.1.0", mapsAt("2.1.0", 2), regular, fast)
	s.sees(m, testkit.HaveState(v1beta2.StateError), testkit.HaveModule(maps, testkit.HaveState(v1beta2.StateError), HaveField("Message", ContainSubstring("forbid"))))
	s.runs(maps, "2.1.0", s.others(m)...)
	Expect(versionIn(m, maps+"-0")()).To(Equal("2.0.0"))
	s.rotate(m, m.goodKubeconfig())
	s.runs(maps, "2.1.0", m)
	s.whole()
	m.runtime.Delete(reader, binding)
}

// deletion is scenarios 2 and 6: each Kyma is held by something else.
func (s *environment) deletion() {
	GinkgoHelper()
	one, two, three := s.members[0], s.members[1], s.members[2]
	scalers := scalerAt("1.2.0")
	for _, m := range []*member{one, three} {
		m.runtime.Create(mine(scalers, metav1.NamespaceDefault))
	}
	manifest := s.manifest(two, maps)
	testkit.Edit(s.Hub, manifest, func(m *v1beta2.Manifest) { m.Finalizers = append(m.Finalizers, foreignFinalizer) })
	for m, propagation := range map[*member]metav1.DeletionPropagation{
		one: metav1.DeletePropagationForeground, two: metav1.DeletePropagationBackground, three: metav1.DeletePropagationBackground,
	} {
		Expect(s.Hub.Client.Delete(context.Background(), m.kyma.DeepCopy(), client.PropagationPolicy(propagation))).To(Succeed())
	}
	blocked := tells(v1beta2.StateDeleting, v1beta2.ReasonDeleting, scaler, v1beta2.ReasonDeletionBlocked, "default/mine")
	s.sees(one, blocked)
	s.sees(two, tells(v1beta2.StateDeleting, v1beta2.ReasonDeleting, maps, v1beta2.ReasonForeignFinalizers, foreignFinalizer))
	s.sees(three, blocked)
	there(one.runtime, deployment(scaler), clusterRole(scaler))
	gone(one.runtime, definitionIn("kymas"), definitionIn("moduletemplates"), definitionIn("modulereleasemetas"))

	By("2: the runtime is lost, which holds the Kyma until the access Secret goes")
	three.line.cut()
	s.sees(three, tells(v1beta2.StateDeleting, v1beta2.ReasonDeleting, v1beta2.ReasonRuntimeUnreachable))
	Consistently(testkit.Gone(s.Hub, three.kyma)).WithTimeout(awhile).Should(BeFalse())
	s.Hub.Delete(testkit.NewAccessSecret(three.kyma.Name, nil))
	gone(s.Hub, three.kyma)
	Eventually(s.manifests(three)).WithTimeout(inTime).Should(BeEmpty())

	By("2, 6: the others end when nothing holds them any more")
	one.runtime.Delete(mine(scalers, metav1.NamespaceDefault))
	testkit.Edit(s.Hub, manifest, func(m *v1beta2.Manifest) { m.Finalizers = nil })
	gone(s.Hub, one.kyma, two.kyma)

	By("the Kyma of the lost runtime comes back, takes over what it finds, and is deleted as it should be")
	three.line.mend()
	kept, err := testkit.Live(three.runtime, deployment(scaler))()
	Expect(err).NotTo(HaveOccurred())
	s.join(three)
	s.labelled(three.kyma.DeepCopy(), account, "one")
	s.sees(three, testkit.HaveState(v1beta2.StateReady), HaveField("Status.ModulesReady", "10/10"))
	Expect(testkit.Live(three.runtime, deployment(scaler))()).To(HaveField("UID", kept.UID))
	three.runtime.Delete(mine(scalers, metav1.NamespaceDefault))
	s.Hub.Delete(three.kyma.DeepCopy())
	gone(s.Hub, three.kyma)
	for _, m := range s.members {
		for _, metric := range []string{"lifecycle_mgr_kyma_state", "lifecycle_mgr_module_state"} {
			Eventually(s.manager.metric(metric, fmt.Sprintf("kyma_name=%q", m.kyma.Name))).WithTimeout(inTime).Should(Equal(-1.0))
		}
	}
}

// nothingLeft compares the clusters with what they held before anything was installed. The namespace kyma-system stays, as upstream leaves
// it: a user may have put something there.
func (s *environment) nothingLeft() {
	GinkgoHelper()
	for _, m := range s.members {
		m.runtime.Delete(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "elsewhere"}})
		Eventually(leftIn(m.runtime, m.before)).WithTimeout(inTime).Should(ConsistOf("namespaces//kyma-system",
			"serviceaccounts/kyma-system/default", "configmaps/kyma-system/kube-root-ca.crt"), m.kyma.Name)
		s.Hub.Delete(testkit.NewAccessSecret(m.kyma.Name, nil))
	}
	for _, kind := range []client.Object{&v1beta2.ModuleReleaseMeta{}, &v1beta2.ModuleTemplate{}} {
		Expect(s.Hub.Client.DeleteAllOf(context.Background(), kind, client.InNamespace(v1beta2.DefaultNamespace))).To(Succeed())
	}
	s.Hub.Delete(s.dockerSecret(loginSecret, ""), s.dockerSecret(pullSecret, ""), hubCredentials(""))
	Eventually(leftIn(s.Hub, s.before)).WithTimeout(inTime).Should(BeEmpty())
	s.manager.stop()
}
