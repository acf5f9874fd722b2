package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// addVolume gives the pods of a module's Deployment a claim and a volume of the module.
func addVolume(content *testkit.Content, module string) {
	GinkgoHelper()
	room := corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}
	class, modes := "", []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	volume := &corev1.PersistentVolume{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"},
		ObjectMeta: metav1.ObjectMeta{Name: module},
		Spec: corev1.PersistentVolumeSpec{
			Capacity: room, AccessModes: modes, PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimRetain,
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/tmp"}},
		},
	}
	claim := &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: claimOf(module).ObjectMeta,
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: modes, StorageClassName: &class, VolumeName: module, Resources: corev1.VolumeResourceRequirements{Requests: room},
		},
	}
	for _, object := range []any{volume, claim} {
		made, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		Expect(err).NotTo(HaveOccurred())
		delete(made, "status")
		content.Objects = append(content.Objects, &unstructured.Unstructured{Object: made})
	}
	for _, object := range content.Objects {
		if object.GetKind() == "Deployment" {
			Expect(unstructured.SetNestedSlice(object.Object, []any{map[string]any{
				"name": "data", "persistentVolumeClaim": map[string]any{"claimName": module},
			}}, "spec", "template", "spec", "volumes")).To(Succeed())
		}
	}
}

// claimOf returns the claim that addVolume adds.
func claimOf(module string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: module}}
}

var _ = Describe("A module whose objects are held", func() {
	It("by its own pods, as a claim and a volume are, goes as a whole", func() {
		env.FaultFree()
		module := testkit.Unique("held")
		content := testkit.Deployment(module, "1.0.0")
		addVolume(&content, module)
		env.Offer(module, "1.0.0", content, "regular")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(testkit.Live(env.Runtimes[0], claimOf(module))).Should(HaveField("Status.Phase", corev1.ClaimBound))
		disable(kyma, module)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(module)))
		expectGone(env.Runtimes[0], partsOf(content)...)
	})
})

var _ = Describe("A module that is renamed", func() {
	It("keeps its custom resources, the default one too, and all that the new one has as well", func() {
		env.FaultFree()
		runtime := env.Runtimes[0]
		old, content := operatorModule(nil)
		renamed := testkit.Unique("renamed")
		env.Offer(renamed, "1.0.0", content, "regular")
		kyma := readyKyma(runtime, testkit.WithModule(old))
		mine := userCR(content, "mine")
		runtime.Create(mine)
		before, err := testkit.Live(runtime, content.DefaultCR.DeepCopy())()
		Expect(err).NotTo(HaveOccurred())

		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules = []v1beta2.Module{{Name: renamed}} })
		Eventually(testkit.Live(env.Hub, kyma), "60s").Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(old),
			testkit.HaveModule(renamed, testkit.HaveState(v1beta2.StateReady))))
		expectThere(runtime, append(partsOf(content), mine)...)
		Expect(testkit.Live(runtime, content.DefaultCR.DeepCopy())()).To(And(
			HaveField("GetUID()", before.GetUID()), HaveField("GetDeletionTimestamp()", BeNil())))

		By("going with the new one")
		runtime.Delete(mine)
		disable(kyma, renamed)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(renamed)))
		expectGone(runtime, partsOf(content)...)
	})
})
