package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// editTemplate changes the ModuleTemplate of version 1.0.0.
func editTemplate(module string, change func(*v1beta2.ModuleTemplate)) {
	GinkgoHelper()
	testkit.Edit(env.Hub, testkit.ModuleTemplate(module, "1.0.0"), change)
}

// labelled sets or removes a label.
func labelled[T client.Object](object T, key string, set bool) {
	GinkgoHelper()
	testkit.Edit(env.Hub, object, func(o T) {
		labels := o.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		if delete(labels, key); set {
			labels[key] = v1beta2.EnabledValue
		}
		o.SetLabels(labels)
	})
}

// reports has a module's custom resource say something of itself, as its operator would.
func reports(cr *unstructured.Unstructured, state, message string) {
	GinkgoHelper()
	status := cr.DeepCopy()
	status.Object["status"] = map[string]any{"state": state, "description": message}
	Expect(env.Runtimes[0].Client.Status().Patch(ctx(), status, client.Merge)).To(Succeed())
}

// size returns a field of a custom resource that users change.
func size(cr *unstructured.Unstructured) func() (int64, error) {
	return func() (int64, error) {
		live, err := testkit.Live(env.Runtimes[0], cr)()
		if err != nil {
			return 0, err
		}
		value, _, err := unstructured.NestedInt64(live.Object, "spec", "size")
		return value, err
	}
}

var _ = Describe("The default custom resource", func() {
	It("is cluster-scoped when the template says so, whatever namespace it names, and goes with the module", func() {
		env.FaultFree()
		module, content := operatorModule(func(c *testkit.Content) {
			Expect(unstructured.SetNestedField(c.Objects[0].Object, "Cluster", "spec", "scope")).To(Succeed())
		})
		editTemplate(module, func(t *v1beta2.ModuleTemplate) {
			t.Annotations = map[string]string{v1beta2.AnnotationIsClusterScoped: v1beta2.EnabledValue}
		})
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module,
			HaveField("Resource.Kind", content.DefaultCR.GetKind()), HaveField("Resource.Name", "default"), HaveField("Resource.Namespace", "")))
		cr := content.DefaultCR.DeepCopy()
		cr.SetNamespace("")
		expectThere(env.Runtimes[0], cr)
		disable(kyma, module)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(module)))
		expectGone(env.Runtimes[0], partsOf(content)...)
	})

	It("gets the Manifest's name and the namespace kyma-system when the template leaves them out", func() {
		env.FaultFree()
		module, content := operatorModule(func(c *testkit.Content) {
			c.DefaultCR.SetName("")
			c.DefaultCR.SetNamespace("")
		})
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		cr := content.DefaultCR.DeepCopy()
		cr.SetName(manifestOf(kyma, module).Name)
		cr.SetNamespace(v1beta2.RuntimeNamespace)
		expectThere(env.Runtimes[0], cr)
		Expect(testkit.Live(env.Hub, kyma)()).To(testkit.HaveModule(module,
			HaveField("Resource.Name", cr.GetName()), HaveField("Resource.Namespace", v1beta2.RuntimeNamespace)))
		remove(kyma)
		expectGone(env.Runtimes[0], partsOf(content)...)
	})

	It("is the user's once it exists: a changed template reaches the Manifest and not the resource", func() {
		env.FaultFree()
		module, content := operatorModule(nil)
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		testkit.Edit(env.Runtimes[0], content.DefaultCR.DeepCopy(), func(cr *unstructured.Unstructured) {
			Expect(unstructured.SetNestedField(cr.Object, int64(7), "spec", "size")).To(Succeed())
		})
		editTemplate(module, func(t *v1beta2.ModuleTemplate) {
			Expect(unstructured.SetNestedField(t.Spec.Data.Object, int64(3), "spec", "size")).To(Succeed())
		})
		Eventually(env.ManifestOf(kyma.Name, module), atOnce).Should(And(testkit.HaveState(v1beta2.StateReady),
			HaveField("Spec.Resource.Object", HaveKeyWithValue("spec", HaveKeyWithValue("size", BeNumerically("==", 3))))))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		Consistently(size(content.DefaultCR)).Should(BeNumerically("==", 7))
	})

	It("stays away when the user deleted it, also when a new version comes", func() {
		env.FaultFree()
		module, content := operatorModule(nil)
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		env.Runtimes[0].Delete(content.DefaultCR.DeepCopy())
		Consistently(testkit.Gone(env.Runtimes[0], content.DefaultCR)).Should(BeTrue())
		env.Offer(module, "1.1.0", testkit.Operator(module, "1.1.0"), "regular")
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveModule(module, testkit.HaveVersion("1.1.0"))))
		expectGone(env.Runtimes[0], content.DefaultCR)
		disable(kyma, module)
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveNoModule(module))
		expectGone(env.Runtimes[0], partsOf(content)...)
	})

	It("is not created with policy Ignore, and is when the policy changes; the other way round it stays", func() {
		env.FaultFree()
		module, content := operatorModule(nil)
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module, testkit.WithPolicy(v1beta2.CustomResourcePolicyIgnore)))
		Consistently(testkit.Gone(env.Runtimes[0], content.DefaultCR)).Should(BeTrue())
		Expect(testkit.Live(env.Hub, kyma)()).To(testkit.HaveModule(module, HaveField("Resource", BeNil())))
		policy := func(policy v1beta2.CustomResourcePolicy) {
			testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules[0].CustomResourcePolicy = policy })
			Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		}
		policy(v1beta2.CustomResourcePolicyCreateAndDelete)
		expectThere(env.Runtimes[0], content.DefaultCR)
		policy(v1beta2.CustomResourcePolicyIgnore)
		Consistently(testkit.Gone(env.Runtimes[0], content.DefaultCR)).Should(BeFalse())
	})

	DescribeTable("decides with readiness", func(readiness v1beta2.Readiness) {
		module, content := operatorModule(nil)
		editTemplate(module, func(t *v1beta2.ModuleTemplate) { t.Spec.Readiness = readiness })
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module))
		notReady := func(state v1beta2.State, texts ...string) {
			GinkgoHelper()
			Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(And(tells(state, v1beta2.ReasonModuleCRNotReady, texts...),
				testkit.HaveModule(module, testkit.HaveState(state))))
		}
		Eventually(env.ManifestOf(kyma.Name, module)).Should(testkit.HaveState(v1beta2.StateReady))
		notReady(v1beta2.StateProcessing, "no state yet")
		for _, state := range []v1beta2.State{v1beta2.StateProcessing, v1beta2.StateWarning, v1beta2.StateError} {
			reports(content.DefaultCR, string(state), "because it is "+string(state))
			notReady(state, "because it is "+string(state))
			Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, HaveField("ResourceState", state)))
		}
		reports(content.DefaultCR, "Ready", "")
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(testkit.HaveState(v1beta2.StateReady))
		env.Runtimes[0].Delete(content.DefaultCR.DeepCopy())
		notReady(v1beta2.StateProcessing, "no state yet")
	},
		Entry("ModuleCR", v1beta2.ReadinessModuleCR),
		Entry("Both", v1beta2.ReadinessBoth),
	)
})

var _ = Describe("Who may have a module", func() {
	DescribeTable("is taken from a Kyma, and given back, with a label", func(label, message string) {
		module := offerMaps("1.0.0")
		template := testkit.ModuleTemplate(module, "1.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		refused := func() {
			GinkgoHelper()
			Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(And(
				tells(v1beta2.StateError, v1beta2.ReasonNotAllowed, "module template not allowed: "+message),
				testkit.HaveModule(module, testkit.HaveState(v1beta2.StateError), HaveField("Manifest", BeNil()))))
			Eventually(versionIn(env.Runtimes[0], module+"-0"), atOnce).Should(BeEmpty())
		}
		allowed := func() {
			GinkgoHelper()
			Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(testkit.HaveState(v1beta2.StateReady))
			Expect(versionIn(env.Runtimes[0], module+"-0")()).To(Equal("1.0.0"))
		}
		labelled(template, label, true)
		refused()
		labelled(kyma, label, true)
		allowed()
		labelled(kyma, label, false)
		refused()
		labelled(template, label, false)
		allowed()
	},
		Entry("beta", v1beta2.LabelBeta, "beta module"),
		Entry("internal", v1beta2.LabelInternal, "internal module"),
	)
})

var _ = Describe("A change of a Kyma", func() {
	It("that is only an annotation or only status causes no call; one of a label is looked at at once", func() {
		emptyHub()
		module, hidden := offerMaps("1.0.0"), offerMaps("1.0.0")
		labelled(testkit.ModuleTemplate(hidden, "1.0.0"), v1beta2.LabelBeta, true)
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module), testkit.WithModule(hidden))
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonNotAllowed))
		atRest()
		hub, runtime := hubCalls.Snapshot(), runtimeCalls.Snapshot()
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { metav1.SetMetaDataAnnotation(&k.ObjectMeta, "note", "by hand") })
		changed := kyma.DeepCopy()
		changed.Status.ActiveChannel = "elsewhere"
		Expect(env.Hub.Client.Status().Patch(ctx(), changed, client.MergeFrom(kyma))).To(Succeed())
		Consistently(func() int {
			asked := func(c calls.Call) bool { return c.Verb != calls.Watch } // those are renewed now and then
			return countable(hubCalls.Since(hub)).Where(asked).Total() + countable(runtimeCalls.Since(runtime)).Where(asked).Total()
		}).Should(BeZero())
		labelled(kyma, v1beta2.LabelBeta, true)
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(testkit.HaveState(v1beta2.StateReady))
	})
})
