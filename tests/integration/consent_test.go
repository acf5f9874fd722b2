package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// reading returns a module whose operator may read secrets, or ConfigMaps only.
func reading(module, version, resource string) testkit.Content {
	GinkgoHelper()
	content := testkit.ConfigMaps(module, version, 1)
	for _, text := range []string{`
apiVersion: v1
kind: ServiceAccount
metadata: {name: %[1]s, namespace: default}`, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: %[1]s}
rules:
- {apiGroups: [""], resources: [%[2]s], verbs: [get, list, watch]}`, `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: %[1]s}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %[1]s}
subjects: [{kind: ServiceAccount, name: %[1]s, namespace: default}]`} {
		content.Objects = append(content.Objects, testkit.ParseYAML(fmt.Sprintf(strings.ReplaceAll(text, "%[2]s", resource), module)))
	}
	return content
}

// offerReader offers a version of a module on channel regular that may read a resource.
func offerReader(module, version, resource string) {
	GinkgoHelper()
	env.Offer(module, version, reading(module, version, resource), "regular")
}

// republish publishes a version again with other content, and restarts the manager: there is no event for that.
func republish(module, version string, content testkit.Content, restart func()) {
	GinkgoHelper()
	env.Publish(testkit.ComponentName(module), version, testkit.RawManifest(content.YAML()))
	restart()
}

// pendingOf returns what waits for consent in a Kyma, nil for nothing.
func pendingOf(kyma *v1beta2.Kyma, module string) func() (*v1beta2.PendingVersion, error) {
	return func() (*v1beta2.PendingVersion, error) {
		live, err := testkit.Live(env.Hub, kyma)()
		if err != nil {
			return nil, err
		}
		for i := range live.Status.Modules {
			if live.Status.Modules[i].Name == module {
				return live.Status.Modules[i].Pending, nil
			}
		}
		return nil, nil
	}
}

// waitsFor matches a version that waits for the consent of sides.
func waitsFor(version string, sides ...v1beta2.ConsentSide) types.GomegaMatcher {
	return And(Not(BeNil()), HaveField("Version", version), HaveField("From", ConsistOf(sides)))
}

// approve writes consent to what waits in a Kyma into a Kyma of the hub or of a runtime.
func approve(cluster *testkit.Cluster, entry, kyma *v1beta2.Kyma, module string) string {
	GinkgoHelper()
	pending, err := pendingOf(kyma, module)()
	Expect(err).NotTo(HaveOccurred())
	Expect(pending).NotTo(BeNil())
	reference := pending.Version + "@" + pending.Digest
	approveReference(cluster, entry, module, reference)
	return reference
}

func approveReference(cluster *testkit.Cluster, entry *v1beta2.Kyma, module, reference string) {
	GinkgoHelper()
	testkit.Edit(cluster, entry, func(k *v1beta2.Kyma) {
		for i := range k.Spec.Modules {
			if k.Spec.Modules[i].Name == module {
				k.Spec.Modules[i].Approved = reference
			}
		}
	})
}

// manually holds back what the channel of a module offers.
func manually(m *v1beta2.Module) { m.UpgradeStrategy = v1beta2.UpgradeManual }

func isInstalled(module, version string) types.GomegaMatcher {
	return And(testkit.HaveState(v1beta2.StateReady), testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionTrue, v1beta2.ReasonReady),
		testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady), testkit.HaveVersion(version), HaveField("Pending", BeNil())))
}

// renders returns how many contents were rendered to find out what versions ask for.
func renders() float64 {
	GinkgoHelper()
	families, err := managerMetrics.Gather()
	Expect(err).NotTo(HaveOccurred())
	for _, family := range families {
		if family.GetName() == "lifecycle_mgr_approval_renders_total" {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	return 0
}

var _ = Describe("Consent", Ordered, func() {
	var policyFile string
	write := func(text string) {
		GinkgoHelper()
		Expect(os.WriteFile(policyFile+".new", []byte(text), 0o600)).To(Succeed())
		Expect(os.Rename(policyFile+".new", policyFile)).To(Succeed())
	}
	restart := func() {
		GinkgoHelper()
		stopManager()
		startManager(func(c *setup.Config) { c.ApprovalFile = policyFile })
	}
	BeforeAll(func() {
		emptyHub()
		policyFile = filepath.Join(GinkgoT().TempDir(), "approvals.yaml")
		write("rules: []")
		restart()
		DeferCleanup(func() {
			stopManager()
			startManager()
		})
	})

	It("is needed for new rights where the policy says so; what runs stays Ready, and waiting costs nothing", func() {
		module := testkit.Unique("reader")
		write(fmt.Sprintf("rules: [{modules: [%s], when: [NewRights], by: [Hub]}]", module))
		offerReader(module, "1.0.0", "configmaps")
		kyma := readyLocal(testkit.WithModule(module))
		offerReader(module, "1.1.0", "secrets")
		Eventually(pendingOf(kyma, module)).Should(And(waitsFor("1.1.0", v1beta2.ConsentHub),
			HaveField("Counts.RightsAdded", BeNumerically(">", 0)), HaveField("Gravest", ContainElement(ContainSubstring("Secret")))))
		waiting := And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveCondition(v1beta2.ConditionReady, metav1.ConditionTrue, v1beta2.ReasonApprovalRequired),
			testkit.HaveModule(module, testkit.HaveState(v1beta2.StateReady), testkit.HaveVersion("1.0.0"),
				HaveField("Message", ContainSubstring("waits for consent"))))
		Expect(testkit.Live(env.Hub, kyma)()).To(waiting)
		Eventually(quiet(), "20s").Should(BeNumerically(">", 3*time.Second), "a version that waits costs no call")
		Expect(testkit.Live(env.Hub, kyma)()).To(waiting)
		Expect(versionIn(env.Hub, module+"-0")()).To(Equal("1.0.0"))

		approve(env.Hub, kyma, kyma, module)
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.1.0"))
		Expect(versionIn(env.Hub, module+"-0")()).To(Equal("1.1.0"))

		By("needing none for a version that may do no more")
		offerReader(module, "1.2.0", "secrets")
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.2.0"))
	})

	It("begins when another policy asks for none any more", func() {
		module := testkit.Unique("reader")
		write(fmt.Sprintf("rules: [{modules: [%s], when: [Always], by: [Hub]}]", module))
		offerReader(module, "1.0.0", "configmaps")
		kyma := readyLocal(testkit.WithModule(module))
		offerReader(module, "1.1.0", "configmaps")
		Eventually(pendingOf(kyma, module)).Should(waitsFor("1.1.0", v1beta2.ConsentHub))
		write("rules: [nonsense]")
		Consistently(pendingOf(kyma, module)).Should(waitsFor("1.1.0", v1beta2.ConsentHub))
		write("rules: []")
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.1.0"))
	})

	It("is each side's own", func() {
		module := testkit.Unique("reader")
		runtime := env.AddRuntime(testkit.Unique("consent"))
		write(fmt.Sprintf("rules: [{modules: [%[1]s], when: [NewRights], by: [Hub]}, {modules: [%[1]s-x], when: [Always], by: [Runtime]}]", module))
		offerReader(module, "1.0.0", "configmaps")
		kyma := newKyma(runtime, testkit.WithModule(module))
		DeferCleanup(func() {
			env.Hub.Delete(kyma)
			Eventually(testkit.Gone(env.Hub, kyma)).Should(BeTrue())
		})
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.0.0"))
		offerReader(module, "1.1.0", "secrets")
		Eventually(pendingOf(kyma, module)).Should(waitsFor("1.1.0", v1beta2.ConsentHub))
		Eventually(testkit.Live(runtime, copied())).Should(testkit.HaveModule(module, HaveField("Pending", waitsFor("1.1.0", v1beta2.ConsentHub))))

		By("not letting the runtime's user approve what the policy keeps for the hub")
		reference := approve(runtime, copied(), kyma, module)
		Consistently(testkit.Live(env.Hub, kyma)).Should(testkit.HaveModule(module, testkit.HaveVersion("1.0.0"),
			HaveField("Pending", waitsFor("1.1.0", v1beta2.ConsentHub))))
		approveReference(env.Hub, kyma, module, reference)
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.1.0"))
		Expect(testkit.Live(env.Hub, kyma)()).To(HaveField("Status.LastSeen.Overruled", BeEmpty()), "the two entries are not merged")

		By("letting the runtime's user hold a version, which the hub cannot release")
		testkit.Edit(runtime, copied(), func(k *v1beta2.Kyma) { manually(&k.Spec.Modules[0]) })
		offerReader(module, "1.2.0", "secrets")
		Eventually(pendingOf(kyma, module)).Should(waitsFor("1.2.0", v1beta2.ConsentRuntime))
		reference = approve(env.Hub, kyma, kyma, module)
		Consistently(pendingOf(kyma, module)).Should(waitsFor("1.2.0", v1beta2.ConsentRuntime))
		before := time.Now()
		approveReference(runtime, copied(), module, reference)
		Eventually(func() (string, error) {
			manifest, err := env.ManifestOf(kyma.Name, module)()
			return manifest.Spec.Version, err
		}).WithPolling(5 * time.Millisecond).Should(Equal("1.2.0"))
		GinkgoWriter.Printf("consent in the runtime to the Manifest's version: %s\n", time.Since(before))
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.2.0"))
	})

	It("may be the runtime's user's by the policy", func() {
		module := testkit.Unique("reader")
		runtime := env.AddRuntime(testkit.Unique("consent"))
		write(fmt.Sprintf("rules: [{modules: [%s], when: [NewRights], by: [Runtime]}]", module))
		offerReader(module, "1.0.0", "configmaps")
		kyma := newKyma(runtime, testkit.WithModule(module))
		DeferCleanup(func() {
			env.Hub.Delete(kyma)
			Eventually(testkit.Gone(env.Hub, kyma)).Should(BeTrue())
		})
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.0.0"))
		offerReader(module, "1.1.0", "secrets")
		Eventually(pendingOf(kyma, module)).Should(waitsFor("1.1.0", v1beta2.ConsentRuntime))
		approve(runtime, copied(), kyma, module)
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.1.0"))
	})

	It("is for a digest: what is published anew waits again", func() {
		module := testkit.Unique("reader")
		write("rules: []")
		offerReader(module, "1.0.0", "configmaps")
		kyma := readyLocal(testkit.WithModule(module, manually))
		offerReader(module, "1.1.0", "configmaps")
		Eventually(pendingOf(kyma, module)).Should(waitsFor("1.1.0", v1beta2.ConsentHub))
		first, err := pendingOf(kyma, module)()
		Expect(err).NotTo(HaveOccurred())
		republish(module, "1.1.0", reading(module, "1.1.0", "secrets"), restart)
		Eventually(pendingOf(kyma, module)).Should(And(waitsFor("1.1.0", v1beta2.ConsentHub), HaveField("Digest", Not(Equal(first.Digest)))))
		approveReference(env.Hub, kyma, module, first.Version+"@"+first.Digest)
		Consistently(pendingOf(kyma, module)).Should(waitsFor("1.1.0", v1beta2.ConsentHub))
		approve(env.Hub, kyma, kyma, module)
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.1.0"))

		republish(module, "1.1.0", reading(module, "1.1.0-again", "secrets"), restart)
		Eventually(pendingOf(kyma, module)).Should(waitsFor("1.1.0", v1beta2.ConsentHub))
		Consistently(versionIn(env.Hub, module+"-0")).Should(Equal("1.1.0"))
	})

	It("is needed for what a chart hides behind a condition", func() {
		module := testkit.Unique("hides")
		write(fmt.Sprintf("rules: [{modules: [%s], when: [NewRights], by: [Hub]}]", module))
		offerHiding(module, "1.0.0", "")
		kyma := readyLocal(testkit.WithModule(module))
		offerHiding(module, "1.1.0", hiddenRole)
		Eventually(pendingOf(kyma, module)).Should(And(waitsFor("1.1.0", v1beta2.ConsentHub),
			HaveField("Gravest", ContainElement(ContainSubstring("every Secret")))))
		Consistently(versionIn(env.Hub, module+"-0")).Should(Equal("1.0.0"))

		By("which is in both versions of the next step, so that it asks for nothing more")
		approve(env.Hub, kyma, kyma, module)
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.1.0"))
		offerHiding(module, "1.2.0", hiddenRole)
		Eventually(testkit.Live(env.Hub, kyma)).Should(isInstalled(module, "1.2.0"))
	})

	It("is asked for once for the whole fleet", func() {
		const fleet = 50
		module := testkit.Unique("reader")
		write(fmt.Sprintf("rules: [{modules: [%s], when: [NewRights], by: [Hub]}]", module))
		offerReader(module, "1.0.0", "configmaps")
		kymas := make([]*v1beta2.Kyma, fleet)
		for i := range kymas { // without a cluster: what counts is on the hub
			kymas[i] = testkit.Kyma(testkit.Unique("kyma"), testkit.WithModule(module), testkit.Unsynced())
			env.Hub.Create(kymas[i])
		}
		each := func(matcher types.GomegaMatcher) {
			GinkgoHelper()
			Eventually(func(g Gomega) {
				list := &v1beta2.KymaList{}
				g.Expect(env.Hub.Client.List(ctx(), list, client.InNamespace(v1beta2.DefaultNamespace))).To(Succeed())
				found := 0
				for i := range list.Items {
					if len(list.Items[i].Spec.Modules) == 1 && list.Items[i].Spec.Modules[0].Name == module {
						g.Expect(&list.Items[i]).To(testkit.HaveModule(module, matcher))
						found++
					}
				}
				g.Expect(found).To(Equal(fleet))
			}, "60s").Should(Succeed())
		}
		each(And(testkit.HaveVersion("1.0.0"), testkit.HaveState(v1beta2.StateError))) // no access Secret
		Eventually(quiet(), "30s").Should(BeNumerically(">", 2*time.Second))

		calls0, rendered := hubCalls.Snapshot(), renders()
		offerReader(module, "1.1.0", "secrets")
		each(HaveField("Pending", waitsFor("1.1.0", v1beta2.ConsentHub)))
		Eventually(quiet(), "30s").Should(BeNumerically(">", 2*time.Second))
		statuses := hubCalls.Since(calls0).Plain().Where(func(c calls.Call) bool {
			return c.Write() && c.Resource == "kymas.operator.kyma-project.io/status"
		})
		Expect(statuses.Total()).To(Equal(fleet), statuses.String())
		Expect(renders()-rendered).To(Equal(2.0), "each of the two contents is rendered once")
		for _, kyma := range kymas {
			env.Hub.Delete(kyma)
		}
	})

	It("can be kept for a group by an admission policy", func() {
		env.Hub.Apply(env.Hub.Objects("config/samples/approvers_policy.yaml")...)
		DeferCleanup(func() {
			for _, object := range env.Hub.Objects("config/samples/approvers_policy.yaml") {
				env.Hub.Delete(object)
			}
		})
		as := func(groups ...string) client.Client {
			config := rest.CopyConfig(env.Hub.Config)
			config.Impersonate = rest.ImpersonationConfig{UserName: "ann", Groups: append(groups, "editors")}
			impersonating, err := client.New(config, client.Options{Scheme: testkit.Scheme()})
			Expect(err).NotTo(HaveOccurred())
			return impersonating
		}
		env.Hub.Apply(testkit.ParseYAML(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: consent-editors}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: editors}]`))
		kyma := testkit.Kyma(testkit.Unique("kyma"), testkit.Unsynced(), testkit.WithModule("absent", manually), testkit.WithModule("other"))
		env.Hub.Create(kyma)
		DeferCleanup(func() { env.Hub.Delete(kyma) })
		edits := func(as client.Client, change func(*v1beta2.Kyma)) error {
			live := &v1beta2.Kyma{}
			Expect(env.Hub.Client.Get(ctx(), client.ObjectKeyFromObject(kyma), live)).To(Succeed())
			before := live.DeepCopy()
			change(live)
			return as.Patch(ctx(), live, client.MergeFrom(before))
		}
		reference := "1.0.0@sha256:" + strings.Repeat("0a", 32)
		attempts := 0
		another := func(k *v1beta2.Kyma) { // to write what is there already is refused to no user
			attempts++
			k.Spec.Modules[1].Approved = fmt.Sprintf("1.0.0@sha256:%064x", attempts)
		}
		refused := MatchError(ContainSubstring("kyma-approvers"))
		approves := func(k *v1beta2.Kyma) { k.Spec.Modules[1].Approved = reference }
		Eventually(func() error { return edits(as(), another) }, "60s").Should(refused, "a policy takes a moment to be in force")
		Expect(edits(as(), func(k *v1beta2.Kyma) { k.Spec.Modules[0].UpgradeStrategy = "" })).To(refused)
		Expect(edits(as(), func(k *v1beta2.Kyma) {
			k.Spec.Modules = append(k.Spec.Modules, v1beta2.Module{Name: "new", Approved: reference})
		})).To(refused)
		Expect(edits(as(), func(k *v1beta2.Kyma) {
			k.Labels["x"], k.Spec.Channel = "y", "fast"
			k.Spec.Modules = append(k.Spec.Modules, v1beta2.Module{Name: "new"})
		})).To(Succeed())
		Expect(edits(as("kyma-approvers"), approves)).To(Succeed())
		Expect(edits(as(), func(k *v1beta2.Kyma) { k.Spec.Modules = k.Spec.Modules[1:] })).To(Succeed(), "others may remove a module")
		unsaid := testkit.Kyma(testkit.Unique("kyma"), testkit.Unsynced(), testkit.WithModule("absent", manually))
		Expect(as().Create(ctx(), unsaid)).To(refused)
	})
})
