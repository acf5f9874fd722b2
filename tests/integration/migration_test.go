package integration

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	appsv1 "k8s.io/api/apps/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// legacy returns a Kyma with three modules that upstream runs: two ConfigMaps, a Deployment, and an operator with its custom resource. No
// manager of ours has ever seen it; one that is not stopped would.
func legacy(changes ...testkit.KymaOption) *testkit.Upstream {
	GinkgoHelper()
	upstream := &testkit.Upstream{Hub: env.Hub, Runtime: env.AddRuntime("legacy")}
	for prefix, content := range map[string]func(module, version string) testkit.Content{
		"maps":   func(module, version string) testkit.Content { return testkit.ConfigMaps(module, version, 2) },
		"deploy": testkit.Deployment, "oper": testkit.Operator,
	} {
		name := testkit.Unique(prefix)
		made := content(name, "1.0.0")
		published := env.Offer(name, "1.0.0", made, "regular")
		upstream.Modules = append(upstream.Modules, testkit.UpstreamModule{Name: name, Version: "1.0.0", Content: made, Published: published})
	}
	name := testkit.Unique("legacy")
	options := []testkit.KymaOption{testkit.Labelled("kyma-project.io/runtime-id", name), testkit.Labelled("kyma-project.io/global-account-id", "account")}
	for _, module := range upstream.Modules {
		options = append(options, testkit.WithModule(module.Name))
	}
	upstream.Kyma = testkit.Kyma(name, append(options, changes...)...)
	env.AccessSecret(name, upstream.Runtime)
	upstream.Leave()
	return upstream
}

// beforeTheSwitch ends our manager and returns what starts it again, which happens also when the spec fails before it does.
func beforeTheSwitch() (takeOver func()) {
	GinkgoHelper()
	stopManager()
	stopped := true
	takeOver = func() {
		GinkgoHelper()
		if stopped {
			stopped = false
			startManager()
		}
	}
	DeferCleanup(takeOver)
	return takeOver
}

// objectsOf returns all objects of all modules, custom resources included.
func objectsOf(upstream *testkit.Upstream) []client.Object {
	var objects []client.Object
	for _, module := range upstream.Modules {
		objects = append(objects, partsOf(module.Content)...)
		if module.Content.DefaultCR != nil {
			objects = append(objects, module.Content.DefaultCR.DeepCopy())
		}
	}
	return objects
}

// versionsOf returns the resource versions of objects in a cluster, by kind and name.
func versionsOf(cluster *testkit.Cluster, objects ...client.Object) map[string]string {
	GinkgoHelper()
	found := map[string]string{}
	for _, object := range objects {
		live, err := testkit.Live(cluster, object)()
		Expect(err).NotTo(HaveOccurred())
		found[object.GetObjectKind().GroupVersionKind().Kind+" "+object.GetName()] = live.GetResourceVersion()
	}
	return found
}

// rollouts returns the UIDs and generations of the Deployments of a runtime: a restart would be another generation.
func rollouts(runtime *testkit.Cluster) map[string]any {
	GinkgoHelper()
	list := &appsv1.DeploymentList{}
	Expect(runtime.Client.List(ctx(), list, client.InNamespace(metav1.NamespaceDefault))).To(Succeed())
	found := map[string]any{}
	for _, item := range list.Items {
		found[item.Name] = []any{item.UID, item.Generation, item.Spec.Template}
	}
	return found
}

// writesTo counts writes of a resource.
func writesTo(counts calls.Counts, resource string) int {
	return writes(counts).Where(func(c calls.Call) bool { return c.Resource == resource }).Total()
}

// ofModules leaves out what the runtime has beside modules: its Kyma, the catalog, their definitions, and what goes of the watcher.
func ofModules(call calls.Call) bool {
	return call.Verb != calls.Delete && !strings.Contains(call.Resource, v1beta2.GroupVersion.Group) &&
		!strings.HasPrefix(call.Resource, "customresourcedefinitions") && call.Resource != "namespaces" // which carry the claim
}

var _ = Describe("What upstream left", func() {
	BeforeEach(emptyHub)

	It("is taken over without a change in the runtime, without a restart, and with one look at each object", func() {
		takeOver := beforeTheSwitch()
		env.FaultFree()
		upstream := legacy()
		kyma, objects := upstream.Kyma, objectsOf(upstream)
		before, running := versionsOf(upstream.Runtime, withoutWorkloads(objects)...), rollouts(upstream.Runtime)
		hub, runtime := hubCalls.Snapshot(), runtimeCalls.Snapshot()
		takeOver()
		Eventually(testkit.Live(env.Hub, kyma)).Should(testkit.HaveState(v1beta2.StateReady))
		Eventually(manifestsOf(kyma)).Should(And(HaveLen(len(upstream.Modules)), HaveEach(And(
			HaveField("Status.State", v1beta2.StateReady), HaveField("Status.Synced", HaveEach(HaveField("Hash", Not(BeEmpty()))))))))
		atRest()

		By("the runtime's objects")
		Expect(versionsOf(upstream.Runtime, withoutWorkloads(objects)...)).To(Equal(before))
		Expect(rollouts(upstream.Runtime)).To(Equal(running))
		changes := writes(runtimeCalls.Since(runtime)).Where(ofModules)
		Expect(changes.Total()).To(BeNumerically("<=", len(objects)), changes.String())

		By("the hub's objects: Manifests by name, versions and marks as they were, one change of spec.remote each, which may be late once")
		spent := hubCalls.Since(hub)
		Expect(writesTo(spent, "manifests.operator.kyma-project.io")).To(BeNumerically("<=", 2*len(upstream.Modules)), spent.String())
		Expect(writesTo(spent, "kymas.operator.kyma-project.io")).To(BeZero(), spent.String())
		for _, module := range upstream.Modules {
			manifest := manifestOf(kyma, module.Name)
			Expect(manifest.Name).To(Equal(upstream.ManifestName(module)))
			Expect(manifest.Spec.Version).To(Equal("1.0.0"))
			Expect(manifest.Generation).To(BeEquivalentTo(2))
			Expect(manifest.Annotations).To(HaveKeyWithValue("sync-oci-ref", module.Published.Source.Ref))
			Expect(manifest.Finalizers).To(ConsistOf(v1beta2.FinalizerManifest, v1beta2.FinalizerLabelRemoval))
			Expect(testkit.Live(env.Hub, kyma)()).To(testkit.HaveModule(module.Name, testkit.HaveVersion("1.0.0"), testkit.HaveState(v1beta2.StateReady)))
		}

		By("healing it from now on, dropping what a new version drops, and taking all of it down")
		maps := moduleCalled("maps", upstream)
		upstream.Runtime.Delete(configMap(maps + "-1"))
		Eventually(versionIn(upstream.Runtime, maps+"-1")).Should(Equal("1.0.0"))
		env.Offer(maps, "1.1.0", testkit.ConfigMaps(maps, "1.1.0", 1), "regular")
		Eventually(versionIn(upstream.Runtime, maps+"-0")).Should(Equal("1.1.0"))
		Eventually(versionIn(upstream.Runtime, maps+"-1")).Should(BeEmpty())
		remove(kyma)
		expectGone(upstream.Runtime, objects...)
	})

	It("keeps a version that is higher than its channel's, and loses the finalizer of a controller that is gone", func() {
		takeOver := beforeTheSwitch()
		upstream := legacy(func(k *v1beta2.Kyma) { k.Finalizers = []string{v1beta2.FinalizerPurge} })
		maps := moduleCalled("maps", upstream)
		env.Offer(maps, "0.9.0", testkit.ConfigMaps(maps, "0.9.0", 2), "regular")
		takeOver()
		Eventually(testkit.Live(env.Hub, upstream.Kyma)).Should(And(tells(v1beta2.StateWarning, v1beta2.ReasonDowngrade, "1.0.0"),
			testkit.HaveModule(maps, testkit.HaveVersion("1.0.0"), testkit.HaveState(v1beta2.StateWarning)),
			HaveField("Finalizers", ConsistOf(v1beta2.FinalizerKyma))))
		Expect(versionIn(upstream.Runtime, maps+"-0")()).To(Equal("1.0.0"))
		remove(upstream.Kyma)
	})

	It("can be half-deleted: the deletion is taken up", func() {
		takeOver := beforeTheSwitch()
		upstream := legacy()
		env.Hub.Delete(upstream.Kyma)
		for _, module := range upstream.Modules {
			env.Hub.Delete(&v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: upstream.Kyma.Namespace, Name: upstream.ManifestName(module)}})
		}
		takeOver()
		Eventually(testkit.Gone(env.Hub, upstream.Kyma)).Should(BeTrue())
		expectGone(upstream.Runtime, append(objectsOf(upstream), definitions()...)...)
		for _, object := range testkit.UpstreamWebhook() {
			Eventually(testkit.Gone(upstream.Runtime, object)).Should(BeTrue(), object.GetKind()+" "+object.GetName())
		}
	})

	It("is let go of when it was marked as unmanaged and no one came to do it", func() {
		takeOver := beforeTheSwitch()
		upstream := legacy(func(k *v1beta2.Kyma) {
			for i := range k.Spec.Modules {
				k.Spec.Modules[i].Managed = new(bool)
			}
		})
		for _, module := range upstream.Modules {
			manifest := &v1beta2.Manifest{ObjectMeta: metav1.ObjectMeta{Namespace: upstream.Kyma.Namespace, Name: upstream.ManifestName(module)}}
			testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Annotations[v1beta2.AnnotationIsUnmanaged] = v1beta2.EnabledValue })
		}
		takeOver()
		Eventually(manifestsOf(upstream.Kyma)).Should(BeEmpty())
		for _, module := range upstream.Modules {
			Expect(marks(upstream.Runtime, partsOf(module.Content)...)).To(HaveEach(""))
		}
	})

	It("in the runtime is taken over too: the copies stay untouched, and what only upstream needed goes", func() {
		takeOver := beforeTheSwitch()
		upstream := legacy()
		for _, plural := range []string{"kymas", "moduletemplates"} {
			stored := definition(plural)
			Expect(upstream.Runtime.Client.Get(ctx(), client.ObjectKeyFromObject(stored), stored)).To(Succeed())
			stored.Status.StoredVersions = []string{"v1beta1", "v1beta2"}
			Expect(upstream.Runtime.Client.Status().Update(ctx(), stored)).To(Succeed())
		}
		copies := copiesOf(upstream)
		before, running := versionsOf(upstream.Runtime, copies...), rollouts(upstream.Runtime)
		near, far := hubCalls.Snapshot(), runtimeCalls.Snapshot()
		takeOver()
		Eventually(testkit.Live(env.Hub, upstream.Kyma)).Should(And(testkit.HaveState(v1beta2.StateReady),
			testkit.HaveCondition(v1beta2.ConditionModuleCatalog, metav1.ConditionTrue, ""),
			testkit.HaveCondition(v1beta2.ConditionCRDsSync, metav1.ConditionTrue, ""),
			HaveField("Status.Conditions", Not(ContainElement(HaveField("Type", "SKRWebhook"))))))
		for _, object := range testkit.UpstreamWebhook() {
			Eventually(testkit.Gone(upstream.Runtime, object)).Should(BeTrue(), object.GetKind()+" "+object.GetName())
		}
		atRest()
		after := versionsOf(upstream.Runtime, copies...)
		for _, written := range []string{"Kyma " + v1beta2.RuntimeKymaName, "Namespace " + v1beta2.RuntimeNamespace} {
			delete(before, written) // the status of the one is told again, and the other carries the claim
			delete(after, written)
		}
		Expect(after).To(Equal(before))
		Expect(rollouts(upstream.Runtime)).To(Equal(running), "no workload was restarted")
		spent, offered := writes(runtimeCalls.Since(far)), &v1beta2.ModuleReleaseMetaList{}
		Expect(env.Hub.Client.List(ctx(), offered, client.InNamespace(v1beta2.DefaultNamespace))).To(Succeed())
		for resource, most := range map[string]int{
			"namespaces": 1, crds: len(runtimeDefinitions) + 1, crds + "/status": 2, kymas: 2, // the claim, and that its Kyma shows it, too
			kymas + "/status": count(hubCalls.Since(near), calls.Update, kymas+"/status") + 1, // as often as it became another one
			"modulereleasemetas.operator.kyma-project.io": len(offered.Items) - len(upstream.Modules), // what other specs offer is new there
		} {
			Expect(spent.Where(func(c calls.Call) bool { return c.Resource == resource }).Total()).To(BeNumerically("<=", most), spent.String())
		}
		for _, plural := range runtimeDefinitions {
			Expect(testkit.Live(upstream.Runtime, definition(plural))()).To(And(HaveField("Spec.Versions", ConsistOf(HaveField("Name", "v1beta2"))),
				HaveField("Status.StoredVersions", ConsistOf("v1beta2")),
				HaveField("Labels", HaveKeyWithValue(v1beta2.LabelManagedBy, v1beta2.ManagedByKyma))))
		}
		runtimeKyma, err := testkit.Live(upstream.Runtime, upstream.RuntimeKyma())()
		Expect(err).NotTo(HaveOccurred())
		Expect(runtimeKyma.Generation).To(BeEquivalentTo(1), "its spec is as it was")
		Expect(runtimeKyma.Status.State).To(Equal(v1beta2.StateReady))

		By("and a restart writes nothing")
		hub, far := hubCalls.Snapshot(), runtimeCalls.Snapshot()
		whileDown(func() {})
		Eventually(func() int { return runtimeCalls.Since(far).Total() }).ShouldNot(BeZero())
		atRest()
		Expect(writes(hubCalls.Since(hub))).To(BeEmpty())
		Expect(writes(runtimeCalls.Since(far))).To(BeEmpty())
		remove(upstream.Kyma)
	})
})

var _ = Describe("A hub that stored v1beta1", func() {
	It("takes our definitions: the version is kept, not served, and its objects are read", func() {
		for _, plural := range []string{"kymas", "manifests", "moduletemplates"} {
			definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: plural + "." + v1beta2.GroupVersion.Group}}
			live, err := testkit.Live(env.Hub, definition)()
			Expect(err).NotTo(HaveOccurred())
			live.Status.StoredVersions = []string{"v1beta1", "v1beta2"}
			Expect(env.Hub.Client.Status().Update(ctx(), live)).To(Succeed())
			objects := env.Hub.Objects("config/crd/bases/" + v1beta2.GroupVersion.Group + "_" + plural + ".yaml")
			for _, object := range objects {
				env.Hub.Apply(object)
			}
			Expect(testkit.Live(env.Hub, definition)()).To(HaveField("Status.StoredVersions", ConsistOf("v1beta1", "v1beta2")))
		}
		module := offerMaps("1.0.0")
		readyKyma(env.Runtimes[0], testkit.WithModule(module))
	})
})

// withoutWorkloads leaves out Deployments, whose status other controllers write.
func withoutWorkloads(objects []client.Object) []client.Object {
	var rest []client.Object
	for _, object := range objects {
		if object.GetObjectKind().GroupVersionKind().Kind != "Deployment" {
			rest = append(rest, object)
		}
	}
	return rest
}

// moduleCalled returns the name of the module that begins with a word.
func moduleCalled(word string, upstream *testkit.Upstream) string {
	GinkgoHelper()
	for _, module := range upstream.Modules {
		if len(module.Name) > len(word) && module.Name[:len(word)] == word {
			return module.Name
		}
	}
	Fail("there is no module " + word)
	return ""
}

// runtimeDefinitions are the definitions in a runtime: of ours they have one version, so that they are written once.
var runtimeDefinitions = []string{"kymas", "moduletemplates", "modulereleasemetas"}

// copiesOf returns what upstream keeps in a runtime beside modules and definitions.
func copiesOf(upstream *testkit.Upstream) []client.Object {
	GinkgoHelper()
	group := v1beta2.GroupVersion.String()
	object := func(apiVersion, kind, namespace, name string) client.Object {
		made := &unstructured.Unstructured{Object: map[string]any{"apiVersion": apiVersion, "kind": kind}}
		made.SetNamespace(namespace)
		made.SetName(name)
		return made
	}
	copies := []client.Object{
		object("v1", "Namespace", "", v1beta2.RuntimeNamespace), object(group, "Kyma", v1beta2.RuntimeNamespace, v1beta2.RuntimeKymaName),
	}
	for _, module := range upstream.Modules {
		copies = append(copies, object(group, "ModuleTemplate", v1beta2.RuntimeNamespace, module.Name+"-"+module.Version),
			object(group, "ModuleReleaseMeta", v1beta2.RuntimeNamespace, module.Name))
	}
	return copies
}
