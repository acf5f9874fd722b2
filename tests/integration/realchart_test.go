package integration

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/pkg/component"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// dashboards are so many that an upgrade of them can be caught in the middle.
const dashboards = 200

// offerRealChart offers a version of a module whose content is a chart with all that charts of operators have: definitions below crds/, an
// operator with its rights and a volume, a webhook for its custom resources, a Service, many ConfigMaps, and a kind that the operator
// defines itself.
func offerRealChart(o *operator, version string) testkit.Content {
	GinkgoHelper()
	content := testkit.Operator(o.module, version)
	addVolume(&content, o.module)
	_, _ = associate(&content)
	content.Objects = append(content.Objects, o.webhook(), testkit.ParseYAML(fmt.Sprintf(`
apiVersion: v1
kind: Service
metadata: {name: %[1]s, namespace: default}
spec: {selector: {app: %[1]s}, ports: [{port: 443}]}`, o.module)))
	content.Objects = append(content.Objects, testkit.ConfigMaps(o.module, version, dashboards).Objects...)
	var definitions, others testkit.Content
	for _, object := range content.Objects {
		if object.GetKind() == "CustomResourceDefinition" {
			definitions.Objects = append(definitions.Objects, object)
		} else {
			others.Objects = append(others.Objects, object)
		}
	}
	chart := testkit.Chart(o.module, version, testkit.Files{
		"crds/definitions.yaml": string(definitions.YAML()), "templates/operator.yaml": string(others.YAML()),
	})
	env.Publish(testkit.ComponentName(o.module), version, component.Resource{
		Name: "raw-manifest", Type: "helmChart", MediaType: "application/vnd.cncf.helm.chart.content.v1.tar+gzip", Data: chart.Gzip(),
	})
	env.Hub.Create(testkit.ModuleTemplate(o.module, version, func(spec *v1beta2.ModuleTemplateSpec) {
		spec.Data, spec.Manager, spec.AssociatedResources = content.DefaultCR, content.Manager, content.Associated
	}))
	env.Point(o.module, version, "regular")
	return content
}

var _ = Describe("A module with the shape of a real chart", Ordered, func() {
	var (
		runtime       *testkit.Cluster
		way           *door
		o             *operator
		kyma          *v1beta2.Kyma
		content       testkit.Content
		child, second *unstructured.Unstructured
	)

	// showing counts the dashboards of a version.
	showing := func(version string) func() (int, error) {
		return func() (count int, err error) {
			maps := &corev1.ConfigMapList{}
			err = runtime.Client.List(ctx(), maps, client.InNamespace(metav1.NamespaceDefault), client.MatchingLabels{testkit.VersionLabel: version})
			for i := range maps.Items {
				if strings.HasPrefix(maps.Items[i].Name, o.module+"-") {
					count++
				}
			}
			return count, err
		}
	}
	readyAt := func(version string) {
		GinkgoHelper()
		Eventually(testkit.Live(env.Hub, kyma), "60s").Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveModule(o.module, testkit.HaveState(v1beta2.StateReady), testkit.HaveVersion(version))))
		Expect(showing(version)()).To(Equal(dashboards))
	}
	// uids are of what holds data: a new one would have lost it.
	uids := func() []types.UID {
		GinkgoHelper()
		return []types.UID{uidIn(runtime, claimOf(o.module)), uidIn(runtime, content.DefaultCR.DeepCopy()), uidIn(runtime, child.DeepCopy())}
	}
	cutOff := testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionFalse, v1beta2.ReasonRuntimeUnreachable)

	BeforeAll(func() {
		runtime = env.Runtimes[0]
		way = doorOf(runtime)
		o = startOperator(runtime, testkit.Unique("real"))
		child = o.childOf("default")
		second = another(testkit.Operator(o.module, "1.0.0"), "Paper")
	})

	It("is installed, and its operator finds what it needs", func() {
		content = offerRealChart(o, "1.0.0")
		kyma = testkit.Kyma(testkit.Unique("kyma"), testkit.Unsynced(), testkit.WithModule(o.module))
		env.Hub.Create(testkit.NewAccessSecret(kyma.Name, way.kubeconfig()), kyma)
		readyAt("1.0.0")
		Eventually(testkit.Live(runtime, claimOf(o.module))).Should(HaveField("Status.Phase", corev1.ClaimBound))
		Eventually(func() error { _, err := testkit.Live(runtime, child.DeepCopy())(); return err }).Should(Succeed())
		Expect(o.asked.Load()).To(BeNumerically(">", 0), "the webhook is asked about its custom resources")
	})

	It("is upgraded although its runtime cannot be reached from the middle of that on, and what holds data stays", func() {
		before := uids()
		content = offerRealChart(o, "1.1.0")
		Eventually(showing("1.1.0"), "30s", "10ms").Should(BeNumerically(">", 0))
		way.shut()
		Expect(showing("1.0.0")()).To(BeNumerically(">", 0), "it was shut in the middle of the upgrade")
		Eventually(env.ManifestOf(kyma.Name, o.module)).Should(cutOff)
		way.reopen()
		readyAt("1.1.0")
		Expect(imageOf(runtime, o.module)()).To(HaveSuffix(":1.1.0"))
		Expect(uids()).To(Equal(before))
	})

	It("goes without a trace, after the objects of people, and although its runtime cannot be reached in the middle of that", func() {
		mine := []client.Object{userCR(content, "mine"), objectOf(second, "mine"), objectOf(o.made, "mine")}
		runtime.Create(mine...)
		disable(kyma, o.module)
		o.held.Store("default")
		for _, object := range mine {
			Eventually(env.ManifestOf(kyma.Name, o.module)).Should(tells(v1beta2.StateDeleting, v1beta2.ReasonDeletionBlocked, "default/mine"))
			expectThere(runtime, append(partsOf(content), content.DefaultCR)...)
			runtime.Delete(object)
			Eventually(testkit.Gone(runtime, object)).Should(BeTrue())
		}

		By("keeping the operator while a custom resource is its")
		Eventually(testkit.Live(runtime, content.DefaultCR.DeepCopy())).Should(HaveField("GetDeletionTimestamp()", Not(BeNil())))
		expectThere(runtime, partsOf(content)...)
		way.shut()
		Eventually(env.ManifestOf(kyma.Name, o.module)).Should(cutOff)
		o.held.Store("")
		Eventually(testkit.Gone(runtime, o.made.DeepCopy())).Should(BeTrue(), "the operator has cleaned up")
		way.reopen()
		Eventually(testkit.Live(env.Hub, kyma), "60s").Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(o.module)))
		expectGone(runtime, append(partsOf(content), content.DefaultCR, child)...)
		pods := &corev1.PodList{}
		Expect(runtime.Client.List(ctx(), pods, client.MatchingLabels{"app": o.module})).To(Succeed())
		Expect(pods.Items).To(BeEmpty())
		Expect(manifestsOf(kyma)()).To(BeEmpty())
	})
})
