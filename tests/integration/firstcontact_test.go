package integration

import (
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

var _ = Describe("The first contact with an empty runtime", func() {
	It("costs at most six reads of definitions, which are large, and few others", func() {
		emptyHub()
		env.FaultFree()
		maps := offerMaps("1.0.0")
		module, content := operatorModule(nil)
		runtime := env.AddRuntime(testkit.Unique("first"))
		begun := runtimeLog.Len()
		kyma := newKyma(runtime, testkit.WithModule(maps), testkit.WithModule(module))
		DeferCleanup(func() {
			env.Hub.Delete(kyma)
			Eventually(testkit.Gone(env.Hub, kyma)).Should(BeTrue())
		})
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveCondition(v1beta2.ConditionModuleCatalog, metav1.ConditionTrue, v1beta2.ReasonSynced)))
		atRest()

		made := runtimeLog.Since(begun)
		told := strings.Join(made, "\n")
		reads, large := callsOf(made, "get", ""), callsOf(made, "get", "/customresourcedefinitions/")
		Expect(len(large)).To(BeNumerically("<=", 6), told)
		Expect(len(reads)-len(large)).To(BeNumerically("<=", 12), told)
		for _, plural := range []string{"kymas", "moduletemplates", "modulereleasemetas"} {
			Expect(callsOf(large, "get", "/"+definition(plural).GetName())).To(Or(HaveLen(1), HaveLen(2)), told)
		}
		Expect(callsOf(large, "get", definitionOf(content).GetName())).NotTo(BeEmpty(), told) // it is read before it is made
	})
})

// callsOf returns the calls of a verb whose path has a part.
func callsOf(made []string, verb, part string) []string {
	return slices.DeleteFunc(slices.Clone(made), func(call string) bool {
		return !strings.HasPrefix(call, verb+" ") || !strings.Contains(call, part)
	})
}
