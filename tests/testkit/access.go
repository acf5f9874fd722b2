package testkit

import (
	"time"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
)

// ManagerServiceAccount is the manager's ServiceAccount when deployed by config/default or config/local.
const ManagerServiceAccount = "klm-controller-manager"

// runtimeUser is the manager's user in a runtime; access to runtimes is unrestricted, as upstream's is.
const runtimeUser = "lifecycle-manager"

// AccessSecret creates the access Secret of a Kyma for its runtime and returns it.
func (e *Env) AccessSecret(kyma string, runtime *Cluster) *corev1.Secret {
	ginkgo.GinkgoHelper()
	kubeconfig, err := runtime.UserKubeconfig(runtimeUser, "system:masters")
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	secret := NewAccessSecret(kyma, kubeconfig)
	e.Hub.Create(secret)
	return secret
}

// NewAccessSecret returns an access Secret with any content, such as a broken kubeconfig.
func NewAccessSecret(kyma string, kubeconfig []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: v1beta2.DefaultNamespace, Name: kyma, Labels: map[string]string{v1beta2.LabelKymaName: kyma},
		},
		Data: map[string][]byte{v1beta2.AccessSecretKey: kubeconfig},
	}
}

// ManagerConfig installs the generated RBAC of a kustomization, "config/default" or "config/local", on the hub and returns access as the
// manager's ServiceAccount, so that a rule that is missing there fails a test.
func (e *Env) ManagerConfig(kustomization string) *rest.Config {
	ginkgo.GinkgoHelper()
	var rules []*unstructured.Unstructured
	for _, object := range e.Hub.Kustomize(kustomization) {
		group := object.GroupVersionKind().Group
		if group == rbacv1.GroupName || object.GetKind() == "ServiceAccount" || object.GetKind() == "Namespace" {
			rules = append(rules, object)
		}
	}
	e.Hub.Apply(rules...)
	ctx, cancel := background()
	defer cancel()
	config, err := e.Hub.ServiceAccountConfig(ctx, v1beta2.DefaultNamespace, ManagerServiceAccount)
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	manager, err := client.New(config, client.Options{})
	gomega.Expect(err).NotTo(gomega.HaveOccurred())
	gomega.Eventually(func() error { // permissions take effect a moment after they were granted
		return manager.List(ctx, &corev1.SecretList{}, client.InNamespace(v1beta2.DefaultNamespace), client.Limit(1))
	}).WithTimeout(30 * time.Second).Should(gomega.Succeed())
	return config
}
