package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// widget returns a module whose custom resources have a size and a colour; change makes another schema of it.
func widget(module, version string, change func(fields map[string]any)) testkit.Content {
	GinkgoHelper()
	content := testkit.Operator(module, version)
	versions, _, err := unstructured.NestedSlice(content.Objects[0].Object, "spec", "versions")
	Expect(err).NotTo(HaveOccurred())
	first, isMap := versions[0].(map[string]any)
	Expect(isMap).To(BeTrue())
	at := []string{"schema", "openAPIV3Schema", "properties", "spec", "properties"}
	fields, _, err := unstructured.NestedMap(first, at...)
	Expect(err).NotTo(HaveOccurred())
	fields["colour"] = map[string]any{"type": "string"}
	if change != nil {
		change(fields)
	}
	Expect(unstructured.SetNestedMap(first, fields, at...)).To(Succeed())
	Expect(unstructured.SetNestedSlice(content.Objects[0].Object, versions, "spec", "versions")).To(Succeed())
	return content
}

func withoutColour(fields map[string]any) { delete(fields, "colour") }

func redOrBlue(fields map[string]any) {
	fields["colour"] = map[string]any{"type": "string", "enum": []any{"red", "blue"}}
}

// fieldsOf returns the fields that the definition of a module has in a cluster.
func fieldsOf(cluster *testkit.Cluster, content testkit.Content) func() (map[string]any, error) {
	return func() (map[string]any, error) {
		live, err := testkit.Live(cluster, definitionOf(content))()
		if err != nil {
			return nil, err
		}
		versions, _, err := unstructured.NestedSlice(live.Object, "spec", "versions")
		if err != nil || len(versions) == 0 {
			return nil, err
		}
		first, _ := versions[0].(map[string]any)
		fields, _, err := unstructured.NestedMap(first, "schema", "openAPIV3Schema", "properties", "spec", "properties")
		return fields, err
	}
}

// painted returns a custom resource of a user with a colour.
func painted(content testkit.Content, name, colour string) *unstructured.Unstructured {
	cr := userCR(content, name)
	cr.Object["spec"] = map[string]any{"size": int64(1), "colour": colour}
	return cr
}

var _ = Describe("A change of a definition", func() {
	It("that removes a field is refused before anything is written, is allowed by name, and a compatible one goes through", func() {
		emptyHub() // what was refused in another spec is tried again now and then
		name := testkit.Unique("widget")
		old := widget(name, "1.0.0", nil)
		manifest := standAlone(publish(testkit.RawManifest(old.YAML())))
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		red := painted(old, "rose", "red")
		env.Runtimes[0].Create(red)

		writes := runtimeCalls.Snapshot()
		next := publish(testkit.RawManifest(widget(name, "1.1.0", withoutColour).YAML()))
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.Install.Source = testkit.Raw(next) })
		refused := tells(v1beta2.StateError, v1beta2.ReasonCRDChangeRefused, definitionOf(old).GetName(), "FieldRemoved", "spec.colour", "allowCRDChanges")
		Eventually(testkit.Live(env.Hub, manifest)).Should(refused)
		Consistently(testkit.Live(env.Hub, manifest)).Should(refused)
		Expect(fieldsOf(env.Runtimes[0], old)()).To(HaveKey("colour"))
		Expect(testkit.Live(env.Runtimes[0], deployment(name))()).To(HaveField("Labels", HaveKeyWithValue(testkit.VersionLabel, "1.0.0")))
		Expect(runtimeCalls.Since(writes).Writes()).To(BeEmpty(), "writes while the change is refused")

		By("another rule that is allowed does not help")
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.AllowCRDChanges = []v1beta2.CRDRule{"EnumNarrowed"} })
		Eventually(testkit.Live(env.Hub, manifest)).Should(refused)

		By("the rule that it breaks")
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.AllowCRDChanges = []v1beta2.CRDRule{"FieldRemoved"} })
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		Expect(fieldsOf(env.Runtimes[0], old)()).NotTo(HaveKey("colour"))

		By("a new field is safe")
		wider := publish(testkit.RawManifest(widget(name, "1.2.0", func(fields map[string]any) { fields["weight"] = map[string]any{"type": "integer"} }).YAML()))
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) {
			m.Spec.Install.Source, m.Spec.AllowCRDChanges = testkit.Raw(wider), nil
		})
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		Expect(fieldsOf(env.Runtimes[0], old)()).To(And(HaveKey("weight"), HaveKey("colour")))

		By("without an object no field is missed")
		env.Runtimes[0].Delete(red)
		bare := publish(testkit.RawManifest(widget(name, "1.3.0", withoutColour).YAML()))
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.Install.Source = testkit.Raw(bare) })
		Eventually(fieldsOf(env.Runtimes[0], old)).ShouldNot(Or(HaveKey("weight"), HaveKey("colour")))
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		remove(manifest)
	})

	It("that a user made by hand is put back, and is no upgrade", func() {
		name := testkit.Unique("widget")
		content := widget(name, "1.0.0", nil)
		manifest := standAlone(publish(testkit.RawManifest(content.YAML())))
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		testkit.Edit(env.Runtimes[0], definitionOf(content), func(crd *unstructured.Unstructured) {
			crd.Object["spec"] = widget(name, "1.0.0", func(fields map[string]any) { fields["shade"] = map[string]any{"type": "string"} }).Objects[0].Object["spec"]
		})
		Eventually(fieldsOf(env.Runtimes[0], content)).ShouldNot(HaveKey("shade"))
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		remove(manifest)
	})

	It("that objects do not fit names them, also when its rule is allowed, and goes through when they are mended", func() {
		name := testkit.Unique("widget")
		content := widget(name, "1.0.0", nil)
		manifest := standAlone(publish(testkit.RawManifest(content.YAML())),
			func(m *v1beta2.Manifest) { m.Spec.AllowCRDChanges = []v1beta2.CRDRule{"EnumNarrowed"} })
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		green, red := painted(content, "grass", "green"), painted(content, "rose", "red")
		env.Runtimes[0].Create(green, red)

		next := publish(testkit.RawManifest(widget(name, "1.1.0", redOrBlue).YAML()))
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.Install.Source = testkit.Raw(next) })
		Eventually(testkit.Live(env.Hub, manifest)).Should(And(
			tells(v1beta2.StateError, v1beta2.ReasonCRDChangeRefused, "ObjectInvalid", "default/grass"),
			Not(tells(v1beta2.StateError, v1beta2.ReasonCRDChangeRefused, "rose"))))
		Expect(fieldsOf(env.Runtimes[0], content)()).To(HaveKeyWithValue("colour", Not(HaveKey("enum"))))

		testkit.Edit(env.Runtimes[0], green, func(cr *unstructured.Unstructured) {
			Expect(unstructured.SetNestedField(cr.Object, "blue", "spec", "colour")).To(Succeed())
		})
		Eventually(testkit.Live(env.Hub, manifest), "60s").Should(testkit.HaveState(v1beta2.StateReady)) // nothing watches objects of others
		Expect(fieldsOf(env.Runtimes[0], content)()).To(HaveKeyWithValue("colour", HaveKey("enum")))
		env.Runtimes[0].Delete(green, red)
		remove(manifest)
	})

	// upgrade offers a version whose definition breaks FieldRemoved.
	upgrade := func(change func(*v1beta2.ModuleTemplateSpec)) (*v1beta2.Kyma, string, testkit.Content) {
		GinkgoHelper()
		module := testkit.Unique("widget")
		env.Offer(module, "1.0.0", widget(module, "1.0.0", nil), "regular")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		next := widget(module, "1.1.0", withoutColour)
		env.Publish(testkit.ComponentName(module), "1.1.0", testkit.RawManifest(next.YAML()))
		env.Hub.Create(testkit.ModuleTemplate(module, "1.1.0", func(spec *v1beta2.ModuleTemplateSpec) {
			spec.Data, spec.Manager = next.DefaultCR, next.Manager
			if change != nil {
				change(spec)
			}
		}))
		env.Point(module, "1.1.0", "regular")
		return kyma, module, next
	}

	It("is told by the Kyma, and allowed by the Kyma's entry", func() {
		kyma, module, next := upgrade(nil)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(tells(v1beta2.StateError, v1beta2.ReasonModuleError, module, v1beta2.ReasonCRDChangeRefused),
			testkit.HaveModule(module, testkit.HaveState(v1beta2.StateError))))
		Expect(fieldsOf(env.Runtimes[0], next)()).To(HaveKey("colour"))
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules[0].AllowCRDChanges = []v1beta2.CRDRule{"FieldRemoved"} })
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveModule(module, testkit.HaveVersion("1.1.0"))))
		Expect(fieldsOf(env.Runtimes[0], next)()).NotTo(HaveKey("colour"))
		remove(kyma)
	})

	It("is allowed by the ModuleTemplate of the version that makes it", func() {
		env.FaultFree()
		kyma, module, next := upgrade(func(spec *v1beta2.ModuleTemplateSpec) { spec.AllowCRDChanges = []v1beta2.CRDRule{"FieldRemoved"} })
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveModule(module, testkit.HaveVersion("1.1.0"))))
		Expect(fieldsOf(env.Runtimes[0], next)()).NotTo(HaveKey("colour"))
		remove(kyma)
	})

	It("between scopes is refused, because the runtime could not do it", func() {
		name := testkit.Unique("widget")
		content := widget(name, "1.0.0", nil)
		manifest := standAlone(publish(testkit.RawManifest(content.YAML())))
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		wide := widget(name, "1.1.0", nil)
		Expect(unstructured.SetNestedField(wide.Objects[0].Object, "Cluster", "spec", "scope")).To(Succeed())
		wide.Objects = append(wide.Objects, testkit.ParseYAML("apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: "+name+"}\n"))
		next := publish(testkit.RawManifest(wide.YAML()))
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.Install.Source = testkit.Raw(next) })
		Eventually(testkit.Live(env.Hub, manifest)).Should(tells(v1beta2.StateError, v1beta2.ReasonCRDChangeRefused, "ScopeChanged"))
		expectNoCalls() // also not for the kind that it would bring
		remove(manifest)
	})
})
