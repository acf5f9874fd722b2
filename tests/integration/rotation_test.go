package integration

import (
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

// userOf makes a user of a runtime who may do something with every kind, and returns how to get in and where the rights come from.
func userOf(runtime *testkit.Cluster, verbs ...string) (kubeconfig []byte, rights *rbacv1.ClusterRoleBinding) {
	GinkgoHelper()
	name := testkit.Unique("user")
	config, err := runtime.AddUser(name)
	Expect(err).NotTo(HaveOccurred())
	kubeconfig, err = localcluster.KubeconfigOf("runtime", config)
	Expect(err).NotTo(HaveOccurred())
	if len(verbs) == 0 {
		return kubeconfig, nil
	}
	rights = &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	}
	runtime.Create(&rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: verbs}},
	}, rights)
	user, err := client.New(config, client.Options{})
	Expect(err).NotTo(HaveOccurred())
	Eventually(func() error { return user.List(ctx(), &corev1.ConfigMapList{}, client.Limit(1)) }).Should(Succeed())
	return kubeconfig, rights
}

var _ = Describe("A credential", func() {
	It("is replaced without a restart, and the old one is not used any more", func() {
		env.FaultFree()
		first, rights := userOf(env.Runtimes[0], "*")
		second, _ := userOf(env.Runtimes[0], "*")
		kyma, module := kymaWith(first)
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		seen := runtimeCalls.Snapshot()
		rotate(kyma, second)
		Eventually(func() int { return runtimeCalls.Since(seen).Total() }).ShouldNot(BeZero(), "the new one is tried")
		// What the first user may no longer do, an old connection can no longer do either.
		env.Runtimes[0].Delete(rights)
		expectHealed(env.Runtimes[0], configMap(module+"-0"))
		another := offerMaps("1.0.0")
		enable(kyma, v1beta2.Module{Name: another})
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(another, testkit.HaveState(v1beta2.StateReady)))
	})

	It("that may only read is told when something is to be written, what runs is kept, and a better one heals", func() {
		reader, _ := userOf(env.Runtimes[0], "get", "list", "watch")
		kyma, module := kymaWith(goodKubeconfig())
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		rotate(kyma, reader)
		env.Offer(module, "1.1.0", testkit.ConfigMaps(module, "1.1.0", 2), "regular")
		Eventually(env.ManifestOf(kyma.Name, module)).Should(tells(v1beta2.StateError, v1beta2.ReasonRuntimeForbidden, "ConfigMap", module+"-0"))
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonModuleError, v1beta2.ReasonRuntimeForbidden))
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(Equal("1.0.0"))
		rotate(kyma, goodKubeconfig())
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveModule(module, testkit.HaveVersion("1.1.0"))))
	})

	It("that may not even read is told at once, because no one knows what runs any more", func() {
		kyma, module := kymaWith(goodKubeconfig())
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		none, _ := userOf(env.Runtimes[0])
		rotate(kyma, none)
		Eventually(env.ManifestOf(kyma.Name, module), atOnce).Should(tells(v1beta2.StateError, v1beta2.ReasonRuntimeForbidden, "ConfigMap"))
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(tells(v1beta2.StateError, v1beta2.ReasonModuleError))
		rotate(kyma, goodKubeconfig())
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(testkit.HaveState(v1beta2.StateReady))
	})
})
