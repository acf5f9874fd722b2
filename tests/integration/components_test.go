package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

var _ = Describe("A module", func() {
	// offerParts publishes a component with these resources and offers it on channel regular.
	offerParts := func(module string, parts ...component.Resource) {
		GinkgoHelper()
		env.Publish(testkit.ComponentName(module), "1.0.0", parts...)
		env.Hub.Create(testkit.ModuleTemplate(module, "1.0.0"))
		env.Point(module, "1.0.0", "regular")
	}

	It("whose component holds definitions, a chart and a config layer is installed from all of them", func() {
		env.FaultFree()
		module := testkit.Unique("charted")
		const config = "configs:\n- name: chart\n  values: {colour: violet}\n"
		offerParts(module,
			component.Resource{Name: "chart", Type: "helmChart", MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", Data: chartOf(module, "1.0.0").Gzip()},
			component.Resource{Name: "config", Data: []byte(config)},
			component.Resource{Name: "crds", Data: definitionFor(module)},
			testkit.RawManifest([]byte(customFor("sample", module))),
		)
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady)))
		Expect(settings(module + "-settings")()).To(And(HaveKeyWithValue("colour", "violet"), HaveKeyWithValue("release", "chart")))
		Expect(manifestOf(kyma, module).Status.Resolved).To(HaveExactElements(HaveField("Name", "spec.config"), HaveField("Name", "spec.crds"),
			HaveField("Name", "raw-manifest"), HaveField("Name", "chart")))
		remove(kyma)
		Expect(settings(module + "-settings")()).To(BeNil())
		expectGone(env.Runtimes[0], definitionOf(testkit.Operator(module, "1.0.0")))
	})

	It("whose component holds a bundle and a kustomization by label is installed from both, in the order of the descriptor", func() {
		env.FaultFree()
		module := testkit.Unique("labelled")
		overlay := kustomization(module)
		overlay["kustomization.yaml"] = "resources: [overlays/demo]\n"
		env.PublishRendered(testkit.ComponentName(module), "1.0.0",
			testkit.Rendered{Name: "parts", Renderer: "bundle", Data: bundle(module).Tar()},
			testkit.Rendered{Name: "overlay", Renderer: "kustomize", Data: overlay.Gzip()})
		env.Hub.Create(testkit.ModuleTemplate(module, "1.0.0"))
		env.Point(module, "1.0.0", "regular")
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady)))
		Expect(settings(module)()).NotTo(BeNil())
		Expect(settings(module + "-demo")()).NotTo(BeNil())
		Expect(manifestOf(kyma, module).Status.Resolved).To(HaveExactElements(HaveField("Name", "raw-manifest"), HaveField("Name", "overlay")))
		remove(kyma)
		Expect(settings(module + "-demo")()).To(BeNil())
	})

	It("whose component holds only a chart is installed under the module's name", func() {
		env.FaultFree()
		module := testkit.Unique("charted")
		offerParts(module, component.Resource{Name: "raw-manifest", Type: "helmChart",
			MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", Data: chartOf(module, "1.0.0").Gzip()})
		kyma := newKyma(env.Runtimes[0], testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady)))
		Expect(settings(module + "-settings")()).To(And(HaveKeyWithValue("colour", "grey"), HaveKeyWithValue("release", module)))
		remove(kyma)
	})
})
