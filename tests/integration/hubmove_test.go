package integration

import (
	"context"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/hubcontent"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// exportOf returns the content of a hub, as its files hold it.
func exportOf(hub *testkit.Cluster) *hubcontent.Content {
	GinkgoHelper()
	content, err := hubcontent.Export(ctx(), hub.Client, hubcontent.ExportOptions{
		Namespaces: []string{v1beta2.DefaultNamespace}, ManagerNamespace: v1beta2.DefaultNamespace,
	})
	Expect(err).NotTo(HaveOccurred())
	text, err := hubcontent.Encode(content)
	Expect(err).NotTo(HaveOccurred())
	read := &hubcontent.Content{}
	Expect(hubcontent.Decode(read, "hub.yaml", text)).To(Succeed())
	return read
}

// counting returns a client of a cluster, and what it sends.
func counting(cluster *testkit.Cluster) (client.Client, *calls.Counter) {
	GinkgoHelper()
	sent := &calls.Counter{}
	config := rest.CopyConfig(cluster.Config)
	config.Wrap(sent.Wrap)
	counted, err := client.New(config, client.Options{Scheme: cluster.Client.Scheme()})
	Expect(err).NotTo(HaveOccurred())
	return counted, sent
}

// toModules returns the calls that concern what the modules of a spec consist of.
func toModules(lines []string) (found []string) {
	for _, line := range lines {
		if strings.Contains(line, "/deployments/") || strings.Contains(line, "/configmaps/") {
			found = append(found, line)
		}
	}
	return found
}

// cutOff imports until a phase has begun.
func cutOff(to client.Client, content *hubcontent.Content, phase string) {
	GinkgoHelper()
	until, cut := context.WithCancel(ctx())
	defer cut()
	_, err := hubcontent.Import(until, to, content, hubcontent.ImportOptions{TakeOver: content.Hub, Progress: func(now string, _, _ int) {
		if now == phase {
			cut()
		}
	}})
	Expect(err).To(MatchError(ContainSubstring("context canceled")))
}

var _ = Describe("What a hub holds", func() {
	It("moves to another hub and back while both managers run, and no module is restarted or written", func() {
		emptyHub()
		deploy, maps := testkit.Unique("deploy"), offerMaps("1.0.0")
		env.Offer(deploy, "1.0.0", testkit.Deployment(deploy, "1.0.0"), "regular")
		var runtimes []*testkit.Cluster
		var kymas []*v1beta2.Kyma
		var before []workload
		for range 2 {
			runtime := env.AddRuntime(testkit.Unique("moving"))
			kyma := newKyma(runtime, testkit.WithModule(deploy), testkit.WithModule(maps))
			Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
			runtimes, kymas, before = append(runtimes, runtime), append(kymas, kyma), append(before, workloadOf(runtime, deploy))
		}
		one, two := sideOf(env.Hub, &runtimeLog), startHub(env.AddHub(testkit.Unique("hub")))
		unharmed := func() {
			GinkgoHelper()
			for i, runtime := range runtimes {
				Expect(workloadOf(runtime, deploy)).To(Equal(before[i]))
			}
			Expect(toModules(two.written(0))).To(BeEmpty())
		}
		has := func(winner, loser *hubSide) {
			GinkgoHelper()
			for _, kyma := range kymas {
				winner.kyma, loser.kyma = kyma, kyma
				winner.has(loser)
			}
		}

		By("importing it, interrupted: nothing acts")
		content := exportOf(env.Hub)
		Expect(content.Hub).To(Equal(one.id))
		to, sent := counting(two.cluster)
		for _, phase := range []string{"secrets", "kymas", "manifests", "statuses"} {
			cutOff(to, content, phase)
		}
		Consistently(func() []string { return two.written(0) }).Should(BeEmpty())

		By("continuing it, which takes the runtimes over")
		_, err := hubcontent.Import(ctx(), to, content, hubcontent.ImportOptions{TakeOver: content.Hub})
		Expect(err).NotTo(HaveOccurred())
		has(two, one)
		unharmed()
		for _, kyma := range kymas {
			was, is := manifestOf(kyma, deploy), &v1beta2.Manifest{}
			Expect(to.Get(ctx(), client.ObjectKeyFromObject(was), is)).To(Succeed())
			Expect(is.Status.Revisions).To(Equal(was.Status.Revisions))
			Expect(is.Status.Synced).To(Equal(was.Status.Synced))
			Expect(is.Annotations).NotTo(HaveKey(v1beta2.AnnotationImport))
		}

		By("importing it again, which writes nothing")
		began := sent.Snapshot()
		_, err = hubcontent.Import(ctx(), to, exportOf(env.Hub), hubcontent.ImportOptions{TakeOver: content.Hub})
		Expect(err).NotTo(HaveOccurred())
		Expect(sent.Since(began).Writes()).To(BeEmpty())

		By("going back")
		stopped := one.sent.Len()
		back, _ := counting(env.Hub)
		_, err = hubcontent.Import(ctx(), back, exportOf(two.cluster), hubcontent.ImportOptions{TakeOver: two.id})
		Expect(err).NotTo(HaveOccurred())
		has(one, two)
		unharmed()
		Expect(toModules(one.written(stopped))).To(BeEmpty())

		By("deleting it where it was, which leaves the runtimes alone, and then at the hub that has them")
		for _, kyma := range kymas {
			two.cluster.Delete(kyma)
			Eventually(testkit.Gone(two.cluster, kyma)).Should(BeTrue())
		}
		unharmed()
		for i, kyma := range kymas {
			remove(kyma)
			expectGone(runtimes[i], &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: deploy}})
		}
	})
})
