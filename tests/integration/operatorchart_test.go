package integration

import (
	"context"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

const (
	operatorRelease   = "lifecycle-manager"
	releaseAnnotation = "meta.helm.sh/release-name"
	ownNamespace      = "Namespace " + v1beta2.DefaultNamespace
)

// operatorChart is the chart of the operator itself, and operatorConfig the kustomization that it is to equal.
var (
	operatorChart  = filepath.Join("..", "..", "charts", "lifecycle-manager")
	operatorConfig = filepath.Join("..", "..", "config", "default")
)

// liveOf reads objects by "kind name"; those that do not exist are left out.
func liveOf(cluster *testkit.Cluster, objects []*unstructured.Unstructured) map[string]*unstructured.Unstructured {
	GinkgoHelper()
	found := map[string]*unstructured.Unstructured{}
	for _, object := range objects {
		live := &unstructured.Unstructured{}
		live.SetGroupVersionKind(object.GroupVersionKind())
		err := cluster.Client.Get(ctx(), client.ObjectKeyFromObject(object), live)
		if apierrors.IsNotFound(err) {
			continue
		}
		Expect(err).NotTo(HaveOccurred())
		found[object.GetKind()+" "+object.GetName()] = live
	}
	return found
}

// eachOf returns one property of each object.
func eachOf[T any](objects map[string]*unstructured.Unstructured, property func(*unstructured.Unstructured) T) map[string]T {
	all := map[string]T{}
	for name, object := range objects {
		all[name] = property(object)
	}
	return all
}

// awaitManager waits until the manager's Deployment is rolled out and no controller writes it any more.
func awaitManager(cluster *testkit.Cluster) *appsv1.Deployment {
	GinkgoHelper()
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.DefaultNamespace, Name: testkit.ManagerServiceAccount},
	}
	Eventually(func(g Gomega) {
		g.Expect(cluster.Client.Get(ctx(), client.ObjectKeyFromObject(deployment), deployment)).To(Succeed())
		status := deployment.Status
		g.Expect(status.ObservedGeneration).To(Equal(deployment.Generation))
		g.Expect(status.Replicas).To(Equal(*deployment.Spec.Replicas))
		g.Expect(status.UpdatedReplicas).To(Equal(*deployment.Spec.Replicas))
		g.Expect(status.AvailableReplicas).To(Equal(*deployment.Spec.Replicas))
		g.Expect(status.Conditions).To(ContainElement(HaveField("Reason", "NewReplicaSetAvailable")))
	}, "60s").Should(Succeed())
	return deployment
}

// podsOf returns the pods of the manager.
func podsOf(cluster *testkit.Cluster) (uids []types.UID) {
	GinkgoHelper()
	pods := &corev1.PodList{}
	labels := client.MatchingLabels{"app.kubernetes.io/name": "lifecycle-manager"}
	Expect(cluster.Client.List(ctx(), pods, client.InNamespace(v1beta2.DefaultNamespace), labels)).To(Succeed())
	for i := range pods.Items {
		uids = append(uids, pods.Items[i].UID)
	}
	return uids
}

// servedKymas returns the versions that the definition of Kymas lists.
func servedKymas(cluster *testkit.Cluster) (versions []string) {
	GinkgoHelper()
	definition := &apiextensionsv1.CustomResourceDefinition{}
	Expect(cluster.Client.Get(ctx(), client.ObjectKey{Name: "kymas.operator.kyma-project.io"}, definition)).To(Succeed())
	for i := range definition.Spec.Versions {
		versions = append(versions, definition.Spec.Versions[i].Name)
	}
	return versions
}

// kubectlFor runs the kubectl of a cluster as its administrator.
func kubectlFor(spec context.Context, cluster *testkit.Cluster, args ...string) {
	GinkgoHelper()
	out, err := exec.CommandContext(spec, cluster.Kubectl, append(args, "--kubeconfig", cluster.Kubeconfig)...).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
}

var _ = Describe("The operator's own chart", func() {
	It("is installed, upgraded and removed, and leaves definitions, the namespace and Kymas", func(spec context.Context) {
		cluster := env.AddRuntime(testkit.Unique("hub"))
		helm := helmFor(spec, cluster, v1beta2.DefaultNamespace)
		objects := cluster.Kustomize("config/default")

		helm("install", operatorRelease, operatorChart, "--create-namespace", "--set", "registry.host=registry.example.com")
		first := awaitManager(cluster)
		Expect(liveOf(cluster, objects)).To(HaveLen(len(objects)), "everything that config/default has")
		secrets := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list"}}
		expectAllowed(cluster, v1beta2.DefaultNamespace, testkit.ManagerServiceAccount, secrets, v1beta2.DefaultNamespace, true)
		expectAllowed(cluster, v1beta2.DefaultNamespace, testkit.ManagerServiceAccount, secrets, metav1.NamespaceDefault, false)
		kyma := testkit.Kyma(testkit.Unique("kyma"), testkit.Local())
		cluster.Create(kyma)

		By("upgrading it without a change")
		before := eachOf(liveOf(cluster, objects), (*unstructured.Unstructured).GetResourceVersion)
		helm("upgrade", operatorRelease, operatorChart, "--set", "registry.host=registry.example.com")
		Expect(eachOf(liveOf(cluster, objects), (*unstructured.Unstructured).GetResourceVersion)).To(Equal(before), "nothing is written")

		By("upgrading it with other values")
		helm("upgrade", operatorRelease, operatorChart, "--set", "registry.host=registry.example.com,replicas=2,resources.limits.memory=1Gi")
		second := awaitManager(cluster)
		Expect(second.UID).To(Equal(first.UID))
		Expect(second.Spec.Replicas).To(HaveValue(BeEquivalentTo(2)))
		Expect(second.Spec.Template.Spec.Containers[0].Env).To(ContainElement(HaveField("Value", "900MiB")))
		Expect(second.Spec.Template.Spec.Containers[0].Args).To(ContainElement("--oci-registry-host=registry.example.com"))

		By("serving v1alpha1, and going back from it")
		helm("upgrade", operatorRelease, operatorChart, "--reuse-values", "--set", "webhook.enabled=true")
		Expect(servedKymas(cluster)).To(ContainElement("v1alpha1"))
		for _, plural := range []string{"kymas", "manifests"} {
			kubectlFor(spec, cluster, "patch", "crd", plural+".operator.kyma-project.io", "--type=json", "--patch", `[
				{"op": "test", "path": "/spec/versions/0/name", "value": "v1alpha1"},
				{"op": "remove", "path": "/spec/versions/0"},
				{"op": "replace", "path": "/spec/conversion", "value": {"strategy": "None"}}]`)
		}
		helm("upgrade", operatorRelease, operatorChart, "--reuse-values", "--set", "webhook.enabled=false")
		Expect(servedKymas(cluster)).To(Equal([]string{"v1beta1", "v1beta2"}))

		By("removing it")
		helm("uninstall", operatorRelease)
		left := func() []string { return slices.Sorted(maps.Keys(liveOf(cluster, objects))) }
		Eventually(left).Should(HaveExactElements(
			"CustomResourceDefinition kymareleases.operator.kyma-project.io",
			"CustomResourceDefinition kymas.operator.kyma-project.io", "CustomResourceDefinition manifests.operator.kyma-project.io",
			"CustomResourceDefinition modulereleasemetas.operator.kyma-project.io",
			"CustomResourceDefinition modulerollouts.operator.kyma-project.io",
			"CustomResourceDefinition moduletemplates.operator.kyma-project.io", ownNamespace))
		kept, err := testkit.Live(cluster, kyma)()
		Expect(err).NotTo(HaveOccurred())
		Expect(kept.UID).To(Equal(kyma.UID))
		Expect(kept.DeletionTimestamp).To(BeNil())

		By("installing it again, with the definitions that it left")
		helm("install", operatorRelease, operatorChart)
		Expect(liveOf(cluster, objects)).To(HaveLen(len(objects)))
	})

	It("takes over what kubectl installed by kustomize, without a new pod", func(spec context.Context) {
		cluster := env.AddRuntime(testkit.Unique("hub"))
		helm := helmFor(spec, cluster, v1beta2.DefaultNamespace)
		objects := cluster.Kustomize("config/default")
		kubectlFor(spec, cluster, "apply", "--server-side", "--kustomize", operatorConfig)
		applied, pods := awaitManager(cluster), podsOf(cluster)
		Expect(pods).To(HaveLen(1))
		before := eachOf(liveOf(cluster, objects), (*unstructured.Unstructured).GetUID)

		helm("install", operatorRelease, operatorChart, "--take-ownership")
		taken := awaitManager(cluster)
		Expect(taken.Spec).To(Equal(applied.Spec))
		Expect(podsOf(cluster)).To(Equal(pods))
		live := liveOf(cluster, objects)
		Expect(eachOf(live, (*unstructured.Unstructured).GetUID)).To(Equal(before))
		Expect(live[ownNamespace].GetAnnotations()).NotTo(HaveKey(releaseAnnotation), "the namespace is not the release's")
		delete(live, ownNamespace)
		Expect(eachOf(live, (*unstructured.Unstructured).GetAnnotations)).To(HaveEach(HaveKeyWithValue(releaseAnnotation, operatorRelease)))

		By("upgrading it")
		helm("upgrade", operatorRelease, operatorChart, "--force-conflicts", "--set", "image.tag=1.2.3")
		upgraded := awaitManager(cluster)
		Expect(upgraded.UID).To(Equal(applied.UID))
		Expect(upgraded.Spec.Template.Spec.Containers[0].Image).To(Equal("lifecycle-manager:1.2.3"))
	})
})
