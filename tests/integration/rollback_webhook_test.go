package integration

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

var _ = Describe("A module that goes back past its own webhook", func() {
	It("is not blocked by one that both versions have and that does not answer, and has it again when it is ready", func() {
		env.FaultFree()
		module := testkit.Unique("back")
		webhook := deadWebhook(module)
		hooks, _, err := unstructured.NestedSlice(webhook.Object, "webhooks")
		Expect(err).NotTo(HaveOccurred())
		// It concerns what goes back only, as if the version in between had broken what answers.
		hooks[0].(map[string]any)["matchConditions"] = []any{map[string]any{
			"name": "back", "expression": "object.metadata.name == '" + module + "-0' && oldObject.data.version == '1.1.0'",
		}}
		Expect(unstructured.SetNestedSlice(webhook.Object, hooks, "webhooks")).To(Succeed())
		content := func(version string) testkit.Content {
			content := testkit.ConfigMaps(module, version, 1)
			content.Objects = append(content.Objects, webhook)
			return content
		}
		uid := func() types.UID {
			live, err := testkit.Live(env.Runtimes[0], webhook.DeepCopy())()
			Expect(err).NotTo(HaveOccurred())
			return live.GetUID()
		}
		offerBack(module, "1.0.0", content("1.0.0"), "")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		offerBack(module, "1.1.0", content("1.1.0"), "")
		Eventually(testkit.Live(env.Hub, kyma)).Should(isReadyAt(module, "1.1.0"))
		before := uid()

		avoidRunning(kyma, module)
		Eventually(testkit.Live(env.Hub, kyma), "60s").Should(isBackAt(module, "1.0.0", "", "version 1.1.0 is avoided"))
		Expect(versionIn(env.Runtimes[0], module+"-0")()).To(Equal("1.0.0"))
		Expect(uid()).NotTo(Equal(before), "it was removed, and is there again")
		manifest, err := env.ManifestOf(kyma.Name, module)()
		Expect(err).NotTo(HaveOccurred())
		Eventually(notesOf(manifest, v1beta2.ReasonWebhookRemoved)).Should(ContainElement(ContainSubstring("it comes back when")))
	})
})
