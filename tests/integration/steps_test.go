package integration

import (
	"slices"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// atOnce is what an event may take on a busy machine. Every back-off of a cause that it is used for is longer.
const atOnce = "10s"

// expectReleased waits until a Kyma is let go of at once, and then until it has gone. With a Kyma that is deleted in the foreground that is
// for Kubernetes' garbage collector to do, which looks every 30 s for kinds that it does not know yet.
func expectReleased(kyma *v1beta2.Kyma) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		live, err := testkit.Live(env.Hub, kyma)()
		g.Expect(client.IgnoreNotFound(err)).To(Succeed())
		if err == nil {
			g.Expect(live.Finalizers).To(HaveExactElements(metav1.FinalizerDeleteDependents))
		}
	}, atOnce).Should(Succeed())
	Eventually(testkit.Gone(env.Hub, kyma), "1m").Should(BeTrue())
}

// tells matches a Kyma or Manifest that is in a state for a reason, with a message that holds all the texts.
func tells(state v1beta2.State, reason string, texts ...string) types.GomegaMatcher {
	matchers := []types.GomegaMatcher{
		testkit.HaveState(state), testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionFalse, reason),
	}
	for _, text := range texts {
		matchers = append(matchers, HaveField("Status.Conditions", ContainElement(And(
			HaveField("Type", v1beta2.ConditionReady), HaveField("Message", ContainSubstring(text))))))
	}
	return And(matchers...)
}

// besideOthers keeps everything but modules out of a runtime that all specs share: only one Kyma can have it for its own.
func besideOthers(runtime *testkit.Cluster, options []testkit.KymaOption) []testkit.KymaOption {
	if slices.Contains(env.Runtimes, runtime) {
		return append([]testkit.KymaOption{testkit.Unsynced()}, options...)
	}
	return options
}

// newKyma makes a remote Kyma and its access Secret, and does not wait for it.
func newKyma(runtime *testkit.Cluster, options ...testkit.KymaOption) *v1beta2.Kyma {
	GinkgoHelper()
	kyma := testkit.Kyma(testkit.Unique("kyma"), besideOthers(runtime, options)...)
	env.AccessSecret(kyma.Name, runtime)
	env.Hub.Create(kyma)
	return kyma
}

// disable takes a module from a Kyma's spec.
func disable(kyma *v1beta2.Kyma, module string) {
	GinkgoHelper()
	testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) {
		var kept []v1beta2.Module
		for _, m := range k.Spec.Modules {
			if m.Name != module {
				kept = append(kept, m)
			}
		}
		k.Spec.Modules = kept
	})
}

// remove deletes a Kyma or Manifest and waits until it is gone.
func remove(object client.Object) {
	GinkgoHelper()
	env.Hub.Delete(object)
	Eventually(testkit.Gone(env.Hub, object)).Should(BeTrue())
}

// manifestOf returns the one Manifest of a module as it is now.
func manifestOf(kyma *v1beta2.Kyma, module string) *v1beta2.Manifest {
	GinkgoHelper()
	manifest, err := env.ManifestOf(kyma.Name, module)()
	Expect(err).NotTo(HaveOccurred())
	return manifest
}

// operatorModule offers a module with CRD, operator and default CR on channel regular.
func operatorModule(change func(*testkit.Content)) (string, testkit.Content) {
	GinkgoHelper()
	module := testkit.Unique("oper")
	content := testkit.Operator(module, "1.0.0")
	if change != nil {
		change(&content)
	}
	env.Offer(module, "1.0.0", content, "regular")
	return module, content
}

// userCR returns a custom resource of a module beside its default one.
func userCR(content testkit.Content, name string) *unstructured.Unstructured {
	cr := content.DefaultCR.DeepCopy()
	cr.SetName(name)
	return cr
}

// definitionOf returns the CRD of a module that testkit.Operator made.
func definitionOf(content testkit.Content) *unstructured.Unstructured {
	return content.Objects[0].DeepCopy()
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}}
}

func deployment(name string) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}}
}

// expectHealed deletes an object and waits until another one has its place.
func expectHealed(cluster *testkit.Cluster, object client.Object) {
	GinkgoHelper()
	key := client.ObjectKeyFromObject(object)
	Expect(cluster.Client.Get(ctx(), key, object)).To(Succeed())
	was := object.GetUID()
	cluster.Delete(object)
	Eventually(func(g Gomega) {
		g.Expect(cluster.Client.Get(ctx(), key, object)).To(Succeed())
		g.Expect(object.GetUID()).NotTo(Equal(was))
	}, atOnce).Should(Succeed())
}
