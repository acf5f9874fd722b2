package integration

import (
	"maps"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// visibility makes labels of words such as "beta internal=false"; a word without a value means "true".
func visibility(words string) map[string]string {
	labels := map[string]string{}
	for word := range strings.FieldsSeq(words) {
		name, value, given := strings.Cut(word, "=")
		if !given {
			value = v1beta2.EnabledValue
		}
		labels[v1beta2.OperatorPrefix+name] = value
	}
	return labels
}

var _ = Describe("Beta and internal", func() {
	const internal, beta, all = "module template not allowed: internal module", "module template not allowed: beta module", ""

	DescribeTable("decide together who gets a module", func(ofTemplate, ofKyma, refusal string) {
		module := offerMaps("1.0.0")
		editTemplate(module, func(t *v1beta2.ModuleTemplate) { t.Labels = visibility(ofTemplate) })
		kyma := testkit.Kyma(testkit.Unique("kyma"), testkit.Unsynced(), testkit.WithModule(module))
		maps.Copy(kyma.Labels, visibility(ofKyma))
		env.AccessSecret(kyma.Name, env.Runtimes[0])
		env.Hub.Create(kyma)
		if refusal == all {
			Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady)))
			Expect(versionIn(env.Runtimes[0], module+"-0")()).To(Equal("1.0.0"))
		} else {
			Eventually(testkit.Live(env.Hub, kyma)).Should(And(tells(v1beta2.StateError, v1beta2.ReasonNotAllowed, refusal),
				testkit.HaveModule(module, testkit.HaveState(v1beta2.StateError), HaveField("Message", refusal))))
			Expect(manifestsOf(kyma)()).To(BeEmpty())
			Expect(versionIn(env.Runtimes[0], module+"-0")()).To(BeEmpty())
		}
		remove(kyma)
	},
		Entry("a module for all, a Kyma without labels", "", "", all),
		Entry("a module for all, a beta Kyma", "", "beta", all),
		Entry("a module for all, an internal Kyma", "", "internal", all),
		Entry("a module for all, a Kyma with both", "", "beta internal", all),
		Entry("a beta module, a Kyma without labels", "beta", "", beta),
		Entry("a beta module, a beta Kyma", "beta", "beta", all),
		Entry("a beta module, an internal Kyma", "beta", "internal", beta),
		Entry("a beta module, a Kyma with both", "beta", "beta internal", all),
		Entry("an internal module, a Kyma without labels", "internal", "", internal),
		Entry("an internal module, a beta Kyma", "internal", "beta", internal),
		Entry("an internal module, an internal Kyma", "internal", "internal", all),
		Entry("an internal module, a Kyma with both", "internal", "beta internal", all),
		Entry("a module with both, a Kyma without labels", "beta internal", "", internal),
		Entry("a module with both, a beta Kyma", "beta internal", "beta", internal),
		Entry("a module with both, an internal Kyma", "beta internal", "internal", beta),
		Entry("a module with both, a Kyma with both", "beta internal", "beta internal", all),
		Entry("labels that say false are none", "beta=false internal=false", "beta=false", all),
		Entry("a Kyma that says false is not beta", "beta", "beta=false", beta),
		Entry("labels in any case", "beta=True", "beta=TRUE", all),
	)
})
