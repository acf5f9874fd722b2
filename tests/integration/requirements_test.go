package integration

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// offerNeeding offers a version of a module of one ConfigMap on channel regular that requires something.
func offerNeeding(module, version string, needs ...v1beta2.Requirement) {
	GinkgoHelper()
	env.Publish(testkit.ComponentName(module), version, testkit.RawManifest(testkit.ConfigMaps(module, version, 1).YAML()))
	env.Hub.Create(testkit.ModuleTemplate(module, version, func(spec *v1beta2.ModuleTemplateSpec) { spec.Requires = needs }))
	env.Point(module, version, "regular")
}

// holds matches a Kyma with a module that waits or stays, and says why.
func holds(module string, state v1beta2.State, parts ...string) types.GomegaMatcher {
	of := []types.GomegaMatcher{testkit.HaveState(state)}
	for _, part := range parts {
		of = append(of, HaveField("Message", ContainSubstring(part)))
	}
	return testkit.HaveModule(module, And(of...))
}

// hasRun matches a Kyma with a module that is ready in a version.
func hasRun(module, version string) types.GomegaMatcher {
	return testkit.HaveModule(module, And(testkit.HaveState(v1beta2.StateReady), testkit.HaveVersion(version)))
}

// withoutModules takes modules out of a Kyma's spec in one edit.
func withoutModules(kyma *v1beta2.Kyma, names ...string) {
	GinkgoHelper()
	testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) {
		var kept []v1beta2.Module
		for _, entry := range k.Spec.Modules {
			if found, _ := ContainElement(entry.Name).Match(names); !found {
				kept = append(kept, entry)
			}
		}
		k.Spec.Modules = kept
	})
}

// manifestGone reports whether a Kyma has no Manifest for a module.
func manifestGone(kyma *v1beta2.Kyma, module string) func() bool {
	return func() bool {
		_, err := env.ManifestOf(kyma.Name, module)()
		return err != nil
	}
}

// gadgets returns the definition of a kind that serves the given versions, the last of which is stored.
func gadgets(group string, served ...string) *unstructured.Unstructured {
	definition := testkit.ParseYAML(fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: Gadget, plural: gadgets, singular: gadget, listKind: GadgetList}
  versions: []`, group))
	var versions []any
	for i, version := range served {
		versions = append(versions, map[string]any{
			"name": version, "served": true, "storage": i == len(served)-1,
			"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
		})
	}
	Expect(unstructured.SetNestedSlice(definition.Object, versions, "spec", "versions")).To(Succeed())
	return definition
}

// aboutDefinitions selects the calls about definitions.
func aboutDefinitions(found calls.Counts) calls.Counts {
	return found.Where(func(c calls.Call) bool { return c.Resource == "customresourcedefinitions.apiextensions.k8s.io" })
}

var _ = Describe("What a version requires", func() {
	It("is waited for, begins when it comes, and what others need is removed after them", func() {
		env.FaultFree()
		base, dependent := testkit.Unique("base"), testkit.Unique("dependent")
		offerNeeding(base, "1.0.0")
		offerNeeding(dependent, "1.0.0", v1beta2.Requirement{Module: base, Version: ">=1.1"})
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(dependent))
		Eventually(testkit.Live(env.Hub, kyma)).Should(holds(dependent, v1beta2.StateWarning, base, ">=1.1", "which the Kyma does not have"))
		Expect(testkit.Live(env.Hub, kyma)()).To(testkit.HaveCondition(v1beta2.ConditionReady, "False", v1beta2.ReasonRequirementMissing))
		expectNoCalls()
		Expect(manifestGone(kyma, dependent)()).To(BeTrue(), "nothing is begun")

		By("not by a version that is out of the range")
		enable(kyma, v1beta2.Module{Name: base})
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(hasRun(base, "1.0.0"), holds(dependent, v1beta2.StateWarning, "which has version 1.0.0")))

		By("at once when the version is ready")
		offerNeeding(base, "1.1.0")
		Eventually(func() (v1beta2.State, error) {
			manifest, err := env.ManifestOf(kyma.Name, base)()
			if err != nil || manifest.Spec.Version != "1.1.0" || manifest.Status.ObservedGeneration != manifest.Generation {
				return "", err
			}
			return manifest.Status.State, nil
		}).WithPolling(5 * time.Millisecond).Should(Equal(v1beta2.StateReady))
		ready := time.Now()
		Eventually(manifestGone(kyma, dependent)).WithPolling(5 * time.Millisecond).Should(BeFalse())
		GinkgoWriter.Printf("from the Manifest of what is needed being ready to that of the dependent: %s\n", time.Since(ready))
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), hasRun(base, "1.1.0"), hasRun(dependent, "1.0.0")))

		By("keeping what is needed when only that is taken out of the spec")
		withoutModules(kyma, base)
		Eventually(testkit.Live(env.Hub, kyma)).Should(holds(base, v1beta2.StateWarning, dependent))
		Expect(testkit.Live(env.Hub, kyma)()).To(testkit.HaveCondition(v1beta2.ConditionReady, "False", v1beta2.ReasonStillRequired))
		expectNoCalls()
		Expect(versionIn(env.Runtimes[0], base+"-0")()).To(Equal("1.1.0"))

		By("removing both, in the order of the graph, while the dependent cannot go")
		manifest, err := env.ManifestOf(kyma.Name, dependent)()
		Expect(err).NotTo(HaveOccurred())
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Finalizers = append(m.Finalizers, "example.com/stays") })
		withoutModules(kyma, dependent)
		Eventually(testkit.Live(env.Hub, manifest)).Should(HaveField("DeletionTimestamp", Not(BeNil())))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(base, HaveField("Message", ContainSubstring("removed after module "+dependent))))
		Expect(versionIn(env.Runtimes[0], base+"-0")()).To(Equal("1.1.0"))
		Eventually(testkit.Live(env.Hub, manifest)).Should(HaveField("Finalizers", ConsistOf("example.com/stays")))
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Finalizers = nil })
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), HaveField("Status.Modules", BeEmpty())))
		Expect(versionIn(env.Runtimes[0], base+"-0")()).To(BeEmpty())
		remove(kyma)
	})

	It("keeps a version that a dependent works with, and breaks no circle", func() {
		base, dependent := testkit.Unique("base"), testkit.Unique("dependent")
		offerNeeding(base, "1.0.0")
		offerNeeding(dependent, "1.0.0", v1beta2.Requirement{Module: base, Version: "<2"})
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(dependent), testkit.WithModule(base))
		offerNeeding(base, "2.0.0")
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(holds(base, v1beta2.StateWarning, dependent, "<2"),
			testkit.HaveCondition(v1beta2.ConditionReady, "False", v1beta2.ReasonWouldBreak)))
		Expect(versionIn(env.Runtimes[0], base+"-0")()).To(Equal("1.0.0"))

		By("going on when the dependent has a version that works with both")
		offerNeeding(dependent, "1.1.0", v1beta2.Requirement{Module: base, Version: ">=1"})
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), hasRun(base, "2.0.0"), hasRun(dependent, "1.1.0")))

		By("refusing versions that require each other")
		offerNeeding(dependent, "1.2.0", v1beta2.Requirement{Module: base, Version: ">=2.1"})
		offerNeeding(base, "2.1.0", v1beta2.Requirement{Module: dependent, Version: ">=1.2"})
		circle := And(holds(base, v1beta2.StateError, "->"), holds(dependent, v1beta2.StateError, "->"))
		Eventually(testkit.Live(env.Hub, kyma)).Should(circle)
		Expect(versionIn(env.Runtimes[0], base+"-0")()).To(Equal("2.0.0"))
		Expect(versionIn(env.Runtimes[0], dependent+"-0")()).To(Equal("1.1.0"))
		offerNeeding(base, "2.2.0")
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), hasRun(base, "2.2.0"), hasRun(dependent, "1.2.0")))
		remove(kyma)
	})

	It("can be a definition, which is watched only while a version waits for it, and a version of Kubernetes", func() {
		env.FaultFree()
		module, group := testkit.Unique("drawer"), testkit.Unique("gadget")+".example.com"
		runtime := env.AddRuntime(testkit.Unique("needs"))
		far := runtimeCalls.Snapshot()
		offerNeeding(module, "1.0.0", v1beta2.Requirement{Definition: "gadgets." + group, Served: "v1"})
		kyma := newKyma(runtime, testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(holds(module, v1beta2.StateWarning, "gadgets."+group+" served as v1, which the cluster does not have"))
		expectNoCalls()
		runtime.Create(gadgets(group, "v1beta1"))
		Eventually(testkit.Live(env.Hub, kyma)).Should(holds(module, v1beta2.StateWarning, "and the cluster serves v1beta1"))
		Expect(aboutDefinitions(runtimeCalls.Since(far)).Total()).NotTo(BeZero())
		runtime.Apply(gadgets(group, "v1beta1", "v1"))
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), hasRun(module, "1.0.0")))

		By("looking at it no more, and staying when it goes")
		expectNoCalls()
		far = runtimeCalls.Snapshot()
		Expect(client.IgnoreNotFound(runtime.Client.Delete(ctx(), gadgets(group, "v1")))).To(Succeed())
		Consistently(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), hasRun(module, "1.0.0")))
		Expect(aboutDefinitions(runtimeCalls.Since(far)).Total()).To(BeZero())

		By("a version of Kubernetes that the cluster does not have")
		offerNeeding(module, "1.1.0", v1beta2.Requirement{Kubernetes: ">=9.1"})
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(hasRun(module, "1.0.0"),
			testkit.HaveModule(module, HaveField("Message", And(ContainSubstring("Kubernetes >=9.1"), ContainSubstring("the cluster has v"))))))
		remove(kyma)
	})
})
