package integration

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/internal/manager/setup"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
	"github.com/kyma-project/lifecycle-manager/tests/testkit/calls"
)

// restrictedModule is the one that startManager is told to restrict in the specs of the catalog.
const restrictedModule = "catalog-restricted"

// shownOf returns what a runtime shows of a module: "regular=1.0.0 fast=2.0.0" with the templates behind a bar, empty when it shows
// nothing.
func shownOf(runtime *testkit.Cluster, module string) func() (string, error) {
	return func() (string, error) {
		release, templates := &v1beta2.ModuleReleaseMeta{}, &v1beta2.ModuleTemplateList{}
		err := runtime.Client.Get(ctx(), client.ObjectKey{Namespace: v1beta2.RuntimeNamespace, Name: module}, release)
		if client.IgnoreNotFound(err) != nil {
			return "", err
		}
		if err := runtime.Client.List(ctx(), templates, client.InNamespace(v1beta2.RuntimeNamespace)); err != nil {
			return "", err
		}
		var words []string
		for _, channel := range release.Spec.Channels {
			words = append(words, channel.Channel+"="+channel.Version)
		}
		for i := range templates.Items {
			if version, ok := strings.CutPrefix(templates.Items[i].Name, module+"-"); ok {
				words = append(words, "|"+version)
			}
		}
		return strings.Join(words, " "), nil
	}
}

// catalogCalls returns the calls to releases and templates in runtimes, streams left out.
func catalogCalls(counts calls.Counts) calls.Counts {
	return countable(counts).Where(func(c calls.Call) bool {
		return strings.HasPrefix(c.Resource, "module") && strings.HasSuffix(c.Resource, ".operator.kyma-project.io") && c.Verb != calls.Watch
	})
}

var _ = Describe("The catalog in a runtime", Ordered, func() {
	var runtime *testkit.Cluster
	var kyma *v1beta2.Kyma

	BeforeAll(func() {
		runtime = env.AddRuntime(testkit.Unique("catalog"))
		kyma = testkit.Kyma(testkit.Unique("kyma"))
		env.AccessSecret(kyma.Name, runtime)
		env.Hub.Create(kyma)
		DeferCleanup(func() {
			env.Hub.Delete(kyma)
			Eventually(testkit.Gone(env.Hub, kyma)).Should(BeTrue())
		})
	})

	catalogued := func() {
		GinkgoHelper()
		Eventually(testkit.Live(env.Hub, kyma)).Should(
			testkit.HaveCondition(v1beta2.ConditionModuleCatalog, metav1.ConditionTrue, v1beta2.ReasonSynced))
	}

	It("holds what the channels offer, marked and written by catalog-sync, and is then left alone", func() {
		env.FaultFree()
		module := offerMaps("1.0.0", "2.0.0")
		Eventually(shownOf(runtime, module)).Should(Equal("regular=1.0.0 fast=2.0.0 |1.0.0 |2.0.0"))
		catalogued()
		template := &v1beta2.ModuleTemplate{}
		key := client.ObjectKey{Namespace: v1beta2.RuntimeNamespace, Name: module + "-1.0.0"}
		Expect(runtime.Client.Get(ctx(), key, template)).To(Succeed())
		Expect(template.Labels).To(HaveKeyWithValue(v1beta2.LabelManagedBy, v1beta2.ManagedByKyma))
		Expect(template.ManagedFields).To(ConsistOf(HaveField("Manager", v1beta2.FieldManagerCatalog)))
		before := runtimeCalls.Snapshot()
		Consistently(func() calls.Counts { return catalogCalls(runtimeCalls.Since(before)) }).Should(BeEmpty())
	})

	It("follows releases and templates: a new version, a template that goes, a release that goes", func() {
		env.FaultFree()
		module := offerMaps("1.0.0")
		Eventually(shownOf(runtime, module)).Should(Equal("regular=1.0.0 fast=1.0.0 |1.0.0"))
		env.Offer(module, "1.1.0", testkit.ConfigMaps(module, "1.1.0", 2), "fast")
		Eventually(shownOf(runtime, module)).Should(Equal("regular=1.0.0 fast=1.1.0 |1.0.0 |1.1.0"))
		env.Hub.Delete(testkit.ModuleTemplate(module, "1.0.0"))
		Eventually(shownOf(runtime, module)).Should(Equal("fast=1.1.0 |1.1.0"))
		env.Hub.Delete(testkit.ModuleReleaseMeta(module))
		Eventually(shownOf(runtime, module)).Should(BeEmpty())
	})

	It("is put back when a user edits or deletes it, by one read and one write, and nothing of others is touched", func() {
		module := offerMaps("1.0.0")
		shown := "regular=1.0.0 fast=1.0.0 |1.0.0"
		Eventually(shownOf(runtime, module)).Should(Equal(shown))
		catalogued()
		own := testkit.ModuleTemplate(testkit.Unique("own"), "1.0.0")
		own.Namespace = v1beta2.RuntimeNamespace
		own.Labels = map[string]string{v1beta2.LabelManagedBy: v1beta2.ManagedByKyma}
		runtime.Create(own)

		copied := testkit.ModuleReleaseMeta(module)
		copied.Namespace = v1beta2.RuntimeNamespace
		before := runtimeCalls.Snapshot()
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"channels":[{"channel":"regular","version":"9.9.9"}]}}`))
		Expect(runtime.Client.Patch(ctx(), copied, patch, client.FieldOwner("somebody"))).To(Succeed())
		Eventually(shownOf(runtime, module)).Should(Equal(shown))
		Eventually(func() string {
			return catalogCalls(runtimeCalls.Since(before)).Where(func(c calls.Call) bool { return strings.HasPrefix(c.Resource, "moduler") }).String()
		}).Should(And(ContainSubstring("1 get modulereleasemetas"), ContainSubstring("1 patch modulereleasemetas")))

		for _, gone := range []client.Object{copied, &v1beta2.ModuleTemplate{ObjectMeta: metav1.ObjectMeta{
			Namespace: v1beta2.RuntimeNamespace, Name: module + "-1.0.0",
		}}} {
			runtime.Delete(gone)
			Eventually(shownOf(runtime, module)).Should(Equal(shown))
		}
		Expect(testkit.Gone(runtime, own)()).To(BeFalse(), "what another user wrote stays")
	})

	It("shows beta and internal modules to Kymas that are it, as their labels change", func() {
		module := offerMaps("1.0.0", "2.0.0")
		labelled(testkit.ModuleTemplate(module, "1.0.0"), v1beta2.LabelBeta, true)
		labelled(testkit.ModuleTemplate(module, "2.0.0"), v1beta2.LabelInternal, true)
		Eventually(shownOf(runtime, module)).Should(BeEmpty())
		for _, step := range []struct {
			label string
			set   bool
			want  string
		}{
			{v1beta2.LabelBeta, true, "regular=1.0.0 |1.0.0"},
			{v1beta2.LabelInternal, true, "regular=1.0.0 fast=2.0.0 |1.0.0 |2.0.0"},
			{v1beta2.LabelBeta, false, "fast=2.0.0 |2.0.0"},
			{v1beta2.LabelInternal, false, ""},
		} {
			labelled(kyma, step.label, step.set)
			Eventually(shownOf(runtime, module)).Should(Equal(step.want), fmt.Sprintf("%s is %v", step.label, step.set))
		}
	})

	It("shows a restricted module through eight flips of selector and label", func() {
		stopManager()
		startManager(func(c *setup.Config) { c.RestrictedModules = []string{restrictedModule} })
		DeferCleanup(func() {
			stopManager()
			startManager()
		})
		env.Offer(restrictedModule, "1.0.0", testkit.ConfigMaps(restrictedModule, "1.0.0", 1), "regular")
		selects := func(labels map[string]string) {
			testkit.Edit(env.Hub, testkit.ModuleReleaseMeta(restrictedModule), func(r *v1beta2.ModuleReleaseMeta) {
				if r.Spec.KymaSelector = nil; labels != nil {
					r.Spec.KymaSelector = &metav1.LabelSelector{MatchLabels: labels}
				}
			})
		}
		account := func(value string) {
			testkit.Edit(env.Hub, kyma, func(k *v1beta2.Kyma) {
				if delete(k.Labels, "account"); value != "" {
					metav1.SetMetaDataLabel(&k.ObjectMeta, "account", value)
				}
			})
		}
		for _, step := range []struct {
			name  string
			do    func()
			shown bool
		}{
			{"no selector", func() {}, false},
			{"the Kyma has a label and there is still no selector", func() { account("a") }, false},
			{"a selector that matches", func() { selects(map[string]string{"account": "a"}) }, true},
			{"the label goes", func() { account("") }, false},
			{"the label comes back", func() { account("a") }, true},
			{"the selector asks for another value", func() { selects(map[string]string{"account": "b"}) }, false},
			{"the label follows", func() { account("b") }, true},
			{"the selector goes", func() { selects(nil) }, false},
		} {
			step.do()
			Eventually(shownOf(runtime, restrictedModule)).Should(Equal(map[bool]string{true: "regular=1.0.0 |1.0.0"}[step.shown]), step.name)
		}
	})

	It("costs reads only after a restart", func() {
		catalogued()
		Eventually(func(g Gomega) { // what other specs offered waits for its turn
			seen := runtimeCalls.Snapshot()
			g.Consistently(func() int { return catalogCalls(runtimeCalls.Since(seen)).Total() }, "1s").Should(BeZero())
		}).Should(Succeed())
		before := runtimeCalls.Snapshot()
		stopManager()
		startManager()
		Eventually(func() int { return catalogCalls(runtimeCalls.Since(before)).Total() }).Should(BeNumerically(">", 0))
		Consistently(func() calls.Counts { return catalogCalls(runtimeCalls.Since(before)).Writes() }).Should(BeEmpty())
		Expect(testkit.Live(env.Hub, kyma)()).To(
			testkit.HaveCondition(v1beta2.ConditionModuleCatalog, metav1.ConditionTrue, v1beta2.ReasonSynced))
	})
})
