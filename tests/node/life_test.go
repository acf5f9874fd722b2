package node

import (
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/devenv/localcluster"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

const (
	local, remote = "local", "remote"
	leaseName     = "893110f7.kyma-project.io"
	// takeover is the lease of 15 s, the 2.4 s until the other replica tries again, and the start of its work on a busy machine.
	takeover = 90 * time.Second
)

var _ = Describe("The life of an installation", Ordered, func() {
	var (
		before map[string]bool
		seen   *observer
	)

	BeforeAll(func() {
		before = settled(hub)
		stepf("deploying the manager with two replicas")
		hub.make("deploy", "DEPLOY=../tests/node/deploy", "IMG="+image)
		Eventually(managers).Should(HaveLen(2))
		offer(greeter, older, older, rolling)
		offer(beacon, older, older)
		seen = observe(local, hub)
	})

	AfterAll(func() { seen.truthful() })

	It("installs modules, and they work", func() {
		kyma := testkit.Kyma(local, testkit.Local(), testkit.WithModule(greeter), testkit.WithModule(beacon))
		Expect(hub.client.Create(background(), kyma)).To(Succeed())
		awaitReady(local, older, older)
		Expect(imagesOf(hub, greeter)).To(ConsistOf("samples.kyma-project.io/greeter:" + older))
		Eventually(func() string { return greeting(hub) }).Should(ContainSubstring("world"))
		Eventually(func(g Gomega) {
			var lamps corev1.PodList
			g.Expect(hub.client.List(background(), &lamps, client.HasLabels{"beacon"})).To(Succeed())
			g.Expect(lamps.Items).To(ContainElement(HaveField("Status.Phase", corev1.PodRunning)))
		}).Should(Succeed(), "the pod that the beacon's operator installs")
	})

	It("upgrades a module, and is Ready when the new pod is, not before", func() {
		offer(greeter, newer, newer, rolling)
		seen.awaits(greeter, newer, v1beta2.StateProcessing)
		seen.awaits(greeter, newer, v1beta2.StateReady)
		awaitReady(local, newer, older)
		Eventually(func() []string { return imagesOf(hub, greeter) }).Should(ConsistOf("samples.kyma-project.io/greeter:" + newer))
		Expect(states(seen.of(greeter), newer)[0]).To(Equal(v1beta2.StateProcessing), "the first that was said of the new version")
		greet(hub, "upgraded")
	})

	It("says that the pods of a new version do not start, and keeps those of the old one", Label(long), func() {
		offer(greeter, broken, newer, rolling, runs(newer, broken))
		seen.awaits(greeter, broken, v1beta2.StateProcessing)
		Eventually(func() []string { return waiting(hub, greeter) }).Should(ContainElement(BeElementOf("ErrImagePull", "ImagePullBackOff")))
		greet(hub, "kept")
		Expect(traced(hub, greeter)).To(And(ContainSubstring("has been waiting for its image"), ContainSubstring("remedy ")))
		seen.awaits(greeter, broken, v1beta2.StateError)
		last := states(seen.of(greeter), broken)
		Expect(last).NotTo(ContainElement(v1beta2.StateReady))
		said := seen.of(greeter)
		Expect(said[len(said)-1].Message).To(And(ContainSubstring("greeter"), ContainSubstring("pods")))
		Expect(imagesOf(hub, greeter)).To(ContainElement("samples.kyma-project.io/greeter:" + newer))
		greet(hub, "kept in spite of the error")

		offer(greeter, crashing, newer, rolling, fails)
		Eventually(func() string { return traced(hub, greeter) }).WithPolling(2 * time.Second).Should(And(
			ContainSubstring("Container manager of Pod greeter-"), ContainSubstring("has been crashing"), ContainSubstring("exit code 2"),
			MatchRegexp(`the last line of its log: \S`)))
		greet(hub, "kept in spite of the crashes")

		offer(greeter, homeless, newer, rolling, nowhere)
		Eventually(func() string { return traced(hub, greeter) }).WithPolling(2 * time.Second).Should(And(
			MatchRegexp(`Pod greeter-\S+ has been Pending for .*: no node matches its selector`), ContainSubstring("remedy ")))
		greet(hub, "kept without a node")

		offer(greeter, mended, newer, rolling)
		awaitReady(local, mended, older)
		Eventually(func() []string { return imagesOf(hub, greeter) }).Should(ConsistOf("samples.kyma-project.io/greeter:" + newer))
	})

	It("goes on with the other replica when the leader is killed", func() {
		holder, pod := leader()
		containers := pod.Status.ContainerStatuses
		Expect(containers).To(HaveLen(1))
		hub.ctr("tasks", "kill", "--signal", "SIGKILL", strings.TrimPrefix(containers[0].ContainerID, "containerd://"))
		begin := time.Now()
		offer(beacon, newer, newer)
		seen.awaits(beacon, newer, v1beta2.StateProcessing)
		stepf("a change is served %s after the leader was killed", time.Since(begin).Round(100*time.Millisecond))
		Expect(time.Since(begin)).To(BeNumerically("<", takeover))
		seen.awaits(beacon, newer, v1beta2.StateReady)
		Eventually(leaderName).ShouldNot(Or(BeEmpty(), HaveSuffix(holder)), "a Kyma may be served before the other replica leads")
		Eventually(managers).Should(HaveLen(2))
	})

	It("goes on when the leader's pod is deleted by force", Label(long), func() {
		holder, pod := leader()
		Expect(hub.client.Delete(background(), pod, client.GracePeriodSeconds(0))).To(Succeed())
		begin := time.Now()
		kyma := get(local)
		kyma.Spec.Modules = kyma.Spec.Modules[:1]
		Expect(hub.client.Update(background(), kyma)).To(Succeed())
		Eventually(func() bool { return absent(hub, "beacon-system") }).Should(BeTrue())
		stepf("a module is gone %s after the leader's pod was deleted", time.Since(begin).Round(100*time.Millisecond))
		Eventually(leaderName).ShouldNot(Or(BeEmpty(), HaveSuffix(holder)), "a Kyma may be served before the other replica leads")
		Eventually(managers).Should(HaveLen(2))
	})

	It("is the same after a power cut", Label(long), func() {
		seen.truthful()
		known, generation := identities(hub), deployment(hub, greeter).Generation
		stepf("cutting the power")
		hub.stop()
		begin := metav1.Now()
		hub.start()
		seen = observeNothing()
		Eventually(managers).Should(HaveLen(2))
		Eventually(func(g Gomega) {
			for _, pod := range podsOf(background(), hub, greeter) {
				g.Expect(pod.Status.ContainerStatuses).To(HaveEach(HaveField("State.Running", Not(BeNil()))))
				g.Expect(pod.Status.ContainerStatuses[0].State.Running.StartedAt.Time).To(BeTemporally(">=", begin.Truncate(time.Second)))
			}
		}).Should(Succeed(), "pods that started since")
		greet(hub, "back")
		kyma := get(local)
		kyma.Labels = map[string]string{"power": "back"}
		kyma.Spec.Modules = append(kyma.Spec.Modules, v1beta2.Module{Name: beacon})
		Expect(hub.client.Update(background(), kyma)).To(Succeed())
		awaitReady(local, mended, newer)
		for name, uid := range known {
			Expect(identities(hub)).To(HaveKeyWithValue(name, uid), "%s was made anew", name)
		}
		Expect(deployment(hub, greeter).Generation).To(Equal(generation), "the module was applied again with changes")
	})

	It("installs into another cluster, and nothing stays there", Label(long), func() {
		runtime := newCluster("runtime")
		runtime.start()
		DeferCleanup(func() { runtime.stop() })
		clean := settled(runtime)
		config := rest.CopyConfig(runtime.config)
		config.Host = "https://10.199.0.2:" + runtimePort
		access, err := localcluster.KubeconfigOf("runtime", config)
		Expect(err).NotTo(HaveOccurred())
		Expect(hub.client.Create(background(), testkit.NewAccessSecret(remote, access))).To(Succeed())
		Expect(hub.client.Create(background(), testkit.Kyma(remote, testkit.WithModule(greeter)))).To(Succeed())
		awaitReady(remote, mended)
		greet(runtime, "runtime")
		Expect(hub.client.Delete(background(), get(remote))).To(Succeed())
		Eventually(func() bool { return get(remote) == nil }).Should(BeTrue())
		Eventually(func() []string { return since(clean, runtime) }).WithPolling(time.Second).Should(BeEmpty(), "what is left in the runtime")
		Eventually(func() string { return runtime.ctr("containers", "ls", "--quiet") }).Should(BeEmpty(), "containers that are left")
	})

	It("goes, and leaves nothing behind", func() {
		stepf("deleting the Kyma")
		Expect(hub.client.Delete(background(), get(local))).To(Succeed())
		Eventually(func() bool { return get(local) == nil }).Should(BeTrue())
		Eventually(func() bool { return absent(hub, "greeter-system") && absent(hub, "beacon-system") }).Should(BeTrue())
		stepf("uninstalling the operator")
		hub.make("uninstall")
		hub.make("undeploy")
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1beta2.DefaultNamespace}}
		Expect(hub.client.Delete(background(), namespace)).To(Succeed())
		Eventually(func() []string { return since(before, hub) }).WithPolling(time.Second).Should(BeEmpty(), "what is left in the cluster")
		Eventually(func() string { return hub.ctr("containers", "ls", "--quiet") }).Should(BeEmpty(), "containers that are left")
	})
})

// get returns nil when there is no such Kyma.
func get(name string) *v1beta2.Kyma {
	GinkgoHelper()
	kyma := &v1beta2.Kyma{}
	err := hub.client.Get(background(), client.ObjectKey{Namespace: v1beta2.DefaultNamespace, Name: name}, kyma)
	if apierrors.IsNotFound(err) {
		return nil
	}
	Expect(err).NotTo(HaveOccurred())
	return kyma
}

// awaitReady waits until a Kyma is Ready with modules in the given versions, in order.
func awaitReady(name string, versions ...string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		kyma := get(name)
		g.Expect(kyma).NotTo(BeNil())
		var found []string
		for i := range kyma.Status.Modules {
			g.Expect(kyma.Status.Modules[i].State).To(Equal(v1beta2.StateReady), "%+v", kyma.Status.Modules[i])
			found = append(found, kyma.Status.Modules[i].Name+" "+kyma.Status.Modules[i].Version)
		}
		var wanted []string
		for i, version := range versions {
			wanted = append(wanted, kyma.Spec.Modules[i].Name+" "+version)
		}
		g.Expect(found).To(ConsistOf(wanted))
		g.Expect(kyma.Status.ObservedGeneration).To(Equal(kyma.Generation))
		g.Expect(kyma.Status.State).To(Equal(v1beta2.StateReady), "%+v", kyma.Status.Conditions)
	}).Should(Succeed())
}

// managers returns the pods of the operator that are ready.
func managers() (ready []corev1.Pod) {
	GinkgoHelper()
	var pods corev1.PodList
	err := hub.client.List(background(), &pods, client.InNamespace(v1beta2.DefaultNamespace),
		client.MatchingLabels{"app.kubernetes.io/component": "manager"})
	Expect(err).NotTo(HaveOccurred())
	for i := range pods.Items {
		if pods.Items[i].DeletionTimestamp == nil && readyFor(&pods.Items[i], 0) {
			ready = append(ready, pods.Items[i])
		}
	}
	return ready
}

// leader is who holds the lease, and its pod.
func leader() (string, *corev1.Pod) {
	GinkgoHelper()
	holder, err := leaderName()
	Expect(err).NotTo(HaveOccurred())
	name := strings.TrimPrefix(holder, "klm-replica-") // <pod>-<random>
	name = name[:max(strings.LastIndex(name, "-"), 0)]
	pod := &corev1.Pod{}
	Expect(hub.client.Get(background(), client.ObjectKey{Namespace: v1beta2.DefaultNamespace, Name: name}, pod)).To(Succeed())
	return filepath.Base(holder), pod
}

// leaderName is who holds the lease of the one that assigns; empty while no one does.
func leaderName() (string, error) {
	lease := &coordinationv1.Lease{}
	err := hub.client.Get(background(), client.ObjectKey{Namespace: v1beta2.DefaultNamespace, Name: leaseName}, lease)
	return ptr.Deref(lease.Spec.HolderIdentity, ""), err
}

// states returns those that were seen with a version.
func states(seen []sighting, version string) (found []v1beta2.State) {
	for _, s := range seen {
		if s.Version == version {
			found = append(found, s.State)
		}
	}
	return found
}
