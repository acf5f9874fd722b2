package integration

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// running returns an operator module whose operator is a workload of a kind.
func running(kind, module, version string) testkit.Content {
	GinkgoHelper()
	content := testkit.Operator(module, version)
	for i, object := range content.Objects {
		if object.GetKind() == "Deployment" && kind == "StatefulSet" {
			content.Objects[i] = testkit.ParseYAML(fmt.Sprintf(`
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: %[1]s, namespace: default}
spec:
  serviceName: %[1]s
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata: {labels: {app: %[1]s}}
    spec: {serviceAccountName: %[1]s, containers: [{name: manager, image: "example.invalid/%[1]s:%[2]s"}]}`, module, version))
		}
	}
	content.Manager.Kind = kind
	return content
}

// stuck makes the pods of a module's workload run nowhere.
func stuck(content testkit.Content, kind string) testkit.Content {
	GinkgoHelper()
	for _, object := range content.Objects {
		if object.GetKind() == kind {
			Expect(unstructured.SetNestedField(object.Object, "golden", "spec", "template", "spec", "nodeSelector", "disk")).To(Succeed())
		}
	}
	return content
}

var _ = Describe("The state of a module", func() {
	DescribeTable("is that of its workload and never that of its custom resource", func(kind string) {
		module := testkit.Unique("state")
		content := running(kind, module, "1.0.0")
		env.Offer(module, "1.0.0", content, "regular")
		kyma := readyKyma(env.Runtimes[0], testkit.WithModule(module))
		for _, state := range []string{"Warning", "Error", "Processing"} {
			reports(content.DefaultCR, state, "")
			Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module,
				HaveField("ResourceState", v1beta2.State(state)), testkit.HaveState(v1beta2.StateReady)))
			Expect(testkit.Live(env.Hub, kyma)()).To(testkit.HaveState(v1beta2.StateReady))
		}
		reports(content.DefaultCR, "Ready", "")

		By("a version whose pods do not run")
		env.Offer(module, "1.1.0", stuck(running(kind, module, "1.1.0"), kind), "regular")
		waits := testkit.HaveModule(module, testkit.HaveVersion("1.1.0"), testkit.HaveState(v1beta2.StateProcessing))
		Eventually(testkit.Live(env.Hub, kyma)).Should(waits)
		Consistently(testkit.Live(env.Hub, kyma)).Should(waits)

		By("disabling it, which waits for the user's custom resource and for nothing else")
		mine := userCR(content, "mine")
		env.Runtimes[0].Create(mine)
		disable(kyma, module)
		Eventually(env.ManifestOf(kyma.Name, module)).Should(tells(v1beta2.StateDeleting, v1beta2.ReasonDeletionBlocked, "default/mine"))
		env.Runtimes[0].Delete(mine)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(module)))
	},
		Entry("a Deployment", "Deployment"),
		Entry("a StatefulSet", "StatefulSet"),
	)
})
