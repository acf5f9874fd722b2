package integration

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// claimPatch is how a namespace that is there gets the claim.
const claimPatch = calls.Patch + " /api/v1/namespaces/" + v1beta2.RuntimeNamespace

// hubSide is one of two hubs: its cluster, its identity, its Kyma, and what its manager sends to runtimes.
type hubSide struct {
	cluster *testkit.Cluster
	id      string
	kyma    *v1beta2.Kyma
	sent    *calls.Log
}

// sideOf returns the side of a hub that has no Kyma yet.
func sideOf(cluster *testkit.Cluster, sent *calls.Log) *hubSide {
	GinkgoHelper()
	namespace, err := testkit.Live(cluster, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1beta2.DefaultNamespace}})()
	Expect(err).NotTo(HaveOccurred())
	return &hubSide{cluster: cluster, id: string(namespace.UID), sent: sent}
}

// secondHub starts another hub with its manager, and what the first one offers.
func secondHub() *hubSide {
	GinkgoHelper()
	cluster := env.AddHub(testkit.Unique("hub"))
	copyOffers(cluster)
	return startHub(cluster)
}

// startHub starts the manager of another hub.
func startHub(cluster *testkit.Cluster) *hubSide {
	GinkgoHelper()
	sent := &calls.Log{}
	config := setup.Defaults()
	config.RegistryHost = "http://" + env.Registry.Host
	config.MetricsAddress, config.ProbeAddress = "0", "0"
	config.ContentDir, config.RegistriesFile = GinkgoT().TempDir(), registriesFile
	Expect(config.Validate()).To(Succeed())
	running, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	hooks := setup.Hooks{
		WrapRuntime:       func(next http.RoundTripper) http.RoundTripper { return sent.Wrap(next) },
		AllowManyManagers: true, Metrics: prometheus.NewRegistry(),
	}
	go func() { done <- setup.Run(running, cluster.Config, config, env.Log.Logger(), hooks) }()
	DeferCleanup(func() {
		cancel()
		Eventually(done).Should(Receive(BeNil()))
	})
	return sideOf(cluster, sent)
}

// copyOffers makes the templates and releases of the first hub on another one.
func copyOffers(hub *testkit.Cluster) {
	GinkgoHelper()
	templates, releases := &v1beta2.ModuleTemplateList{}, &v1beta2.ModuleReleaseMetaList{}
	Expect(env.Hub.Client.List(ctx(), templates)).To(Succeed())
	Expect(env.Hub.Client.List(ctx(), releases)).To(Succeed())
	for i := range templates.Items {
		hub.Create(&v1beta2.ModuleTemplate{ObjectMeta: fresh(&templates.Items[i]), Spec: templates.Items[i].Spec})
	}
	for i := range releases.Items {
		hub.Create(&v1beta2.ModuleReleaseMeta{ObjectMeta: fresh(&releases.Items[i]), Spec: releases.Items[i].Spec})
	}
}

// fresh returns the metadata of an object that is made anew elsewhere.
func fresh(object client.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: object.GetNamespace(), Name: object.GetName(), Labels: object.GetLabels(), Annotations: object.GetAnnotations(),
	}
}

// manage makes the access Secret and the Kyma of a runtime on a hub.
func (s *hubSide) manage(name, module string, runtime *testkit.Cluster) {
	GinkgoHelper()
	kubeconfig, err := runtime.UserKubeconfig("lifecycle-manager", "system:masters")
	Expect(err).NotTo(HaveOccurred())
	s.kyma = testkit.Kyma(name, testkit.WithModule(module))
	s.cluster.Create(testkit.NewAccessSecret(name, kubeconfig), s.kyma)
}

// takeOver asks for the runtime of another hub.
func (s *hubSide) takeOver(from *hubSide) {
	GinkgoHelper()
	testkit.Edit(s.cluster, s.kyma, func(k *v1beta2.Kyma) {
		metav1.SetMetaDataAnnotation(&k.ObjectMeta, v1beta2.AnnotationTakeOverFrom, from.id)
	})
}

// has waits until a hub manages its runtime, and the other one says that it does not.
func (s *hubSide) has(other *hubSide) {
	GinkgoHelper()
	Eventually(testkit.Live(s.cluster, s.kyma)).Should(And(testkit.HaveState(v1beta2.StateReady),
		HaveField("Annotations", Not(HaveKey(v1beta2.AnnotationTakeOverFrom)))))
	Eventually(testkit.Live(other.cluster, other.kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonRuntimeClaimed, s.id))
}

// written returns what was sent after the first n calls, but for reads and reviews.
func (s *hubSide) written(n int) []string {
	var found []string
	for _, line := range s.sent.Since(n) {
		verb, path, _ := strings.Cut(line, " ")
		switch verb {
		case calls.Create, calls.Update, calls.Patch, calls.Delete:
			if !strings.Contains(path, "authorization.k8s.io") {
				found = append(found, line)
			}
		}
	}
	return found
}

// holder returns the hub that a runtime says it belongs to.
func holder(runtime *testkit.Cluster) func() (string, error) {
	return func() (string, error) {
		live, err := testkit.Live(runtime, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1beta2.RuntimeNamespace}})()
		return live.Annotations[v1beta2.AnnotationHub], err
	}
}

// setHolder changes the claim on a runtime as its users can; empty takes it off.
func setHolder(runtime *testkit.Cluster, hub string) {
	GinkgoHelper()
	testkit.Edit(runtime, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1beta2.RuntimeNamespace}}, func(n *corev1.Namespace) {
		delete(n.Annotations, v1beta2.AnnotationHub)
		if hub != "" {
			metav1.SetMetaDataAnnotation(&n.ObjectMeta, v1beta2.AnnotationHub, hub)
		}
	})
}

var _ = Describe("A runtime that two hubs claim", func() {
	It("is one's, which alone writes there, until the other takes it over", func() {
		emptyHub()
		module := offerMaps("1.0.0")
		runtime, kyma := env.AddRuntime(testkit.Unique("claimed")), testkit.Unique("kyma")
		one, two := sideOf(env.Hub, &runtimeLog), secondHub()
		oneBegan := one.sent.Len()
		one.manage(kyma, module, runtime)
		two.manage(kyma, module, runtime)

		By("racing for it")
		Eventually(holder(runtime)).Should(BeElementOf(one.id, two.id))
		winner, loser, began := one, two, 0
		if got, err := holder(runtime)(); err == nil && got == two.id {
			winner, loser, began = two, one, oneBegan
		}
		winner.has(loser)
		Expect(loser.written(began)).To(Or(BeEmpty(), HaveEach(BeElementOf("create /api/v1/namespaces", claimPatch))),
			"nothing but the claim, which the runtime refused")
		Expect(testkit.Live(runtime, copied())()).To(HaveField("Annotations", HaveKeyWithValue(v1beta2.AnnotationHub, winner.id)))
		made, err := testkit.Live(runtime, configMap(module+"-0"))()
		Expect(err).NotTo(HaveOccurred())

		By("taking it over")
		loser.takeOver(winner)
		loser.has(winner)
		Expect(holder(runtime)()).To(Equal(loser.id))
		stopped := winner.sent.Len()
		testkit.Edit(runtime, configMap(module+"-0"), func(c *corev1.ConfigMap) { c.Data["version"] = "changed by hand" })
		Eventually(versionIn(runtime, module+"-0"), atOnce).Should(Equal("1.0.0"))
		Consistently(func() []string { return winner.written(stopped) }).Should(BeEmpty(), "the former hub has stopped")
		manifest := &v1beta2.ManifestList{}
		Expect(winner.cluster.Client.List(ctx(), manifest, client.MatchingLabels{v1beta2.LabelKymaName: kyma})).To(Succeed())
		Expect(manifest.Items).To(HaveLen(1))
		Eventually(testkit.Live(winner.cluster, &manifest.Items[0])).Should(
			testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionFalse, v1beta2.ReasonRuntimeClaimed))
		Expect(testkit.Live(runtime, configMap(module+"-0"))()).To(HaveField("UID", made.UID), "nothing was made anew")

		By("going back")
		winner.takeOver(loser)
		winner.has(loser)

		By("deleting the Kyma of the hub that does not have it")
		stopped = loser.sent.Len()
		loser.cluster.Delete(loser.kyma)
		Eventually(testkit.Gone(loser.cluster, loser.kyma)).Should(BeTrue())
		Expect(loser.written(stopped)).To(BeEmpty())
		Expect(holder(runtime)()).To(Equal(winner.id))
		Expect(testkit.Live(runtime, configMap(module+"-0"))()).To(HaveField("UID", made.UID))

		By("deleting the other one, which lets go of it")
		winner.cluster.Delete(winner.kyma)
		Eventually(testkit.Gone(winner.cluster, winner.kyma)).Should(BeTrue())
		Expect(holder(runtime)()).To(BeEmpty())
		expectGone(runtime, configMap(module+"-0"), definition("kymas"))
	})

	It("is claimed by the hub that managed it before there were claims", func() {
		emptyHub()
		module := offerMaps("1.0.0")
		runtime := env.AddRuntime(testkit.Unique("unclaimed"))
		kyma := newKyma(runtime, testkit.WithModule(module))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		whileDown(func() { setHolder(runtime, "") })
		Eventually(holder(runtime)).Should(Equal(sideOf(env.Hub, &runtimeLog).id))
		expectHealed(runtime, configMap(module+"-0"))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		remove(kyma)
	})

	It("says so when the runtime's users change the claim, stops, and goes on when they take it off, at most so often", func() {
		emptyHub()
		module := offerMaps("1.0.0")
		runtime := env.AddRuntime(testkit.Unique("forged"))
		kyma, here := newKyma(runtime, testkit.WithModule(module)), sideOf(env.Hub, &runtimeLog)
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))

		setHolder(runtime, "$(another)")
		Eventually(testkit.Live(env.Hub, kyma)).Should(tells(v1beta2.StateError, v1beta2.ReasonRuntimeClaimed, `"$(another)"`))
		Eventually(env.ManifestOf(kyma.Name, module)).Should(
			testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionFalse, v1beta2.ReasonRuntimeClaimed))
		stopped := here.sent.Len()
		testkit.Edit(runtime, configMap(module+"-0"), func(c *corev1.ConfigMap) { c.Data["version"] = "changed by hand" })
		Consistently(func() []string { return here.written(stopped) }).Should(BeEmpty())

		setHolder(runtime, "")
		Eventually(holder(runtime)).Should(Equal(here.id))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		Eventually(versionIn(runtime, module+"-0"), atOnce).Should(Equal("1.0.0"))

		began, since := here.sent.Len(), time.Now()
		Eventually(func() (*v1beta2.Kyma, error) {
			setHolder(runtime, "")
			return testkit.Live(env.Hub, kyma)()
		}).Should(tells(v1beta2.StateError, v1beta2.ReasonRuntimeForbidden, "again and again"))
		sent := here.written(began)
		others := slices.DeleteFunc(slices.Clone(sent), func(line string) bool { return line == claimPatch })
		most := 5 + int(time.Since(since)/(10*time.Second))
		Expect(len(sent)-len(others)).To(BeNumerically("<=", most), strings.Join(here.sent.Since(began), "\n"))
		Eventually(holder(runtime), "30s").Should(Equal(here.id))
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		remove(kyma)
	})
})
