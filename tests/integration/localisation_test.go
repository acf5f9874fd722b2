package integration

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// withImages returns a module of one Deployment, which names its image and another one by an environment variable.
func withImages(module, version, image string) testkit.Content {
	GinkgoHelper()
	content := testkit.Deployment(module, version)
	for _, object := range content.Objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		containers := []any{map[string]any{"name": "manager", "image": image, "env": []any{
			map[string]any{"name": "PROXY_IMAGE", "value": "build.example.com/proxy:2.0.0"},
			map[string]any{"name": "PROXY_ADDRESS", "value": "proxy:2000"},
		}}}
		Expect(unstructured.SetNestedSlice(object.Object, containers, "spec", "template", "spec", "containers")).To(Succeed())
	}
	return content
}

// offerWithImages publishes a module whose descriptor names images.
func offerWithImages(module, version string, content testkit.Content, images ...string) {
	GinkgoHelper()
	layers := []component.Resource{testkit.RawManifest(content.YAML())}
	for i, image := range images {
		layers = append(layers, component.Resource{Name: fmt.Sprintf("image-%d", i), Type: "ociImage", Image: image})
	}
	env.Publish(testkit.ComponentName(module), version, layers...)
	env.Hub.Create(testkit.ModuleTemplate(module, version))
	env.Point(module, version, "regular")
}

// operatorIn returns a module's Deployment as it is now.
func operatorIn(cluster *testkit.Cluster, module string) func() (*appsv1.Deployment, error) {
	return testkit.Live(cluster, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: module}})
}

// containerOf returns the one container of a Deployment.
func containerOf(deployment *appsv1.Deployment) corev1.Container {
	return deployment.Spec.Template.Spec.Containers[0]
}

var _ = Describe("A component that was transferred to another registry", func() {
	It("runs the images that its descriptor names, in containers and in variables", func() {
		module := testkit.Unique("moved")
		offerWithImages(module, "1.0.0", withImages(module, "1.0.0", "build.example.com/dev/operator:1.0.0"),
			"prod.example.com/kyma/operator:1.0.0", "prod.example.com/kyma/proxy:2.0.0")
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		Expect(manifestOf(kyma, module).Spec.LocalizedImages).To(ConsistOf(
			"prod.example.com/kyma/operator:1.0.0", "prod.example.com/kyma/proxy:2.0.0"))
		operator, err := operatorIn(env.Runtimes[0], module)()
		Expect(err).NotTo(HaveOccurred())
		container := containerOf(operator)
		Expect(container.Image).To(Equal("prod.example.com/kyma/operator:1.0.0"))
		Expect(container.Env).To(ConsistOf(
			corev1.EnvVar{Name: "PROXY_IMAGE", Value: "prod.example.com/kyma/proxy:2.0.0"},
			corev1.EnvVar{Name: "PROXY_ADDRESS", Value: "proxy:2000"}))
	})

	It("tells who an object belongs to, whatever the content says under the same names, and keeps the labels that it may select by", func() {
		module := testkit.Unique("marked")
		content := withImages(module, "1.0.0", "build.example.com/operator:1.0.0")
		for _, object := range content.Objects {
			object.SetLabels(map[string]string{v1beta2.LabelPartOf: "other", v1beta2.LabelManagedBy: "other", "own": "label"})
			object.SetAnnotations(map[string]string{v1beta2.AnnotationDisclaimer: "edit me"})
		}
		offerWithImages(module, "1.0.0", content)
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		manifest := manifestOf(kyma, module)
		operator, err := operatorIn(env.Runtimes[0], module)()
		Expect(err).NotTo(HaveOccurred())
		Expect(operator.Labels).To(And(HaveKeyWithValue(v1beta2.LabelPartOf, "other"), HaveKeyWithValue(v1beta2.LabelComponent, manifest.Name),
			HaveKeyWithValue(v1beta2.LabelManagedBy, "kyma"), HaveKeyWithValue("own", "label")))
		Expect(operator.Annotations).To(And(HaveKeyWithValue(v1beta2.AnnotationDisclaimer, v1beta2.DisclaimerText),
			HaveKeyWithValue(v1beta2.AnnotationOwnedBy, client.ObjectKeyFromObject(manifest).String())))
	})

	It("is refused when two images of its descriptor could be meant, and what runs is kept", func() {
		module := testkit.Unique("unclear")
		offerWithImages(module, "1.0.0", withImages(module, "1.0.0", "build.example.com/operator:1.0.0"), "prod.example.com/a/operator:1.0.0")
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		offerWithImages(module, "1.1.0", withImages(module, "1.1.0", "build.example.com/operator:1.1.0"),
			"prod.example.com/a/operator:1.1.0", "prod.example.com/b/operator:1.1.0")
		Eventually(env.ManifestOf(kyma.Name, module)).Should(tells(v1beta2.StateError, v1beta2.ReasonContentInvalid,
			"Deployment.apps default/"+module, "prod.example.com/a/operator:1.1.0, prod.example.com/b/operator:1.1.0"))
		operator, err := operatorIn(env.Runtimes[0], module)()
		Expect(err).NotTo(HaveOccurred())
		Expect(containerOf(operator).Image).To(Equal("prod.example.com/a/operator:1.0.0"))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateError))
	})
})
