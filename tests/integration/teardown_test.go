package integration

import (
	"strconv"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// synced makes a Kyma that has a runtime for itself, and does not wait for it.
func synced(kubeconfig []byte, options ...testkit.KymaOption) *v1beta2.Kyma {
	GinkgoHelper()
	kyma := testkit.Kyma(testkit.Unique("kyma"), options...)
	env.Hub.Create(testkit.NewAccessSecret(kyma.Name, kubeconfig), kyma)
	return kyma
}

// readySynced waits for it.
func readySynced(kubeconfig []byte, options ...testkit.KymaOption) *v1beta2.Kyma {
	GinkgoHelper()
	kyma := synced(kubeconfig, options...)
	Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
	return kyma
}

// definitions returns those that a runtime holds for its users.
func definitions() []client.Object {
	return []client.Object{definition("kymas"), definition("moduletemplates"), definition("modulereleasemetas")}
}

// copyGone says that a runtime has no Kyma, nor knows what that is.
func copyGone(runtime *testkit.Cluster) func() (bool, error) {
	return func() (bool, error) {
		_, err := testkit.Live(runtime, copied())()
		gone := apierrors.IsNotFound(err) || meta.IsNoMatchError(err)
		if gone {
			err = nil
		}
		return gone, err
	}
}

// goings are the revisions of a cluster at which something happened: they can be compared.
type goings struct {
	mu sync.Mutex
	at map[string]uint64
}

// followed records what is deleted of some kinds, and when the Kyma tells that it is being deleted.
func followed(cluster *testkit.Cluster, kinds ...schema.GroupVersionKind) *goings {
	GinkgoHelper()
	g := &goings{at: map[string]uint64{}}
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		Expect(cluster.Client.List(ctx(), list)).To(Succeed())
		events, err := cluster.Client.Watch(ctx(), list, &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.GetResourceVersion()}})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(events.Stop)
		go func() {
			for event := range events.ResultChan() {
				g.note(event)
			}
		}()
	}
	return g
}

func (g *goings) note(event watch.Event) {
	object, ok := event.Object.(*unstructured.Unstructured)
	if !ok {
		return
	}
	revision, _ := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	what := object.GetKind() + " " + object.GetName()
	if state, _, _ := unstructured.NestedString(object.Object, "status", "state"); event.Type != watch.Deleted {
		if what += " tells Deleting"; state != string(v1beta2.StateDeleting) {
			return
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.at[what] == 0 {
		g.at[what] = revision
	}
}

// of is for Eventually: when it happened, or zero.
func (g *goings) of(what string) func() uint64 {
	return func() uint64 {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.at[what]
	}
}

// count counts calls since a snapshot.
func count(since calls.Counts, verb, resource string) int {
	return since.Plain().Where(func(c calls.Call) bool { return c.Verb == verb && c.Resource == resource }).Total()
}

const (
	kymas     = "kymas.operator.kyma-project.io"
	manifests = "manifests.operator.kyma-project.io"
	crds      = "customresourcedefinitions.apiextensions.k8s.io"
)

var _ = Describe("A Kyma with its runtime", Ordered, func() {
	var runtime *testkit.Cluster
	var way *door

	BeforeAll(func() {
		runtime = env.AddRuntime(testkit.Unique("bare"))
		way = doorOf(runtime)
	})
	AfterEach(emptyHub) // what a failed one left would hold the runtime
	expectBare := func() {
		GinkgoHelper()
		expectGone(runtime, definitions()...)
		Expect(copyGone(runtime)()).To(BeTrue())
	}

	It("goes in upstream's order and in few steps: it tells the runtime, takes everything along, and the pull Secret last", func() {
		emptyHub()
		pull := testkit.Unique("pull")
		env.Hub.Create(dockerSecret(pull, "registry.example.com", "s3cret"))
		withFlags(func(c *setup.Config) { c.PullSecret = pull })
		env.FaultFree()
		maps := offerMaps("1.0.0")
		module, content := operatorModule(nil)
		kyma := readySynced(way.kubeconfig(), testkit.WithModule(maps), testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(
			testkit.HaveCondition(v1beta2.ConditionImagePullSecret, metav1.ConditionTrue, v1beta2.ReasonSynced))
		expectThere(runtime, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: v1beta2.RuntimeNamespace, Name: pull}})
		atRest()

		seen := followed(runtime, v1beta2.GroupVersion.WithKind("Kyma"), corev1.SchemeGroupVersion.WithKind("Secret"),
			corev1.SchemeGroupVersion.WithKind("ConfigMap"), definitionOf(content).GroupVersionKind())
		hub, far := hubCalls.Snapshot(), runtimeCalls.Snapshot()
		remove(kyma)
		expectBare()
		expectGone(runtime, partsOf(content)...)

		By("the order")
		Eventually(seen.of("Secret " + pull)).ShouldNot(BeZero())
		Eventually(seen.of("Kyma default tells Deleting")).ShouldNot(BeZero())
		Eventually(seen.of("Kyma default")).ShouldNot(BeZero())
		Expect(seen.of("Kyma default")()).To(BeNumerically(">", seen.of("Kyma default tells Deleting")()))
		for _, earlier := range []string{"Kyma default", "ConfigMap " + maps + "-0", "CustomResourceDefinition " + definition("kymas").Name,
			"CustomResourceDefinition " + definitionOf(content).GetName()} {
			Eventually(seen.of(earlier)).ShouldNot(BeZero(), earlier)
			Expect(seen.of(earlier)()).To(BeNumerically("<", seen.of("Secret "+pull)()), earlier)
		}

		By("what it cost")
		atRest()
		spent, there := hubCalls.Since(hub), runtimeCalls.Since(far)
		// It is told as often as a user looks while something else is waited for; what must not be is a write for each object.
		Expect(count(spent, calls.Update, kymas+"/status")).To(BeNumerically("<=", 20), spent.String())
		Expect(count(spent, calls.Patch, kymas)).To(Equal(1), spent.String())
		Expect(count(spent, calls.Delete, manifests)).To(Equal(2), spent.String())
		Expect(count(there, calls.Patch, kymas+"/status")).To(Equal(1), there.String())
		// Once each, and again where a list that was under way shows it as it was.
		for resource, objects := range map[string]int{kymas: 1, "secrets": 1, crds: 4} {
			Expect(count(there, calls.Delete, resource)).To(And(BeNumerically(">=", objects), BeNumerically("<=", 2*objects)), there.String())
		}
		Expect(writes(there).Where(ofModules).Total()).To(BeZero(), there.String())
	})

	DescribeTable("stays Deleting while a user's custom resource holds a module, names it, and goes on at once",
		func(propagation metav1.DeletionPropagation) {
			env.FaultFree()
			module, content := operatorModule(nil)
			kyma := readySynced(way.kubeconfig(), testkit.WithModule(module))
			mine := userCR(content, "mine")
			runtime.Create(mine)
			Expect(env.Hub.Client.Delete(ctx(), kyma, client.PropagationPolicy(propagation))).To(Succeed())
			blocked := tells(v1beta2.StateDeleting, v1beta2.ReasonDeleting, module, v1beta2.ReasonDeletionBlocked, "default/mine")
			Eventually(testkit.Live(env.Hub, kyma)).Should(blocked)
			Eventually(copyGone(runtime)).Should(BeTrue())
			Consistently(testkit.Live(env.Hub, kyma)).Should(blocked)
			expectThere(runtime, append(partsOf(content), mine)...)
			runtime.Delete(mine)
			expectReleased(kyma)
			expectGone(runtime, partsOf(content)...)
			expectBare()
		},
		Entry("deleted in the background", metav1.DeletePropagationBackground),
		Entry("deleted in the foreground", metav1.DeletePropagationForeground),
	)

	DescribeTable("waits for a runtime that cannot be reached, says so, and goes on when it can",
		func(options ...testkit.KymaOption) {
			kyma := readySynced(way.kubeconfig(), options...)
			way.shut()
			DeferCleanup(func() {
				way.shut()
				way.reopen()
			})
			env.Hub.Delete(kyma)
			waits := tells(v1beta2.StateDeleting, v1beta2.ReasonDeleting, "cannot be reached", "delete its access Secret")
			Eventually(testkit.Live(env.Hub, kyma)).Should(waits)
			Consistently(testkit.Live(env.Hub, kyma)).Should(waits)
			way.reopen()
			Eventually(testkit.Gone(env.Hub, kyma), "90s").Should(BeTrue()) // the pauses between probes have grown
			expectBare()
		},
		Entry("with a module", func(k *v1beta2.Kyma) { k.Spec.Modules = []v1beta2.Module{{Name: offerMaps("1.0.0")}} }),
		Entry("without modules"),
	)

	It("is let go of without its access Secret: the hub has nothing left, the runtime everything, and another Kyma takes that over", func() {
		maps := offerMaps("1.0.0")
		kyma := readySynced(way.kubeconfig(), testkit.WithModule(maps))
		way.shut()
		env.Hub.Delete(kyma)
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateDeleting, v1beta2.ReasonDeleting, "delete its access Secret"))
		env.Hub.Delete(testkit.NewAccessSecret(kyma.Name, nil))
		Eventually(testkit.Gone(env.Hub, kyma), atOnce).Should(BeTrue())
		Expect(manifestsOf(kyma)()).To(BeEmpty())
		expectThere(runtime, append(definitions(), copied(), configMap(maps+"-0"))...)

		way.reopen()
		heir := readySynced(way.kubeconfig())
		Eventually(testkit.Live(runtime, copied())).Should(HaveField("Annotations",
			HaveKeyWithValue(v1beta2.AnnotationOwnedBy, client.ObjectKeyFromObject(heir).String())))
		Eventually(testkit.Live(env.Hub, heir)).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveModule(maps, testkit.HaveState(v1beta2.StateReady))))
		remove(heir)
		expectBare()
		expectGone(runtime, configMap(maps+"-0"))
	})

	It("that never met its runtime waits for no one", func() {
		way.shut()
		DeferCleanup(func() {
			way.shut()
			way.reopen()
		})
		kyma := synced(way.kubeconfig(), testkit.WithModule(offerMaps("1.0.0")))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateError))
		env.Hub.Delete(kyma)
		Eventually(testkit.Gone(env.Hub, kyma), atOnce).Should(BeTrue())
	})

	It("lives through the end of the namespace in its runtime, and goes while that is ending", func() {
		kyma := readySynced(way.kubeconfig(), testkit.WithModule(offerMaps("1.0.0")))
		stuck := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: v1beta2.RuntimeNamespace, Name: "stuck", Finalizers: []string{"example.com/not-yet"},
		}}
		space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1beta2.RuntimeNamespace}}
		runtime.Create(stuck)
		runtime.Delete(space)
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateProcessing, v1beta2.ReasonSyncPending, v1beta2.RuntimeNamespace))
		Eventually(copyGone(runtime)).Should(BeTrue())
		Consistently(manifestsOf(kyma), "1s").Should(HaveLen(1), "nothing is uninstalled")

		By("its end: everything is made anew")
		testkit.Edit(runtime, stuck, func(c *corev1.ConfigMap) { c.Finalizers = nil })
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		Eventually(copyGone(runtime)).Should(BeFalse())

		By("once more, with the Kyma deleted meanwhile")
		stuck.ResourceVersion = ""
		stuck.Finalizers = []string{"example.com/not-yet"}
		runtime.Create(stuck)
		runtime.Delete(space)
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateProcessing, v1beta2.ReasonSyncPending, v1beta2.RuntimeNamespace))
		remove(kyma)
		expectBare()
		testkit.Edit(runtime, stuck, func(c *corev1.ConfigMap) { c.Finalizers = nil })
		Eventually(testkit.Gone(runtime, space)).Should(BeTrue())
	})

	It("is released of the finalizers that no one else removes, and waits for those of others, in the runtime as well", func() {
		kyma := readySynced(way.kubeconfig())
		stopManager()
		DeferCleanup(func() { whileDown(func() {}) })
		old := []string{v1beta2.FinalizerPurge, v1beta2.FinalizerWatcher}
		testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) { k.Finalizers = append(k.Finalizers, old...) })
		testkit.Edit(runtime, copied(), func(k *v1beta2.Kyma) {
			k.Finalizers = append(old, v1beta2.FinalizerKyma, "example.com/not-yet")
		})
		env.Hub.Delete(kyma)
		startManager()
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateDeleting, v1beta2.ReasonDeleting, "example.com/not-yet"))
		Eventually(testkit.Live(runtime, copied())).Should(And(HaveField("Finalizers", ConsistOf("example.com/not-yet")),
			HaveField("DeletionTimestamp", Not(BeNil())), HaveField("Status.State", v1beta2.StateDeleting)))
		Consistently(testkit.Gone(env.Hub, kyma)).Should(BeFalse())
		testkit.Edit(runtime, copied(), func(k *v1beta2.Kyma) { k.Finalizers = nil })
		Eventually(testkit.Gone(env.Hub, kyma), atOnce).Should(BeTrue())
		expectBare()
	})

	DescribeTable("goes in spite of a restart", func(verb, resource string, of *calls.Counter) {
		maps := offerMaps("1.0.0")
		kyma := readySynced(way.kubeconfig(), testkit.WithModule(maps))
		atRest()
		before := of.Snapshot()
		env.Hub.Delete(kyma)
		Eventually(func() int { return count(of.Since(before), verb, resource) }).WithPolling(time.Millisecond).ShouldNot(BeZero())
		whileDown(func() {})
		Eventually(testkit.Gone(env.Hub, kyma)).Should(BeTrue())
		expectBare()
		expectGone(runtime, configMap(maps+"-0"))
	},
		Entry("after it told the runtime", calls.Patch, kymas+"/status", &runtimeCalls),
		Entry("after it deleted the Manifests", calls.Delete, manifests, &hubCalls),
		Entry("after it deleted a definition", calls.Delete, crds, &runtimeCalls),
		Entry("after it deleted the Kyma in the runtime", calls.Delete, kymas, &runtimeCalls),
		Entry("after it told the hub", calls.Update, kymas+"/status", &hubCalls),
	)

	It("leaves the runtime to a second one that was refused, and the second goes without hurting the first", func() {
		first := readySynced(way.kubeconfig(), testkit.WithModule(offerMaps("1.0.0")))
		atRest()
		uid := func() string {
			found, err := testkit.Live(runtime, copied())()
			Expect(err).NotTo(HaveOccurred())
			return string(found.UID) + " " + found.ResourceVersion
		}
		was := uid()
		refused := tells(v1beta2.StateError, v1beta2.ReasonOwnershipConflict, first.Name)
		second := synced(way.kubeconfig())
		Eventually(testkit.Live(env.Hub, second)).Should(refused)
		remove(second)
		Expect(uid()).To(Equal(was))
		expectThere(runtime, definitions()...)

		maps := offerMaps("1.0.0")
		second = synced(way.kubeconfig(), testkit.WithModule(maps))
		Eventually(testkit.Live(env.Hub, second)).Should(refused)
		remove(first)
		Eventually(testkit.Live(env.Hub, second), "90s").Should(testkit.HaveState(v1beta2.StateReady))
		Eventually(testkit.Live(runtime, copied())).Should(HaveField("Annotations",
			HaveKeyWithValue(v1beta2.AnnotationOwnedBy, client.ObjectKeyFromObject(second).String())))
		Expect(versionIn(runtime, maps+"-0")()).To(Equal("1.0.0"))
		remove(second)
		expectBare()
	})
})
