package integration

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kyma-project/lifecycle-manager/api/v1beta2"
	"github.com/kyma-project/lifecycle-manager/tests/testkit"
)

// notesOf returns the notes of the events of a reason that tell of an object.
func notesOf(object client.Object, reason string) func() ([]string, error) {
	return func() ([]string, error) {
		list := &eventsv1.EventList{}
		if err := env.Hub.Client.List(ctx(), list, client.InNamespace(object.GetNamespace())); err != nil {
			return nil, err
		}
		var notes []string
		for _, event := range list.Items {
			if event.Regarding.Name == object.GetName() && event.Reason == reason {
				notes = append(notes, event.Note)
			}
		}
		return notes, nil
	}
}

// keptMap returns a ConfigMap that is to outlive its installation.
func keptMap(name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  annotations: {operator.kyma-project.io/keep: \"true\"}\n", name)
}

func spaceNamed(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

var _ = Describe("An object that is annotated to be kept", func() {
	It("stays when the content drops it and when the installation ends, and both are told", func() {
		env.FaultFree()
		name := testkit.Unique("keep")
		source := publish(testkit.RawManifest([]byte(keptMap(name+"-first") + "---\n" + keptMap(name+"-second") + "---\n" + mapNamed(name+"-other", "1.0.0"))))
		manifest := standAlone(source)
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(HaveField("Status.Synced", HaveLen(3))))

		next := publish(testkit.RawManifest([]byte(keptMap(name + "-second"))))
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.Install.Source = testkit.Raw(next) })
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(HaveField("Status.Synced", HaveLen(1))))
		Expect(settings(name + "-other")()).To(BeNil())
		expectThere(env.Runtimes[0], configMap(name+"-first"))
		Eventually(notesOf(manifest, v1beta2.ReasonKept)).Should(ContainElement(ContainSubstring(name + "-first")))

		remove(manifest)
		expectThere(env.Runtimes[0], configMap(name+"-first"), configMap(name+"-second"))
		Eventually(notesOf(manifest, v1beta2.ReasonKept)).Should(ContainElement(ContainSubstring(name + "-second")))

		By("being taken over by the same installation when it comes again")
		again := testkit.Manifest(manifest.Name, next, testkit.Remote(manifest.Name))
		env.Hub.Create(again)
		Eventually(testkit.Live(env.Hub, again)).Should(ready(HaveField("Status.Synced", HaveLen(1))))
		remove(again)
		env.Runtimes[0].Delete(configMap(name+"-first"), configMap(name+"-second"))
	})

	It("stays also when a chart says so in Helm's words", func() {
		env.FaultFree()
		name := testkit.Unique("keep")
		chart := testkit.Chart(name, "1.0.0", testkit.Files{
			"templates/kept.yaml": fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: %s\n  annotations: {helm.sh/resource-policy: keep}\n", name),
			"templates/gone.yaml": mapNamed(name+"-gone", "1.0.0"),
		})
		manifest := standAlone(env.PushLayer(chart.Gzip(), v1beta2.RefTypeHelmChart))
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready())
		expectRemoved(manifest, name+"-gone")
		expectThere(env.Runtimes[0], configMap(name))
		env.Runtimes[0].Delete(configMap(name))
	})
})

var _ = Describe("A Namespace of the content", func() {
	install := func(name string) *v1beta2.Manifest {
		GinkgoHelper()
		content := fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %[1]s}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: ours, namespace: %[1]s}\n", name)
		manifest := standAlone(publish(testkit.RawManifest([]byte(content))))
		Eventually(testkit.Live(env.Hub, manifest)).Should(ready(HaveField("Status.Synced", HaveLen(2))))
		return manifest
	}

	It("goes with its installation when no one else has anything in it", func() {
		env.FaultFree()
		name := testkit.Unique("space")
		manifest := install(name)
		Eventually(testkit.Gone(env.Runtimes[0], &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "default"}})).Should(BeFalse())
		remove(manifest)
		expectGone(env.Runtimes[0], spaceNamed(name))
	})

	It("stays when a user has something in it, which is named, and ours goes", func() {
		env.FaultFree()
		name := testkit.Unique("space")
		manifest := install(name)
		foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "precious"}}
		env.Runtimes[0].Create(foreign)
		remove(manifest)
		expectThere(env.Runtimes[0], spaceNamed(name), foreign)
		Consistently(testkit.Gone(env.Runtimes[0], foreign)).Should(BeFalse())
		Expect(settingsIn(name, "ours")()).To(BeNil())
		Eventually(notesOf(manifest, v1beta2.ReasonKept)).Should(ContainElement(And(ContainSubstring(name), ContainSubstring("precious"))))
	})
})

var _ = Describe("A definition of the content", func() {
	It("that a user has objects of blocks the deletion by name, and goes when they are gone", func() {
		name := testkit.Unique("widget")
		content := testkit.Operator(name, "1.0.0")
		manifest := standAlone(publish(testkit.RawManifest(content.YAML()))) // without a default CR: no one watches the kind
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		mine := userCR(content, "mine")
		env.Runtimes[0].Create(mine)
		env.Hub.Delete(manifest)
		blocked := tells(v1beta2.StateDeleting, v1beta2.ReasonDeletionBlocked, "delete the "+mine.GetKind()+" default/mine")
		Eventually(testkit.Live(env.Hub, manifest)).Should(blocked)
		Consistently(testkit.Live(env.Hub, manifest)).Should(blocked)
		expectThere(env.Runtimes[0], mine, definitionOf(content))
		env.Runtimes[0].Delete(mine)
		Eventually(testkit.Gone(env.Hub, manifest), "60s").Should(BeTrue())
		expectGone(env.Runtimes[0], definitionOf(content), deployment(name))
	})

	It("that the content drops while a user has objects of it stays, and goes with a later pass", func() {
		name := testkit.Unique("widget")
		content := testkit.Operator(name, "1.0.0")
		manifest := standAlone(publish(testkit.RawManifest(content.YAML())))
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		mine := userCR(content, "mine")
		env.Runtimes[0].Create(mine)
		rest := testkit.Content{Objects: content.Objects[1:]}
		next := publish(testkit.RawManifest(rest.YAML()))
		testkit.Edit(env.Hub, manifest, func(m *v1beta2.Manifest) { m.Spec.Install.Source = testkit.Raw(next) })
		Eventually(testkit.Live(env.Hub, manifest)).Should(testkit.HaveState(v1beta2.StateReady))
		expectThere(env.Runtimes[0], mine, definitionOf(content))
		Eventually(notesOf(manifest, v1beta2.ReasonKept)).Should(ContainElement(ContainSubstring("mine")))
		env.Runtimes[0].Delete(mine)
		remove(manifest)
		expectGone(env.Runtimes[0], definitionOf(content))
	})
})
