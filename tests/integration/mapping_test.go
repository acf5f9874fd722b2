package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/pkg/component/descriptor"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

var _ = Describe("A registry with hashed names of components", func() {
	BeforeEach(emptyHub)

	It("is read with --component-name-mapping, from the component to its content", func() {
		stopManager()
		startManager(func(c *setup.Config) { c.NameMapping = string(descriptor.SHA256) })
		env.Mapping = descriptor.SHA256
		DeferCleanup(func() {
			env.Mapping = ""
			stopManager()
			startManager()
		})
		module := offerMaps("1.0.0")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(Equal("1.0.0"))
		Expect(string(manifestOf(kyma, module).Spec.Install.Source.Raw)).NotTo(ContainSubstring(testkit.ComponentName(module)))
		Expect(testkit.Live(env.Hub, kyma)()).To(testkit.HaveState(v1beta2.StateReady))
		remove(kyma)
	})
})
