package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// phases maps what a module's operator says in status.phase.
func phases() []v1beta2.CustomStateCheck {
	return []v1beta2.CustomStateCheck{
		{JSONPath: "status.phase", Value: "Up", MappedState: v1beta2.StateReady},
		{JSONPath: "status.phase", Value: "Down", MappedState: v1beta2.StateError},
		{JSONPath: "status.phase", Value: "Limping", MappedState: v1beta2.StateWarning},
	}
}

var _ = Describe("A customStateCheck", func() {
	It("maps what the default custom resource says, the first that holds counts, and none means Processing", func() {
		env.FaultFree()
		name := testkit.Unique("oper")
		content := testkit.Operator(name, "1.0.0")
		manifest := standAlone(publish(testkit.RawManifest(content.YAML())), testkit.WithResource(content.DefaultCR),
			func(m *v1beta2.Manifest) { m.Spec.CustomStateCheck = phases() })
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(HaveField("Status.ResourceState", v1beta2.StateProcessing)))
		for said, mapped := range map[string]v1beta2.State{"Up": v1beta2.StateReady, "Down": v1beta2.StateError, "Sideways": v1beta2.StateProcessing} {
			phase(env.Runtimes[0], content.DefaultCR, said)
			Eventually(testkit.Live(env.Hub, manifest)).Should(ready(HaveField("Status.ResourceState", mapped)))
		}
		remove(manifest)
	})

	It("of a ModuleTemplate makes the module as ready as its resource, when its readiness is ModuleCR", func() {
		module := testkit.Unique("oper")
		content := testkit.Operator(module, "1.0.0")
		env.Publish(testkit.ComponentName(module), "1.0.0", testkit.RawManifest(content.YAML()))
		env.Hub.Create(testkit.ModuleTemplate(module, "1.0.0", func(spec *v1beta2.ModuleTemplateSpec) {
			spec.Data, spec.Manager, spec.Readiness, spec.CustomStateCheck = content.DefaultCR, content.Manager, v1beta2.ReadinessModuleCR, phases()
		}))
		env.Point(module, "1.0.0", "regular")
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveState(v1beta2.StateProcessing)))
		Eventually(env.ManifestOf(kyma.Name, module)).Should(testkit.HaveState(v1beta2.StateReady))
		for _, step := range []struct {
			said   string
			mapped v1beta2.State
		}{{"Up", v1beta2.StateReady}, {"Limping", v1beta2.StateWarning}, {"Down", v1beta2.StateError}, {"Up", v1beta2.StateReady}} {
			phase(env.Runtimes[0], content.DefaultCR, step.said)
			Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveState(step.mapped)), step.said)
		}
		remove(kyma)
	})
})
