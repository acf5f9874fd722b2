package integration

import (
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// copied returns the Kyma in a runtime.
func copied() *v1beta2.Kyma {
	return &v1beta2.Kyma{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.RuntimeNamespace, Name: v1beta2.RuntimeKymaName}}
}

func definition(plural string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: plural + "." + v1beta2.GroupVersion.Group}}
}

// modulesIn returns the modules that the Kyma in a runtime asks for.
func modulesIn(runtime *testkit.Cluster) func() ([]string, error) {
	return func() ([]string, error) {
		kyma, err := testkit.Live(runtime, copied())()
		if err != nil {
			return nil, err
		}
		names := []string{}
		for i := range kyma.Spec.Modules {
			names = append(names, kyma.Spec.Modules[i].Name)
		}
		return names, nil
	}
}

var _ = Describe("The Kyma in a runtime", Ordered, func() {
	var runtime *testkit.Cluster
	var kyma *v1beta2.Kyma
	var first, second string

	BeforeAll(func() {
		emptyHub()
		runtime = env.AddRuntime(testkit.Unique("own"))
		first, second = offerMaps("1.0.0", "2.0.0"), offerMaps("1.0.0")
		kyma = newKyma(runtime, testkit.WithModule(first), testkit.Labelled("kyma-project.io/runtime-id", "id-of-it"),
			testkit.Labelled("kyma-project.io/region", "secret-valley"))
		DeferCleanup(func() {
			env.Hub.Delete(kyma)
			Eventually(testkit.Gone(env.Hub, kyma)).Should(BeTrue())
		})
	})
	ready := func() {
		GinkgoHelper()
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
	}
	It("is made with the default modules, marks and status, in the namespace with its labels", func() {
		env.FaultFree()
		ready()
		made, err := testkit.Live(runtime, copied())()
		Expect(err).NotTo(HaveOccurred())
		Expect(made.Labels).To(And(
			HaveKeyWithValue(v1beta2.LabelManagedBy, "kyma"), HaveKeyWithValue(v1beta2.LabelWatchedBy, "kyma"),
			HaveKeyWithValue("kyma-project.io/runtime-id", "id-of-it"), Not(HaveKey("kyma-project.io/region"))))
		Expect(made.Annotations).To(HaveKeyWithValue(v1beta2.AnnotationOwnedBy, client.ObjectKeyFromObject(kyma).String()))
		Expect(made.Spec.Channel).To(Equal(kyma.Spec.Channel))
		Eventually(modulesIn(runtime)).Should(Equal([]string{first}))
		Eventually(testkit.Live(runtime, copied())).Should(And(
			testkit.HaveState(v1beta2.StateReady),
			HaveField("Status.Modules", ConsistOf(And(HaveField("Name", first), HaveField("Manifest", BeNil()),
				HaveField("Template.PartialMeta.Namespace", v1beta2.RuntimeNamespace)))),
			HaveField("Status.LastSeen", BeNil())))
		namespace, err := testkit.Live(runtime, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1beta2.RuntimeNamespace}})()
		Expect(err).NotTo(HaveOccurred())
		Expect(namespace.Labels).To(And(HaveKeyWithValue("istio-injection", "enabled"),
			HaveKeyWithValue("namespaces.warden.kyma-project.io/validate", "enabled"), HaveKeyWithValue(v1beta2.LabelManagedBy, "kyma")))
		Expect(testkit.Live(env.Hub, kyma)()).To(And(
			testkit.HaveCondition(v1beta2.ConditionCRDsSync, metav1.ConditionTrue, v1beta2.ReasonSynced),
			testkit.HaveCondition(v1beta2.ConditionModuleCatalog, metav1.ConditionTrue, v1beta2.ReasonSynced),
			testkit.HaveCondition(v1beta2.ConditionSpecSync, metav1.ConditionTrue, v1beta2.ReasonSynced),
			HaveField("Status.RuntimeID", Not(BeEmpty()))))
	})

	It("costs nothing at rest", func() {
		ready()
		expectNoCalls()
	})

	It("has the say: an edit in the runtime takes effect, and the hub's spec stays as it is", func() {
		testkit.Edit(runtime, copied(), func(k *v1beta2.Kyma) {
			k.Spec.Modules = append(k.Spec.Modules, v1beta2.Module{Name: second})
		})
		Eventually(testkit.Live(env.Hub, kyma)).Should(HaveField("Status.Modules", ContainElement(And(
			HaveField("Name", second), HaveField("State", v1beta2.StateReady)))))
		Eventually(testkit.Live(runtime, copied())).Should(HaveField("Status.Modules", HaveLen(2)))
		hub, err := testkit.Live(env.Hub, kyma)()
		Expect(err).NotTo(HaveOccurred())
		Expect(hub.Spec.Modules).To(HaveLen(1))
	})

	It("takes over what changes on the hub, and keeps what its user removed", func() {
		third := offerMaps("1.0.0")
		enable(kyma, v1beta2.Module{Name: third})
		Eventually(modulesIn(runtime)).Should(Equal([]string{first, second, third}))
		testkit.Edit(runtime, copied(), func(k *v1beta2.Kyma) { k.Spec.Modules = k.Spec.Modules[1:] })
		Eventually(testkit.Live(env.Hub, kyma)).Should(HaveField("Status.Modules", HaveLen(2)))
		Consistently(modulesIn(runtime), "1s").Should(Equal([]string{second, third}), "a default module that was removed stays removed")
		disable(kyma, third)
		Eventually(modulesIn(runtime)).Should(Equal([]string{second}))
		Eventually(testkit.Live(env.Hub, kyma)).Should(HaveField("Status.Modules", HaveLen(1)))
	})

	It("sets values for charts as the hub does, and takes none from objects of the hub", func() {
		valued := testkit.Unique("valued")
		offerValued(valued, "1.0.0")
		both := func(values string) {
			GinkgoHelper()
			inEntry := func(k *v1beta2.Kyma) string {
				at := slices.IndexFunc(k.Spec.Modules, func(m v1beta2.Module) bool { return m.Name == valued && m.Values != nil })
				if at < 0 {
					return ""
				}
				return string(k.Spec.Modules[at].Values.Raw)
			}
			Eventually(testkit.Live(runtime, copied())).Should(WithTransform(inEntry, Equal(values)))
			Eventually(env.ManifestOf(kyma.Name, valued)).Should(HaveField("Spec.KymaValues.Inline", values))
			ready()
		}
		enable(kyma, v1beta2.Module{Name: valued})
		Eventually(modulesIn(runtime)).Should(ContainElement(valued))
		testkit.Edit(env.Hub, kyma, withEntryValues(valued, `{"colour":"violet","size":3}`))
		both(`{"colour":"violet","size":3}`)
		testkit.Edit(runtime, copied(), withEntryValues(valued, `{"colour":"red"}`))
		both(`{"colour":"red"}`)

		By("refusing values on the hub, which takes away none of the runtime's")
		testkit.Edit(env.Hub, kyma, withEntryValues(valued, `{"colour":"`+strings.Repeat("x", v1beta2.MaxEntryValues)+`"}`))
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonValuesInvalid, "at most 8192"))
		testkit.Edit(env.Hub, kyma, withEntryValues(valued, `{"colour":"violet","size":3}`))
		ready()
		both(`{"colour":"red"}`)

		By("refusing what only the hub has")
		testkit.Edit(runtime, copied(), withEntryValues(valued, "", v1beta2.ValuesReference{Kind: v1beta2.ValuesSecret, Name: kyma.Name}))
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateWarning, v1beta2.ReasonRuntimeSpecRefused, "valuesFrom"))
		testkit.Edit(runtime, copied(), withEntryValues(valued, `{"colour":"red"}`))
		both(`{"colour":"red"}`)
		disable(kyma, valued)
		Eventually(modulesIn(runtime)).Should(Equal([]string{second}))
		Eventually(testkit.Live(env.Hub, kyma)).Should(HaveField("Status.Modules", HaveLen(1)))
	})

	It("overrules the hub where both changed the same, and the hub says so", func() {
		env.FaultFree()
		stopManager()
		testkit.Edit(runtime, copied(), func(k *v1beta2.Kyma) { k.Spec.Channel = "fast" })
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Channel = "regular"; k.Spec.SkipMaintenanceWindows = true })
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Channel = "experimental" })
		startManager()
		Eventually(testkit.Live(env.Hub, kyma)).Should(
			testkit.HaveCondition(v1beta2.ConditionSpecSync, metav1.ConditionFalse, v1beta2.ReasonOverruled))
		Expect(testkit.Live(runtime, copied())()).To(And(
			HaveField("Spec.Channel", "fast"), HaveField("Spec.SkipMaintenanceWindows", true)))
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Spec.Channel = "fast" })
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveCondition(v1beta2.ConditionSpecSync, metav1.ConditionTrue, v1beta2.ReasonSynced)))
	})

	It("is restored when it is deleted, and when its definition is, and nothing is uninstalled", func() {
		uid := func() (string, error) {
			object, err := testkit.Live(runtime, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: second + "-0"}})()
			return string(object.GetUID()), err
		}
		before, err := uid()
		Expect(err).NotTo(HaveOccurred())
		runtime.Delete(copied())
		Eventually(modulesIn(runtime)).Should(ContainElement(second))
		old, err := testkit.Live(runtime, definition("kymas"))()
		Expect(err).NotTo(HaveOccurred())
		Expect(runtime.Client.Delete(ctx(), definition("kymas"))).To(Succeed())
		Eventually(testkit.Live(runtime, definition("kymas"))).Should(HaveField("UID", Not(Equal(old.UID))))
		Eventually(modulesIn(runtime)).WithTimeout(time.Minute).Should(ContainElement(second))
		ready()
		Expect(uid()).To(Equal(before))
	})

	It("is hostile input: what cannot be meant changes nothing, and the hub says so", func() {
		testkit.Edit(runtime, copied(), func(k *v1beta2.Kyma) {
			for i := range 300 {
				k.Spec.Modules = append(k.Spec.Modules, v1beta2.Module{Name: fmt.Sprintf("flood-%d", i)})
			}
		})
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(
			tells(v1beta2.StateWarning, v1beta2.ReasonRuntimeSpecRefused), HaveField("Status.Modules", Not(ContainElement(HaveField("Name", "flood-1"))))))
		testkit.Edit(runtime, copied(), func(k *v1beta2.Kyma) { k.Spec.Modules = []v1beta2.Module{{Name: second}} })
		ready()
	})

	It("cannot pin versions unless it may", func() {
		testkit.Edit(runtime, copied(), func(k *v1beta2.Kyma) { k.Spec.Modules[0].Version = "1.0.0" })
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonVersionNotAllowed))
		testkit.Edit(runtime, copied(), func(k *v1beta2.Kyma) { k.Spec.Modules[0].Version = "" })
		ready()
	})

	It("is not shared by two Kymas", func() {
		other := newKyma(runtime)
		Eventually(testkit.Live(env.Hub, other)).Should(tells(v1beta2.StateError, v1beta2.ReasonOwnershipConflict, kyma.Name))
		remove(other)
		ready()
		expectThere(runtime, copied(), definition("kymas"))
	})

	It("binds no second Kyma to its runtime: that one is Ready when its access Secret is corrected", func() {
		own := env.AddRuntime(testkit.Unique("corrected"))
		other := newKyma(runtime)
		Eventually(testkit.Live(env.Hub, other)).Should(And(tells(v1beta2.StateError, v1beta2.ReasonOwnershipConflict, kyma.Name),
			HaveField("Status.RuntimeID", BeEmpty())))
		rotate(other, kubeconfigOf(own))
		Eventually(testkit.Live(env.Hub, other)).Should(testkit.HaveState(v1beta2.StateReady))
		expectThere(own, copied(), definition("kymas"))
		remove(other)
		ready()
	})

	It("goes with its Kyma, and so do the definitions", func() {
		remove(kyma)
		expectGone(runtime, definition("kymas"), definition("moduletemplates"), definition("modulereleasemetas"),
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: second + "-0"}})
	})
})

var _ = Describe("A runtime that two Kymas want in the same moment", func() {
	// contest says whose the runtime becomes, after both have seen it, and which Kyma did not get it.
	contest := func(runtime *testkit.Cluster, one, two *v1beta2.Kyma) (winner, loser *v1beta2.Kyma) {
		GinkgoHelper()
		owner := func() string {
			_, name, _ := strings.Cut(markOf(runtime), "/")
			return name
		}
		Eventually(owner).Should(BeElementOf(one.Name, two.Name))
		if winner, loser = one, two; owner() == two.Name {
			winner, loser = two, one
		}
		Eventually(testkit.Live(env.Hub, winner)).Should(testkit.HaveState(v1beta2.StateReady))
		Eventually(testkit.Live(env.Hub, loser)).Should(tells(v1beta2.StateError, v1beta2.ReasonOwnershipConflict, winner.Name))
		Expect(owner()).To(Equal(winner.Name), "whose it is, is decided once")
		return winner, loser
	}

	It("is one's, whose modules alone its Kyma asks for, and the other is told whose", func() {
		runtime := env.AddRuntime(testkit.Unique("wanted"))
		maps := []string{offerMaps("1.0.0"), offerMaps("1.0.0")}
		one, two := newKyma(runtime, testkit.WithModule(maps[0])), newKyma(runtime, testkit.WithModule(maps[1]))
		winner, loser := contest(runtime, one, two)
		kept, gone := maps[0], maps[1]
		if winner == two {
			kept, gone = gone, kept
		}
		Eventually(modulesIn(runtime)).Should(ConsistOf(kept))

		remove(loser)
		expectGone(runtime, configMap(gone+"-0"))
		Eventually(testkit.Live(env.Hub, winner)).Should(testkit.HaveState(v1beta2.StateReady))
		expectThere(runtime, copied(), definition("kymas"), configMap(kept+"-0"))
		remove(winner)
		expectGone(runtime, definition("kymas"), configMap(kept+"-0"))
	})

	It("is one's, also when a Kyma that belongs to no one stands there already", func() {
		runtime := env.AddRuntime(testkit.Unique("left"))
		before := newKyma(runtime)
		Eventually(testkit.Live(env.Hub, before)).Should(testkit.HaveState(v1beta2.StateReady))
		testkit.Edit(env.Hub, before, func(k *v1beta2.Kyma) { metav1.SetMetaDataLabel(&k.ObjectMeta, v1beta2.LabelSync, "false") })
		winner, loser := contest(runtime, newKyma(runtime), newKyma(runtime))
		remove(loser)
		Eventually(testkit.Live(env.Hub, winner)).Should(testkit.HaveState(v1beta2.StateReady))
		expectThere(runtime, copied())
		remove(winner)
		remove(before)
	})
})

// markOf returns whose the Kyma in a runtime is; empty while there is none.
func markOf(runtime *testkit.Cluster) string {
	kyma, err := testkit.Live(runtime, copied())()
	if err != nil {
		return ""
	}
	return kyma.Annotations[v1beta2.AnnotationOwnedBy]
}
