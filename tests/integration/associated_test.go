package integration

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// another returns a definition like that of a module, of a kind of its own.
func another(content testkit.Content, suffix string) *unstructured.Unstructured {
	GinkgoHelper()
	definition := definitionOf(content)
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	kind += suffix
	singular := strings.ToLower(kind)
	definition.SetName(singular + "s." + group)
	Expect(unstructured.SetNestedField(definition.Object, map[string]any{
		"kind": kind, "listKind": kind + "List", "plural": singular + "s", "singular": singular,
	}, "spec", "names")).To(Succeed())
	return definition
}

// objectOf returns an object of the kind that a definition defines.
func objectOf(definition *unstructured.Unstructured, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
	object.SetAPIVersion(group + "/v1")
	object.SetKind(kind)
	object.SetNamespace(metav1.NamespaceDefault)
	object.SetName(name)
	return object
}

// associate adds to a module a second kind, whose definition it brings, and one whose definition its operator makes: both are associated.
func associate(content *testkit.Content) (second, made *unstructured.Unstructured) {
	GinkgoHelper()
	second, made = another(*content, "Paper"), another(*content, "Ink")
	content.Objects = append(content.Objects, second.DeepCopy())
	for _, definition := range []*unstructured.Unstructured{second, made} {
		kind := objectOf(definition, "").GroupVersionKind()
		content.Associated = append(content.Associated, metav1.GroupVersionKind(kind))
	}
	return second, made
}

var _ = Describe("A module with two associated kinds", func() {
	var second, made *unstructured.Unstructured
	var content testkit.Content
	var module string
	var kyma *v1beta2.Kyma

	BeforeEach(func() {
		env.FaultFree()
		runtime := env.Runtimes[0]
		module, content = operatorModule(func(c *testkit.Content) { second, made = associate(c) })
		runtime.Create(made)
		DeferCleanup(func() { runtime.Delete(made) })
		kyma = readyKyma(runtime, testkit.WithModule(module))
		Expect(manifestOf(kyma, module).Spec.AssociatedResources).To(Equal(content.Associated))
	})

	It("stays whole for an object of the second, is healed and upgraded meanwhile, and then goes without a trace", func() {
		runtime := env.Runtimes[0]
		mine := objectOf(second, "mine")
		runtime.Create(mine)
		disable(kyma, module)
		Eventually(env.ManifestOf(kyma.Name, module)).Should(
			tells(v1beta2.StateDeleting, v1beta2.ReasonDeletionBlocked, mine.GetKind(), "default/mine"))
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateProcessing, v1beta2.ReasonModuleDeleting, "default/mine"))
		whole := append(partsOf(content), content.DefaultCR, mine)
		expectThere(runtime, whole...)

		By("healing it")
		expectHealed(runtime, deployment(module))
		expectThere(runtime, whole...)

		By("upgrading it")
		next := testkit.Operator(module, "1.1.0")
		_, _ = associate(&next)
		env.Offer(module, "1.1.0", next, "regular")
		Eventually(imageOf(runtime, module)).Should(HaveSuffix(":1.1.0"))
		Eventually(env.ManifestOf(kyma.Name, module)).Should(And(testkit.HaveVersion("1.1.0"),
			tells(v1beta2.StateDeleting, v1beta2.ReasonDeletionBlocked, "default/mine")))
		Expect(testkit.Live(runtime, content.DefaultCR)()).To(HaveField("GetDeletionTimestamp()", BeNil()))

		By("going when the object is gone")
		runtime.Delete(mine)
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(module)))
		expectGone(runtime, append(partsOf(next), content.DefaultCR)...)
		Expect(manifestsOf(kyma)()).To(BeEmpty())
	})

	It("stays whole for an object of the one whose definition its operator made, also when its Kyma is deleted", func() {
		runtime := env.Runtimes[0]
		mine := objectOf(made, "mine")
		Eventually(func() error { return runtime.Client.Create(ctx(), mine) }).Should(Succeed())
		env.Hub.Delete(kyma)
		Eventually(testkit.Live(env.Hub, kyma)).Should(
			tells(v1beta2.StateDeleting, v1beta2.ReasonDeleting, v1beta2.ReasonDeletionBlocked, "default/mine"))
		expectThere(runtime, append(partsOf(content), content.DefaultCR, mine)...)
		runtime.Delete(mine)
		Eventually(testkit.Gone(env.Hub, kyma), atOnce).Should(BeTrue())
		expectGone(runtime, append(partsOf(content), content.DefaultCR)...)
		expectThere(runtime, made) // which is not the module's to delete
	})

	It("does not wait for what its operator made for the default custom resource", func() {
		runtime := env.Runtimes[0]
		live, err := testkit.Live(runtime, content.DefaultCR)()
		Expect(err).NotTo(HaveOccurred())
		child := objectOf(made, "child")
		child.SetOwnerReferences([]metav1.OwnerReference{{
			APIVersion: live.GetAPIVersion(), Kind: live.GetKind(), Name: live.GetName(), UID: live.GetUID(),
		}})
		Eventually(func() error { return runtime.Client.Create(ctx(), child) }).Should(Succeed())
		testkit.Edit(runtime, content.DefaultCR, func(cr *unstructured.Unstructured) {
			cr.SetFinalizers([]string{"operator.example.com/cleanup"})
		})
		disable(kyma, module)
		Eventually(env.ManifestOf(kyma.Name, module)).Should(
			tells(v1beta2.StateDeleting, v1beta2.ReasonWaitingForDeletion, content.DefaultCR.GetKind(), "default/default"))

		By("healing and upgrading the operator that has to let go of it")
		expectHealed(runtime, deployment(module))
		next := testkit.Operator(module, "1.1.0")
		_, _ = associate(&next)
		env.Offer(module, "1.1.0", next, "regular")
		Eventually(imageOf(runtime, module)).Should(HaveSuffix(":1.1.0"))

		By("going when the operator has cleaned up")
		runtime.Delete(child)
		testkit.Edit(runtime, content.DefaultCR, func(cr *unstructured.Unstructured) { cr.SetFinalizers(nil) })
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(module)))
		expectGone(runtime, partsOf(next)...)
	})
})

var _ = Describe("A Kyma whose runtime is gone or never was", func() {
	It("is freed from what holds its Manifests by finalizers of others, when the access Secret goes", func() {
		module := offerMaps("1.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		manifest := manifestOf(kyma, module)
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Finalizers = append(m.Finalizers, "example.com/not-yet") })
		env.Hub.Delete(kyma)
		Eventually(testkit.Live(env.Hub, manifest)).Should(tells(v1beta2.StateDeleting, v1beta2.ReasonForeignFinalizers, "example.com/not-yet"))
		env.Hub.Delete(testkit.NewAccessSecret(kyma.Name, nil))
		Eventually(testkit.Gone(env.Hub, kyma), atOnce).Should(BeTrue())
	})

	It("gives up a module before it has a cluster", func() {
		module := offerMaps("1.0.0")
		kyma := testkit.Kyma(testkit.Unique("kyma"), testkit.WithModule(module))
		env.Hub.Create(kyma)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			testkit.HaveModule(module, testkit.HaveState(v1beta2.StateError)), testkit.HaveState(v1beta2.StateError)))
		disable(kyma, module)
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveNoModule(module))
		remove(kyma)
	})
})
