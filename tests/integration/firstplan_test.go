package integration

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// denyStatus makes the hub refuse the status of the Manifests of a Kyma, and waits until it does.
func denyStatus(kyma *v1beta2.Kyma) (lift func()) {
	GinkgoHelper()
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: kyma.Name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Update},
					Rule: admissionregistrationv1.Rule{
						APIGroups: []string{v1beta2.GroupVersion.Group}, APIVersions: []string{"*"}, Resources: []string{"manifests/status"},
					},
				},
			}}},
			Validations: []admissionregistrationv1.Validation{{
				Expression: fmt.Sprintf("!object.metadata.name.startsWith(%q)", kyma.Name), Message: "not now",
			}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: kyma.Name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: kyma.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	env.Hub.Create(policy, binding)
	lift = func() { env.Hub.Delete(binding, policy) }
	DeferCleanup(lift)
	probe := testkit.Manifest(kyma.Name+"-probe", v1beta2.ImageSpec{}, func(m *v1beta2.Manifest) {
		m.Labels = map[string]string{v1beta2.LabelSkipReconciliation: v1beta2.EnabledValue}
	})
	env.Hub.Create(probe)
	DeferCleanup(func() { env.Hub.Delete(probe) })
	Eventually(func() error {
		return env.Hub.Client.Status().Update(ctx(), probe.DeepCopy(), client.DryRunAll)
	}).Should(Satisfy(apierrors.IsInvalid), "the policy holds")
	return lift
}

var _ = Describe("A first installation that is interrupted before its status is written", func() {
	var module string
	var kyma *v1beta2.Kyma
	var lift func()
	BeforeEach(func() {
		module = testkit.Unique("cut")
		env.Offer(module, "1.0.0", testkit.ConfigMaps(module, "1.0.0", 3), "regular")
		kyma = testkit.Kyma(testkit.Unique("kyma"), besideOthers(env.Runtimes[0], []testkit.KymaOption{testkit.WithModule(module)})...)
		lift = denyStatus(kyma)
		env.AccessSecret(kyma.Name, env.Runtimes[0])
		env.Hub.Create(kyma)
		for i := range 3 {
			Eventually(testkit.Live(env.Runtimes[0], configMap(fmt.Sprintf("%s-%d", module, i)))).Should(Not(BeNil()))
		}
		Eventually(env.ManifestOf(kyma.Name, module)).Should(And(
			HaveField("Annotations", HaveKey(v1beta2.AnnotationPlan)), HaveField("Status.Synced", BeEmpty())))
	})

	It("leaves nothing behind when its module is removed meanwhile", func() {
		whileDown(func() {
			testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Modules = nil })
			lift()
		})
		for i := range 3 {
			Eventually(testkit.Gone(env.Runtimes[0], configMap(fmt.Sprintf("%s-%d", module, i)))).Should(BeTrue())
		}
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(HaveField("Status.State", v1beta2.StateReady), HaveField("Status.Modules", BeEmpty())))
	})

	It("loses what its next version does not have when that is offered meanwhile", func() {
		whileDown(func() {
			env.Offer(module, "1.1.0", testkit.ConfigMaps(module, "1.1.0", 2), "regular")
			lift()
		})
		Eventually(testkit.Live(env.Hub, kyma)).Should(isReadyAt(module, "1.1.0"))
		Eventually(testkit.Gone(env.Runtimes[0], configMap(module+"-2"))).Should(BeTrue())
		Eventually(testkit.Live(env.Runtimes[0], configMap(module+"-1"))).Should(HaveField("Data", HaveKeyWithValue("version", "1.1.0")))

		By("the plan goes with the next write of the spec")
		env.Offer(module, "1.2.0", testkit.ConfigMaps(module, "1.2.0", 2), "regular")
		Eventually(env.ManifestOf(kyma.Name, module)).Should(HaveField("Annotations", Not(HaveKey(v1beta2.AnnotationPlan))))
	})
})
