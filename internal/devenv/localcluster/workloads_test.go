package localcluster_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
)

func deploymentAvailable(t *testing.T, clients kubernetes.Interface) {
	replicas := int32(2)
	labels := map[string]string{"app": "demo"}
	demo := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "demo"}, Spec: appsv1.DeploymentSpec{
		Replicas: &replicas,
		Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "demo", Image: "example.invalid/demo:1"}}},
		},
	}}
	begin := time.Now()
	deployments := clients.AppsV1().Deployments(metav1.NamespaceDefault)
	if _, err := deployments.Create(t.Context(), demo, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the Deployment is Available", func() (bool, error) {
		live, err := deployments.Get(t.Context(), demo.Name, metav1.GetOptions{})
		return err == nil && live.Status.AvailableReplicas == replicas, err
	})
	t.Logf("available after %s", time.Since(begin).Round(time.Millisecond))
}

func foreignNode(t *testing.T, clients kubernetes.Interface) {
	nodes := clients.CoreV1().Nodes()
	foreign := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}}
	later := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "later", Annotations: map[string]string{"kwok.x-k8s.io/node": "fake"}}}
	for _, node := range []*corev1.Node{foreign, later} {
		if _, err := nodes.Create(t.Context(), node, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "kwok has come to the later node", func() (bool, error) {
		live, err := nodes.Get(t.Context(), later.Name, metav1.GetOptions{})
		return err == nil && live.Status.NodeInfo.KubeletVersion != "", err
	})
	live, err := nodes.Get(t.Context(), foreign.Name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if live.Status.Phase != "" || live.Status.NodeInfo.KubeletVersion != "" {
		t.Errorf("kwok wrote the status of a node that is not its own: %+v", live.Status)
	}
}

func namespaceGoes(t *testing.T, clients kubernetes.Interface) {
	namespaces := clients.CoreV1().Namespaces()
	brief := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "brief"}}
	if _, err := namespaces.Create(t.Context(), brief, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	note := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "note"}}
	if _, err := clients.CoreV1().ConfigMaps("brief").Create(t.Context(), note, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := namespaces.Delete(t.Context(), "brief", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the namespace is gone", func() (bool, error) {
		_, err := namespaces.Get(t.Context(), "brief", metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
}

func ownedObjectGoes(t *testing.T, clients kubernetes.Interface) {
	maps := clients.CoreV1().ConfigMaps(metav1.NamespaceDefault)
	owner, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owned", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID},
	}}}
	if _, err := maps.Create(t.Context(), owned, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := maps.Delete(t.Context(), owner.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the owned object is gone", func() (bool, error) {
		_, err := maps.Get(t.Context(), owned.Name, metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
}

func kubeconfigWorks(t *testing.T, cp *localcluster.ControlPlane) {
	data, err := os.ReadFile(cp.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := clientcmd.Load(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, cluster := range parsed.Clusters {
		if cluster.CertificateAuthority != "" || len(cluster.CertificateAuthorityData) == 0 {
			t.Error("the authority is not inline")
		}
	}
	for _, user := range parsed.AuthInfos {
		if user.ClientCertificate != "" || user.ClientKey != "" || user.TokenFile != "" || user.Exec != nil {
			t.Error("the user refers to something outside")
		}
	}
	out, err := exec.Command(cp.Kubectl, "--kubeconfig", cp.Kubeconfig, "auth", "can-i", "*", "*").CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "yes" {
		t.Errorf("kubectl says %q (%v)", out, err)
	}
}

func userIsBound(t *testing.T, cp *localcluster.ControlPlane) {
	data, err := cp.UserKubeconfig("visitor")
	if err != nil {
		t.Fatal(err)
	}
	config, err := clientcmd.RESTConfigFromKubeConfig(data)
	if err != nil {
		t.Fatal(err)
	}
	_, err = clientsFor(t, config).CoreV1().Secrets(metav1.NamespaceSystem).List(t.Context(), metav1.ListOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `"visitor"`) {
		t.Errorf("a user without rights gets %v", err)
	}
}

func serviceAccountIsBound(t *testing.T, cp *localcluster.ControlPlane, clients kubernetes.Interface) {
	if _, err := cp.ServiceAccountConfig(t.Context(), "default", "absent"); err == nil || !strings.Contains(err.Error(), "default/absent") {
		t.Errorf("a ServiceAccount that does not exist gets %v", err)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "reader"}}
	if _, err := clients.CoreV1().ServiceAccounts("default").Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "default", Name: "reader"}},
	}
	if _, err := clients.RbacV1().RoleBindings("default").Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	config, err := cp.ServiceAccountConfig(t.Context(), "default", "reader")
	if err != nil {
		t.Fatal(err)
	}
	reader := clientsFor(t, config)
	eventually(t, "the binding is in force", func() (bool, error) {
		_, err := reader.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
		return err == nil, err
	})
	if _, err := reader.CoreV1().ConfigMaps("kube-system").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("the ServiceAccount is not held to its namespace: %v", err)
	}
}
