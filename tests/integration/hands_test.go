package integration

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/client/directinstall"
	"github.com/kyma-project/lifecycle-manager/internal/installable"
	"github.com/kyma-project/lifecycle-manager/pkg/installer"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// asLong is how long a direct installation may take.
const asLong = time.Minute

// directPlan is a direct installation of a module in a runtime, which takes over what has no owner.
func directPlan(runtime *testkit.Cluster, module string, content testkit.Content) directinstall.Plan {
	template := testkit.ModuleTemplate(module, "1.0.0", func(spec *v1beta2.ModuleTemplateSpec) { spec.Data = content.DefaultCR.DeepCopy() })
	template.Namespace = "" // it is in no cluster
	return directinstall.Plan{
		Config: runtime.Config, Template: template, Sources: []installer.Source{installer.YAML("raw-manifest", string(content.YAML()))},
		DefaultCR: true, Adopt: true, Unmanaged: true, Wait: asLong,
	}
}

func installDirectly(plan directinstall.Plan) {
	GinkgoHelper()
	report, err := directinstall.Install(ctx(), plan)
	Expect(err).NotTo(HaveOccurred())
	Expect(report.Ready).To(BeTrue(), "%s: %s", report.Reason, report.Message)
}

// disownDirectly ends the direct installation of a module and keeps what it consists of.
func disownDirectly(runtime *testkit.Cluster, module string) {
	GinkgoHelper()
	report, err := directinstall.Delete(ctx(), directinstall.Removal{Config: runtime.Config, Module: module, Keep: true, Wait: asLong})
	Expect(err).NotTo(HaveOccurred())
	Expect(report.Ready).To(BeTrue(), "%s: %s", report.Reason, report.Message)
}

func recordSecret(module string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: v1beta2.RuntimeNamespace, Name: "manifest." + installable.DirectPrefix + module,
	}}
}

// fieldManagers returns who owns fields of the Deployment of a module, apart from its status.
func fieldManagers(runtime *testkit.Cluster, module string) []string {
	GinkgoHelper()
	live, err := testkit.Live(runtime, deployment(module))()
	Expect(err).NotTo(HaveOccurred())
	var names []string
	for _, entry := range live.ManagedFields {
		if entry.Subresource == "" {
			names = append(names, entry.Manager)
		}
	}
	return names
}

var _ = Describe("A module that changes hands", func() {
	var (
		runtime *testkit.Cluster
		module  string
		content testkit.Content
		before  *appsv1.Deployment
	)
	byKubectl := func() {
		GinkgoHelper()
		for _, object := range content.Objects {
			Expect(runtime.Client.Create(ctx(), object.DeepCopy(), client.FieldOwner("kubectl-client-side-apply"))).To(Succeed())
		}
		var err error
		before, err = testkit.Live(runtime, deployment(module))()
		Expect(err).NotTo(HaveOccurred())
	}
	expectSame := func() {
		GinkgoHelper()
		Expect(testkit.Live(runtime, deployment(module))()).To(And(
			HaveField("UID", before.UID), HaveField("Spec", before.Spec)))
	}
	BeforeEach(func() {
		runtime = env.Runtimes[0]
		module, content = operatorModule(nil)
	})

	It("from kubectl to a direct installation, to a Kyma and back is neither replaced nor restarted", func() {
		env.FaultFree()
		byKubectl()

		By("installing it directly")
		plan := directPlan(runtime, module, content)
		installDirectly(plan)
		expectSame()
		Expect(fieldManagers(runtime, module)).To(And(ContainElement(installable.FieldManagerDirect), Not(ContainElement("kubectl-client-side-apply"))))
		testkit.Edit(runtime, content.DefaultCR.DeepCopy(), func(cr *unstructured.Unstructured) {
			Expect(unstructured.SetNestedField(cr.Object, int64(7), "spec", "size")).To(Succeed())
		})
		resource, err := testkit.Live(runtime, content.DefaultCR.DeepCopy())()
		Expect(err).NotTo(HaveOccurred())
		expectResource := func() {
			GinkgoHelper()
			Expect(testkit.Live(runtime, content.DefaultCR.DeepCopy())()).To(And(
				WithTransform(client.Object.GetUID, Equal(resource.GetUID())),
				HaveField("Object", HaveKeyWithValue("spec", HaveKeyWithValue("size", BeEquivalentTo(7))))))
		}

		By("handing it over to a Kyma")
		disownDirectly(runtime, module)
		expectSame()
		expectGone(runtime, recordSecret(module))
		since := runtimeCalls.Snapshot()
		kyma := readyKyma(runtime, testkit.WithModule(module))
		expectSame()
		expectResource()
		Expect(fieldManagers(runtime, module)).To(And(ContainElement(v1beta2.FieldManagerModule), Not(ContainElement(installable.FieldManagerDirect))))
		done := writes(runtimeCalls.Since(since))
		Expect(done).To(HaveKeyWithValue(calls.Call{Verb: "patch", Resource: "deployments.apps"}, 2), "one for its managers, one for its mark")
		Expect(done.Where(func(call calls.Call) bool { return call.Verb == "delete" })).To(BeEmpty())

		By("taking it out of the Kyma, and installing it directly again")
		manage(kyma, false)
		expectLetGo(kyma, module)
		disable(kyma, module)
		Eventually(testkit.Live(env.Hub, kyma)).Should(And(testkit.HaveState(v1beta2.StateReady), testkit.HaveNoModule(module)))
		installDirectly(plan)
		expectSame()
		expectResource()
		Expect(fieldManagers(runtime, module)).To(And(ContainElement(installable.FieldManagerDirect), Not(ContainElement(v1beta2.FieldManagerModule))))

		By("removing it")
		removal := directinstall.Removal{Config: runtime.Config, Module: module, Cascade: true, Wait: asLong}
		removal.Previewed, err = directinstall.Preview(ctx(), removal)
		Expect(err).NotTo(HaveOccurred())
		Expect(directinstall.Delete(ctx(), removal)).To(HaveField("Ready", true))
		expectGone(runtime, partsOf(content)...)
	})

	It("only after its owner let go of it: until then the Kyma refuses, and takes nothing when it gives up", func() {
		byKubectl()
		installDirectly(directPlan(runtime, module, content))
		live, err := testkit.Live(runtime, deployment(module))()
		Expect(err).NotTo(HaveOccurred())
		resource, err := testkit.Live(runtime, content.DefaultCR.DeepCopy())()
		Expect(err).NotTo(HaveOccurred())

		kyma := newKyma(runtime, testkit.WithModule(module))
		Eventually(env.ManifestOf(kyma.Name, module)).Should(tells(v1beta2.StateError, v1beta2.ReasonOwnershipConflict, module, "--keep-resources"))
		expectSame()
		Expect(testkit.Live(runtime, deployment(module))()).To(HaveField("Annotations", live.Annotations))
		disable(kyma, module)
		Eventually(manifestsOf(kyma)).Should(BeEmpty())
		expectSame()
		expectThere(runtime, append(partsOf(content), recordSecret(module))...)
		Expect(testkit.Live(runtime, content.DefaultCR.DeepCopy())()).To(And(
			WithTransform(client.Object.GetUID, Equal(resource.GetUID())),
			WithTransform(client.Object.GetDeletionTimestamp, BeNil())))
		Expect(directinstall.Delete(ctx(), directinstall.Removal{Config: runtime.Config, Module: module, Wait: asLong})).To(HaveField("Ready", true))
	})

	It("is not taken from a Kyma that has it, although the direct installation may take over", func() {
		kyma := readyKyma(runtime, testkit.WithModule(module))
		_, err := directinstall.Install(ctx(), directPlan(runtime, module, content))
		Expect(directinstall.ReasonOf(err)).To(Equal(directinstall.ReasonOwnershipConflict))
		Expect(err).To(MatchError(ContainSubstring(manifestOf(kyma, module).Name)))
		expectGone(runtime, recordSecret(module))
	})

	It("is not installed anew, to the hooks of its chart", func() {
		chart := testkit.Unique("chart")
		taken := configMap(chart + "-settings")
		runtime.Create(taken)
		manifest := standAlone(env.PushLayer(chartWithHooks(chart).Gzip(), v1beta2.RefTypeHelmChart),
			func(m *v1beta2.Manifest) { m.Spec.Ownership = v1beta2.OwnershipAdoptIfUnowned }, withValues(`{"hold":true}`))
		Eventually(testkit.Live(env.Hub, manifest)).Should(
			tells(v1beta2.StateProcessing, v1beta2.ReasonWaitingForHook, "hook pre-upgrade", chart+"-before"))
		expectGone(runtime, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: chart + "-init"}})
	})

	It("gets no new values for those that its chart has generated before", func() {
		chart := testkit.Unique("chart")
		admin := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: chart + "-admin"}}
		admin.Data = map[string][]byte{"password": []byte("known to the database")}
		theirs := configMap(chart + "-theirs")
		theirs.Data = map[string]string{"colour": "amber"}
		runtime.Create(admin, theirs)
		manifest := standAlone(env.PushLayer(chartThatGenerates(chart).Gzip(), v1beta2.RefTypeHelmChart),
			func(m *v1beta2.Manifest) { m.Spec.Ownership = v1beta2.OwnershipAdoptIfUnowned })
		Eventually(testkit.Live(env.Hub, manifest)).Should(
			tells(v1beta2.StateError, v1beta2.ReasonGeneratedValuesLost, manifest.Name+".generated", "values that are not known"))
		Expect(testkit.Live(runtime, admin)()).To(HaveField("Data", admin.Data))
	})
})
