package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// partsOf returns the objects of an operator module, its CRD first.
func partsOf(content testkit.Content) []client.Object {
	parts := make([]client.Object, 0, len(content.Objects))
	for _, object := range content.Objects {
		parts = append(parts, object.DeepCopy())
	}
	return parts
}

func expectGone(cluster *testkit.Cluster, objects ...client.Object) {
	GinkgoHelper()
	for _, object := range objects {
		Expect(testkit.Gone(cluster, object)()).To(BeTrue(), "%T %s", object, client.ObjectKeyFromObject(object))
	}
}

func expectThere(cluster *testkit.Cluster, objects ...client.Object) {
	GinkgoHelper()
	for _, object := range objects {
		Expect(testkit.Gone(cluster, object)()).To(BeFalse(), "%T %s", object, client.ObjectKeyFromObject(object))
	}
}

// imageOf returns the image that a module's Deployment runs in a runtime.
func imageOf(runtime *testkit.Cluster, module string) func() (string, error) {
	return func() (string, error) {
		live, err := testkit.Live(runtime, deployment(module))()
		if err != nil {
			return "", err
		}
		return live.Spec.Template.Spec.Containers[0].Image, nil
	}
}

// blockedModule returns a module that was disabled while a user's custom resource exists.
func blockedModule() (kyma *v1beta2.Kyma, module string, content testkit.Content, mine *unstructured.Unstructured) {
	GinkgoHelper()
	module, content = operatorModule(nil)
	kyma = readyKyma(env.Runtimes[0], testkit.WithModule(module))
	mine = userCR(content, "mine")
	env.Runtimes[0].Create(mine)
	disable(kyma, module)
	Eventually(env.ManifestOf(kyma.Name, module)).Should(
		tells(v1beta2.StateDeleting, v1beta2.ReasonDeletionBlocked, mine.GetKind(), metav1.NamespaceDefault+"/mine"))
	return kyma, module, content, mine
}

var _ = Describe("A module that is disabled", func() {
	It("waits for the user's custom resources, by name, runs and heals until they are gone, then goes as a whole", func() {
		env.FaultFree()
		runtime := env.Runtimes[0]
		kyma, module, content, mine := blockedModule()
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			tells(v1beta2.StateProcessing, v1beta2.ReasonModuleDeleting, v1beta2.ReasonDeletionBlocked, "default/mine"),
			testkit.HaveModule(module, testkit.HaveState(v1beta2.StateDeleting), HaveField("Message", ContainSubstring("default/mine")))))
		expectThere(runtime, append(partsOf(content), content.DefaultCR, mine)...)

		By("healing the operator and its rights meanwhile")
		expectHealed(runtime, deployment(module))
		expectHealed(runtime, &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: module}})
		expectHealed(runtime, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: module}})
		Consistently(env.ManifestOf(kyma.Name, module)).Should(tells(v1beta2.StateDeleting, v1beta2.ReasonDeletionBlocked))

		By("naming what is left when there are more")
		another := userCR(content, "yours")
		runtime.Create(another)
		Eventually(env.ManifestOf(kyma.Name, module), atOnce).Should(
			tells(v1beta2.StateDeleting, v1beta2.ReasonDeletionBlocked, "default/mine, default/yours"))
		runtime.Delete(mine)
		Eventually(env.ManifestOf(kyma.Name, module), atOnce).ShouldNot(
			tells(v1beta2.StateDeleting, v1beta2.ReasonDeletionBlocked, "default/mine"))
		expectThere(runtime, append(partsOf(content), content.DefaultCR)...)

		By("going when the last one is gone")
		runtime.Delete(another)
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(module)))
		expectGone(runtime, partsOf(content)...)
		Expect(manifestsOf(kyma)()).To(BeEmpty())
	})

	It("needs no one when there is only its default custom resource, and lets the operator finish that one", func() {
		env.FaultFree()
		runtime := env.Runtimes[0]
		module, content := operatorModule(nil)
		kyma := readyKyma(runtime, testkit.WithModule(module))
		testkit.Edit(runtime, content.DefaultCR, func(cr *unstructured.Unstructured) {
			cr.SetFinalizers([]string{"operator.example.com/cleanup"})
		})
		disable(kyma, module)
		Eventually(env.ManifestOf(kyma.Name, module)).Should(
			tells(v1beta2.StateDeleting, v1beta2.ReasonWaitingForDeletion, content.DefaultCR.GetKind(), "default/default"))
		Consistently(testkit.Gone(env.Hub, manifestOf(kyma, module))).Should(BeFalse())
		expectThere(runtime, partsOf(content)...)
		testkit.Edit(runtime, content.DefaultCR, func(cr *unstructured.Unstructured) { cr.SetFinalizers(nil) })
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(module)))
		expectGone(runtime, partsOf(content)...)
	})

	It("waits for every custom resource with policy Ignore, also for one with the name of the default", func() {
		env.FaultFree()
		runtime := env.Runtimes[0]
		module, content := operatorModule(nil)
		kyma := readyKyma(runtime, testkit.WithModule(module, testkit.WithPolicy(v1beta2.CustomResourcePolicyIgnore)))
		expectGone(runtime, content.DefaultCR)
		mine := content.DefaultCR.DeepCopy()
		runtime.Create(mine)
		disable(kyma, module)
		Eventually(env.ManifestOf(kyma.Name, module)).Should(
			tells(v1beta2.StateDeleting, v1beta2.ReasonDeletionBlocked, mine.GetKind(), "default/default"))
		Consistently(testkit.Gone(runtime, mine)).Should(BeFalse())
		expectThere(runtime, partsOf(content)...)
		runtime.Delete(mine)
		Eventually(testkit.Live(env.Hub, kyma), atOnce).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(module)))
		expectGone(runtime, partsOf(content)...)
	})

	It("notices soon that the custom resources are gone, also where there are more kinds than are watched", func() {
		kyma := readyKyma(env.Runtimes[0])
		var crs []client.Object
		for range 10 {
			module, content := operatorModule(nil)
			enable(kyma, v1beta2.Module{Name: module})
			crs = append(crs, userCR(content, "mine"))
		}
		Eventually(testkit.Live(env.Hub, kyma), "60s").Should(And(testkit.HaveState(v1beta2.StateReady),
			HaveField("Status.ModulesReady", "10/10")))
		env.Runtimes[0].Create(crs...)
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules = nil })
		Eventually(manifestsOf(kyma)).Should(HaveEach(HaveField("Status.Conditions", ContainElement(And(
			HaveField("Type", v1beta2.ConditionReady), HaveField("Reason", v1beta2.ReasonDeletionBlocked))))))
		env.Runtimes[0].Delete(crs...)
		Eventually(testkit.Live(env.Hub, kyma), "40s").Should(And(testkit.HaveState(v1beta2.StateReady), HaveField("Status.Modules", BeEmpty())))
	})

	It("and enabled again while it waits is installed anew when the old installation is gone", func() {
		env.FaultFree()
		runtime := env.Runtimes[0]
		kyma, module, content, mine := blockedModule()
		old := manifestOf(kyma, module)
		enable(kyma, v1beta2.Module{Name: module})
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateProcessing),
			testkit.HaveModule(module, testkit.HaveState(v1beta2.StateDeleting), HaveField("Message", ContainSubstring("installed again")))))
		expectThere(runtime, append(partsOf(content), mine)...)
		runtime.Delete(mine)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady), testkit.HaveVersion("1.0.0"))))
		Expect(manifestOf(kyma, module).UID).NotTo(Equal(old.UID))
		expectThere(runtime, append(partsOf(content), content.DefaultCR)...)
	})

	It("and enabled and disabled several times in a row ends as it was asked for last", func() {
		env.FaultFree()
		module, content := operatorModule(nil)
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		for range 3 {
			disable(kyma, module)
			enable(kyma, v1beta2.Module{Name: module})
		}
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady))))
		Eventually(imageOf(env.Runtimes[0], module)).Should(HaveSuffix(":1.0.0"))
		expectThere(env.Runtimes[0], append(partsOf(content), content.DefaultCR)...)
	})

	It("still gets the new version of its channel while it waits: the operator may need it to let go", func() {
		env.FaultFree()
		kyma, module, _, mine := blockedModule()
		next := testkit.Operator(module, "1.1.0")
		env.Offer(module, "1.1.0", next, "regular")
		Eventually(imageOf(env.Runtimes[0], module)).Should(HaveSuffix(":1.1.0"))
		Eventually(env.ManifestOf(kyma.Name, module)).Should(And(testkit.HaveVersion("1.1.0"),
			tells(v1beta2.StateDeleting, v1beta2.ReasonDeletionBlocked, "default/mine")))
		env.Runtimes[0].Delete(mine)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(module)))
		expectGone(env.Runtimes[0], partsOf(next)...)
	})
})

var _ = Describe("A Kyma that is deleted", func() {
	It("goes when its three modules are gone", func() {
		env.FaultFree()
		maps := offerMaps("1.0.0")
		deploy := testkit.Unique("deploy")
		env.Offer(deploy, "1.0.0", testkit.Deployment(deploy, "1.0.0"), "regular")
		module, content := operatorModule(nil)
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(maps), testkit.WithModule(deploy), testkit.WithModule(module))
		remove(kyma)
		Expect(manifestsOf(kyma)()).To(BeEmpty())
		expectGone(env.Runtimes[0], append(partsOf(content), configMap(maps+"-0"), configMap(maps+"-1"), deployment(deploy))...)
	})

	It("stays Deleting and names what blocks it, one module by the user's custom resource", func() {
		env.FaultFree()
		module, content := operatorModule(nil)
		maps := offerMaps("1.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module), testkit.WithModule(maps))
		mine := userCR(content, "mine")
		env.Runtimes[0].Create(mine)
		env.Hub.Delete(kyma)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			tells(v1beta2.StateDeleting, v1beta2.ReasonDeleting, "modules left to delete: 1", module, "DeletionBlocked", "default/mine"),
			testkit.HaveNoModule(maps)))
		expectThere(env.Runtimes[0], partsOf(content)...)
		env.Runtimes[0].Delete(mine)
		Eventually(testkit.Gone(env.Hub, kyma), atOnce).Should(BeTrue())
		expectGone(env.Runtimes[0], partsOf(content)...)
	})

	It("stays Deleting while a foreign finalizer holds a Manifest, and names it", func() {
		env.FaultFree()
		const foreign = "example.com/not-yet"
		module := offerMaps("1.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		manifest := manifestOf(kyma, module)
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Finalizers = append(m.Finalizers, foreign) })
		env.Hub.Delete(kyma)
		Eventually(testkit.Live(env.Hub, manifest)).Should(And(
			tells(v1beta2.StateDeleting, v1beta2.ReasonForeignFinalizers, "other finalizers are present", foreign),
			HaveField("Finalizers", ConsistOf(foreign))))
		held := tells(v1beta2.StateDeleting, v1beta2.ReasonDeleting, module, v1beta2.ReasonForeignFinalizers, foreign)
		Eventually(testkit.Live(env.Hub, kyma)).Should(held)
		Consistently(testkit.Live(env.Hub, kyma)).Should(held)
		expectGone(env.Runtimes[0], configMap(module+"-0"))
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Finalizers = nil })
		Eventually(testkit.Gone(env.Hub, kyma), atOnce).Should(BeTrue())
	})
})
