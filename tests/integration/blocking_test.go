package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// where a user's custom resource is.
type where string

const (
	sameNamespace  where = "the namespace of the default one"
	otherNamespace where = "another namespace"
	wholeCluster   where = "no namespace"
)

// moduleIn offers an operator module whose custom resources are namespaced, or not.
func moduleIn(place where) (string, testkit.Content) {
	GinkgoHelper()
	if place != wholeCluster {
		return operatorModule(nil)
	}
	module, content := operatorModule(func(c *testkit.Content) {
		Expect(unstructured.SetNestedField(c.Objects[0].Object, "Cluster", "spec", "scope")).To(Succeed())
		c.DefaultCR.SetNamespace("")
	})
	editTemplate(module, func(t *v1beta2.ModuleTemplate) {
		t.Annotations = map[string]string{v1beta2.AnnotationIsClusterScoped: v1beta2.EnabledValue}
	})
	return module, content
}

// mineIn makes a user's custom resource.
func mineIn(runtime *testkit.Cluster, place where, content testkit.Content) *unstructured.Unstructured {
	GinkgoHelper()
	mine := userCR(content, "mine")
	if place == otherNamespace {
		space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: testkit.Unique("mine")}}
		runtime.Create(space)
		mine.SetNamespace(space.Name)
	}
	runtime.Create(mine)
	return mine
}

var _ = Describe("A user's custom resource", func() {
	DescribeTable("blocks the removal of its module, by name, wherever it is and whatever the policy", func(policy v1beta2.CustomResourcePolicy, place where) {
		env.FaultFree()
		runtime := env.Runtimes[0]
		module, content := moduleIn(place)
		kyma := readyKyma(runtime, testkit.WithModule(module, testkit.WithPolicy(policy)))
		mine := mineIn(runtime, place, content)
		name := mine.GetName()
		if mine.GetNamespace() != "" {
			name = mine.GetNamespace() + "/" + name
		}
		disable(kyma, module)
		Eventually(env.ManifestOf(kyma.Name, module)).Should(tells(v1beta2.StateDeleting, v1beta2.ReasonDeletionBlocked, mine.GetKind(), name))
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(tells(v1beta2.StateProcessing, v1beta2.ReasonModuleDeleting, name),
			testkit.HaveModule(module, testkit.HaveState(v1beta2.StateDeleting))))
		expectThere(runtime, append(partsOf(content), mine)...)
		runtime.Delete(mine)
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(module)))
		expectGone(runtime, partsOf(content)...)
	},
		Entry("CreateAndDelete, in the namespace of the default one", v1beta2.CustomResourcePolicyCreateAndDelete, sameNamespace),
		Entry("CreateAndDelete, in another namespace", v1beta2.CustomResourcePolicyCreateAndDelete, otherNamespace),
		Entry("CreateAndDelete, cluster-scoped", v1beta2.CustomResourcePolicyCreateAndDelete, wholeCluster),
		Entry("Ignore, in the namespace of the default one", v1beta2.CustomResourcePolicyIgnore, sameNamespace),
		Entry("Ignore, in another namespace", v1beta2.CustomResourcePolicyIgnore, otherNamespace),
		Entry("Ignore, cluster-scoped", v1beta2.CustomResourcePolicyIgnore, wholeCluster),
	)

	It("in an older version of its API still blocks after an upgrade that adds a version and stores that", func() {
		runtime := env.Runtimes[0]
		kyma, module, content, mine := blockedModule()
		next := testkit.Operator(module, "1.1.0")
		addVersion(next.Objects[0])
		next.DefaultCR.SetAPIVersion(next.DefaultCR.GroupVersionKind().Group + "/v2")
		env.Offer(module, "1.1.0", next, "regular")
		Eventually(imageOf(runtime, module)).Should(HaveSuffix(":1.1.0"))
		Eventually(env.ManifestOf(kyma.Name, module)).Should(tells(v1beta2.StateDeleting, v1beta2.ReasonDeletionBlocked, "default/mine"))
		expectThere(runtime, append(partsOf(content), mine)...)
		runtime.Delete(mine)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(module)))
		expectGone(runtime, partsOf(content)...)
	})

	DescribeTable("holds a Kyma that is being deleted, also when the runtime is lost, until the access Secret goes", func(propagation metav1.DeletionPropagation) {
		module, content := operatorModule(nil)
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		mine := userCR(content, "mine")
		env.Runtimes[0].Create(mine)
		Expect(env.Hub.Client.Delete(ctx(), kyma, client.PropagationPolicy(propagation))).To(Succeed())
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateDeleting, v1beta2.ReasonDeleting, module, v1beta2.ReasonDeletionBlocked))
		rotate(kyma, tokenKubeconfig())
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateDeleting, v1beta2.ReasonDeleting, v1beta2.ReasonRuntimeUnauthorized))
		Consistently(testkit.Gone(env.Hub, kyma)).Should(BeFalse())
		expectThere(env.Runtimes[0], append(partsOf(content), mine)...)
		env.Hub.Delete(testkit.NewAccessSecret(kyma.Name, nil))
		expectReleased(kyma)
		Expect(manifestsOf(kyma)()).To(BeEmpty())
		env.Runtimes[0].Delete(append(partsOf(content), mine, content.DefaultCR)...)
	},
		Entry("that was deleted in the background", metav1.DeletePropagationBackground),
		Entry("that was deleted in the foreground", metav1.DeletePropagationForeground),
	)
})

// addVersion makes a definition serve and store v2 beside v1.
func addVersion(definition *unstructured.Unstructured) {
	GinkgoHelper()
	versions, _, err := unstructured.NestedSlice(definition.Object, "spec", "versions")
	Expect(err).NotTo(HaveOccurred())
	first, ok := versions[0].(map[string]any)
	Expect(ok).To(BeTrue())
	second := (&unstructured.Unstructured{Object: first}).DeepCopy().Object
	first["storage"], second["name"] = false, "v2"
	Expect(unstructured.SetNestedSlice(definition.Object, []any{first, second}, "spec", "versions")).To(Succeed())
}
